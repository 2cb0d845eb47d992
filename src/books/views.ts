import { and, asc, desc, eq, lt, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller, selectCaller } from '../db/caller'
import { type Db, statement } from '../db/client'
import { comparedText, limit, offset } from '../db/parameters'
import { books, isFinished, isUnread, isWithMemos, members } from '../db/schema'
import { type Page, type Paging, toLimit, toPage } from '../schema/paging'
import type { AbandonedBook, CalenderBook, LibraryBook, MemoBook } from './responses'
import type { LibraryQuery } from './schema'

const isOwn = eq(books.memberId, callerId)

const selectTotals = statement((db) =>
  db
    .select({
      yetBooks: members.yetBooks,
      ingBooks: members.ingBooks,
      doneBooks: members.doneBooks,
      finishedBooks: members.finishedBooks,
      memoBooks: members.memoBooks,
    })
    .from(members)
    .where(isCaller),
)

/** The columns of LibraryBook. */
export const libraryColumns = {
  bookId: books.bookId,
  title: books.title,
  cover: books.cover,
  author: books.author,
  createdAt: books.createdAt,
  star: books.star,
  currentPage: books.currentPage,
  itemPage: books.itemPage,
  bookStatus: books.bookStatus,
  memoCount: books.memoCount,
}

const selectLibrary = statement((db) =>
  db
    .select(libraryColumns)
    .from(books)
    .where(and(isOwn, sql`${books.bookStatus} = ${comparedText('bookStatus')}`))
    .orderBy(desc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** Books of one status, newest first. */
export const listLibrary = async (
  db: Db,
  caller: Caller,
  { bookStatus, ...paging }: LibraryQuery,
): Promise<Page<LibraryBook>> => {
  const library = selectLibrary({ bookStatus, ...toLimit(paging) })
  const [totals, items] = await runAsCaller(db, caller, selectTotals(), library)
  const total = { YET: totals.yetBooks, ING: totals.ingBooks, DONE: totals.doneBooks }[bookStatus]
  return toPage(items, total, paging)
}

const selectCalender = statement((db) =>
  db
    .select({
      bookId: books.bookId,
      readEndDate: sql<string>`${books.readEndDate}`.as('readEndDate'),
      cover: books.cover,
    })
    .from(books)
    .where(and(isOwn, isFinished))
    .orderBy(desc(books.readEndDate), desc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** Finished books with an end date, latest first. */
export const listCalender = async (db: Db, caller: Caller, paging: Paging): Promise<Page<CalenderBook>> => {
  const [totals, items] = await runAsCaller(db, caller, selectTotals(), selectCalender(toLimit(paging)))
  return toPage(items, totals.finishedBooks, paging)
}

const isAbandoned = and(isOwn, isUnread, lt(books.createdAt, sql.placeholder('before')))

// Which books are old depends on the clock, so no counter can hold this total. It is counted in the index of unread books.
const countAbandoned = statement((db) =>
  db
    .select({ totalElements: sql<number>`count(*)`.as('totalElements') })
    .from(books)
    .where(isAbandoned),
)
const selectAbandoned = statement((db) =>
  db
    .select({ bookId: books.bookId, createdAt: books.createdAt, title: books.title, cover: books.cover })
    .from(books)
    .where(isAbandoned)
    .orderBy(asc(books.createdAt), asc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** Unread books registered before a local time, oldest first. */
export const listAbandoned = async (
  db: Db,
  caller: Caller,
  before: string,
  paging: Paging,
): Promise<Page<AbandonedBook>> => {
  const page = selectAbandoned({ before, ...toLimit(paging) })
  const [, [count], items] = await runAsCaller(db, caller, selectCaller(), countAbandoned({ before }), page)
  return toPage(items, count?.totalElements ?? 0, paging)
}

const selectWithMemos = statement((db) =>
  db
    .select({ bookId: books.bookId, title: books.title, cover: books.cover, memoCount: books.memoCount })
    .from(books)
    .where(and(isOwn, isWithMemos))
    .orderBy(desc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** Books with at least one memo, newest first. */
export const listWithMemos = async (db: Db, caller: Caller, paging: Paging): Promise<Page<MemoBook>> => {
  const [totals, items] = await runAsCaller(db, caller, selectTotals(), selectWithMemos(toLimit(paging)))
  return toPage(items, totals.memoBooks, paging)
}
