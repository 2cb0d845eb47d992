import { MAX_NAME } from '../../../values/contract'
import { truncate } from '../../../values/text/truncate'
import { MAX_STATISTICS_DOCUMENTS } from '../../entries/reader-protocol'
import { refuse } from '../limits'
import { openDatabase } from '../sqlite/database'
import { findTables } from '../sqlite/schema'
import { readTable, type Table } from '../sqlite/table'
import { createCollector, isCounted, refuseAbove, sortRows, toKey } from './rows'

/** Rows of the table of books. */
const MAX_BOOKS = 20_000

/** Numbers the documents of all files of a call, by their names. */
export const createDocuments = () => {
  const indexes = new Map<string, number>()
  return {
    indexOf: (document: string) => {
      const index = indexes.get(document) ?? indexes.size
      if (index >= MAX_STATISTICS_DOCUMENTS) refuseAbove('2,000 books')
      indexes.set(document, index)
      return index
    },
    names: () => [...indexes.keys()],
  }
}
export type Documents = ReturnType<typeof createDocuments>

export type Book = { title: string | null; authors: string | null }

// KOReader's tables. Until October 2020, `page_stat` was the table of rows; now it is a view.
const BOOKS = 'book'
const ROWS = 'page_stat_data'
const OLD_ROWS = 'page_stat'
const MD5 = /^[0-9a-f]{32}$/

const toText = (text: string | undefined) =>
  truncate((text ?? '').replaceAll('\0', '').toWellFormed().trim(), MAX_NAME) || null

/** The positions of columns, each of which has one of several names. */
const findColumns = ({ columns }: Table, ...names: string[][]) =>
  names.map((either) => {
    const found = either.map((name) => columns.get(name)).find((at) => at !== undefined)
    return found ?? refuse(`KOReader’s statistics lack the column ${either[0]}.`)
  })

/**
 * Reads the statistics of KOReader: which pages were read when, of books with an MD5, and those books.
 * @throws ImportFileError if the file cannot be read
 */
export const readStatisticsFile = (file: Uint8Array, documents: Documents) => {
  const database = openDatabase(file)
  const tables = findTables(database, [BOOKS, ROWS, OLD_ROWS])
  const [bookTable, rowTable] = [tables.get(BOOKS), tables.get(ROWS) ?? tables.get(OLD_ROWS)]
  if (!bookTable || !rowTable) return refuse('The SQLite file has no statistics of KOReader.')

  const names = new Map<number, string>()
  const books = new Map<string, Book>()
  const [id = 0, title = 0, authors = 0, md5 = 0] = findColumns(bookTable, ['id'], ['title'], ['authors'], ['md5'])
  readTable(database, bookTable, (row) => {
    const number = row.integer(id)
    const document = row.text(md5)?.toLowerCase() ?? ''
    if (number === undefined || !MD5.test(document)) return
    if (names.size === MAX_BOOKS) refuse('KOReader’s statistics have more than 20,000 books.')
    names.set(number, document)
    books.set(document, { title: toText(row.text(title)), authors: toText(row.text(authors)) })
  })

  const { add, collected } = createCollector()
  const columns = findColumns(rowTable, ['id_book'], ['page'], ['start_time'], ['duration', 'period'])
  const [book = 0, page = 0, start = 0, duration = 0] = columns
  readTable(database, rowTable, (row) => {
    const document = names.get(row.integer(book) ?? Number.NaN)
    const [at = -1, number = -1, seconds = 0] = [row.integer(start), row.integer(page), row.integer(duration)]
    if (document === undefined || !isCounted(at, number, seconds)) return
    add(toKey(documents.indexOf(document), at), number, seconds)
  })
  return { rows: sortRows(collected()), books }
}
