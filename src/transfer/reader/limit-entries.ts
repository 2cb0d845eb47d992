import { ImportFileError } from './file-error'

/** Entries of a file. */
export const MAX_ROWS = 10_000

/** @throws ImportFileError above MAX_ROWS. Call it before the entries are made, which takes far more memory than the file. */
export const checkCount = (entries: number) => {
  if (entries > MAX_ROWS) throw new ImportFileError('The file has more than 10,000 books. Split it into several files.')
}

/** Returns the items of a file that become entries. @throws ImportFileError if there are too many */
export const limitEntries = <Item>(items: Item[]) => {
  checkCount(items.length)
  return items
}
