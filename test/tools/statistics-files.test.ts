import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { expectEqual, queryRows, readFileRows } from '../support/statistics/compare'
import {
  insert,
  manyRows,
  md5Of,
  query,
  SCHEMA,
  writeDatabase,
  writeStatistics,
} from '../support/statistics/write-file'

const BOOKS = [
  { id: 1, title: 'Demian', authors: 'Hermann Hesse', md5: md5Of(1) },
  { id: 2, title: '채식주의자', authors: '한강\nMina Oh', md5: md5Of(2) },
]
const ROWS = [
  { book: 1, page: 0, start: 1_700_000_000, duration: 60 },
  { book: 2, page: 1, start: 1_700_000_100, duration: 1 },
  { book: 1, page: 2, start: 1_700_000_000, duration: 300 },
]

/** A file with a schema of its own. */
const writeWith = (schema: string, fill = '') =>
  writeDatabase((database) => {
    database.exec(schema)
    if (fill) database.exec(fill)
    else insert(database, BOOKS, ROWS)
  })

it('reads rows and books', () => {
  const { rows, books } = expectEqual(writeStatistics(BOOKS, ROWS))
  expect(rows).toEqual([
    [md5Of(1), 1_700_000_000, 0, 60],
    [md5Of(1), 1_700_000_000, 2, 300],
    [md5Of(2), 1_700_000_100, 1, 1],
  ])
  expect(books[1]).toEqual([md5Of(2), '채식주의자', '한강\nMina Oh'])
})

it('reads files without rows', () => {
  const bytes = writeStatistics(BOOKS, [])
  expect(readFileRows(bytes)).toEqual(queryRows(bytes))
})

it('reads one row', () => {
  expect(expectEqual(writeStatistics(BOOKS, ROWS.slice(0, 1))).rows).toHaveLength(1)
})

it('reads 100 rows', () => {
  const { books, rows } = manyRows(100)
  expect(expectEqual(writeStatistics(books, rows)).rows).toHaveLength(100)
})

it('reads 200,000 rows', { tags: ['slow'] }, () => {
  const { books, rows } = manyRows(200_000)
  expect(expectEqual(writeStatistics(books, rows)).rows).toHaveLength(200_000)
})

/** Books whose titles have lengths around those at which records overflow, and up to 100 KB. */
const longTitles = (pageSize: number) =>
  [1, pageSize / 8, pageSize / 4, pageSize - 100, pageSize - 60, pageSize, 3 * pageSize, 100_000].map((length, at) => ({
    id: at + 1,
    title: null,
    authors: 'a'.repeat(Math.min(length, 400)),
    series: 's'.repeat(length),
    md5: md5Of(at + 1),
  }))

const PAGE_SIZES = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536]
const writeLong = (pageSize: number, settings = '') =>
  writeDatabase((database) => {
    database.exec(`pragma page_size = ${pageSize}; ${settings}; ${SCHEMA}`)
    const books = longTitles(pageSize)
    const add = database.prepare('insert into book (id, title, authors, series, md5) values (?, ?, ?, ?, ?)')
    for (const { id, authors, series, md5 } of books) add.run(id, null, authors, series, md5)
    const rows = Array.from({ length: 3000 }, (_, at) => ({
      book: 1 + (at % books.length),
      page: at,
      start: 2 ** (at % 38) + at,
      duration: 1 + (at % 900),
    }))
    insert(database, [], rows)
  })

it.each(PAGE_SIZES)('reads pages of %i bytes, with overflow', { tags: ['slow'] }, (pageSize) => {
  const bytes = writeLong(pageSize)
  expect(query(bytes, 'pragma page_size')).toEqual([[pageSize]])
  expect(expectEqual(bytes).rows.length).toBeGreaterThan(2900)
})

it.each([
  ['UTF-16le', 'utf-16le'],
  ['UTF-16be', 'utf-16be'],
])('reads texts in %s', (name, encoding) => {
  const bytes = writeWith(`pragma encoding = '${encoding}'; ${SCHEMA}`)
  expect(query(bytes, 'pragma encoding')).toEqual([[name]])
  expect(expectEqual(bytes).books[1]).toEqual([md5Of(2), '채식주의자', '한강\nMina Oh'])
})

it('reads a title of 100 KB, of which it keeps 500 characters, without null characters', () => {
  const title = '제목'.repeat(20_000)
  const bytes = writeStatistics([{ id: 1, title, authors: 'Hesse\0', md5: md5Of(1) }], ROWS)
  expect(readFileRows(bytes).books).toEqual([[md5Of(1), title.slice(0, 500), 'Hesse']])
})

