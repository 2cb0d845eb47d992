import { type Row, shelve } from '../row'
import type { Shelf } from '../status'
import { tableFormat } from '../table'
import { parseTime, splitList, toKey } from '../values'

const SHELVES = new Map<string, Shelf>([
  ['want to read', 'YET'],
  ['currently reading', 'ING'],
  ['read', 'DONE'],
  ['did not finish', 'STOPPED'],
  ['paused', 'PAUSED'],
  // Books that Hardcover must not recommend.
  ['ignored', 'TAG'],
])

/** The authors of a cell in which translators and narrators have their role in brackets. */
export const addAuthors = (row: Row, column: string) => {
  const people = splitList(row.get(column), ',').map((name) => ({ name, role: /\(([^()]*)\)$/.exec(name)?.[1] }))
  const authors = people.filter(({ role }) => !role || /^(?:co-?)?author$/i.test(role))
  if (authors.length < people.length) row.lose('not-supported', column)
  row.authors(
    authors.map(({ name }) => name.split('(')[0] ?? ''),
    column,
  )
}

/** Adds a series such as `Harbour (#2.0)`. Of several, separated by commas, the first. */
export const addSeries = ({ entry, get, lose }: Row, column: string) => {
  const [series = '', ...others] = get(column).split(/(?<=\)), /)
  if (others.length > 0) lose('not-supported', column)
  const open = series.lastIndexOf(' (#')
  const number =
    open > 0 ? Number(/^\d{1,5}(?:\.\d{1,3})?(?=\)$)/.exec(series.slice(open + 3))?.[0] ?? Number.NaN) : null
  if (Number.isNaN(number)) lose('bad-number', column)
  if (series.length > 500) lose('too-long', column)
  entry.series =
    (number === null || Number.isNaN(number) ? series : series.slice(0, open)).slice(0, 500).toWellFormed() || null
  entry.seriesNumber = Number.isNaN(number) ? null : number
}

export const hardcover = tableFormat({
  name: 'hardcover',
  matches: (has) => has('title') && (has('hardcover book id') || has('hardcover edition id')),
  columns:
    'title,author,series,status,hardcover book id,hardcover edition id,isbn 10,isbn 13,asin,media,country code,language code,binding,pages,duration in seconds,publish date,publisher,tags,lists,date added,date started,date finished,rating,review,review date,private notes,compilation,review slate,privacy',
  unsupported:
    'genres,moods,content warnings,review contains spoilers,sponsored review,review url,review media url,owned',
  read: (row, options) => {
    const { entry, get } = row
    row.identify('hardcover', get('hardcover book id'), 'hardcover book id')
    row.identify('hardcover-edition', get('hardcover edition id'), 'hardcover edition id')
    row.identify('asin', get('asin'), 'asin')
    entry.title = row.text('title')
    addAuthors(row, 'author')
    addSeries(row, 'series')
    row.isbn('isbn 13', 'isbn 10')
    entry.publisher = row.text('publisher')
    entry.publishedYear = Number(row.date('publish date')?.slice(0, 4)) || null
    row.language('language code')
    if (/audio/i.test(get('media'))) entry.format = 'AUDIO'
    else if (/e-?book/i.test(get('media'))) entry.format = 'EBOOK'
    else row.format('binding')
    entry.pages = row.pages('pages')
    row.added('date added')
    const [startedAt, finishedAt] = [row.date('date started'), row.date('date finished')]
    if (startedAt || finishedAt) row.addReading(startedAt, finishedAt, 'date started')
    shelve(row, get('status'), 'status', options, (name) => SHELVES.get(toKey(name)), 'unknown-status')
    row.rate('rating')
    row.tag(
      [...splitList(get('tags'), ','), ...splitList(get('lists'), ',').map((list) => list.replace(/ \(#\d+\)$/, ''))],
      'tags',
    )
    row.memo(get('review'), 'review', parseTime(get('review date')) ?? null)
    row.memo(get('private notes'), 'private notes')
  },
})
