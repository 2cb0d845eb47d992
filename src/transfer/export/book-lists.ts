import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, type Statement, sqlStatement } from '../../db/client'
import { type LoadPart, type Size, splitByBytes } from '../../db/parts'

// The readings, progress and memos of a book. A page of books has them as JSON arrays. Those of a large book are loaded in
// parts.

const { placeholder } = sql

export const readingJson = sql.raw(`json_object(
  'readingId', readingId, 'createdAt', createdAt, 'startedAt', startedAt, 'finishedAt', finishedAt, 'outcome', outcome,
  'rating', quarters / 4.0, 'format', format, 'note', note, 'paused', json(iif(isPaused, 'true', 'false'))
)`)
export const eventJson = sql.raw(`json_object('at', at, 'page', page, 'kind', kind)`)
export const memoJson = sql.raw(`json_object(
  'memoId', memoId, 'memoType', memoType, 'memoContent', memoContent, 'memoBookPage', memoBookPage,
  'memoAuthority', memoAuthority, 'memoLikesCount', memoLikesCount, 'createdAt', createdAt, 'updatedAt', updatedAt
)`)

/** The readings of a book. One without rows, unless it is unread, has been read once: with its own status, dates and stars. */
export const readingsOfBook = sql.raw(`(
  select readingId, createdAt, startedAt, finishedAt, outcome, quarters, format, note, isPaused from readings
  where readings.memberId = books.memberId and readings.bookId = books.bookId
  union all
  select books.bookId, 0, substr(books.readStartDate, 1, 10), iif(books.bookStatus = 'DONE', substr(books.readEndDate, 1, 10), null),
    iif(books.bookStatus = 'DONE', 'FINISHED', null), nullif(books.star * 4, 0), null, null, 0
  where books.newestReadingId is null and books.bookStatus <> 'YET'
)`)
/** The order of NEWEST_FIRST in readings/newest.ts, reversed. The newest reading of the book is the last. */
export const oldestFirst = (newestReadingId: SQL) =>
  sql`readingId = ${newestReadingId}, outcome is null, coalesce(finishedAt, startedAt, ''), readingId`

const bookId = sql`${placeholder('bookId')}`
const isOfBook = sql`memberId = ${callerId} and bookId = ${bookId}`
const byDate = oldestFirst(sql`(select newestReadingId from books where ${isOfBook})`)
const listed = sql`(select value from json_each(${placeholder('ids')}))`

type Item = { item: string }
/** The sizes of the items of one of the caller's books, and some of the items. */
const LISTS = {
  readings: {
    selectSizes: sqlStatement<Size>`
      select readingId as id, 220 + octet_length(concat(note)) as bytes from readings where ${isOfBook} order by ${byDate}`,
    // The unary plus keeps SQLite from reading all readings of the book, and all memos of the member.
    selectItems: sqlStatement<Item>`
      select ${readingJson} as item from readings
      where +memberId = ${callerId} and readingId in ${listed} order by ${byDate}`,
  },
  progress: {
    selectSizes: sqlStatement<Size>`select at as id, 70 as bytes from progress where ${isOfBook} order by at`,
    selectItems: sqlStatement<Item>`select ${eventJson} as item from progress where ${isOfBook} and at in ${listed} order by at`,
  },
  memos: {
    selectSizes: sqlStatement<Size>`
      select memoId as id, 240 + octet_length(memoContent) as bytes from memos
      where bookId = (select bookId from books where ${isOfBook}) order by memoId`,
    selectItems: sqlStatement<Item>`
      select ${memoJson} as item from memos where +memberId = ${callerId} and memoId in ${listed} order by memoId`,
  },
}

/** Loads the lists of a book that is too large for a page, in parts. */
export const createListLoader = (db: Db, caller: Caller, load: LoadPart) => {
  const query = <Row>(statement: Statement<Row>) =>
    load(async () => {
      const { rows } = await runAsCaller(db, caller, { rows: statement })
      return rows
    })
  return async function* loadList(name: keyof typeof LISTS, bookId: number) {
    const { selectSizes, selectItems } = LISTS[name]
    for (const ids of splitByBytes(await query(selectSizes({ bookId })))) {
      const items = await query(selectItems({ bookId, ids: JSON.stringify(ids) }))
      yield items.map(({ item }) => JSON.parse(item))
    }
  }
}
export type LoadList = ReturnType<typeof createListLoader>
