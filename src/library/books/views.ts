import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement, statement } from '../../db/client'
import { joinPage, pagesOf } from '../../db/pages'
import { comparedText } from '../../db/parameters'
import { books, isFinished, isUnread, isWithMemos } from '../../db/schema/book-tables'
import { members } from '../../db/schema/member-tables'
import { DEEP_OFFSET, type Page, type Paging, toPage } from '../../values/paging'
import { libraryColumns } from './columns'
import type { AbandonedBook, CalenderBook, LibraryBook, MemoBook } from './responses'
import type { LibraryQuery } from './schema'

const isOwn = eq(books.memberId, callerId)
const totalOf = (counter: SQL) => sql`(select ${counter} from ${members} where ${isCaller})`

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

const booksOfStatus = sql`case :bookStatus
  when 'YET' then ${members.yetBooks} when 'ING' then ${members.ingBooks} else ${members.doneBooks} end`
const selectLibrary = pagesOf(totalOf(booksOfStatus), (db, { desc, limit, offset }) =>
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
  const { guard: totals, items } = await runAsCaller(db, caller, {
    guard: selectTotals(),
    items: selectLibrary(paging, { bookStatus }),
  })
  const total = { YET: totals.yetBooks, ING: totals.ingBooks, DONE: totals.doneBooks }[bookStatus]
  return toPage(joinPage(items), total, paging)
}

const selectCalender = pagesOf(totalOf(sql`${members.finishedBooks}`), (db, { desc, limit, offset }) =>
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
  const { guard, items } = await runAsCaller(db, caller, { guard: selectTotals(), items: selectCalender(paging) })
  return toPage(joinPage(items), guard.finishedBooks, paging)
}

const isOwnUnread = and(isOwn, isUnread)
const before = sql.placeholder('before')
const isOld = lt(books.createdAt, before)
const yetBooks = totalOf(sql`${members.yetBooks}`)

const MANY = sql.raw(String(DEEP_OFFSET))
const countUpToMany = (condition: SQL) =>
  sql`nullif((select count(*) from (select 1 from ${books} where ${and(isOwnUnread, condition)} limit ${MANY})), ${MANY})`
// Which books are old depends on the clock, so no counter can hold this total. It is counted in the index of unread books:
// the old ones or, if they are many, the new ones, unless those are many too.
const countAbandoned = sqlStatement<{ totalElements: number }>`
  select coalesce(
    ${countUpToMany(isOld)},
    ${yetBooks} - ${countUpToMany(gte(books.createdAt, before))},
    (select count(*) from ${books} where ${and(isOwnUnread, isOld)})
  ) as totalElements`
// From the end, all unread books are read, as only their number is known. The new ones, which come last, are dropped.
const selectAbandoned = pagesOf(yetBooks, (db, { asc, limit, offset, isFromEnd }) => {
  const unread = db
    .select({ bookId: books.bookId, createdAt: books.createdAt, title: books.title, cover: books.cover })
    .from(books)
    .where(isFromEnd ? isOwnUnread : and(isOwnUnread, isOld))
    .orderBy(asc(books.createdAt), asc(books.bookId))
    .limit(limit)
    .offset(offset)
    .as('unread')
  return db.select().from(unread).where(lt(unread.createdAt, before)).orderBy(asc(unread.createdAt), asc(unread.bookId))
})

/** Unread books registered before a local time, oldest first. */
export const listAbandoned = async (
  db: Db,
  caller: Caller,
  before: string,
  paging: Paging,
): Promise<Page<AbandonedBook>> => {
  const { count, items } = await runAsCaller(db, caller, {
    count: firstRow(countAbandoned({ before })),
    items: selectAbandoned(paging, { before }),
  })
  return toPage(joinPage(items), count?.totalElements ?? 0, paging)
}

const selectWithMemos = pagesOf(totalOf(sql`${members.memoBooks}`), (db, { desc, limit, offset }) =>
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
  const { guard, items } = await runAsCaller(db, caller, { guard: selectTotals(), items: selectWithMemos(paging) })
  return toPage(joinPage(items), guard.memoBooks, paging)
}
