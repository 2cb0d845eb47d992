import * as read from '../rows/columns'
import { parseTime } from '../rows/dates'
import { finished, shelfFinder, shelve } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'

const findShelf = shelfFinder({ 'to-read': 'YET', reading: 'ING', read: 'DONE', 'stopped-reading': 'STOPPED' })

/** The end of a reading that was not finished. */
const stopped: ReadCell = (row, cell, column) => {
  const { readings } = row.entry
  if (!row.date(cell, column) || readings.at(-1)?.finishedAt) return
  finished(row, cell, column)
  const last = readings.at(-1)
  if (last) last.outcome = 'STOPPED'
}

/** A shelf of the member's own has a slug such as sea-9, and a name. */
const shelf: ReadCell = (row, cell, column) => {
  const name = findShelf(cell) ? cell : row.get('shelf_name') || cell
  shelve(row, cell && name, column, findShelf)
}

const review: ReadCell = (row, cell, column) => {
  const content = [row.get('review_name'), row.get('review_cw'), cell].filter(Boolean).join('\n\n')
  read.addOnlyMemo(row, { content, createdAt: parseTime(row.get('review_published')) ?? null }, column)
}

const IDENTIFIERS: read.Columns = {
  remote_id: read.identifier('bookwyrm'),
  openlibrary_key: read.identifier('openlibrary'),
  inventaire_id: read.identifier('inventaire'),
  librarything_key: read.identifier('librarything-work'),
  goodreads_key: read.identifier('goodreads'),
  bnf_id: read.identifier('bnf'),
  viaf: read.identifier('viaf'),
  wikidata: read.identifier('wikidata'),
  asin: read.identifier('asin'),
  aasin: read.identifier('audible'),
  isfdb: read.identifier('isfdb'),
  oclc_number: read.identifier('oclc'),
  finna_key: read.identifier('finna'),
}
/** BookWyrm makes the columns of identifiers from its model, so their set varies. */
const IDENTIFIER = /_(?:key|id|number)$/
const findIdentifiers = (header: string[]) => {
  const columns = header.filter((column) => IDENTIFIER.test(column) && !(column in IDENTIFIERS))
  return Object.fromEntries(columns.map((column) => [column, read.identifier(column.replace(IDENTIFIER, ''))]))
}

export const bookwyrm = tableFormat(
  (has) => has('author_text'),
  {
    ...IDENTIFIERS,
    author_text: read.authors(','),
    ...read.each('isbn_13,isbn_10', read.isbn),
    stopped_date: stopped,
    shelf,
    shelf_date: read.added,
    review_content: review,
    ...read.each('shelf_name,review_name,review_cw,review_published', read.ignored),
  },
  findIdentifiers,
)
