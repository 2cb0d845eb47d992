import { and, desc, eq, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { MEMO_TYPES } from '../contract'
import { type Caller, callerId, queryOne, runAsCaller, selectCaller } from '../db/caller'
import { type Db, dynamicStatement, idempotent, sqlStatement, statement } from '../db/client'
import { nextId } from '../db/next-id'
import { limit, offset } from '../db/parameters'
import { books, members, memos } from '../db/schema'
import { quotaExceeded } from '../errors'
import { type Quotas, utf8Bytes } from '../quotas'
import { type Page, toLimit, toPage } from '../schema/paging'
import type { Memo, MemoPatch, MemosQuery, NewMemo, RandomMemo } from './schema'

const { placeholder } = sql

const memoColumns = {
  memoId: memos.memoId,
  memoType: memos.memoType,
  memoContent: memos.memoContent,
  memoBookPage: memos.memoBookPage,
  memoAuthority: memos.memoAuthority,
  memoLikesCount: memos.memoLikesCount,
  createdAt: memos.createdAt,
  updatedAt: memos.updatedAt,
}

const isOwnBook = and(eq(books.bookId, placeholder('bookId')), eq(books.memberId, callerId))
/** Matches the memos of a book only if it is the caller's: no memo of another member's book is read. */
const isInOwnBook = eq(memos.bookId, sql`(select ${books.bookId} from ${books} where ${isOwnBook})`)

/** The memos of a book with the given visibility, unsorted: `newestFirst` is faster than sorting in the database. */
export const selectMemosList = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(isInOwnBook, sql`${placeholder('memoAuthority')} in ('ALL', ${memos.memoAuthority})`)),
)

/** Sorts in place. */
export const newestFirst = (list: Memo[]) => list.sort((one, other) => other.memoId - one.memoId)

const selectPageOfType = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(isInOwnBook, eq(memos.memoType, placeholder('memoType'))))
    .orderBy(desc(memos.memoId))
    .limit(limit)
    .offset(offset),
)

const selectOfType = (memoType: Memo['memoType']) => sql`
  select memoId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt
  from memos where ${isInOwnBook} and memoType = ${sql.raw(`'${memoType}'`)}`

// The index on (bookId, memoType) yields each type in the order of memoId. Merging the four types gives a page of all
// memos without sorting the whole book, and saves a second index.
const selectPageOfAllTypes = sqlStatement<Memo>(sql`
  ${sql.join(MEMO_TYPES.map(selectOfType), sql` union all `)}
  order by memoId desc limit ${limit} offset ${offset}`)

const COUNTERS = {
  ALL: 'memoCount',
  BOOK_CONTENT: 'contentMemos',
  SUMMARY: 'summaryMemos',
  THOUGHT: 'thoughtMemos',
  QUESTION: 'questionMemos',
} as const

const selectCounters = statement((db) =>
  db
    .select({
      memoCount: books.memoCount,
      contentMemos: books.contentMemos,
      summaryMemos: books.summaryMemos,
      thoughtMemos: books.thoughtMemos,
      questionMemos: books.questionMemos,
    })
    .from(books)
    .where(isOwnBook),
)

/** A page of a book's memos of one type or of all. Returns undefined if the caller has no such book. */
export const listMemos = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoType, ...paging }: MemosQuery,
): Promise<Page<Memo> | undefined> => {
  const values = { bookId, memoType, ...toLimit(paging) }
  const page = memoType === 'ALL' ? selectPageOfAllTypes(values) : selectPageOfType(values)
  const [, [counters], items] = await runAsCaller(db, caller, selectCaller(), selectCounters({ bookId }), page)
  return counters && toPage(items, counters[COUNTERS[memoType]], paging)
}

const randomPosition = sql`(
  select 1 + cast(${placeholder('fraction')} * max(${memos.position}) as integer)
  from ${memos} where ${memos.memberId} = ${callerId}
)`
const selectRandom = statement((db) =>
  db
    .select({
      memoId: memos.memoId,
      memoContent: memos.memoContent,
      memoType: memos.memoType,
      memoBookPage: memos.memoBookPage,
    })
    .from(memos)
    .where(and(eq(memos.memberId, callerId), eq(memos.position, randomPosition))),
)

/** One of the caller's memos, each equally likely. Returns undefined if there is none. */
export const drawMemo = (db: Db, caller: Caller): Promise<RandomMemo | undefined> =>
  queryOne(db, caller, selectRandom({ fraction: Math.random() }))

const memberTextBytes = (memberId: SQLiteColumn) =>
  sql`(select ${members.textBytes} from ${members} where ${members.memberId} = ${memberId})`

