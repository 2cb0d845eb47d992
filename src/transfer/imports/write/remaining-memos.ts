import { sql } from 'drizzle-orm'
import { firstRow, sqlStatement } from '../../../db/client'
import type { Zone } from '../../../values/time'
import type { Entry } from '../../entries/entry'
import { loadExisting } from '../plan/existing'
import { query, type RunContext, toJsonArrays } from '../run-context'
import type { StoredImport } from '../store'
import { isUnchanged, snapshot } from '../undo/snapshot'
import { insertMemos } from './chunk'
import { isClaimed } from './chunk-claim'
import { toMemo } from './chunk-items'

/**
 * The most rows that the entries of a chunk change, with new entries of the log and the old ones that these trim. The
 * rest of the 10,000 rows of a batch is for what chunks write besides.
 */
export const MAX_CHANGES = 9000
/** A memo also changes its book and its member. */
const OF_MEMO = 5
/** An event also changes its book and its member, by the twenty. */
const changesWithoutMemos = ({ readings, tags, exact }: Entry) =>
  30 + 4 * readings.length + 6 * tags.length + 4 * ((exact?.progress.length ?? 0) + (exact?.sittings.length ?? 0))
export const changesOfEntry = (entry: Entry) => changesWithoutMemos(entry) + OF_MEMO * entry.memos.length
/** How many memos of an entry are written with its chunk. `addRemainingMemos` adds the others, unless it `isWhole`. */
export const firstMemos = (entry: Entry) =>
  Math.max(0, Math.floor((MAX_CHANGES - changesWithoutMemos(entry)) / OF_MEMO))
export const isWhole = (entry: Entry | undefined) => !entry || changesOfEntry(entry) <= MAX_CHANGES

const isImport = sql`memberId = :memberId and importId = :importId`
const selectWritten = sqlStatement<{ bookId: number }>`
  select bookId from importRows where ${isImport} and row = :done and outcome in ('created', 'updated')`
const createdRow = sql`books.bookId = importRows.bookId and +books.memberId = :memberId
  and importRows.memberId = :memberId and importRows.importId = :importId and row = :done and outcome = 'created' and ${isClaimed}`
// An undo deletes a created book that equals its snapshot. A book that the member has changed since loses its snapshot.
const dropSnapshot = sqlStatement`
  update importRows set undo = json_remove(undo, '$.title') from books where ${createdRow} and not ${isUnchanged}`
const updateSnapshot = sqlStatement`
  update importRows set undo = json_patch(undo, ${snapshot}) from books where ${createdRow} and undo -> 'title' is not null`
const finish = sqlStatement`
  update imports set status = 'DONE' where ${isImport} and done = total and lease = :lease and status = 'RUNNING'`

/** Adds what the book of the last committed row lacks of the memos of its entry, in several batches. */
export const addRemainingMemos = async (
  context: RunContext,
  { memberId, importId, lease, isDryRun, options }: StoredImport,
  { done, entries, now, zone }: { done: number; entries: Entry[]; now: string; zone: Zone },
) => {
  const entry = entries[done - 1]
  if (!entry || isWhole(entry)) return
  const values = { memberId, importId, lease, done }
  const { written } = isDryRun ? {} : await query(context, { written: firstRow(selectWritten(values)) })
  const { keepVisibility } = JSON.parse(options)
  for (let isLeft = written !== undefined; written && isLeft; ) {
    const { bookId } = written
    const existing = await loadExisting(context, memberId, new Map([[bookId, entry]]), zone)
    const { missing: { memos: all } = { memos: [] }, sourced = [] } = existing.get(bookId) ?? {}
    const keys = new Set(sourced.map(({ source }) => source))
    // Memos with a source are one for each column, and come first: the chunk has written them. It also decided on texts.
    const missing = all.filter(({ source, key }) => !source && !(key && keys.has(key)))
    const memos = missing
      .slice(0, MAX_CHANGES / OF_MEMO)
      .map(({ isPublic, ...memo }) => toMemo({ ...memo, isPublic: keepVisibility && isPublic }, { bookId }, now))
    await query(context, {
      changed: dropSnapshot(values),
      memos: toJsonArrays(memos).map((items) => insertMemos({ ...values, items })),
      snapshot: updateSnapshot(values),
    })
    isLeft = memos.length < missing.length
  }
  await query(context, { finished: finish(values) })
}
