import { type Row, shelve, sortReadings } from '../row'
import { tableFormat } from '../table'
import { parseDate, splitList, toKey } from '../values'
import { findGoodreadsShelf } from './goodreads'

const findShelf = (name: string) => (name === 'paused' ? 'PAUSED' : findGoodreadsShelf(name))

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
/** The column holds an ISBN, an Amazon identifier, an identifier of StoryGraph, or nothing. */
const identify = (row: Row, column: string) => {
  const id = row.get(column)
  if (UUID.test(id)) row.identify('storygraph', id.toLowerCase(), column)
  else if (/^B[\dA-Z]{9}$/.test(id)) row.identify('asin', id, column)
  else row.isbn(column)
}

const DAY = /^\d{4}(?:\/\d\d?){0,2}$/
/** Adds the sessions: `start-finish`, or one date, which is a finish. */
const addSessions = (row: Row, column: string) => {
  for (const session of splitList(row.get(column), ',')) {
    const dates = session.split('-').map((date) => date.trim())
    const isValid = dates.length <= 2 && dates.every((date) => !date || DAY.test(date))
    const [finishedAt, startedAt = null] = isValid ? dates.reverse().map((date) => parseDate(date)) : []
    if (!isValid || finishedAt === undefined || startedAt === undefined) row.lose('bad-date', column)
    if (startedAt || finishedAt) row.addReading(startedAt ?? null, finishedAt ?? null, column)
  }
}

const TRAITS = ['strong character development?', 'loveable characters?', 'diverse characters?', 'flawed characters?']

export const storygraph = tableFormat({
  name: 'storygraph',
  matches: (has) =>
    has('title') && has('read status') && (has('star rating') || has('last date read') || has('isbn/uid')),
  columns:
    'title,authors,author,contributors,isbn/uid,isbn,format,read status,date added,last date read,dates read,read count,star rating,review,tags',
  unsupported: `moods,pace,character- or plot-driven?,${TRAITS.join()},content warnings,content warning description,owned?`,
  read: (row, options) => {
    const { entry, get } = row
    entry.title = row.text('title')
    row.authors(splitList(get('authors') || get('author'), ','), 'authors')
    if (get('contributors')) row.lose('not-supported', 'contributors')
    identify(row, get('isbn/uid') ? 'isbn/uid' : 'isbn')
    row.format('format')
    row.added('date added')
    addSessions(row, 'dates read')
    const last = row.date('last date read')
    // A session with a more exact date is the same one.
    if (
      last &&
      !entry.readings.some(
        ({ finishedAt }) => finishedAt?.startsWith(last) || (finishedAt && last.startsWith(finishedAt)),
      )
    ) {
      row.addReading(null, last, 'last date read')
    }
    sortReadings(row)
    if ((row.integer('read count') ?? 0) > Math.max(1, entry.readings.length)) row.lose('not-supported', 'read count')
    row.rate('star rating')
    row.tag(splitList(get('tags'), ','), 'tags')
    row.memo(get('review'), 'review')
    // `refuse` treats No as empty, but here it is the member's answer.
    for (const trait of TRAITS) if (toKey(get(trait)) === 'no') row.lose('not-supported', trait)
    shelve(row, get('read status'), 'read status', options, findShelf, 'unknown-status')
  },
})
