import { expect, it } from 'vitest'
import { readStatistics } from '../../src/transfer/reader/statistics/read-statistics'
import { reasonOf } from '../support/statistics/compare'
import { insert, md5Of, writeDatabase, writeStatistics } from '../support/statistics/write-file'

const read = (file: Uint8Array, stored: Uint8Array | null = null) =>
  readStatistics(file, { file: stored, missing: null }, { timeZone: 'UTC', maxSittings: 1_000_000 })

const BOOK = 'create table book (id integer primary key, title text, authors text, md5 text)'
const STAT = 'create table page_stat_data (id_book, page, start_time, duration)'
it.each<[string, string, RegExp]>([
  ['no tables', 'pragma user_version = 1', /no statistics of KOReader/],
  ['other tables', 'create table content (id)', /no statistics of KOReader/],
  ['only books', BOOK, /no statistics of KOReader/],
  ['a view of rows', `${BOOK}; create view page_stat as select 1 as page`, /no statistics of KOReader/],
  ['no MD5s', `create table book (id, title, authors); ${STAT}`, /lack the column md5/],
  ['no durations', `${BOOK}; create table page_stat (id_book, page, start_time)`, /lack the column duration/],
  [
    'a table WITHOUT ROWID',
    `${BOOK}; create table page_stat_data (id_book, page, start_time, duration, primary key (id_book, page)) without rowid`,
    /WITHOUT ROWID/,
  ],
  ['generated columns', `${BOOK}; create table page_stat (id_book, page, start_time as (page), duration)`, /generated/],
  [
    'a root that is no number',
    `${BOOK}; ${STAT}; pragma writable_schema = on; update sqlite_schema set rootpage = 'x' where name = 'book'`,
    /has no root/,
  ],
  [
    'two tables of one root',
    `${BOOK}; ${STAT}; pragma writable_schema = on; update sqlite_schema set rootpage = 2`,
    /page 2 is used twice/,
  ],
  [
    'two tables of one name',
    `${BOOK}; ${STAT}; pragma writable_schema = on; update sqlite_schema set name = 'book'`,
    /two tables book/,
  ],
  [
    'a long statement',
    `${BOOK}; create table page_stat (id_book /* ${'x'.repeat(20_000)} */)`,
    /more than 20,000 char/,
  ],
  [
    'no statement of its table',
    `${BOOK}; ${STAT}; pragma writable_schema = on; update sqlite_schema set sql = '((((((' where name = 'book'`,
    /lack the column id/,
  ],
])('with %s is refused with a sentence', (_, schema, reason) => {
  expect(reasonOf(writeDatabase((database) => database.exec(schema)))).toMatch(reason)
})

const numbered = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
const someBooks = (count: number) => numbered(count).map((id) => ({ id, title: 'A', authors: `${id}`, md5: md5Of(id) }))
const someRows = (count: number, ofBooks: number) =>
  numbered(count).map((at) => ({ book: 1 + (at % ofBooks), page: at, start: at, duration: 1 }))

it('may have 2,000 books with rows, and 20,000 in all', { tags: ['slow'] }, () => {
  const books = someBooks(20_001)
  const all = writeStatistics(
    books.slice(1),
    someRows(2001, 2001).filter(({ book }) => book > 1),
  )
  expect(read(all)).toMatchObject({ documents: { length: 2000 }, isComplete: true })
  expect(reasonOf(writeStatistics(books.slice(0, 2001), someRows(2001, 2001)))).toMatch(/more than 2,000 books in all/)
  expect(reasonOf(writeStatistics(books, []))).toMatch(/more than 20,000 books/)
})

it('may have 500,000 rows', { tags: ['slow'] }, () => {
  const schema = `${BOOK}; ${STAT};`
  const write = (count: number) =>
    writeDatabase((database) => {
      database.exec(schema)
      insert(database, someBooks(1), [])
      database.exec(`with recursive n (at) as (select 1 union all select at + 1 from n where at < ${count})
        insert into page_stat_data select 1, at, at, 1 from n`)
    })
  const most = write(500_000)
  expect(read(most).added.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(500_000)
  expect(reasonOf(write(500_001))).toMatch(/more than 500,000 rows in all/)
  // One of another file is too many, too.
  const one = writeStatistics(someBooks(1), [{ book: 1, page: 0, start: 0, duration: 1 }])
  expect(() => read(one, most)).toThrow(/more than 500,000 rows in all/)
})

it.each([
  ['page', 0, 2 ** 31 - 1],
  ['start', 0, Date.parse('9999-12-31T23:59:59Z') / 1000],
  ['duration', 1, 86_400],
])('counts a row whose %s is from %i to %i', (name, least, most) => {
  const count = (value: number) =>
    read(writeStatistics(someBooks(1), [{ book: 1, page: 1, start: 1, duration: 1, [name]: value }])).added.length
  expect([least - 1, least, most, most + 1].map(count)).toEqual([0, 1, 1, 0])
})
