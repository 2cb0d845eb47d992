import { type Format, type FormatName, type ImportOptions, MAX_COLUMN_NAME, type Source } from '../entry'
import { storable } from './normalize'
import { createRow, finish, type Row } from './row'
import { cutText, detectOrder, toKey } from './values'

export type TableFormat = Format & {
  /** The columns that the format reads, or leaves out on purpose, by their folded names. */
  knows: (column: string, source: Source, options: ImportOptions) => boolean
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

type ReadRow = (row: Row, options: ImportOptions) => void

/**
 * Reads each row below the header into an entry.
 * @param aliases other names of columns, by which `read` gets their cells
 */
export const readTable = (
  source: Source,
  options: ImportOptions,
  read: ReadRow,
  aliases: Iterable<[alias: string, column: string]> = [],
) => {
  const header = headerOf(source)
  const named = new Map(header.map((name, at) => [toKey(name), at]))
  const columns = new Map([
    ...named,
    ...[...aliases].map(([alias, column]) => [alias, named.get(column) ?? -1] as const),
  ])
  const records = source.rows.slice(1)
  const orders = new Map<string, ReturnType<typeof detectOrder>>()
  const orderOf = (column: string) => {
    if (!orders.has(column)) {
      const at = columns.get(column) ?? -1
      orders.set(column, detectOrder(records.map(({ cells }) => (cells[at] ?? '').trim())))
    }
    return orders.get(column)
  }
  const nameOf = (column: string) => header[columns.get(column) ?? -1] ?? column
  return records.map(({ line, cells }) => {
    const row = createRow({ line, nameOf, orderOf, get: (column) => cells[columns.get(column) ?? -1] ?? '' })
    row.entry.cells = { names: header, values: cells.slice(0, header.length) }
    const extra = cells.findIndex((cell, at) => at >= header.length && cell.trim())
    if (extra !== -1) row.lose('bad-row', `column ${extra + 1}`)
    const missing = header[cells.length]
    if (missing !== undefined) row.lose('short-row', missing)
    read(row, options)
    return finish(row)
  })
}

/**
 * A format of tables.
 * @param columns the names of the columns that are read, or left out on purpose, separated by commas
 * @param unsupported the columns of the member's own data that the library has no place for
 */
export const tableFormat = ({
  name,
  matches,
  columns,
  unsupported = '',
  isKnown,
  read,
}: {
  name: FormatName
  matches: (has: (column: string) => boolean) => boolean
  columns: string
  unsupported?: string
  isKnown?: (column: string) => boolean
  read: ReadRow
}): TableFormat => {
  const refused = unsupported.split(',').filter(Boolean)
  const known = new Set([...columns.split(','), ...refused])
  return {
    name,
    matches: (source) => {
      const header = new Set(headerOf(source).map(toKey))
      return matches((column) => header.has(column))
    },
    knows: (column) => known.has(column) || Boolean(isKnown?.(column)),
    read: (source, options) =>
      readTable(source, options, (row) => {
        read(row, options)
        row.refuse(refused)
      }),
  }
}
