import { ImportFileError } from './file-error'

/** Entries of a file. */
export const MAX_ROWS = 10_000

/**
 * Returns the items of a file that become entries, unless there are too many.
 * @throws ImportFileError above MAX_ROWS, before memory is used for them
 */
export const limitEntries = <Item>(items: Item[]) => {
  if (items.length > MAX_ROWS)
    throw new ImportFileError('The file has more than 10,000 books. Split it into several files.')
  return items
}