const insertMemo = sqlStatement<Memo>(sql`
  insert into memos (
    memoId, bookId, memberId, position,
    memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt
  )
  select
    ${nextId(memos.memoId)}, ${books.bookId}, ${books.memberId},
    (select coalesce(max(${memos.position}), 0) + 1 from ${memos} where ${memos.memberId} = ${books.memberId}),
    ${placeholder('memoType')}, ${placeholder('memoContent')}, ${placeholder('memoBookPage')},
    ${placeholder('memoAuthority')}, ${placeholder('createdAt')}, ${placeholder('createdAt')}
  from ${books} where ${isOwnBook}
    and ${books.memoCount} < ${placeholder('MAX_MEMOS_PER_BOOK')}
    and ${books.memoBytes} + ${placeholder('bytes')} <= ${placeholder('MAX_BOOK_TEXT_BYTES')}
    and ${memberTextBytes(books.memberId)} + ${placeholder('bytes')} <= ${placeholder('MAX_MEMBER_TEXT_BYTES')}
  returning memoId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt`)

const selectUsage = statement((db) =>
  db.select({ memoCount: books.memoCount, memoBytes: books.memoBytes }).from(books).where(isOwnBook),
)

/**
 * Adds a memo to one of the caller's books. Returns undefined if the caller has no such book.
 * @param now the local time to record
 * @throws MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES or MAX_MEMBER_TEXT_BYTES when that quota is full
 */
export const createMemo = async (
  db: Db,
  caller: Caller,
  bookId: number,
  memo: NewMemo,
  now: string,
  quotas: Quotas,
): Promise<Memo | undefined> => {
  const { MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES, MAX_MEMBER_TEXT_BYTES } = quotas
  const limits = { MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES, MAX_MEMBER_TEXT_BYTES }
  const bytes = utf8Bytes(memo.memoContent)
  const insert = insertMemo({ ...memo, bookId, createdAt: now, bytes, ...limits })
  const [, [created], [book]] = await runAsCaller(db, caller, selectCaller(), insert, selectUsage({ bookId }))
  if (created || !book) return created
  if (book.memoCount >= MAX_MEMOS_PER_BOOK) throw quotaExceeded('MAX_MEMOS_PER_BOOK', quotas)
  const isBookFull = book.memoBytes + bytes > MAX_BOOK_TEXT_BYTES
  throw quotaExceeded(isBookFull ? 'MAX_BOOK_TEXT_BYTES' : 'MAX_MEMBER_TEXT_BYTES', quotas)
}

const isOwnMemo = and(eq(memos.memoId, placeholder('memoId')), eq(memos.memberId, callerId))
const selectMemo = statement((db) => db.select(memoColumns).from(memos).where(isOwnMemo))
const removeMemo = statement((db) => db.delete(memos).where(isOwnMemo).returning({ memoId: memos.memoId }))

const bookTextBytes = sql<number>`(select ${books.memoBytes} from ${books} where ${books.bookId} = ${memos.bookId})`
const growth = sql<number>`${placeholder('bytes')} - octet_length(${memos.memoContent})`
/** Whether new content fits the quotas. Content that does not grow always does. */
const fits = sql`(${growth} <= 0 or (
  ${bookTextBytes} + ${growth} <= ${placeholder('MAX_BOOK_TEXT_BYTES')}
  and ${memberTextBytes(memos.memberId)} + ${growth} <= ${placeholder('MAX_MEMBER_TEXT_BYTES')}
))`
const selectGrowth = statement((db) =>
  db
    .select({ bookBytes: sql<number>`${bookTextBytes} + ${growth}`.as('bookBytes') })
    .from(memos)
    .where(isOwnMemo),
)

/**
 * Updates the given fields of a memo. Returns undefined if the caller has no such memo.
 * @param now the local time to record
 * @throws MAX_BOOK_TEXT_BYTES or MAX_MEMBER_TEXT_BYTES when the content grows and that quota is full
 */
export const updateMemo = async (
  db: Db,
  caller: Caller,
  memoId: number,
  patch: MemoPatch,
  now: string,
  quotas: Quotas,
): Promise<Memo | undefined> => {
  if (Object.keys(patch).length === 0) return queryOne(db, caller, selectMemo({ memoId }))
  const { MAX_BOOK_TEXT_BYTES, MAX_MEMBER_TEXT_BYTES } = quotas
  const values = { memoId, bytes: utf8Bytes(patch.memoContent), MAX_BOOK_TEXT_BYTES, MAX_MEMBER_TEXT_BYTES }
  const hasContent = patch.memoContent !== undefined
  const update = idempotent(
    dynamicStatement(
      (builder) =>
        builder
          .update(memos)
          .set({ ...patch, updatedAt: now })
          .where(hasContent ? and(isOwnMemo, fits) : isOwnMemo)
          .returning(memoColumns),
      values,
    ),
  )
  if (!hasContent) return queryOne(db, caller, update)
  const [, [before], [updated]] = await runAsCaller(db, caller, selectCaller(), selectGrowth(values), update)
  if (updated || !before) return updated
  const isBookFull = before.bookBytes > MAX_BOOK_TEXT_BYTES
  throw quotaExceeded(isBookFull ? 'MAX_BOOK_TEXT_BYTES' : 'MAX_MEMBER_TEXT_BYTES', quotas)
}

/** Deletes a memo. Returns undefined if the caller has no such memo. */
export const deleteMemo = (db: Db, caller: Caller, memoId: number) => queryOne(db, caller, removeMemo({ memoId }))
