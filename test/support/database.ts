import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import type { Home } from './home'

/** The slot of the tests' members: 1 in the project `in-slot`. */
export const memberSlot = () => (env.DB_1 ? 1 : 0)
export const memberDatabase = () => env.DB_1 ?? env.DB
export const memberHome = (): Home => {
  const addressKey = env.ADDRESS_KEY ?? ''
  return { slot: memberSlot(), database: memberDatabase(), directory: env.DB, addressKey }
}
/** Replaces the members' database for a request. */
export const changeDatabase = (database: D1Database) => (env.DB_1 ? { DB_1: database } : { DB: database })

const SHARED_TABLES = /\b(?:joinCodes|accountCodes|attempts|dailyMails|addresses|slotCounters)\b/

/** Queries the database that has the tables. */
export const select = async (query: string, ...values: unknown[]) => {
  const database = SHARED_TABLES.test(query) ? env.DB : memberDatabase()
  const statement = database.prepare(query).bind(...values)
  return (await statement.all()).results
}

/** A database whose every call fails with this message. */
export const brokenDatabase = (message: string) => {
  const fail = () => Promise.reject(new Error(message))
  const statement = { bind: () => statement, run: fail }
  const session = { prepare: () => statement, batch: fail, getBookmark: () => null }
  return { withSession: () => session } as unknown as D1Database
}

/** Lists how many rows each batch of a request changes: with triggers and cascades, without index entries. */
export const listChanges = async (request: () => Promise<unknown>) => {
  const batch = vi.spyOn(Object.getPrototypeOf(env.DB.withSession()), 'batch')
  try {
    await request()
    const batches = (await Promise.all(batch.mock.results.map(({ value }) => value))) as D1Result[][]
    return batches.map((results) => results.reduce((sum, { meta }) => sum + (meta.changes ?? 0), 0))
  } finally {
    batch.mockRestore()
  }
}

/** Counts the database calls of a request, and the rows they read and write. */
export const measure = async (request: () => Promise<unknown>) => {
  const session = env.DB.withSession()
  const statement = Object.getPrototypeOf(session.prepare('select 1'))
  const singles = (['run', 'all', 'first', 'raw'] as const).map((method) => vi.spyOn(statement, method))
  const batch = vi.spyOn(Object.getPrototypeOf(session), 'batch')
  try {
    await request()
    const batches = (await Promise.all(batch.mock.results.map(({ value }) => value))) as D1Result[][]
    const metas = batches.flat().map(({ meta }) => meta)
    const sum = (key: 'rows_read' | 'rows_written') => metas.reduce((total, meta) => total + (meta[key] ?? 0), 0)
    const calls = batches.length + singles.reduce((total, { mock }) => total + mock.calls.length, 0)
    return { calls, read: sum('rows_read'), written: sum('rows_written') }
  } finally {
    for (const spy of [batch, ...singles]) spy.mockRestore()
  }
}

/** Inserts books in all three statuses, one in ten with a memo. */
export const fillShelf = (memberId: number, books: number, db = memberDatabase()) => {
  const last = (table: string, id: string) =>
    `(select max(coalesce((select max(${id}) from ${table}), 0), coalesce((select id from retiredIds where tableName = '${table}'), 0)))`
  const insertBooks = db.prepare(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
    insert into books (bookId, memberId, title, createdAt, bookStatus, readEndDate)
    select ${last('books', 'bookId')} + i, ?1, 'Book ' || i, '2020-01-01T00:00:00',
      case i % 3 when 0 then 'YET' when 1 then 'ING' else 'DONE' end,
      case i % 3 when 2 then strftime('%Y-%m-%dT%H:%M:%S', 1577836800 + i * 3600, 'unixepoch') end
    from n
  `)
  const insertMemos = db.prepare(`
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select ${last('memos', 'memoId')} + row_number() over (order by bookId), bookId, memberId,
      (select coalesce(max(position), 0) from memos m where m.memberId = ?1) + row_number() over (order by bookId),
      'SUMMARY', 'A memo', 1, 'PRIVATE', '2020-01-01T00:00:00', '2020-01-01T00:00:00'
    from books where memberId = ?1 and title like 'Book %0'
  `)
  return db.batch([insertBooks.bind(memberId, books), insertMemos.bind(memberId)])
}

/** The highest identifier that a reading has had, in a query of books. */
export const LAST_READING = `max(
  (books.bookId >> 40 << 40) + (1 << 39), coalesce((select max(readingId) from readings), 0),
  coalesce((select max(readingId) from books), 0), coalesce((select id from retiredIds where tableName = 'readings'), 0)
)`

/** Adds finished readings, each of another day, to a book that has none. The last one is the current one. */
export const insertReadings = async (bookId: number, count: number) => {
  await select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
    insert into readings (readingId, memberId, bookId, createdAt, finishedAt, outcome)
    select ${LAST_READING} + i, memberId, bookId, 1,
      strftime('%Y-%m-%d', 86400 * i, 'unixepoch'), 'FINISHED'
    from books, n where bookId = ?1 and ?2 > 0`,
    bookId,
    count - 1,
  )
  await select(
    `update books set bookStatus = 'DONE', readEndDate = strftime('%Y-%m-%dT00:00:00', 86400 * ?2, 'unixepoch') where bookId = ?1`,
    bookId,
    count,
  )
}

/** Adds tags to a book, named `Tag 1` and so on, above the ids of `existing` tags. */
export const fillTags = (memberId: number, bookId: number, tags: number, existing = 0) => {
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)'
  const insertTags = memberDatabase().prepare(`${numbers}
    insert into tags (memberId, tagId, tag, tagKey) select ?1, ?4 + i, 'Tag ' || i, 'tag ' || i from n where ?2 > 0`)
  const insertBookTags = memberDatabase().prepare(`${numbers}
    insert into bookTags (memberId, bookId, tagId) select ?1, ?2, ?4 + i from n`)
  return memberDatabase().batch([insertTags, insertBookTags].map((each) => each.bind(memberId, bookId, tags, existing)))
}

/** Adds an import, which another request works on if it is running. */
export const insertImport = async (memberId: number, status: 'RUNNING' | 'DONE', rows: number) => {
  const importId = Date.now()
  const leaseEndsAt = importId + 3_600_000
  await select(
    `insert into imports (memberId, importId, status, isDryRun, merge, format, encoding, options, total, leaseEndsAt, done, created)
    values (?1, ?2, ?3, 0, 'fill', 'goodreads', 'utf-8', '{}', ?4, ?5, ?4, ?4)`,
    ...[memberId, importId, status, rows, leaseEndsAt],
  )
  await select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
    insert into importRows (memberId, importId, row, line, title, outcome)
    select ?1, ?2, i, i + 1, 'Book ' || i, 'created' from n where ?3 > 0`,
    ...[memberId, importId, rows],
  )
  return importId
}
