import { scaledRating } from '../rows/columns'
import type { ReadCell } from '../rows/row'
import { createFormat } from '../rows/table'
import { findNamed, findUsual, readersOf } from '../rows/usual-columns'

const shelfOfDates: ReadCell = (row) => {
  const last = row.entry.readings.at(-1)
  if (last) row.shelf = last.finishedAt ? 'DONE' : 'ING'
}

/** Any table, by the columns that the member names, and the usual names of the others. */
export const generic = createFormat(
  (_, keys) => findUsual(keys).has('title'),
  (keys, { columns }) => {
    const named = findNamed(keys, columns)
    const taken = new Set([...named.values()].flat())
    const found = new Map([...findUsual(keys.filter((column) => !taken.has(column))), ...named])
    // Without a column for it, the dates say the status.
    const readers = readersOf(found, scaledRating)
    return found.has('status') ? readers : [...readers, ['', shelfOfDates]]
  },
)
