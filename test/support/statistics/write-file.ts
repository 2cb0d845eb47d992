import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export type StatisticsBook = { id: number; title: string | null; authors: string | null; md5: string | null }
export type StatisticsRow = { book: number; page: number; start: number; duration: number }

/** The tables of KOReader since November 2022. */
export const SCHEMA = `
  create table book (id integer primary key autoincrement, title text, authors text, notes integer, last_open integer,
    highlights integer, pages integer, series text, language text, md5 text, total_read_time integer, total_read_pages integer);
  create unique index book_title_authors_md5 on book(title, authors, md5);
  create table page_stat_data (id_book integer, page integer not null default 0, start_time integer not null default 0,
    duration integer not null default 0, total_pages integer not null default 0,
    unique (id_book, page, start_time), foreign key (id_book) references book(id));
  create index page_stat_data_start_time on page_stat_data(start_time);
  create table numbers (number integer primary key);
  create view page_stat as select id_book, page, start_time, duration from page_stat_data;`

/** The MD5 of a book of the tests. */
export const md5Of = (number: number) => number.toString(16).padStart(32, '0')

/** Writes a file with SQLite itself. @param before the file to begin with */
export const writeDatabase = (fill: (database: DatabaseSync) => void, before?: Uint8Array) => {
  const file = join(tmpdir(), `${randomUUID()}.sqlite3`)
  try {
    if (before) writeFileSync(file, before)
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: false, defensive: false })
    fill(database)
    database.close()
    return new Uint8Array(readFileSync(file))
  } finally {
    rmSync(file, { force: true })
  }
}

/** Runs a query on a file. */
export const query = (bytes: Uint8Array, sql: string) => {
  const rows: unknown[][] = []
  writeDatabase((database) => {
    for (const row of database.prepare(sql).iterate()) rows.push(Object.values(row))
  }, bytes)
  return rows
}

/** Adds books and rows to the tables of KOReader, in one transaction. */
export const insert = (database: DatabaseSync, books: StatisticsBook[], rows: Iterable<StatisticsRow>) => {
  database.exec('begin')
  const addBook = database.prepare('insert into book (id, title, authors, md5) values (?, ?, ?, ?)')
  for (const { id, title, authors, md5 } of books) addBook.run(id, title, authors, md5)
  const addRow = database.prepare(
    'insert into page_stat_data (id_book, page, start_time, duration) values (?, ?, ?, ?)',
  )
  for (const { book, page, start, duration } of rows) addRow.run(book, page, start, duration)
  database.exec('commit')
}

/** A file of KOReader's statistics. */
export const writeStatistics = (books: StatisticsBook[], rows: Iterable<StatisticsRow>) =>
  writeDatabase((database) => {
    database.exec(`pragma synchronous = off; pragma journal_mode = memory; ${SCHEMA}`)
    insert(database, books, rows)
  })

/** Books, each of which is read for an hour a day: 60 seconds a page. */
export const manyRows = (count: number) => {
  const PAGES = 700
  const books = Array.from({ length: Math.ceil(count / PAGES) }, (_, at) => ({
    id: at + 1,
    title: `Title ${at}`,
    authors: `Author ${at % 50}`,
    md5: md5Of(at + 1),
  }))
  const rows = Array.from({ length: count }, (_, at) => ({
    book: 1 + Math.floor(at / PAGES),
    page: 1 + (at % PAGES),
    start: 1_500_000_000 + 86_400 * Math.floor(at / 60) + 60 * (at % 60),
    duration: 60,
  }))
  return { books, rows }
}
