import { sql } from 'drizzle-orm'
import { type Caller, isOwnRow, queryOne, runAsCaller } from '../../db/caller'
import { assignments, type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { findCreated, insertOnce, rowOf } from '../../db/idempotency'
import { nextId } from '../../db/next-id'
import { isOwnBook, selectOwnBook } from '../../db/own-book'
import { notePrice, ownQuotaExceeded, roomOf } from '../../db/quotas'
import { memos } from '../../db/schema/memo-tables'
import type { CallerRequest } from '../../env'
import { quotaExceeded } from '../../errors'
import { limitsOf, toFoldedMemo, utf8Bytes } from '../../values/quotas'
import { localTime } from '../../values/time'
import { evictOldest, memoToTrash } from '../trash/removal'
import { memoColumns } from './memo-lists'
import type { MemoOfBook } from './responses'
import type { MemoPatch, NewMemo } from './schema'
import { memoChanged, newVersion, type StoredMemo } from './versions'

const storedColumns = sql`${memoColumns}, version`

const memberTextRoom = (table: 'books' | 'memos') => roomOf(sql`members.memberId = ${sql.raw(table)}.memberId`)

const insertMemo = insertOnce(
  (condition) => sqlStatement<StoredMemo>`
  insert into memos (
    memoId, bookId, memberId, position,
    memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt, updatedAt, version
  )
  select
    ${nextId(memos.memoId)}, bookId, memberId,
    (select coalesce(max(position), 0) + 1 from memos where memos.memberId = books.memberId),
    :memoType, :memoContent, :contentFolded, :memoBookPage, :memoAuthority, :createdAt, :createdAt, :version
  from books where ${isOwnBook} and memoCount < :MAX_MEMOS_PER_BOOK
    and memoBytes + :bytes <= :MAX_BOOK_TEXT_BYTES
    and ${notePrice} <= ${memberTextRoom('books')} ${condition}
  returning ${storedColumns}`,
  rowOf(memos.memoId, storedColumns),
)

const selectMemoRoom = selectOwnBook('memoCount', 'memoBytes')

/**
 * Adds a memo to one of the caller's books. Returns undefined if the caller has no such book.
 * @throws MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES or MAX_MEMBER_TEXT_BYTES when it is full; those of `findCreated`
 */
export const createMemo = async ({ db, caller, config, key }: CallerRequest, bookId: number, memo: NewMemo) => {
  const bytes = utf8Bytes(memo.memoContent)
  const contentFolded = toFoldedMemo(memo.memoContent)
  const [createdAt, version] = [localTime(config.TIME_ZONE), newVersion()]
  const values = { ...memo, contentFolded, bookId, createdAt, bytes, ...limitsOf(config), version }
  const batch = { guard: selectMemoRoom({ bookId }), ...insertMemo(values, key, config) }
  const { guard: book, created, used } = await runAsCaller(db, caller, batch)
  const stored = created ?? findCreated(used, key, config)
  if (stored || book.bookId === null) return stored
  if (book.memoCount >= config.MAX_MEMOS_PER_BOOK) throw quotaExceeded('MAX_MEMOS_PER_BOOK', config)
  if (book.memoBytes + bytes > config.MAX_BOOK_TEXT_BYTES) throw quotaExceeded('MAX_BOOK_TEXT_BYTES', config)
  throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', config)
}

const isOwnMemo = isOwnRow(memos.memoId, memos.memberId)
const isExpected = sql`(:versions is null or version in (select value from json_each(:versions)))`
const selectMemo = sqlStatement<StoredMemo>`select ${storedColumns} from memos where ${isOwnMemo}`
const removeMemo = sqlStatement<{ memoId: number }>`
  delete from memos where ${isOwnMemo} and ${isExpected} returning memoId`

const selectMemoOfBook = sqlStatement<StoredMemo & MemoOfBook>`
  select ${storedColumns}, bookId from memos where ${isOwnMemo}`
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
 * @param expected the versions of which the memo must be one; any if undefined
 * @throws PRECONDITION_FAILED when it is of another version; MAX_BOOK_TEXT_BYTES or MAX_MEMBER_TEXT_BYTES when the
 * content grows and that quota is full
 */
export const updateMemo = async (
  { db, caller, config }: CallerRequest,
  memoId: number,
  patch: MemoPatch,
  expected?: number[],
): Promise<StoredMemo | undefined> => {
  const isConflict = (memo: StoredMemo | undefined) => memo && expected && !expected.includes(memo.version)
  if (Object.keys(patch).length === 0) {
    const { member, memo } = await runAsCaller(db, caller, { memo: firstRow(selectMemo({ memoId })) })
    if (memo && isConflict(memo)) throw memoChanged(member, memo, expected)
    return memo
  }
  const version = newVersion()
  // With the new version, so that a retry after an attempt that took effect is no conflict.
  const versions = expected ? JSON.stringify([...expected, version]) : null
  const values = { memoId, bytes: utf8Bytes(patch.memoContent), ...limitsOf(config), versions }
  const hasContent = patch.memoContent !== undefined
  const folded = hasContent && { contentFolded: toFoldedMemo(patch.memoContent) }
  const changes = { ...patch, ...folded, updatedAt: localTime(config.TIME_ZONE), version }
  const conditions = [isOwnMemo, isExpected, ...(hasContent ? [fits] : [])]
  const update = idempotent(
    sqlStatement<StoredMemo>`
      update memos set ${assignments(changes)} where ${sql.join(conditions, sql` and `)} returning ${storedColumns}`(
      values,
    ),
  )
  if (!hasContent && !expected) return queryOne(db, caller, update)
  const { member, before, updated, stored } = await runAsCaller(db, caller, {
    before: hasContent ? firstRow(selectGrowth(values)) : undefined,
    updated: firstRow(update),
    stored: expected && firstRow(selectMemo({ memoId })),
  })
  if (updated) return updated
  if (stored && isConflict(stored)) throw memoChanged(member, stored, expected)
  if (!before) return undefined
  if (before.bookBytes > config.MAX_BOOK_TEXT_BYTES) throw quotaExceeded('MAX_BOOK_TEXT_BYTES', config)
  throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', config)
}

const putIntoTrash = memoToTrash(sql`${isOwnMemo} and ${isExpected}`)

/**
 * Puts a memo into the trash. Returns undefined if the caller has no such memo.
 * @param expected the versions of which the memo must be one; any if undefined
 * @throws PRECONDITION_FAILED when it is of another version
 */
export const deleteMemo = async ({ db, caller, config }: CallerRequest, memoId: number, expected?: number[]) => {
  const versions = expected ? JSON.stringify(expected) : null
  const values = { memoId, trashIds: JSON.stringify([-memoId]), versions, ...limitsOf(config) }
  const { member, removed, stored } = await runAsCaller(db, caller, {
    trashed: putIntoTrash(values),
    removed: firstRow(removeMemo(values)),
    evicted: evictOldest(values),
    stored: expected && firstRow(selectMemo({ memoId })),
  })
  if (stored) throw memoChanged(member, stored, expected)
  return removed
}
