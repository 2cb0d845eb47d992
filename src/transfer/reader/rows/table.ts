import { type Entry, type Format, type FormatName, type ImportOptions, MAX_COLUMN_NAME, type Source } from '../../entry'
import { storable } from '../cells'
import type { Columns } from './columns'
import { createRow, finish, type ReadCell, type Row } from './row'
import { findUsual, readersOf } from './usual-columns'
import { cutText, type DateOrder, detectOrder, toKey } from './values'

/** A column with the function that reads it, by its folded name. */
type ColumnReader = readonly [column: string, read: ReadCell]

export type TableFormat = Format & {
  /** The columns that the format reads, or leaves out on purpose, in the order in which they are read. */
  columnsOf: (header: string[], options: ImportOptions) => ColumnReader[]
}

/** The names of the columns, cut to MAX_COLUMN_NAME. A name that is empty or repeats an earlier one gets its number. */
export const headerOf = ({ rows }: Source) => {
  const seen = new Set<string>()
  return (rows[0]?.cells ?? []).map((cell, at) => {
    const name = storable(cutText(cell.replace(/^\ufeff/, '').trim(), MAX_COLUMN_NAME))
    const unique = name && !seen.has(toKey(name)) ? name : `${name} (${at + 1})`.trim()
    seen.add(toKey(unique))
    return unique
  })
}

/** Reads the columns of a record into an entry. */
export const readColumns = (row: Row, columns: ColumnReader[]) => {
  for (const [column, read] of columns) read(row, row.get(column), column)
  return finish(row)
}

/** Calls a function for each row below the header. */
export const forEachRow = (
  source: Source,
  options: ImportOptions,
  read: (row: Row, cells: string[], header: string[]) => void,
) => {
  const header = headerOf(source)
  const places = new Map(header.map((name, at) => [toKey(name), at]))
  const placeOf = (column: string) => places.get(column) ?? -1
  const records = source.rows.slice(1)
  const nameOf = (column: string) => header[placeOf(column)] ?? column
  const orders = new Map<string, DateOrder>()
  const orderOf = (column: string) => {
    if (!orders.has(column)) {
      orders.set(column, detectOrder(records.map(({ cells }) => (cells[placeOf(column)] ?? '').trim())))
    }
    return orders.get(column)
  }
  for (const { line, cells } of records) {
    const get = (column: string) => cells[placeOf(column)] ?? ''
    const row = createRow(line, options, get, nameOf, orderOf)
    row.entry.cells = { names: header, values: cells.slice(0, header.length) }
    read(row, cells, header)
  }
}

/**
 * A format of tables, each row of which is a book.
 * @param matches whether a file has the format, by its columns
 * @param columnsOf the columns of a file with this header
 */
export const createFormat = (
  name: FormatName,
  matches: (header: string[]) => boolean,
  columnsOf: TableFormat['columnsOf'],
): TableFormat => ({
  name,
  matches: (source) => matches(headerOf(source).map(toKey)),
  columnsOf,
  read: (source, options) => {
    const columns = columnsOf(headerOf(source).map(toKey), options)
    const entries: Entry[] = []
    forEachRow(source, options, (row, cells, header) => {
      const extra = cells.findIndex((cell, at) => at >= header.length && cell.trim())
      if (extra !== -1) row.lose('bad-row', `column ${extra + 1}`)
      const missing = header[cells.length]
      if (missing !== undefined) row.lose('short-row', missing)
      entries.push(readColumns(row, columns))
    })
    return entries
  },
})

/**
 * The format of a service. Columns that it does not define are read by their usual names, before those that it does.
 * @param more columns that depend on the header
 */
export const tableFormat = (
  name: FormatName,
  matches: (has: (column: string) => boolean) => boolean,
  columns: Columns,
  more: (header: string[]) => Columns = () => ({}),
) =>
  createFormat(
    name,
    (header) => {
      const names = new Set(header)
      return matches((column) => names.has(column))
    },
    (header) => {
      const defined = { ...columns, ...more(header) }
      const others = header.filter((column) => !Object.hasOwn(defined, column))
      return [...readersOf(findUsual(others)), ...Object.entries(defined)]
    },
  )
