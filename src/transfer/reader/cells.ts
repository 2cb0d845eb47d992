import { MAX_NAME } from '../../values/contract'
import type { Cells } from '../entry'
import { cutText } from './rows/values'

// The values of a row or an object as they are in the file, which a failed row keeps.

/** Text as the database can store it: without NUL and halves of surrogate pairs. */
export const storable = (text: string) => text.toWellFormed().replaceAll('\0', '')

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value of a JSON file as the text of a cell. */
export const toCell = (value: unknown): string => {
  if (typeof value === 'string') return storable(value)
  if (value === undefined || value === null) return ''
  try {
    return JSON.stringify(value)
  } catch {
    // It is nested too deeply.
    return ''
  }
}

/** The properties of an object of a JSON file as cells. */
export const toCells = (object: Record<string, unknown>): Cells => ({
  names: Object.keys(object),
  values: Object.values(object).map(toCell),
})

/** The characters of cells, with their names. */
export const lengthOf = ({ names, values }: Cells) => {
  const add = (sum: number, text: string) => sum + text.length
  return values.reduce(add, names.reduce(add, 0))
}

/** Characters of each cell that a row keeps, if together they have more than MAX_CELLS. */
const MAX_CELL = 2000
const MAX_CELLS = 100_000

export const cutCells = (cells: Cells): Cells => {
  if (lengthOf(cells) <= MAX_CELLS) return cells
  const count = MAX_CELLS / MAX_CELL
  return {
    names: cells.names.slice(0, count).map((name) => cutText(name, MAX_NAME)),
    values: cells.values.slice(0, count).map((value) => cutText(value, MAX_CELL)),
  }
}
