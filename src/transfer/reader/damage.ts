import type { Entry } from '../entries/entry'
import { sumUp } from './limits'
import { isObject } from './rows/values'

const isDamaged = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\ufffd')
  if (Array.isArray(value)) return value.some(isDamaged)
  return isObject(value) && Object.values(value).some(isDamaged)
}

const MAX_DAMAGED = 20

/** Lists the columns of a row, or without a table the values of the entry, whose bytes were no text. */
export const reportDamage = (entry: Entry) => {
  const { cells, losses: _, ...values } = entry
  const all =
    cells.names.length > 0 ? cells.values.map((cell, at) => [cells.names[at] ?? '', cell]) : Object.entries(values)
  const damaged = all.filter(([, value]) => isDamaged(value))
  const losses = damaged.map(([field]) => ({ code: 'bad-bytes' as const, field: String(field) }))
  entry.losses.push(...sumUp(losses, MAX_DAMAGED))
}
