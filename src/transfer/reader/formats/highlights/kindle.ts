import type { Entry, ImportOptions } from '../../../entries/entry'
import { checkCount } from '../../limits'
import { addAuthors, addHighlight, title } from '../../rows/columns'
import { createRow, type Row } from '../../rows/row'
import { type Format, finish, type Source } from '../../rows/table'
import { type Block, readBlocks, sampleMetadata } from './clippings/blocks'
import { type Clipping, findHighlights, findRepeated, findReplaced } from './clippings/merge-clippings'
import { isUndated, type Metadata, parseMetadata } from './clippings/metadata'

// More would exceed the memory of a Worker. The files of long-time readers have a tenth of this.
const MAX_BLOCKS = 100_000

const OPENING = '(（'
const CLOSING = ')）'

/** Where the bracket group at the end of a text begins, or -1. Groups may be nested. */
const lastGroup = (text: string) => {
  if (!text || !CLOSING.includes(text.slice(-1))) return -1
  for (let at = text.length - 1, depth = 0; at >= 0; at--) {
    const character = text.charAt(at)
    if (CLOSING.includes(character)) depth++
    else if (OPENING.includes(character) && --depth === 0) return at
  }
  return -1
}

/** Splits `Title (Author)`. Titles may have brackets too, so the last group is the author. */
const splitTitle = (line: string) => {
  const start = lastGroup(line)
  const title = line.slice(0, Math.max(start, 0)).trim()
  return title ? { title, author: line.slice(start + 1, -1).trim() || null } : { title: line, author: null }
}

type Book = { row: Row; clippings: Clipping[] }

// `<You have reached the clipping limit for this item>`, in the language of the device. It replaces the text, or
// follows its beginning.
const LIMIT_MESSAGE = /<[^<>]{10,150}>$/
const LIMIT_WORD = /limi|límite|grenze|maxim|máxim|лимит|предел|максим|限制|上限|제한|한도/i

const removeLimit = (text: string) => {
  const message = LIMIT_MESSAGE.exec(text.slice(-200))?.[0]
  return message && LIMIT_WORD.test(message) ? text.slice(0, -message.length).trim() : text
}

/** The position of a block, as the `field` of a loss. */
const toField = ({ location }: Metadata, line: number) => {
  if (!location) return `line ${line}`
  return `location ${location.start}${location.end > location.start ? `-${location.end}` : ''}`
}

const codeOfEmpty = ({ kind, page, location, createdAt }: Metadata) => {
  if (kind === 'highlight' || kind === 'note') return 'empty-highlight'
  return kind || page || location || createdAt ? 'bookmark' : 'bad-row'
}

/** In unknown languages, a clipping with a single location is a note: highlights have ranges. */
const isNote = ({ kind, location }: Metadata) => (kind ? kind !== 'highlight' : location?.isRange === false)

const addBlock = ({ row, clippings }: Book, block: Block, line: string) => {
  const metadata = parseMetadata(line)
  const field = toField(metadata, block.line)
  if (!block.text) return row.lose(codeOfEmpty(metadata), field)
  const text = removeLimit(block.text)
  if (text !== block.text) row.lose('clipping-limit', field)
  if (!text) return
  if (!metadata.createdAt && !isUndated(line)) row.lose('bad-date', field)
  clippings.push({ ...metadata, text, field, isNote: isNote(metadata) })
}

const addMemos = ({ row, clippings: placed }: Book) => {
  // `export-kobo --kindle` writes page 1 and location 1 for every clipping.
  const isPlaced = placed.length === 1 || placed.some(({ page, location }) => page !== 1 || location?.start !== 1)
  const clippings = isPlaced ? placed : placed.map((clipping) => ({ ...clipping, page: 0, location: null }))
  const replaced = findReplaced(clippings)
  for (const { field } of replaced) row.lose('replaced-highlight', field)
  const repeated = findRepeated(clippings)
  for (const { field } of repeated) row.lose('repeated-text', field)
  const kept = clippings.filter((clipping) => !replaced.has(clipping) && !repeated.has(clipping))
  const highlights = findHighlights(kept)
  const notes = Map.groupBy(kept, (clipping) => highlights.get(clipping))
  for (const clipping of notes.get(undefined) ?? []) {
    const texts = [clipping, ...(notes.get(clipping) ?? [])].map(({ text }) => text)
    addHighlight(row, clipping.isNote ? ['', ...texts] : texts, clipping, clipping.field)
  }
  return finish(row)
}

const startBook = (line: number, name: string | null, options: ImportOptions): Book => {
  const row = createRow(line, options)
  const { title: text, author } = splitTitle(name ?? '')
  title(row, text, 'title')
  addAuthors(row, [author ?? ''], 'author')
  return { row, clippings: [] }
}

/** Reads the books of a file of clippings. Blocks that belong to no book are losses of a failed entry. */
const readClippings = (text: string, options: ImportOptions): Entry[] => {
  const books = new Map<string | null, Book>()
  const unreadable: Row[] = []
  let blocks = 0
  for (const block of readBlocks(text)) {
    const { line, title, metadata } = block
    const field = `line ${line}`
    if (++blocks > MAX_BLOCKS) {
      const rest = createRow(line, options)
      rest.entry.failure = 'too-many'
      rest.lose('too-many', field)
      unreadable.push(rest)
      break
    }
    if (metadata === null) {
      unreadable[0] ??= createRow(line, options)
      unreadable[0].entry.failure = 'bad-row'
      unreadable[0].lose('bad-row', field)
      continue
    }
    const book = books.get(title) ?? startBook(line, title, options)
    books.set(title, book)
    checkCount(books.size)
    addBlock(book, block, metadata)
  }
  return [...books.values()].map(addMemos).concat(unreadable.map(finish))
}

// Unlike Kindle, KOReader writes `highlight` in lower case, the day and the hour with two digits, and no location.
const KOREADER_LINE =
  /^- Your (?:highlight|note) on page [^|]{1,40} \| Added on \w+, \w+ \d\d, \d{4} \d\d:\d\d:\d\d [AP]M$/

/** The device that wrote a file of clippings. Undefined for other files. */
const writerOf = ({ json, text }: Source) => {
  const lines = json === undefined ? sampleMetadata(text) : []
  if (lines.length === 0) return undefined
  return lines.every((line) => KOREADER_LINE.test(line)) ? 'koreader' : 'kindle'
}

/** `My Clippings.txt` of Kindle devices, in any language. */
export const kindle: Format = {
  matches: (source) => writerOf(source) === 'kindle',
  read: ({ text }, options) => readClippings(text, options),
}

/** KOReader's export “My Clippings”. */
export const koreaderClippings: Format = {
  matches: (source) => writerOf(source) === 'koreader',
  // KOReader writes `(Unknown)` where the book has no author.
  read: ({ text }, options) =>
    readClippings(text, options).map((entry) => (entry.author === 'Unknown' ? { ...entry, author: null } : entry)),
}
