import type { Cells } from '../entry'

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value of a JSON file as the text of a cell, without NUL and halves of surrogate pairs, which cannot be stored. */
export const toCell = (value: unknown): string => {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
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
