import { type Entry, type FormatName, MAX_UNKNOWN_COLUMNS } from '../entries/entry'
import type { ReadOptions, ReadResult } from '../entries/reader-protocol'
import { parseTable } from './csv-rows'
import { douban } from './formats/activities/douban'
import { libby } from './formats/activities/libby'
import { bookCatalogue } from './formats/book-catalogue'
import { booklogr } from './formats/booklogr'
import { bookwyrm } from './formats/bookwyrm'
import { calibre } from './formats/calibre'
import { generic } from './formats/generic'
import { goodreads } from './formats/goodreads'
import { hardcover } from './formats/hardcover'
import { kindle, koreaderClippings } from './formats/highlights/kindle'
import { kindleNotebook } from './formats/highlights/kindle-notebook'
import { koreaderJson, koreaderLua } from './formats/highlights/koreader'
import { readwiseApi } from './formats/highlights/readwise-api'
import { addKoboHeader, appleBooks, kobo, readwise } from './formats/highlights/tables'
import { jelu } from './formats/jelu'
import { libib } from './formats/libib'
import { librarythingJson } from './formats/librarything/json'
import { librarything } from './formats/librarything/table'
import { openLibrary } from './formats/open-library'
import { openreads } from './formats/openreads'
import { library } from './formats/own-export'
import { storygraph } from './formats/storygraph'
import { dropSharedKeys, markDuplicates } from './identity'
import { limitEntries, refuse } from './limits'
import { isLua, parseLua } from './lua'
import { type Format, hasColumns, type Source, type Table, toTable } from './rows/table'
import { toCompactKey, toKey } from './rows/values'
import { decodeText, describeUnsupported, reportDamage } from './text'
import { findUnread } from './unread-columns'

/**
 * In the order in which they are tried: some formats have all columns of another one. Formats of text and JSON come
 * first, because parsing their files as tables may fail.
 */
const REGISTRY: Record<FormatName, Format> = {
  library,
  'librarything-json': librarythingJson,
  'koreader-json': koreaderJson,
  'readwise-api': readwiseApi,
  'douban-json': douban,
  'koreader-lua': koreaderLua,
  'koreader-clippings': koreaderClippings,
  kindle,
  'kindle-notebook': kindleNotebook,
  readwise,
  'apple-books': appleBooks,
  kobo,
  libby,
  jelu,
  storygraph,
  hardcover,
  librarything,
  bookwyrm,
  openreads,
  booklogr,
  libib,
  'open-library': openLibrary,
  'book-catalogue': bookCatalogue,
  calibre,
  goodreads,
  csv: generic,
}
const FORMAT_NAMES = Object.keys(REGISTRY) as FormatName[]

/**
 * Objects, arrays, properties and items, each of which takes up to 130 bytes of memory, counted by brackets and commas.
 * An export of 10 MiB has fewer than 700,000, even if it has nothing but progress.
 */
const MAX_JSON_VALUES = 750_000
const MARKS = ['{', '[', ',']

