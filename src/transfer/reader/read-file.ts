import {
  type Entry,
  type Format,
  type FormatName,
  type ImportOptions,
  MAX_UNKNOWN_COLUMNS,
  type Source,
} from '../entry'
import { cutCells, lengthOf } from './cells'
import { parseTable, type TableRow } from './csv-rows'
import { ImportFileError } from './file-error'
import { booklogr } from './formats/booklogr'
import { bookwyrm } from './formats/bookwyrm'
import { calibre } from './formats/calibre'
import { generic } from './formats/generic'
import { goodreads } from './formats/goodreads'
import { hardcover } from './formats/hardcover'
import { kindle } from './formats/highlights/kindle'
import { koreaderClippings } from './formats/highlights/koreader-clippings'
import { koreaderJson } from './formats/highlights/koreader-json'
import { readwise } from './formats/highlights/readwise'
import { jelu } from './formats/jelu'
import { librarything } from './formats/librarything'
import { librarythingJson } from './formats/librarything-json'
import { openreads } from './formats/openreads'
import { library } from './formats/own-export'
import { storygraph } from './formats/storygraph'
import { markDuplicates } from './identity'
import { MORE_LOSSES } from './rows/row'
import { headerOf, type TableFormat } from './rows/table'
import { toKey } from './rows/values'
import { decodeText, describeUnsupported } from './text'

export { ImportFileError } from './file-error'

/**
 * In the order in which they are tried: some formats have all columns of another one. Formats of text and JSON come first,
 * because parsing their files as tables may fail.
 */
const REGISTRY: (Format | TableFormat)[] = [
  library,
  librarythingJson,
  koreaderJson,
  koreaderClippings,
  kindle,
  readwise,
  jelu,
  storygraph,
  hardcover,
  librarything,
  bookwyrm,
  openreads,
  booklogr,
  calibre,
  goodreads,
  generic,
]

const refuse = (reason: string): never => {
  throw new ImportFileError(reason)
}

/** Objects and arrays of a JSON file. Each takes far more memory than its text: 10 MiB of `{},` would take all of it. */
const MAX_JSON_VALUES = 500_000

const count = (text: string, character: string) => {
  let found = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found++
  return found
}

const parseJson = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined
  if (count(text, '{') + count(text, '[') > MAX_JSON_VALUES) {
    refuse('The file has more than 500,000 JSON objects and lists. Split it into several files.')
  }
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The table is parsed when a format asks for it: parsing other text may fail. */
const toSource = (text: string): Source => {
  const json = parseJson(text)
  let rows: TableRow[] | undefined
  return {
    text,
    json,
    get rows() {
      rows ??= json === undefined ? parseTable(text) : []
      return rows
    },
  }
}

const refuseUnknown = (source: Source): never => {
  if (source.json !== undefined) refuse('The file is JSON, but not in a known format.')
  if (/^\s*[[{]/.test(source.text)) refuse('The file begins as JSON, but is cut off or damaged. Export it again.')
  const header = headerOf(source)
  const has = (column: string) => header.some((name) => toKey(name) === column)
  if (has('work id') && has('edition id') && has('bookshelf')) {
    refuse('It is the reading log of Open Library, which has only identifiers, without titles. It cannot be imported.')
  }
  const names = header.slice(0, 10).map((name) => name.slice(0, 40))
  return refuse(
    `No column is known to hold titles: ${names.join(', ')}. Say in columns which ones hold what, such as title.`,
  )
}

const choose = (source: Source, { format, columns }: ReadOptions) => {
  // A file that names its columns needs no detection.
  const name = format ?? (Object.keys(columns).length > 0 ? 'csv' : undefined)
  if (!name) return REGISTRY.find(({ matches }) => matches(source)) ?? refuseUnknown(source)
  const chosen = REGISTRY.find((candidate) => candidate.name === name) ?? refuse(`The format ${name} is not known.`)
  const isMapped = name === 'csv' && columns.title !== undefined && source.rows.length > 0
  if (isMapped || chosen.matches(source)) return chosen
  return name === 'csv' ? refuseUnknown(source) : refuse(`The file does not have the format ${name}.`)
}

/**
 * Readings, memos and progress events of all books: more than an export of 10 MiB has. A reading of `read_dates` takes five
 * bytes of the file, but a row of the database.
 */
const MAX_ROWS_OF_BOOKS = 200_000

const checkRowsOfBooks = (entries: Entry[]) => {
  let rows = 0
  for (const { readings, memos, exact } of entries) {
    rows += readings.length + memos.length + (exact?.progress.length ?? 0)
  }
  if (rows > MAX_ROWS_OF_BOOKS) {
    refuse('The file has more than 200,000 readings, memos and progress events. Split it into several files.')
  }
}

/** Characters of the cells of all rows, with their names: more than any list of books has. */
const MAX_FILE_CELLS = 16 * 1024 * 1024

/** Cuts long cells, and leaves out cells beyond the limit: many short rows below long names, if they fail, would be far larger than the file. */
const limitCells = (entries: Entry[]) => {
  let left = MAX_FILE_CELLS
  for (const entry of entries) {
    entry.cells = cutCells(entry.cells)
    left -= lengthOf(entry.cells)
    if (left >= 0) continue
    entry.cells = { names: [], values: [] }
    if (entry.failure) entry.losses.push({ code: 'too-many', field: 'cells' })
  }
}

/** Characters of the losses of all rows, as JSON. Beyond them, a row lists only a few. */
const MAX_FILE_LOSSES = 8 * 1024 * 1024
const FEW_LOSSES = 5
const LOSS_LENGTH = '{"code":"","field":""},'.length

/** Leaves out losses beyond the limit: those of many columns with long names would be far larger than the file. */
const limitLosses = (entries: Entry[]) => {
  let left = MAX_FILE_LOSSES
  for (const entry of entries) {
    const { losses } = entry
    for (const { code, field } of losses) left -= LOSS_LENGTH + code.length + field.length
    if (left < 0 && losses.length > FEW_LOSSES) entry.losses = [...losses.slice(0, FEW_LOSSES), MORE_LOSSES]
  }
}

export type ReadOptions = ImportOptions & { format?: FormatName; encoding?: string }
export type ReadResult = {
  format: FormatName
  encoding: string
  /** The columns of a table that its format does not know. */
  unknownColumns: string[]
  entries: Entry[]
}

/**
 * Reads the books of a file. Its format is detected by its content.
 * @throws ImportFileError if the file as a whole cannot be read
 */
export const readFile = (bytes: Uint8Array, options: ReadOptions): ReadResult => {
  const unsupported = describeUnsupported(bytes)
  if (unsupported) refuse(unsupported)
  const { text, encoding } = decodeText(bytes, options.encoding)
  if (!text.trim()) refuse('The file is empty.')
  const source = toSource(text)
  const format: Format & Partial<TableFormat> = choose(source, options)
  const entries = format.read(source, options)
  checkRowsOfBooks(entries)
  limitLosses(entries)
  limitCells(entries)
  const header = format.columnsOf ? headerOf(source) : []
  const known = new Set(format.columnsOf?.(header.map(toKey), options).map(([column]) => column))
  const unknownColumns = header.filter((name) => !known.has(toKey(name))).slice(0, MAX_UNKNOWN_COLUMNS)
  // A library may have the same book twice.
  if (format.name !== 'library') markDuplicates(entries)
  return { format: format.name, encoding, unknownColumns, entries }
}