it('reads what is in a file in WAL mode', () => {
  const bytes = writeWith(`pragma journal_mode = wal; ${SCHEMA}`)
  expect([...bytes.subarray(18, 20)]).toEqual([2, 2])
  expectEqual(bytes)
})

it.each(['none', 'full'])('ignores deleted rows, tables and pages: auto_vacuum %s', { tags: ['slow'] }, (mode) => {
  const { books, rows } = manyRows(5000)
  const bytes = writeDatabase((database) => {
    database.exec(`pragma auto_vacuum = ${mode}; pragma secure_delete = off; create table other (text); ${SCHEMA}`)
    insert(database, books, rows)
    database.exec(`insert into other select randomblob(3000) from page_stat_data limit 100; drop table other;
      delete from page_stat_data where page % 3 = 0 or id_book = 2; delete from book where id = 2`)
  })
  const [[free = 0] = []] = query(bytes, 'pragma freelist_count')
  expect(Number(free) > 0).toBe(mode === 'none')
  expectEqual(bytes)
})

it('leaves out reserved bytes at the ends of pages', () => {
  const RESERVED = 40
  const empty = writeDatabase((database) => database.exec('pragma user_version = 1'))
  empty[20] = RESERVED
  new DataView(empty.buffer).setUint16(105, 4096 - RESERVED)
  const { books, rows } = manyRows(1000)
  const bytes = writeDatabase((database) => {
    database.exec(SCHEMA)
    insert(database, books, rows)
  }, empty)
  expect([bytes[20], query(bytes, 'pragma integrity_check')]).toEqual([RESERVED, [['ok']]])
  expectEqual(bytes)
})

it('reads the whole file if its header has an old number of pages', () => {
  const bytes = writeStatistics(BOOKS, ROWS)
  const view = new DataView(bytes.buffer)
  view.setUint32(28, 1)
  view.setUint32(92, view.getUint32(24) + 1)
  expectEqual(bytes)
})

it('reads values of every type, and leaves out rows without numbers or with impossible ones', () => {
  const VALUES = ['null', '0', '1', '-1', '127', '-32768', '8388607', '2147483647', '2147483648', '1099511627776']
  const OTHERS = ['4611686018427387904', '-9223372036854775808', '1.5', '2.4999', '1e300', "'7'", "'x'", "x'07'"]
  const values = [...VALUES, ...OTHERS, '253402300799', '253402300800', '86400', '86401', '-0.2', '86400.4']
  const rows = values.flatMap((value) => [`(1, ${value}, 5, 5)`, `(1, 6, ${value}, 6)`, `(1, 7, 7, ${value})`])
  const bytes = writeWith(
    `create table book (id integer primary key, title text, authors text, md5);
     create table page_stat_data (id_book, page, start_time, duration);`,
    `insert into book values (1, null, x'41', '${md5Of(1)}'), (2, 'A', 'B', null), (3, 'A', 'B', 'none'),
       (-4, 'Negative', 'B', '${md5Of(10)}'), (9007199254740991, 'A', 'B', '${'AbCdEf01'.repeat(4)}');
     insert into page_stat_data values ${rows}, (2, 1, 1, 1), (3, 1, 1, 1), (-4, 1, 1, 1), (-4, 1, 1, 9), (-4, 1, 1, 8),
       (9007199254740991, 1, 1, 1), (null, 1, 1, 1), ('x', 1, 1, 1), (99, 1, 1, 1);`,
  )
  const { rows: read, books } = readFileRows(bytes)
  expect(read).toEqual(queryRows(bytes).rows)
  expect(read.length).toBeGreaterThan(20)
  expect(books).toContainEqual([md5Of(1), null, null])
})

it('takes books of one MD5 as one, with the last title and the longer durations', () => {
  const md5 = 'ab'.repeat(16)
  const books = [
    { id: 1, title: 'Demian (sample)', authors: '', md5 },
    { id: 2, title: 'Demian', authors: ' ', md5: md5.toUpperCase() },
  ]
  const rows = [
    { book: 1, page: 5, start: 100, duration: 20 },
    { book: 2, page: 5, start: 100, duration: 10 },
  ]
  const read = readFileRows(writeStatistics(books, rows))
  expect(read).toEqual({ rows: [[md5, 100, 5, 20]], books: [[md5, 'Demian', null]] })
})

const uploads = readFileSync('test/fixtures/devices/requests.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter(({ method, url }) => method === 'PUT' && url.endsWith('/statistics.sqlite3'))
  .map(({ body }) => new Uint8Array(Buffer.from(body.base64, 'base64')))

it('reads the recorded uploads', () => {
  const minutes = uploads.map(
    (bytes) => expectEqual(bytes).rows.reduce((sum, [, , , seconds]) => sum + seconds, 0) / 60,
  )
  expect(minutes).toEqual([10, 15, 10, 15])
})
