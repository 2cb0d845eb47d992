import type { Code, Entry } from '../../../entries/entry'
import { MAX_COLUMNS } from '../../../entries/file-limits'
import { addHighlight } from '../../rows/columns'
import type { ReadCell, Row } from '../../rows/row'
import { finish, mapRows, readColumns, type Table, type TableFormat } from '../../rows/table'
import { parseZonedDate } from './clippings/dates'

type Columns = [column: string, read: ReadCell][]

/** What a row says about its highlight. Texts and the date may be empty. */
type Highlight = { text: string; note: string; date: string; page?: number }

type Shape = {
  matches: (table: Table) => boolean
  /** The columns that say which book it is. */
  book: Columns
  /** The other columns that are known. */
  others: Columns
  toHighlight: (row: Row) => Highlight
  /** The loss of a row without text and note. If absent, such a row fails. */
  emptyCode?: Code
}

/** A format of tables, each row of which is a highlight. */
export const highlightRows = ({ matches, book: ofBook, others, toHighlight, emptyCode }: Shape): TableFormat => {
  const addRecord = (book: Row, row: Row) => {
    const field = `line ${row.entry.line}`
    const { text, note, date, page = 0 } = toHighlight(row)
    if (!text && !note) return emptyCode && book.lose(emptyCode, field)
    for (const [column, readCell] of others) readCell(book, row.get(column), column)
    const createdAt = parseZonedDate(date)
    if (date && !createdAt) book.lose('bad-date', field)
    addHighlight(book, [text, note], { page, createdAt }, field)
  }

  const read: TableFormat['read'] = ({ table }, options) => {
    const books = new Map<string, Row>()
    const failed: Entry[] = []
    const { header } = table
    const more = Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => `column ${header.length + at + 1}`)
    mapRows(table, options, (row, cells) => {
      if (!cells.some((cell) => cell.trim())) return
      const { entry } = row
      readColumns(row, ofBook)
      const { text, note } = toHighlight(row)
      if (entry.title !== null && !text && !note && !emptyCode) {
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
      const key = JSON.stringify([entry.title, entry.author, entry.sourceIds])
      const book = books.get(key) ?? row
      books.set(key, book)
      if (cells.length < header.length) book.lose('short-row', `line ${entry.line}`)
      if (cells.slice(header.length).some((cell) => cell.trim())) book.lose('bad-row', `line ${entry.line}`)
      addRecord(book, row)
    })
    return [...books.values()].map(finish).concat(failed)
  }

  return { matches: ({ table }) => matches(table), columnsOf: () => [...ofBook, ...others], read }
}
