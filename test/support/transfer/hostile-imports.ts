import { readFileSync } from 'node:fs'
import type { Entry, FormatName } from '../../../src/transfer/entries/entry'
import { createMatcher } from '../../../src/transfer/imports/plan/matching'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import { readFile } from '../../../src/transfer/reader/read-file'
import { repeatTo } from '../inputs/hostile-texts'

// Files of all formats, whose texts take the most work for their size.

const fixture = (name: string) => readFileSync(`test/fixtures/imports/${name}`, 'utf8')
const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`

/** Words by which a format tells records apart, dates, and values without letters stay as they are. */
const KEPT =
  /^(?:highlight|book|read|finished|completed|borrowed|done|reading-library|paperback|false|true|ko)$|^\d{4}-/i
/** A value of the first record in the record with the number `n`. Each has its own identifier, and none an ISBN. */
const replaceCell = (cell: string, text: string, n: number) => {
  if (/^[="[]*[\dX]{10,13}\b/.test(cell)) return ''
  if (/^\d{2,9}$/.test(cell)) return String(n + 10)
  return /\p{L}/u.test(cell) && !KEPT.test(cell) ? text : cell
}

/** The first row of a table, with all its texts replaced. */
const table =
  (name: string, hasHeader = true) =>
  (rows: number, textOf: (n: number) => string) => {
    const [first, second] = parseTable(fixture(name)).map(({ cells }) => cells)
    const row = (hasHeader ? second : first) ?? []
    const lines = Array.from({ length: rows }, (_, n) =>
      row.map((cell) => quote(replaceCell(cell, textOf(n), n))).join(),
    )
    return [...(hasHeader ? [(first ?? []).map(quote).join()] : []), ...lines].join('\n')
  }

const replaceTexts = (value: unknown, text: string, n: number): unknown => {
  if (typeof value === 'string') return replaceCell(value, text, n)
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, text, n))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceTexts(item, text, n)]))
}
const objects =
  (first: unknown, wrap: (books: unknown[]) => unknown) => (rows: number, textOf: (n: number) => string) =>
    JSON.stringify(wrap(Array.from({ length: rows }, (_, n) => replaceTexts(first, textOf(n), n))))

const TIMELINE = {
  ...{ title: { text: 'A', titleId: '12345' }, author: 'A', publisher: 'A', isbn: '', cover: { format: 'ebook' } },
  ...{ timestamp: 1_700_000_000_000, activity: 'Borrowed', details: 'A', library: { text: 'A' } },
}
const MARK = {
  ...{ subject: { id: '12345', type: 'book', title: 'A', author: ['A', 'A'], press: ['A'] }, tags: ['A', 'A'] },
  ...{ comment: 'A', rating: { value: 4 }, create_time: '2026-03-14 10:00:00', status: 'done' },
}
const SENT = {
  ...{ title: 'A', author: 'A', text: 'A', note: 'A', category: 'book', color: 'A', image_url: 'https://A' },
  ...{ highlighted_at: '2026-03-14T10:15:30Z', highlight_url: 'https://A/annotation/A?cfi=A', location: 1 },
}
const clippings = (rows: number, textOf: (n: number) => string) =>
  Array.from({ length: rows }, (_, n) => {
    const text = textOf(n)
    return `${text} (${text})\n- Your Highlight on page 1 | Added on Saturday, March 14, 2026 10:15:30 AM\n\n${text}\n==========\n`
  }).join('')
const first = (name: string): unknown => Object.values(JSON.parse(fixture(name)))[0]

/** Files by format, with a number of rows, or of highlights. */
export const HOSTILE_FILES: Record<FormatName, (rows: number, textOf: (n: number) => string) => string> = {
  library: objects(JSON.parse(fixture('library.json')).books[0], (books) => ({
    ...{ format: 'reading-library', version: 1, books },
  })),
  ...{ goodreads: table('goodreads.csv'), storygraph: table('storygraph.csv'), hardcover: table('hardcover.csv') },
  ...{ librarything: table('librarything.tsv'), bookwyrm: table('bookwyrm.csv'), openreads: table('openreads.csv') },
  'librarything-json': objects(first('librarything.json'), (books) => Object.fromEntries(books.entries())),
  ...{ booklogr: table('booklogr.csv'), jelu: table('jelu.csv'), libib: table('libib.csv') },
  ...{ calibre: table('calibre.csv'), readwise: table('readwise.csv'), 'apple-books': table('apple-books.csv') },
  ...{ 'open-library': table('open-library-log.csv'), 'book-catalogue': table('book-catalogue.csv') },
  ...{ kobo: table('kobo.csv', false), csv: table('generic-ko.csv'), kindle: clippings },
  'kindle-notebook': (rows, textOf) =>
    `<html><div class='bookTitle'>${textOf(0)}</div><div class='authors'>${textOf(1)}</div>${Array.from(
      { length: rows },
      (_, n) => `<h3 class='noteHeading'>Highlight - ${textOf(n)}</h3><div class='noteText'>${textOf(n)}</div>`,
    ).join('')}</html>`,
  libby: objects(TIMELINE, (timeline) => ({ version: 1, timeline })),
  'douban-json': objects(MARK, (marks) => marks),
  'koreader-json': objects(JSON.parse(fixture('koreader-one.json')), (documents) => ({ documents })),
  'readwise-api': objects(SENT, (highlights) => ({ highlights })),
  'koreader-lua': (rows, textOf) =>
    `return { ["doc_props"] = { ["title"] = "${textOf(0)}", ["authors"] = "${textOf(1)}" }, ["annotations"] = {${Array.from(
      { length: rows },
      (_, n) => `[${n + 1}] = { ["datetime"] = "2026-03-01 21:15:30", ["text"] = "${textOf(n)}" },`,
    ).join('')} } }`,
  'koreader-clippings': (rows, textOf) => clippings(rows, textOf).replaceAll('Your Highlight', 'Your highlight'),
}

export const HOSTILE_SIZES: Record<string, (factor: number) => { rows: number; length: number }> = {
  rows: (factor) => ({ rows: 30 * factor, length: 480 }),
  'names of up to 480 characters': (factor) => ({ rows: 40, length: 120 * factor }),
  'cells of up to 20,000 characters': (factor) => ({ rows: 2, length: 5000 * factor }),
}

/** A file, and a library with two books for each of its entries: the same one, and one of which the title is a part. */
export const toHostileImport = (
  format: FormatName,
  part: string,
  { rows, length }: { rows: number; length: number },
) => {
  const repeated = repeatTo(part, length)
  const file = new TextEncoder().encode(HOSTILE_FILES[format](rows, (n) => `${repeated}${n}`))
  const { entries, ...read } = readFile(file, { shelfMap: {}, columns: {} })
  const books = entries.flatMap(({ title, subtitle, author, isbn, seriesNumber }: Entry, at) =>
    [title ?? 'A', `${title} ${at}`].map((title, n) => ({
      ...{ bookId: 2 * at + n, title, subtitle, author, isbn, seriesNumber, sourceIds: null },
    })),
  )
  return { file, books, entries, format: read.format }
}

/** What an import does for each row of its file, and for each book of the library. */
export const readAndMatch = ({ file, books }: Pick<ReturnType<typeof toHostileImport>, 'file' | 'books'>) => {
  const { entries } = readFile(file, { shelfMap: {}, columns: {} })
  const { offer, match } = createMatcher(entries, new Map(), new Set())
  for (const book of books) offer(book)
  return match(entries)
}
