import { truncate } from '../../../values/text/truncate'
import { type Entry, type EntryMember, type ImportOptions, MAX_COLUMN_NAME } from '../../entries/entry'
import type { TableRow } from '../csv-rows'
import { checkCount, sumUp } from '../limits'
import type { Columns } from './columns'
import { createOrderFinder } from './date-orders'
import { createScaleFinder } from './rating-scales'
import { applyShelf } from './readings'
import { createRow, MAX_LOSSES, type ReadCell, type Row } from './row'
import { findUsual, readersOf } from './usual-columns'
import { isObject, storable, toCompactKey, toKey } from './values'

/** The names of the columns, the same folded for comparison, and the rows below them. */
export type Table = {
  header: string[]
  keys: string[]
  rows: TableRow[]
  /** Where a column is, or -1. Blanks and the like in its name do not matter. */
  placeOf: (column: string) => number
}

/** `json`: the value of JSON or Lua, null for damaged Lua, undefined for other texts. Only those have a table. */
export type Source = { text: string; json: unknown; table: Table }

/** A column with the function that reads it, by its folded name. */
type ColumnReader = readonly [column: string, read: ReadCell]

export type Format = {
  /** Whether the file has this format, by its content only. */
  matches: (source: Source) => boolean
  read: (source: Source, options: ImportOptions) => Entry[]
  /** For tables: the columns that the format reads, or leaves out on purpose, in the order in which they are read. */
  columnReaders?: (keys: string[], options: ImportOptions) => ColumnReader[]
  memberOf?: (source: Source) => EntryMember
}
export type TableFormat = Format & Required<Pick<Format, 'columnReaders'>>

/** Cuts the names of columns to MAX_COLUMN_NAME. A name that is empty or repeats an earlier one gets its number. */
export const toTable = ([first, ...rows]: TableRow[]): Table => {
  const places = new Map<string, number>()
  const header = (first?.cells ?? []).map((cell, at) => {
    const name = storable(truncate(cell.replace(/^\ufeff/, '').trim(), MAX_COLUMN_NAME))
    const unique = name && !places.has(toCompactKey(name)) ? name : `${name} (${at + 1})`.trim()
    places.set(toCompactKey(unique), at)
    return unique
  })
  const found = new Map<string, number>()
  const placeOf = (column: string) => {
    const place = found.get(column) ?? places.get(toCompactKey(column)) ?? -1
    found.set(column, place)
    return place
  }
  return { header, keys: header.map(toKey), rows, placeOf }
}

export const hasColumns = ({ placeOf }: Table, columns: string[]) => columns.every((column) => placeOf(column) !== -1)

/** The entry of a record that was read. Every entry needs a title. */
export const finish = (row: Row): Entry => {
  const { entry } = row
  applyShelf(row)
  if (entry.title === null) entry.failure ??= 'no-title'
  entry.losses = sumUp(entry.losses, MAX_LOSSES)
  return entry
}

/** Reads the items of a JSON file, each of which is a book. @throws ImportFileError if there are too many */
export const readObjects = (
  items: unknown[],
  options: ImportOptions,
  read: (row: Row, object: Record<string, unknown>) => void,
) => {
  checkCount(items.length)
  return items.map((item, at) => {
    const row = createRow(at + 1, options)
    if (isObject(item)) read(row, item)
    else row.entry.failure = 'bad-row'
    return finish(row)
  })
}

export const readColumns = (row: Row, columns: ColumnReader[]) => {
  for (const [column, read] of columns) read(row, row.get(column), column)
  return finish(row)
}

export const mapRows = <Result>(table: Table, options: ImportOptions, read: (row: Row, cells: string[]) => Result) => {
  const { header, rows, placeOf } = table
  const nameOf = (column: string) => header[placeOf(column)] ?? column
  const orderOf = createOrderFinder(table)
  const scaleOf = createScaleFinder(table)
  return rows.map(({ line, cells }) => {
    const row = createRow(line, options, { get: (column) => cells[placeOf(column)] ?? '', nameOf, orderOf, scaleOf })
    row.entry.cells = { names: header, values: cells.slice(0, header.length) }
    return read(row, cells)
  })
}

/** A format of tables, each row of which is a book. `matches`: whether a file has the format, by its columns. */
export const createFormat = (
  matches: (has: (column: string) => boolean, keys: string[]) => boolean,
  columnReaders: TableFormat['columnReaders'],
): TableFormat => ({
  matches: ({ table }) => matches((column) => hasColumns(table, [column]), table.keys),
  columnReaders,
  read: ({ table }, options) => {
    const { header, keys } = table
    const columns = columnReaders(keys, options)
    return mapRows(table, options, (row, cells) => {
      const extra = cells.findIndex((cell, at) => at >= header.length && cell.trim())
      if (extra !== -1) row.lose('bad-row', `column ${extra + 1}`)
      const missing = header[cells.length]
      if (missing !== undefined) row.lose('short-row', missing)
      return readColumns(row, columns)
    })
  },
})

/**
 * The format of a service. Its files must have a column `title`. Columns that it does not define are read first, by
 * their usual names.
 * @param more columns that depend on the header
 */
export const tableFormat = (
  matches: (has: (column: string) => boolean) => boolean,
  columns: Columns,
  more: (keys: string[]) => Columns = () => ({}),
) =>
  createFormat(
    (has) => has('title') && matches(has),
    (keys) => {
      const defined = { ...columns, ...more(keys) }
      const names = new Set(Object.keys(defined).map(toCompactKey))
      const others = keys.filter((column) => !names.has(toCompactKey(column)))
      return [...readersOf(findUsual(others)), ...Object.entries(defined)]
    },
  )
