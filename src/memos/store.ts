import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/sqlite-core'
import { asCaller, type Caller, callerId, callerMemberId, once, whoever } from '../db/caller'
import { type Builder, type Db, dynamic, given, repeatable, statement } from '../db/client'
import { nextId } from '../db/ids'
import { books, memos } from '../db/schema'
import { type Page, toLimit, toPage } from '../http/paging'
import type { Memo, MemoPatch, MemosQuery, NewMemo, RandomMemo } from './schema'

export const memoColumns = {
  memoId: memos.memoId,
  memoType: memos.memoType,
  memoContent: memos.memoContent,
  memoBookPage: memos.memoBookPage,
  memoAuthority: memos.memoAuthority,
  memoLikesCount: memos.memoLikesCount,
  createdAt: memos.createdAt,
  updatedAt: memos.updatedAt,
}

// Whose book it is, is asked beside it: the rows of a book that is not the caller's are never looked at.
const isOfBook = eq(memos.bookId, sql.placeholder('bookId'))

/**
 * The memos of the book `bookId` that `memoAuthority` lets through (or `ALL`), in no order: all are answered, and
 * `newestFirst` sorts them in less time than the database does.
 */
export const selectMemosList = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(isOfBook, sql`${sql.placeholder('memoAuthority')} in ('ALL', ${memos.memoAuthority})`)),
)

/** Sorts in place. */
export const newestFirst = (list: Memo[]) => list.sort((one, other) => other.memoId - one.memoId)

const ofType = (db: Builder, memoType: SQL) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(isOfBook, eq(memos.memoType, memoType)))

/**
 * All memos of a book, newest first, as the merge of its types: the index on (book, type) gives each of them in that
 * order, so that no page sorts the whole book, and no second index has to be written.
 */
const ofAllTypes = (db: Builder) =>
  unionAll(
    ofType(db, sql`'BOOK_CONTENT'`),
    ofType(db, sql`'SUMMARY'`),
    ofType(db, sql`'THOUGHT'`),
    ofType(db, sql`'QUESTION'`),
  ).orderBy(desc(memos.memoId))

const pageOfAllTypes = statement((db) =>
  ofAllTypes(db).limit(sql.placeholder('limit')).offset(sql.placeholder('offset')),
)
const pageOfType = statement((db) =>
  ofType(db, sql`${sql.placeholder('memoType')}`)
    .orderBy(desc(memos.memoId))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset')),
)

const TOTALS = {
  ALL: 'memoCount',
  BOOK_CONTENT: 'contentMemos',
  SUMMARY: 'summaryMemos',
  THOUGHT: 'thoughtMemos',
  QUESTION: 'questionMemos',
} as const

const selectTotals = statement((db) =>
  db
    .select({
      memoCount: books.memoCount,
      contentMemos: books.contentMemos,
      summaryMemos: books.summaryMemos,
      thoughtMemos: books.thoughtMemos,
      questionMemos: books.questionMemos,
    })
    .from(books)
    .where(and(eq(books.bookId, sql.placeholder('bookId')), eq(books.memberId, callerMemberId))),
)

/** A page of a book's memos of one type, or of all; undefined when the caller has no such book. */
export const listMemos = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoType, ...paging }: MemosQuery,
): Promise<Page<Memo> | undefined> => {
  const values = { bookId, memoType, ...toLimit(paging) }
  const page = memoType === 'ALL' ? pageOfAllTypes(values) : pageOfType(values)
  const [, [totals], items] = await asCaller(db, caller, whoever(), selectTotals({ bookId }), page)
  return totals && toPage(items, totals[TOTALS[memoType]], paging)
}

const drawn = sql`(
  select 1 + cast(${sql.placeholder('fraction')} * max(${memos.position}) as integer)
  from ${memos} where ${memos.memberId} = ${callerMemberId}
)`
const selectDrawn = statement((db) =>
  db
    .select({
      memoId: memos.memoId,
      memoContent: memos.memoContent,
      memoType: memos.memoType,
      memoBookPage: memos.memoBookPage,
    })
    .from(memos)
    .where(and(eq(memos.memberId, callerMemberId), eq(memos.position, drawn))),
)

/** One memo of the caller, each equally likely; undefined when there is none. */
export const drawMemo = (db: Db, caller: Caller): Promise<RandomMemo | undefined> =>
  once(db, caller, selectDrawn({ fraction: Math.random() }))

// By the token's member rather than by the book's owner: in a selection Drizzle drops the table from a column's name,
// and so the two memberIds would be one.
const nextPosition = sql<number>`(
  select coalesce(max(${memos.position}), 0) + 1 from ${memos} where ${memos.memberId} = ${callerMemberId}
)`

const insertMemo = statement((db) =>
  db
    .insert(memos)
    .select(
      db
        .select({
          memoId: nextId(memos.memoId).as('memoId'),
          bookId: books.bookId,
          memberId: books.memberId,
          position: nextPosition.as('position'),
          memoType: given<NewMemo['memoType']>('memoType'),
          memoContent: given<string>('memoContent'),
          memoBookPage: given<number>('memoBookPage'),
          memoAuthority: given<NewMemo['memoAuthority']>('memoAuthority'),
          memoLikesCount: sql<number>`0`.as('memoLikesCount'),
          createdAt: given<string>('createdAt'),
          updatedAt: given<string>('updatedAt'),
        })
        .from(books)
        .where(and(eq(books.bookId, sql.placeholder('bookId')), eq(books.memberId, callerId))),
    )
    .returning(memoColumns),
)

/** Writes a memo on a book of the caller; undefined when the caller has no such book. */
export const createMemo = (
  db: Db,
  caller: Caller,
  bookId: number,
  memo: NewMemo,
  now: string,
): Promise<Memo | undefined> => once(db, caller, insertMemo({ ...memo, bookId, createdAt: now, updatedAt: now }))

const isOwn = and(eq(memos.memoId, sql.placeholder('memoId')), eq(memos.memberId, callerId))
const selectMemo = statement((db) => db.select(memoColumns).from(memos).where(isOwn))
const removeMemo = statement((db) => db.delete(memos).where(isOwn).returning({ memoId: memos.memoId }))

/** Changes what is given of a memo; undefined when the caller has no such memo. */
export const updateMemo = (
  db: Db,
  caller: Caller,
  memoId: number,
  patch: MemoPatch,
  now: string,
): Promise<Memo | undefined> => {
  const update = (builder: Builder) =>
    builder
      .update(memos)
      .set({ ...patch, updatedAt: now })
      .where(isOwn)
      .returning(memoColumns)
  const own = Object.keys(patch).length === 0 ? selectMemo({ memoId }) : repeatable(dynamic(update, { memoId }))
  return once(db, caller, own)
}

/** Deletes a memo; undefined when the caller has no such memo. */
export const deleteMemo = (db: Db, caller: Caller, memoId: number) => once(db, caller, removeMemo({ memoId }))

/** Sees to it that the caller is still a member, before an image is stored. */
export const confirmCaller = (db: Db, caller: Caller) => asCaller(db, caller, whoever())
