import { type Code, type Entry, MAX_COLUMNS } from '../../../entries/entry'
import type { TableRow } from '../../csv-rows'
import * as read from '../../rows/columns'
import type { ReadCell, Row } from '../../rows/row'
import { finish, hasColumns, mapRows, readColumns, type Table, type TableFormat } from '../../rows/table'
import { parseZonedDate } from './clippings/dates'

type Highlight = { text: string; note: string; date: string; page?: number }

type Shape = {
  matches: (table: Table) => boolean
  /** The columns that say which book it is. */
  book: read.Columns
  /** The other columns that are known. */
  others: read.Columns
  toHighlight: (row: Row) => Highlight
  /** The loss of a row without text and note. If absent, such a row fails. */
  emptyCode?: Code
}

/** A format of tables, each row of which is a highlight. */
const highlightRows = ({ matches, toHighlight, emptyCode, ...columns }: Shape): TableFormat => {
  const [ofBook, others] = [Object.entries(columns.book), Object.entries(columns.others)]
  const readRows: TableFormat['read'] = ({ table }, options) => {
    const books = new Map<string, Row>()
    const failed: Entry[] = []
    const { header } = table
    const more = Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => `column ${header.length + at + 1}`)
    mapRows(table, options, (row, cells) => {
      if (!cells.some((cell) => cell.trim())) return
      const { entry } = row
      readColumns(row, ofBook)
      const { text, note, date, page = 0 } = toHighlight(row)
      const isEmpty = !text && !note
      if (entry.title !== null && isEmpty && !emptyCode) {
        entry.failure = 'empty-highlight'
        row.lose('empty-highlight', 'highlight')
      }
      if (entry.failure) {
        const extra = cells.length - header.length
        if (extra > 0) entry.cells = { names: [...header, ...more.slice(0, extra)], values: cells }
        return void failed.push(entry)
      }
      entry.cells = { names: [], values: [] }
      const key = JSON.stringify([entry.title, entry.author, entry.sourceIds])
      const book = books.get(key) ?? row
      books.set(key, book)
      const field = `line ${entry.line}`
      if (cells.length < header.length) book.lose('short-row', field)
      if (cells.slice(header.length).some((cell) => cell.trim())) book.lose('bad-row', field)
      if (isEmpty) return emptyCode && book.lose(emptyCode, field)
      for (const [column, readCell] of others) readCell(book, row.get(column), column)
      const createdAt = parseZonedDate(date)
      if (date && !createdAt) book.lose('bad-date', field)
      read.addHighlight(book, [text, note], { page, createdAt }, field)
    })
    return [...books.values()].map(finish).concat(failed)
  }

  return { matches: ({ table }) => matches(table), columnReaders: () => [...ofBook, ...others], read: readRows }
}

/** The CSV that apple-books-export writes. Times are in UTC. */
export const appleBooks = highlightRows({
  matches: (table) => hasColumns(table, ['assetid', 'title', 'annotationid', 'createdat']),
  book: { assetid: read.identifier('apple-books'), title: read.title, author: read.authors() },
  others: {
    color: read.unsupported,
    ...read.each('genre,annotationid,type,text,note,location,chapter,createdat,modifiedat', read.ignored),
  },
  toHighlight: ({ get }) => ({ text: get('text'), note: get('note'), date: get('createdat') }),
  emptyCode: 'bookmark',
})

const KOBO_HEADER = ['kind', 'title', 'author', 'datecreated', 'datemodified', 'annotation', 'text']
const KIND = /^(?:highlight|annotation|bookmark)$/
const TIME = /^\d{4}-\d\d-\d\dT/
/** What export-kobo writes for a time that is not known. */
const UNKNOWN_TIME = /^1970-01-01/

/** Adds a header to the rows that export-kobo writes, which have none. */
export const addKoboHeader = (rows: TableRow[]): TableRow[] => {
  const [kind = '', , , created = '', ...others] = rows[0]?.cells ?? []
  const isKobo = KIND.test(kind) && TIME.test(created) && others.length === 3
  return isKobo ? [{ line: 1, cells: KOBO_HEADER }, ...rows] : rows
}

/** The CSV that export-kobo writes. Times are in UTC. */
export const kobo = highlightRows({
  matches: (table) => hasColumns(table, KOBO_HEADER),
  book: { title: read.title, author: read.authors() },
  others: read.each('kind,datecreated,datemodified,annotation,text', read.ignored),
  toHighlight: ({ get }) => ({
    text: get('text'),
    note: get('annotation'),
    date: UNKNOWN_TIME.test(get('datecreated')) ? '' : get('datecreated'),
  }),
  emptyCode: 'bookmark',
})

const asin: ReadCell = (row, cell, column) => {
  if (/^[\dA-Z]{10}$/.test(cell)) read.identify(row, 'asin', cell, column)
  else if (cell) row.lose('not-supported', column)
}

/** Readwise's CSV export, and CSV files for Readwise's import. Several rows have highlights of one book. */
export const readwise = highlightRows({
  matches: (table) => ['title', 'book title'].some((title) => hasColumns(table, ['highlight', title])),
  // If a column has two names, Readwise's export uses the first, and files for Readwise's import the second one.
  book: {
    ...read.each('book title,title', read.title),
    ...read.each('book author,author', read.authors()),
    'amazon book id': asin,
  },
  others: {
    'document tags': read.tags(','),
    ...read.each('tags,color,url', read.unsupported),
    ...read.each('highlight,note,location type,location,highlighted at,date', read.ignored),
  },
  toHighlight: ({ get }) => {
    const isPage = /^page$/i.test(get('location type')) && /^\d{1,9}$/.test(get('location'))
    return {
      text: get('highlight'),
      note: get('note'),
      date: get('highlighted at') || get('date'),
      page: isPage ? Number(get('location')) : 0,
    }
  },
})
