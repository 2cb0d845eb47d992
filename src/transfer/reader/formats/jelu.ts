import { type Row, shelve, sortReadings } from '../row'
import { findMapped } from '../status'
import { tableFormat } from '../table'
import { parseDate, splitList } from '../values'
import { findGoodreadsShelf } from './goodreads'

/** Jelu's date for readings without one. */
const UNKNOWN = '1970-01-01'

/** Adds the ends of readings. Returns whether there are any, with or without a date. */
const addEnds = (row: Row, column: string, outcome: 'FINISHED' | 'STOPPED') => {
  const ends = splitList(row.get(column), /[,;]/)
  for (const end of ends) {
    const date = parseDate(end)
    if (date === undefined) row.lose('bad-date', column)
    const isKnown = row.entry.readings.some(({ finishedAt }) => finishedAt === date)
    if (!date || date === UNKNOWN || isKnown) continue
    row.addReading(null, date, column)
    const reading = row.entry.readings.at(-1)
    if (reading) reading.outcome = outcome
  }
  return ends.length > 0
}

export const jelu = tableFormat({
  name: 'jelu',
  matches: (has) => has('title') && has('dropped_dates'),
  columns:
    'title,author,isbn,publisher,date read,shelves,bookshelves,read_dates,tags,authors,isbn10,isbn13,dropped_dates,currently_reading',
  unsupported: 'owned',
  read: (row, options) => {
    const { entry, get } = row
    entry.title = row.text('title')
    row.authors(splitList(get('authors') || get('author'), /[,;]/), 'authors')
    row.isbn('isbn13', 'isbn10', 'isbn')
    entry.publisher = row.text('publisher')
    const isRead = [addEnds(row, 'read_dates', 'FINISHED'), addEnds(row, 'date read', 'FINISHED')].includes(true)
    const isDropped = addEnds(row, 'dropped_dates', 'STOPPED')
    sortReadings(row)
    const isReading = /^(?:true|1|yes)$/i.test(get('currently_reading'))
    const shelves = splitList(get('shelves'), ',').concat(splitList(get('bookshelves'), ','))
    const named = shelves.find((shelf) => findGoodreadsShelf(shelf) || findMapped(shelf, options.shelfMap))
    const last = isRead && isDropped ? entry.readings.at(-1)?.outcome : isDropped ? 'STOPPED' : null
    const status = isReading ? 'currently-reading' : last === 'STOPPED' ? 'did-not-finish' : isRead ? 'read' : named
    if (status)
      shelve(row, status, 'shelves', isReading || isRead || isDropped ? { shelfMap: {} } : options, findGoodreadsShelf)
    const tags = [...splitList(get('tags'), ','), ...shelves]
    row.tag(
      tags.filter((tag) => tag !== status && !findGoodreadsShelf(tag)),
      'tags',
    )
  },
})
