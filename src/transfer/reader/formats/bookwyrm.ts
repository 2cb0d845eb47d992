import { shelve } from '../row'
import type { Shelf } from '../status'
import { tableFormat } from '../table'
import { parseTime, splitList, toKey } from '../values'

const SHELVES = new Map<string, Shelf>([
  ['to-read', 'YET'],
  ['reading', 'ING'],
  ['read', 'DONE'],
  ['stopped-reading', 'STOPPED'],
])
const COLUMNS =
  'title,author_text,isbn_10,isbn_13,pages,start_date,finish_date,stopped_date,rating,review_name,review_cw,review_content,review_published,shelf,shelf_name,shelf_date'
/** The columns of identifiers, whose set varies, and the names of their sources. */
const SOURCES = new Map([
  ['remote_id', 'bookwyrm'],
  ['openlibrary_key', 'openlibrary'],
  ['inventaire_id', 'inventaire'],
  ['librarything_key', 'librarything-work'],
  ['goodreads_key', 'goodreads'],
  ['bnf_id', 'bnf'],
  ['viaf', 'viaf'],
  ['wikidata', 'wikidata'],
  ['asin', 'asin'],
  ['aasin', 'audible'],
  ['isfdb', 'isfdb'],
  ['oclc_number', 'oclc'],
  ['finna_key', 'finna'],
])
const OTHER_SOURCE = /_(?:key|id|number)$/

/** By the names of the columns, which the rows of a file share. */
const sourcesByNames = new WeakMap<string[], Map<string, string>>()
/** The columns of identifiers, with the names of their sources. */
const sourcesOf = (names: string[]) => {
  const known = sourcesByNames.get(names)
  if (known) return known
  const others = names.map(toKey).filter((column) => OTHER_SOURCE.test(column) && !SOURCES.has(column))
  const sources = new Map([...SOURCES, ...others.map((column) => [column, column.replace(OTHER_SOURCE, '')] as const)])
  sourcesByNames.set(names, sources)
  return sources
}

export const bookwyrm = tableFormat({
  name: 'bookwyrm',
  matches: (has) => has('title') && has('author_text'),
  columns: COLUMNS,
  isKnown: (column) => SOURCES.has(column) || OTHER_SOURCE.test(column),
  read: (row, options) => {
    const { entry, get } = row
    for (const [column, source] of sourcesOf(entry.cells.names)) row.identify(source, get(column), column)
    entry.title = row.text('title')
    row.authors(splitList(get('author_text'), ','), 'author_text')
    row.isbn('isbn_13', 'isbn_10')
    entry.pages = row.pages('pages')
    const startedAt = row.date('start_date')
    const finishedAt = row.date('finish_date')
    const stoppedAt = row.date('stopped_date')
    if (startedAt || finishedAt || stoppedAt) row.addReading(startedAt, finishedAt ?? stoppedAt, 'start_date')
    row.added('shelf_date')
    const shelf = get('shelf')
    // A shelf of the member's own has a slug such as sea-9, and a name.
    const isOwn = shelf && !SHELVES.has(shelf)
    shelve(row, isOwn ? get('shelf_name') || shelf : shelf, 'shelf', options, (name) => SHELVES.get(name))
    const last = entry.readings.at(-1)
    if (last && stoppedAt && !finishedAt && !entry.status) last.outcome = 'STOPPED'
    row.rate('rating')
    const review = [get('review_name'), get('review_cw'), get('review_content')].filter(Boolean).join('\n\n')
    row.memo(review, 'review_content', parseTime(get('review_published')) ?? null)
  },
})
