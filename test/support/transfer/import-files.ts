import { type Entry, ImportFileError } from '../../../src/transfer/entries/entry'
import type { ReadOptions } from '../../../src/transfer/entries/reader-protocol'
import type { TableRow } from '../../../src/transfer/reader/csv-rows'
import { readFile } from '../../../src/transfer/reader/read-file'
import { toTable } from '../../../src/transfer/reader/rows/table'

export const bytesOf = (text: string) => new TextEncoder().encode(text)

/** A text in UTF-16, with a byte order mark unless `mark` is empty. */
export const utf16Of = (text: string, isBigEndian: boolean, mark = '\ufeff') => {
  const view = new DataView(new ArrayBuffer(2 * (text.length + mark.length)))
  for (const [at, unit] of [...`${mark}${text}`].entries()) view.setUint16(2 * at, unit.charCodeAt(0), !isBigEndian)
  return new Uint8Array(view.buffer)
}

/** A text in an encoding of one or two bytes for each character, as spreadsheets write it. */
export const encodeAs = (encoding: string, text: string) => {
  const bytes = new Map<string, number[]>()
  const decoder = new TextDecoder(encoding)
  const add = (...values: number[]) => {
    const character = decoder.decode(Uint8Array.from(values))
    if (!bytes.has(character)) bytes.set(character, values)
  }
  for (let byte = 0; byte <= 0xff; byte++) add(byte)
  for (let lead = 0x81; lead <= 0xfe; lead++) for (let trail = 0x40; trail <= 0xfe; trail++) add(lead, trail)
  return Uint8Array.from([...text].flatMap((character) => bytes.get(character) ?? []))
}

/** A file as a format gets it. */
export const sourceOf = (text: string, json?: unknown, rows: TableRow[] = []) => ({ text, json, table: toTable(rows) })

export const NO_OPTIONS = { shelfMap: {}, columns: {} }

export const read = (file: string | Uint8Array, options: Partial<ReadOptions> = {}) =>
  readFile(typeof file === 'string' ? bytesOf(file) : file, { ...NO_OPTIONS, ...options })

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

/** An export of this service with these books. */
export const libraryFile = (...books: unknown[]) => JSON.stringify({ format: 'reading-library', version: 1, books })

/** The cells of an entry, by the names of their columns. */
export const cellsOf = (entry?: Entry) =>
  Object.fromEntries(entry?.cells.names.map((name, at) => [name, entry.cells.values[at]]) ?? [])

/** Why a file is refused. */
export const reasonOf = (file: string | Uint8Array, options: Partial<ReadOptions> = {}) => {
  try {
    read(file, options)
    return undefined
  } catch (error) {
    return error instanceof ImportFileError ? error.message : error
  }
}

/** The number of entries of a file, or that it was refused. Other exceptions fail the test. */
export const outcomeOf = (file: Uint8Array) => {
  try {
    return readFile(file, NO_OPTIONS).entries.length
  } catch (error) {
    if (error instanceof ImportFileError && error.message.length > 10) return 'refused'
    throw error
  }
}
