import type { Entry } from '../../../entry'
import { MAX_COLUMNS } from '../../csv-rows'
import * as read from '../../rows/columns'
import { finish, type ReadCell, type Row } from '../../rows/row'
import { mapRows, readColumns, type TableFormat } from '../../rows/table'
import { parseZonedDate } from './clippings/dates'

const asin: ReadCell = (row, cell, column) => {
  if (/^[\dA-Z]{10}$/.test(cell)) read.identify(row, 'asin', cell, column)
  else if (cell) row.lose('not-supported', column)
}

// If a column has two names, Readwise's export uses the first, and files for Readwise's import the second one.
const BOOK = Object.entries({
  ...read.each('book title,title', read.title),
  ...read.each('book author,author', read.authors()),
  'amazon book id': asin,
})
const OF_HIGHLIGHT = Object.entries({
  'document tags': read.tags(','),
  ...read.each('tags,color,url', read.unsupported),
  ...read.each('highlight,note,location type,location,highlighted at,date', read.ignored),
})

/** Adds the highlight of a record to its book, whose first record is `book`. */
const addRecord = (book: Row, { get, entry: { line } }: Row) => {
  const field = `line ${line}`
  for (const [column, readCell] of OF_HIGHLIGHT) readCell(book, get(column), column)
  const date = get('highlighted at') || get('date')
  const createdAt = parseZonedDate(date)
  if (date && !createdAt) book.lose('bad-date', field)
  const isPage = /^page$/i.test(get('location type')) && /^\d{1,9}$/.test(get('location'))
  const page = isPage ? Number(get('location')) : 0
  read.addHighlight(book, [get('highlight'), get('note')], { page, createdAt }, field)
}

const readHighlights: TableFormat['read'] = ({ table }, options) => {
  const books = new Map<string, Row>()
  const failed: Entry[] = []
  const { header } = table
  const more = Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => `column ${header.length + at + 1}`)
  mapRows(table, options, (row, cells) => {
    if (!cells.some((cell) => cell.trim())) return
    const { entry, get } = row
    readColumns(row, BOOK)
    if (entry.title !== null && !get('highlight') && !get('note')) {
      entry.failure = 'empty-highlight'
      row.lose('empty-highlight', 'highlight')
    }
    if (entry.failure) {
      const extra = cells.length - header.length
      if (extra > 0) entry.cells = { names: [...header, ...more.slice(0, extra)], values: cells }
      failed.push(finish(row))
      return
    }
    entry.cells = { names: [], values: [] }
    const key = JSON.stringify([entry.title, entry.author, get('amazon book id')])
    const book = books.get(key) ?? row
    books.set(key, book)
    if (cells.length < header.length) book.lose('short-row', `line ${entry.line}`)
    if (cells.slice(header.length).some((cell) => cell.trim())) book.lose('bad-row', `line ${entry.line}`)
    addRecord(book, row)
  })
  return [...books.values()].map(finish).concat(failed)
}

/** Readwise's CSV export, and CSV files for Readwise's import. Several rows have highlights of one book. */
export const readwise: TableFormat = {
  name: 'readwise',
  matches: ({ table }) => table.keys.includes('highlight'),
  columnsOf: () => [...BOOK, ...OF_HIGHLIGHT],
  read: readHighlights,
}
