import { type Entry, emptyEntry, type Format, type Source } from '../../imports/entry'
import { headerOf } from '../table'
import { parseZonedDate } from './clippings/dates'
import { addLoss, addMemo, cleanText, joinNotes } from './clippings/memos'

// Readwise's export uses the first name, files for Readwise's import the second one.
const COLUMNS = {
  highlight: ['highlight'],
  title: ['book title', 'title'],
  author: ['book author', 'author'],
  asin: ['amazon book id'],
  note: ['note'],
  tags: ['tags'],
  locationType: ['location type'],
  location: ['location'],
  date: ['highlighted at', 'date'],
  documentTags: ['document tags'],
}
type Row = Record<keyof typeof COLUMNS, string>

const toHeader = (rows: Source['rows']) => (rows[0]?.cells ?? []).map((name) => cleanText(name).toLowerCase())

/** Reads cells by the names of their columns. */
const rowReader = (header: string[]) => {
  const places = Object.entries(COLUMNS).map(
    ([field, names]) => [field, names.map((name) => header.indexOf(name)).find((at) => at !== -1)] as const,
  )
  return (cells: string[]) =>
    Object.fromEntries(places.map(([field, at]) => [field, cleanText(cells[at ?? -1] ?? '')])) as Row
}

const toEntry = (line: number, { title, author, asin }: Row): Entry => ({
  ...emptyEntry(line),
  title: title || null,
  author: author || null,
  sourceIds: /^[\dA-Z]{10}$/.test(asin) ? [`asin:${asin}`] : [],
})

const addRow = (entry: Entry, row: Row, line: number) => {
  const field = `line ${line}`
  const { highlight, note, date, locationType, location } = row
  const createdAt = parseZonedDate(date)
  if (date && !createdAt) addLoss(entry, 'bad-date', field)
  const isPage = locationType.toLowerCase() === 'page' && /^\d{1,9}$/.test(location)
  const type = highlight ? 'BOOK_CONTENT' : 'THOUGHT'
  addMemo(entry, { type, content: joinNotes(highlight, note), page: isPage ? Number(location) : 0, createdAt }, field)
}

type Book = { entry: Entry; hasTags: boolean; tags: Set<string> }

const addTags = (book: Book, { tags, documentTags }: Row) => {
  if (tags && !book.hasTags) addLoss(book.entry, 'not-supported', 'Tags')
  book.hasTags ||= tags !== ''
  for (const tag of documentTags.split(',')) if (tag.trim()) book.tags.add(tag.trim())
}

const read = (source: Source) => {
  const { rows } = source
  const names = headerOf(source)
  const readRow = rowReader(toHeader(rows))
  const books = new Map<string, Book>()
  const failed: Entry[] = []
  for (const { line, cells } of rows.slice(1)) {
    if (!cells.some((cell) => cell.trim())) continue
    const row = readRow(cells)
    const failure = !row.title ? 'no-title' : !row.highlight && !row.note ? 'empty-highlight' : null
    if (failure) {
      const losses = failure === 'empty-highlight' ? [{ code: failure, field: 'Highlight' } as const] : []
      const named = Object.fromEntries(cells.map((cell, at) => [names[at] ?? `column ${at + 1}`, cell]))
      failed.push({ ...toEntry(line, row), failure, losses, cells: named })
      continue
    }
    const key = JSON.stringify([row.title, row.author, row.asin])
    const book = books.get(key) ?? { entry: toEntry(line, row), hasTags: false, tags: new Set<string>() }
    books.set(key, book)
    addTags(book, row)
    addRow(book.entry, row, line)
  }
  return [...books.values()].map(({ entry, tags }) => ({ ...entry, tags: [...tags] })).concat(failed)
}

/** Readwise's CSV export, and CSV files for Readwise's import. */
export const readwise: Format = {
  name: 'readwise',
  matches: ({ rows }) => toHeader(rows).includes('highlight'),
  read,
}
