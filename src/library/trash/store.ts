import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isOwnSparseRow, queryAll, queryOne, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../db/client'
import { isMemberOfRound, rangeOf } from '../../db/idempotency'
import { limit } from '../../db/parameters'
import { trash } from '../../db/schema/trash-tables'
import { type List, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { DAY_MS } from '../../values/time'
import { oldestOf } from './oldest'
import type { TrashItem } from './responses'
import { isKept } from './restore'
import { KEPT_DAYS, MAX_EXCERPT, type TrashQuery, toTrashId } from './schema'

type Row = Pick<TrashItem, 'bookId' | 'title' | 'excerpt' | 'memoCount'> & { trashId: number; deletedAt: number }
/** The caller's entries after `before` and `last`: the time and the key of one. */
export const selectTrash = sqlStatement<Row>`
  select trashId, deletedAt, bookId, title, memoCount,
    iif(trashId < 0, substr(data ->> 'memoContent', 1, ${sql.raw(String(MAX_EXCERPT))}), null) as excerpt
  from trash
  where memberId = ${callerId} and ${isKept} and deletedAt <= :before and (deletedAt < :before or trashId < :last)
  order by deletedAt desc, trashId desc limit ${limit}`

export const toTrashItem = ({ trashId, deletedAt, ...row }: Row): TrashItem => ({
  trashId: toTrashId(trashId),
  kind: trashId > 0 ? 'book' : 'memo',
  memoId: trashId > 0 ? null : -trashId,
  ...row,
  deletedAt: toInstant(deletedAt),
  expiresAt: toInstant(deletedAt + KEPT_DAYS * DAY_MS),
})

/** Before all entries, as the latest come first. */
export const START = { before: Number.MAX_SAFE_INTEGER, last: Number.MAX_SAFE_INTEGER }

/** What the caller has deleted, newest first. */
export const listTrash = async (
  db: Db,
  caller: Caller,
  { cursor: [before, last] = [START.before, START.last], size }: TrashQuery,
): Promise<List<TrashItem>> => {
  const rows = await queryAll(db, caller, selectTrash({ before, last, limit: size + 1 }))
  const page = rows.slice(0, size)
  const end = page.at(-1)
  const next = rows.length > size && end ? toCursor([end.deletedAt, end.trashId]) : null
  return { item: page.map(toTrashItem), next }
}

const deleteEntry = sqlStatement<{ trashId: number }>`
  delete from trash where ${isOwnSparseRow(trash.trashId, trash.memberId)} and ${isKept} returning trashId`
/** Deletes an entry for good. Returns undefined if the caller has no such entry. */
export const deleteTrash = (db: Db, caller: Caller, trashId: number) => queryOne(db, caller, deleteEntry({ trashId }))

/** The most rows that a batch deletes, those of members included. */
const MAX_ROWS = 9000
const deleteOldest = (isOwned: SQL) => sqlStatement`
  delete from trash where trashId in (${oldestOf(
    sql`select trashId, deletedAt, bytes, parts from trash where ${isOwned}`,
    MAX_ROWS,
  )})`
const deleteOfCaller = deleteOldest(sql`memberId = ${callerId}`)
const selectLeft = sqlStatement<{ trashId: number }>`select trashId from trash where memberId = ${callerId} limit 1`

/** Deletes all entries for good, in several batches if they are many. */
export const emptyTrash = async (db: Db, caller: Caller) => {
  for (let isLeft = true; isLeft; ) {
    const { left } = await runAsCaller(db, caller, { deleted: deleteOfCaller(), left: firstRow(selectLeft()) })
    isLeft = left !== undefined
  }
}

const deleteExpired = deleteOldest(sql`${isMemberOfRound} and deletedAt <= :before`)
/** Deletes what can no longer be restored, of the members whose turn it is in a round of sweeps. */
export const deleteOldTrash = (now: number, round: number) =>
  deleteExpired({ range: rangeOf(round), before: now - KEPT_DAYS * DAY_MS })