/** The values of a file of JSON, or of a Lua table. */
const parseValues = (text: string): unknown => {
  const isTable = isLua(text)
  if (!isTable && !/^\s*[[{]/.test(text)) return undefined
  let values = 0
  for (const mark of MARKS) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) values++
  }
  if (values > MAX_JSON_VALUES) refuse('The file has more than 750,000 JSON values. Split it into several files.')
  try {
    return isTable ? (parseLua(text) ?? null) : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The table is parsed when a format asks for it: parsing other text may fail. */
const toSource = (text: string): Source => {
  const json = parseValues(text)
  let table: Table | undefined
  return {
    text,
    json,
    get table() {
      table ??= toTable(json === undefined ? addKoboHeader(parseTable(text)) : [])
      return table
    },
  }
}

const refuseUnknown = ({ json, text, table }: Source): never => {
  if (isLua(text)) {
    refuse(
      'It is a metadata file of KOReader, but damaged, or of 2024 or before. Export the highlights as JSON instead.',
    )
  }
  if (json !== undefined) refuse('The file is JSON, but not in a known format.')
  if (/^\s*[[{]/.test(text)) refuse('The file begins as JSON, but is cut off or damaged. Export it again.')
  if (hasColumns(table, ['work id', 'edition id', 'bookshelf'])) {
    refuse('It is the reading log of Open Library, which has only identifiers, without titles. It cannot be imported.')
  }
  const names = table.header.slice(0, 10).map((name) => name.slice(0, 40))
  return refuse(
    `No column is known to hold titles: ${names.join(', ')}. Say in columns which ones hold what, such as title.`,
  )
}

const toPages = (service: string) => `It is a list of web pages, of ${service}. Only books can be imported.`
const READER = `${toPages('Readwise Reader')} Send the highlights of Readwise: Export → CSV.`
/** Tables that would otherwise be read as lists of books, by some of their columns. */
const REFUSED: [columns: string[], reason: string][] = [
  [['url', 'saved date', 'reading progress', 'seen'], READER],
  [['url', 'site name', 'reading progress'], READER],
  [['url', 'time_added'], toPages('Pocket')],
  [['url', 'selection', 'folder', 'timestamp'], toPages('Instapaper')],
  [['url', 'excerpt', 'folder', 'highlights'], toPages('Raindrop')],
  [
    ['highlight'],
    'It has highlights, but no column Title. Name its columns Highlight, Title, Author, Note, Location and Date.',
  ],
  [
    ['star_time', 'rating', 'card'],
    'It is the CSV of doumark-action, whose books have no status. Set its format to json, and send book.json.',
  ],
]

/** Rows of a table that are looked at. */
const MAX_LAID_OUT = 50
/** Tables that are laid out with blanks, as by `calibredb list`, continue long texts on further lines. */
const isLaidOut = ({ rows: [first, ...others] }: Table) => {
  const cells = first?.cells.slice(0, -1) ?? []
  const areEven = others
    .slice(0, MAX_LAID_OUT)
    .every((row) => cells.every((cell, at) => cell.length === row.cells[at]?.length))
  const continues = others.some((row) => row.cells[0]?.trim() === '' && row.cells.some((cell) => cell.trim()))
  return cells.length > 1 && areEven && continues && cells.some((cell) => cell.endsWith(' '))
}

const chooseFormat = (source: Source, { format, columns }: ReadOptions): FormatName => {
  // A file that names its columns needs no detection.
  const name = format ?? (Object.keys(columns).length > 0 ? 'csv' : undefined)
  if (!name) {
    const found = FORMAT_NAMES.find((name) => REGISTRY[name].matches(source))
    const isOther = found === 'csv' || (found === undefined && source.json === undefined)
    if ((isOther || found === 'calibre') && isLaidOut(source.table)) {
      refuse(
        'It is a table laid out with blanks, which continues long texts on further lines. Export it as CSV instead.',
      )
    }
    const [, reason] = (isOther && REFUSED.find(([columns]) => hasColumns(source.table, columns))) || []
    return reason === undefined ? (found ?? refuseUnknown(source)) : refuse(reason)
  }
  const { matches } = REGISTRY[name] ?? refuse(`The format ${name} is not known.`)
  const isMapped = name === 'csv' && columns.title !== undefined && source.table.header.length > 0
  if (isMapped || matches(source)) return name
  return name === 'csv' ? refuseUnknown(source) : refuse(`The file does not have the format ${name}.`)
}

/** Adds the service to the sources of memos: another one may have a column of the same name. */
const nameSources = (entries: Entry[], format: FormatName) => {
  for (const memo of entries.flatMap(({ memos }) => memos)) {
    if (memo.source) memo.source = `${format.replace('-json', '')} ${memo.source}`
  }
}

/**
 * Reads the books of a file. Its format is detected by its content.
 * @throws ImportFileError if the file as a whole cannot be read
 */
export const readFile = (bytes: Uint8Array, options: ReadOptions): ReadResult => {
  const unsupported = describeUnsupported(bytes)
  if (unsupported) refuse(unsupported)
  const { text, encoding, isDamaged } = decodeText(bytes, options.encoding)
  if (!text.trim()) refuse('The file is empty.')
  const source = toSource(text)
  const name = chooseFormat(source, options)
  const { read, columnReaders, memberOf } = REGISTRY[name]
  const folded = Object.entries(options.shelfMap).map(([shelf, meaning]) => [toKey(shelf), meaning])
  const entries = read(source, { ...options, shelfMap: Object.fromEntries(folded) })
  // Strings in Lua may have bytes of their own.
  if (isDamaged || isLua(text)) for (const entry of entries) reportDamage(entry)
  limitEntries(entries)
  nameSources(entries, name)
  const table = columnReaders ? source.table : toTable([])
  const known = new Set(columnReaders?.(table.keys, options).map(([column]) => toCompactKey(column)))
  const isKnown = (column: string) => known.has(toCompactKey(column))
  const member = memberOf?.(source)
  const unknown = [...table.header.filter((column) => !isKnown(column)), ...(member?.unread ?? [])]
  const unknownColumns = unknown.slice(0, MAX_UNKNOWN_COLUMNS)
  // A library may have the same book twice.
  if (name !== 'library') markDuplicates(entries)
  dropSharedKeys(entries)
  return { format: name, encoding, unknownColumns, unreadColumns: findUnread(table, isKnown), member, entries }
}
