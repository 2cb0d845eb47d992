import type { Entry, ImportOptions } from '../../entries/entry'
import { checkCount } from '../limits'
import { applyShelf } from './readings'
import { createRow, type Row } from './row'
import { isObject } from './values'

/** The entry of a record that was read. Every entry needs a title. */
export const finish = (row: Row): Entry => {
  const { entry } = row
  applyShelf(row)
  if (entry.title === null) entry.failure ??= 'no-title'
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
