// Files of reading statistics as KOReader has them: SQLite files of three pages, by https://www.sqlite.org/fileformat2.html.

const PAGE = 65_536
const HEADER = 100
const encoder = new TextEncoder()

const toVarint = (value: number): number[] => {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(128 + (rest % 128))
  return bytes
}
/** Of 48 bits. */
const toInteger = (value: number) => Array.from({ length: 6 }, (_, at) => Math.floor(value / 256 ** (5 - at)) % 256)

type Value = number | string | null
const toRecord = (values: Value[]) => {
  const bodies = values.map((value) =>
    value === null ? [] : typeof value === 'number' ? toInteger(value) : [...encoder.encode(value)],
  )
  const types = values.flatMap((value, at) =>
    toVarint(value === null ? 0 : typeof value === 'number' ? 5 : 13 + 2 * (bodies[at]?.length ?? 0)),
  )
  // A header of at most 126 bytes has a length of one byte.
  return [types.length + 1, ...types, ...bodies.flat()]
}

/** A leaf page of a table. @throws Error if the rows do not fit */
const writePage = (file: Uint8Array, number: number, rows: Value[][]) => {
  const start = (number - 1) * PAGE
  const header = start + (number === 1 ? HEADER : 0)
  const view = new DataView(file.buffer)
  let end = PAGE
  for (const [at, values] of rows.entries()) {
    const record = toRecord(values)
    const cell = [...toVarint(record.length), ...toVarint(at + 1), ...record]
    end -= cell.length
    if (header - start + 8 + 2 * rows.length > end) throw new Error('Too many rows for a page')
    file.set(cell, start + end)
    view.setUint16(header + 8 + 2 * at, end)
  }
  file[header] = 13
  view.setUint16(header + 3, rows.length)
  view.setUint16(header + 5, end % PAGE)
}

const BOOK = 'CREATE TABLE book (id integer PRIMARY KEY autoincrement, title text, authors text, md5 text)'
const ROWS =
  'CREATE TABLE page_stat_data (id_book integer, page integer NOT NULL, start_time integer NOT NULL, duration integer NOT NULL, total_pages integer NOT NULL)'

/** `start`: a time, or seconds since 1970. */
export type PageRow = { page?: number; start: string | number; seconds: number }
export type ReadBook = { title?: string; authors?: string; md5?: string; rows: PageRow[] }

const toSeconds = (start: string | number) => (typeof start === 'number' ? start : Date.parse(start) / 1000)

/** The MD5 of a book, which names the document. */
export const md5Of = (number: number) => number.toString(16).padStart(32, '0')

/** A file with some books and their rows. The first book has the MD5 of 1, and so on. */
export const statisticsFile = (...books: ReadBook[]) => {
  const file = new Uint8Array(3 * PAGE)
  file.set(encoder.encode('SQLite format 3\0'))
  const view = new DataView(file.buffer)
  view.setUint16(16, 1)
  file.set([1, 1, 0, 64, 32, 32], 18)
  view.setUint32(24, 1)
  view.setUint32(28, 3)
  view.setUint32(44, 4)
  view.setUint32(56, 1)
  view.setUint32(92, 1)
  const table = (name: string, root: number, sql: string) => ['table', name, name, root, sql]
  writePage(file, 1, [table('book', 2, BOOK), table('page_stat_data', 3, ROWS)])
  writePage(
    file,
    2,
    books.map(({ title, authors, md5 }, at) => [null, title ?? null, authors ?? null, md5 ?? md5Of(at + 1)]),
  )
  const rows = books.flatMap(({ rows }, at) =>
    rows.map(({ page = 1, start, seconds }) => [at + 1, page, toSeconds(start), seconds, 100]),
  )
  writePage(file, 3, rows)
  return file
}
