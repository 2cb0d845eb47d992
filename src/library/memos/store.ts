import { sql } from 'drizzle-orm'
import { type Caller, isOwnRow, queryOne, runAsCaller } from '../../db/caller'
import { assignments, type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { nextId } from '../../db/next-id'
import { isOwnBook, selectOwnBook } from '../../db/own-book'
import { ownQuotaExceeded, textLimit } from '../../db/quotas'
import { memos } from '../../db/schema/memo-tables'
import { quotaExceeded } from '../../errors'
import { toFoldedColumn } from '../../values/fold'
import { type Quotas, utf8Bytes } from '../../values/quotas'
import { memoColumns } from './memo-lists'
import type { Memo, MemoOfBook } from './responses'
import type { MemoPatch, NewMemo } from './schema'

const memberTextRoom = (table: 'books' | 'memos') =>
  sql`(select ${textLimit} - textBytes from members where members.memberId = ${sql.raw(table)}.memberId)`

const insertMemo = sqlStatement<Memo>`
  insert into memos (
    memoId, bookId, memberId, position,
    memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt, updatedAt
  )
  select
    ${nextId(memos.memoId)}, bookId, memberId,
    (select coalesce(max(position), 0) + 1 from memos where memos.memberId = books.memberId),
    :memoType, :memoContent, :contentFolded, :memoBookPage, :memoAuthority, :createdAt, :createdAt
  from books where ${isOwnBook} and memoCount < :MAX_MEMOS_PER_BOOK
    and memoBytes + :bytes <= :MAX_BOOK_TEXT_BYTES
    and :bytes <= ${memberTextRoom('books')}
  returning ${memoColumns}`

const selectUsage = selectOwnBook('memoCount', 'memoBytes')

/**
 * Adds a memo to one of the caller's books. Returns undefined if the caller has no such book.
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
  const contentFolded = toFoldedColumn(memo.memoContent)
  const insert = insertMemo({ ...memo, contentFolded, bookId, createdAt: now, bytes, ...limits })
  const { guard: book, created } = await runAsCaller(db, caller, {
    guard: selectUsage({ bookId }),
    created: firstRow(insert),
  })
  if (created || book.bookId === null) return created
  if (book.memoCount >= MAX_MEMOS_PER_BOOK) throw quotaExceeded('MAX_MEMOS_PER_BOOK', quotas)
  if (book.memoBytes + bytes > MAX_BOOK_TEXT_BYTES) throw quotaExceeded('MAX_BOOK_TEXT_BYTES', quotas)
  throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
}

const isOwnMemo = isOwnRow(memos.memoId, memos.memberId)
const selectMemo = sqlStatement<Memo>`select ${memoColumns} from memos where ${isOwnMemo}`
const removeMemo = sqlStatement<{ memoId: number }>`delete from memos where ${isOwnMemo} returning memoId`

const selectMemoOfBook = sqlStatement<MemoOfBook>`select ${memoColumns}, bookId from memos where ${isOwnMemo}`
/** A memo with its book. Returns undefined if the caller has no such memo. */
export const getMemo = (db: Db, caller: Caller, memoId: number) => queryOne(db, caller, selectMemoOfBook({ memoId }))

const bookTextBytes = sql`(select memoBytes from books where books.bookId = memos.bookId)`
const growth = sql`:bytes - octet_length(memoContent)`
/** Whether new content fits the quotas. Content that does not grow always does. */
const fits = sql`(${growth} <= 0 or (
  ${bookTextBytes} + ${growth} <= :MAX_BOOK_TEXT_BYTES
  and ${growth} <= ${memberTextRoom('memos')}
))`
const selectGrowth = sqlStatement<{ bookBytes: number }>`
  select ${bookTextBytes} + ${growth} as bookBytes from memos where ${isOwnMemo}`

/**
 * Updates the given fields of a memo. Returns undefined if the caller has no such memo.
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
  const changes = { ...patch, ...(hasContent && { contentFolded: toFoldedColumn(patch.memoContent) }), updatedAt: now }
  const condition = hasContent ? sql`${isOwnMemo} and ${fits}` : isOwnMemo
  const update = idempotent(
    sqlStatement<Memo>`update memos set ${assignments(changes)} where ${condition} returning ${memoColumns}`(values),
  )
  if (!hasContent) return queryOne(db, caller, update)
  const { before, updated } = await runAsCaller(db, caller, {
    before: firstRow(selectGrowth(values)),
    updated: firstRow(update),
  })
  if (updated || !before) return updated
  if (before.bookBytes > MAX_BOOK_TEXT_BYTES) throw quotaExceeded('MAX_BOOK_TEXT_BYTES', quotas)
  throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
}

/** Deletes a memo. Returns undefined if the caller has no such memo. */
export const deleteMemo = (db: Db, caller: Caller, memoId: number) => queryOne(db, caller, removeMemo({ memoId }))
