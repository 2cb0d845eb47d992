import { MAX_NAME } from '../../../values/contract'
import { truncate } from '../../../values/text/truncate'
import { type Code, emptyEntry, type ImportOptions, MAX_COLUMN_NAME, type Shelf } from '../../entries/entry'
import { type DateOrder, parseDate, storable } from './values'

/** Losses that a row of the report lists. Of others, it has the number. */
export const MAX_LOSSES = 100

type Access = {
  /** The value of a column or property, by its folded name. */
  get?: (column: string) => string
  /** The name as it is in the file. */
  nameOf?: (column: string) => string
  /** The order of days and months in a column. */
  orderOf?: (column: string) => DateOrder
}

/** A record of a file, and an entry to fill from it. */
export const createRow = (
  line: number,
  { shelfMap }: ImportOptions,
  { get = () => '', nameOf = (column) => column, orderOf = () => undefined }: Access = {},
) => {
  const entry = emptyEntry(line)
  /** Lists something of the record that cannot be kept, once for each column, or for each value of it that is named. */
  const lose = (code: Code, column: string, value?: string) => {
    const { losses } = entry
    const name = nameOf(column)
    const field = (value === undefined ? name : `${name}: ${value}`).slice(0, MAX_COLUMN_NAME)
    // To compare each with all others would take quadratic time. `finish` counts those beyond the limit.
    if (losses.length >= MAX_LOSSES || !losses.some((loss) => loss.code === code && loss.field === field)) {
      losses.push({ code, field })
    }
  }
  /** A text that can be stored, cut to `max` characters. Null if it is blank. */
  const text = (cell: string, column: string, max = MAX_NAME, code: Code = 'too-long') => {
    const whole = storable(cell).trim()
    if (whole.length > max) lose(code, column)
    return truncate(whole, max).trim() || null
  }
  /** A date, or null with a loss if it cannot be read. */
  const date = (cell: string, column: string) => {
    const date = parseDate(cell, orderOf(column))
    if (date === undefined) lose('bad-date', column)
    return date ?? null
  }
  return {
    entry,
    shelfMap,
    get: (column: string) => get(column).trim(),
    orderOf,
    lose,
    text,
    date,
    /** What the shelf of the book means. It is applied when all readings are known. */
    shelf: undefined as Shelf | undefined,
    tagKeys: new Set<string>(),
    /** The column of the start of a reading whose finish is not read yet. */
    startColumn: undefined as string | undefined,
  }
}
export type Row = ReturnType<typeof createRow>

/** Fills the entry from a cell of a column. What cannot be kept is a loss. */
export type ReadCell = (row: Row, cell: string, column: string) => void
