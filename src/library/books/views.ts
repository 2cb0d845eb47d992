import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../db/client'
import { joinPage, listOfCaller, pagesOf } from '../../db/pages'
import { isFinished, isUnread, isWithMemos } from '../../db/schema/book-tables'
import { DEEP_OFFSET, type Paging, toPage } from '../../values/paging'
import type { AbandonedBook, CalenderBook, LibraryBook, MemoBook } from './responses'
import type { LibraryQuery } from './schema'
import { LIBRARY_COLUMNS } from './store'

const isOwn = sql`memberId = ${callerId}`

const selectLibrary = listOfCaller<LibraryBook>(
  sql`case :bookStatus when 'YET' then yetBooks when 'ING' then ingBooks else doneBooks end`,
  // Why an expression around the parameter: db/parameters.ts.
  ({ desc, limit, offset }) => sql`
    select ${LIBRARY_COLUMNS} from books where ${isOwn} and bookStatus = (:bookStatus || '')
    order by bookId ${desc} limit ${limit} offset ${offset}`,
)

/** Books of one status, newest first. */
export const listLibrary = (db: Db, caller: Caller, { bookStatus, ...paging }: LibraryQuery) =>
  selectLibrary(db, caller, paging, { bookStatus })

/** Finished books with an end date, latest first. */
export const listCalender = listOfCaller<CalenderBook>(
  sql`finishedBooks`,
  ({ desc, limit, offset }) => sql`
    select bookId, readEndDate, cover from books where ${isOwn} and ${isFinished}
    order by readEndDate ${desc}, bookId ${desc} limit ${limit} offset ${offset}`,
)

const isOwnUnread = sql`${isOwn} and ${isUnread}`
const isOld = sql`createdAt < :before`
const yetBooks = sql`(select yetBooks from members where ${isCaller})`

const MANY = sql.raw(String(DEEP_OFFSET))
const countUpToMany = (condition: SQL) =>
  sql`nullif((select count(*) from (select 1 from books where ${isOwnUnread} and ${condition} limit ${MANY})), ${MANY})`
// Which books are old depends on the clock, so no counter can hold this total. It is counted in the index of unread
// books: the old ones or, if they are many, the new ones, unless those are many too.
const countAbandoned = sqlStatement<{ totalElements: number }>`
  select coalesce(
    ${countUpToMany(isOld)},
    ${yetBooks} - ${countUpToMany(sql`createdAt >= :before`)},
    (select count(*) from books where ${isOwnUnread} and ${isOld})
  ) as totalElements`
// From the end, all unread books are read, as only their number is known. The new ones, which come last, are dropped.
const selectAbandoned = pagesOf<AbandonedBook>(yetBooks, ({ asc, limit, offset, isFromEnd }) => {
  const order = sql`order by createdAt ${asc}, bookId ${asc}`
  return sql`
    select * from (
      select bookId, createdAt, title, cover from books where ${isFromEnd ? isOwnUnread : sql`${isOwnUnread} and ${isOld}`}
      ${order} limit ${limit} offset ${offset}
    ) where ${isOld} ${order}`
})

/** Unread books registered before a local time, oldest first. */
export const listAbandoned = async (db: Db, caller: Caller, before: string, paging: Paging) => {
  const { count, items } = await runAsCaller(db, caller, {
    count: firstRow(countAbandoned({ before })),
    items: selectAbandoned(paging, { before }),
  })
  return toPage(joinPage(items), count?.totalElements ?? 0, paging)
}

/** Books with at least one memo, newest first. */
export const listWithMemos = listOfCaller<MemoBook>(
  sql`memoBooks`,
  ({ desc, limit, offset }) => sql`
    select bookId, title, cover, memoCount from books where ${isOwn} and ${isWithMemos}
    order by bookId ${desc} limit ${limit} offset ${offset}`,
)
