import { type Cells, type Entry, emptyEntry, type Source } from '../../../entry'
import { headerOf, type TableFormat } from '../../table'
import { addLoss, addMemo, cleanText, joinNotes } from './clippings/clipped-memos'
import { parseZonedDate } from './clippings/dates'

// Readwise's export uses the first name, files for Readwise's import the second one.
const COLUMNS = {
  highlight: ['highlight'],
  title: ['book title', 'title'],
  author: ['book author', 'author'],
  asin: ['amazon book id'],
  note: ['note'],
  tags: ['tags'],
  color: ['color'],
  url: ['url'],
  locationType: ['location type'],
  location: ['location'],
  date: ['highlighted at', 'date'],
  documentTags: ['document tags'],
}
/** The member's own data that the library has no place for. */
const UNSUPPORTED = [
  ['tags', 'Tags'],
  ['color', 'Color'],
  ['url', 'URL'],
] as const
type Row = Record<keyof typeof COLUMNS, string>

const KNOWN = new Set(Object.values(COLUMNS).flat())
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

type Book = { entry: Entry; refused: Set<string>; tags: Set<string> }

const startBook = (line: number, row: Row): Book => {
  const entry = toEntry(line, row)
  if (row.asin && entry.sourceIds.length === 0) addLoss(entry, 'not-supported', 'Amazon Book ID')
  return { entry, refused: new Set(), tags: new Set() }
}

const addTags = ({ tags }: Book, { documentTags }: Row) => {
  for (const tag of documentTags.split(',')) if (tag.trim()) tags.add(tag.trim())
}

/** Names the columns that cannot be kept, once for each book. */
const refuseColumns = ({ entry, refused }: Book, row: Row) => {
  for (const [name, column] of UNSUPPORTED) {
    if (!row[name] || refused.has(name)) continue
    refused.add(name)
    addLoss(entry, 'not-supported', column)
  }
}

/** Returns a function that names the cells of a row, also those beyond the header. Most rows share the names of the header. */
const createCellNamer = (header: string[], rows: Source['rows']) => {
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0)
  const names = Array.from({ length: width }, (_, at) => header[at] ?? `column ${at + 1}`)
  return (values: string[]): Cells => ({
    names: values.length > header.length ? names.slice(0, values.length) : header,
    values,
  })
}

const read = (source: Source) => {
  const { rows } = source
  const names = headerOf(source)
  const nameCells = createCellNamer(names, rows)
  const readRow = rowReader(toHeader(rows))
  const books = new Map<string, Book>()
  const failed: Entry[] = []
  for (const { line, cells } of rows.slice(1)) {
    if (!cells.some((cell) => cell.trim())) continue
    const row = readRow(cells)
    const failure = !row.title ? 'no-title' : !row.highlight && !row.note ? 'empty-highlight' : null
    if (failure) {
      const losses = failure === 'empty-highlight' ? [{ code: failure, field: 'Highlight' } as const] : []
      failed.push({ ...toEntry(line, row), failure, losses, cells: nameCells(cells) })
      continue
    }
    const key = JSON.stringify([row.title, row.author, row.asin])
    const book = books.get(key) ?? startBook(line, row)
    books.set(key, book)
    if (cells.length < names.length) addLoss(book.entry, 'short-row', `line ${line}`)
    if (cells.slice(names.length).some((cell) => cell.trim())) addLoss(book.entry, 'bad-row', `line ${line}`)
    addTags(book, row)
    refuseColumns(book, row)
    addRow(book.entry, row, line)
  }
  return [...books.values()].map(({ entry, tags }) => ({ ...entry, tags: [...tags] })).concat(failed)
}

/** Readwise's CSV export, and CSV files for Readwise's import. */
export const readwise: TableFormat = {
  name: 'readwise',
  matches: ({ rows }) => toHeader(rows).includes('highlight'),
  knows: (column) => KNOWN.has(column),
  read,
}
