import { type ReadOptions, readFile } from '../../src/reader/read-file'

export const bytesOf = (text: string) => new TextEncoder().encode(text)

export const read = (file: string | Uint8Array, options: Partial<ReadOptions> = {}) =>
  readFile(typeof file === 'string' ? bytesOf(file) : file, { shelfMap: {}, columns: {}, ...options })

/** The entries of a file, by their titles. */
export const readByTitle = (file: string, options: Partial<ReadOptions> = {}) =>
  Object.fromEntries(read(file, options).entries.map((entry) => [entry.title ?? '', entry]))

/** The first entry of a table, whose rows are objects by column. */
export const readRow = (row: Record<string, string>, options: Partial<ReadOptions> = {}) => {
  const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`
  const [entry] = read(`${Object.keys(row).map(quote)}\n${Object.values(row).map(quote)}\n`, options).entries
  if (!entry) throw new Error('The row was not read')
  return entry
}

/** Why a file is refused. */
export const reasonOf = (file: string | Uint8Array, options: Partial<ReadOptions> = {}) => {
  try {
    read(file, options)
    return undefined
  } catch (error) {
    return error instanceof Error && 'reason' in error ? error.reason : error
  }
}
