import { MAX_NAME } from '../../../values/contract'
import { truncate } from '../../../values/text/truncate'
import { type Code, emptyEntry, type ImportOptions, MAX_COLUMN_NAME, type Shelf } from '../../entries/entry'
import { type DateOrder, type FoundDate, findDates, possibleDates } from './dates'
import type { Scale } from './rating-scales'
import { storable } from './values'

/** Losses that a row of the report lists. Of others, it has the number. */
export const MAX_LOSSES = 100

type Access = {
  /** The value of a column or property, by its folded name. */
  get?: (column: string) => string
  /** The name as it is in the file. */
  nameOf?: (column: string) => string
  /** The order of a date's parts in a column. */
  orderOf?: (column: string, date: FoundDate) => DateOrder | undefined
  /** The scale of the ratings in a column. */
  scaleOf?: (column: string) => Scale
}

const STARS: Scale = { most: 5, isGuessed: false }

/** A record of a file, and an entry to fill from it. */
export const createRow = (
  line: number,
  { shelfMap }: ImportOptions,
  { get = () => '', nameOf = (column) => column, orderOf = () => undefined, scaleOf = () => STARS }: Access = {},
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
  /** The dates of a cell that can be read: each alone, or start and finish. Others are losses. */
  const dates = (cell: string, column: string) => {
    const found = findDates(cell)
    if (found === undefined) lose('bad-date', column)
    return (found ?? []).flatMap((item) => {
      const all = item.map((date) => possibleDates(date, (date) => orderOf(column, date)))
      for (const [at, possible] of all.entries()) {
        if (possible.length === 0) lose('bad-date', column)
        if (possible.length > 1) lose('bad-date', column, `${item[at]?.text} is ${possible.join(' or ')}`)
      }
      return all.every((possible) => possible.length === 1) ? [all.flat()] : []
    })
  }
  /** The only date of a cell, or null, with a loss if it cannot be read. */
  const date = (cell: string, column: string) => {
    const [[date, ...finish] = [], ...others] = dates(cell, column)
    if (finish.length + others.length === 0) return date ?? null
    lose('bad-date', column)
    return null
  }
  return {
    entry,
    shelfMap,
    get: (column: string) => get(column).trim(),
    lose,
    scaleOf,
    text,
    dates,
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
