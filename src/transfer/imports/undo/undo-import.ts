import { sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../../db/client'
import { ownQuotaExceeded } from '../../../db/quotas'
import { newVersion } from '../../../library/memos/versions'
import type { Quotas } from '../../../values/quotas'
import type { UndoneImport } from '../responses'
import { importColumns, isOwnImport, isOwnReportRow, type StoredImport } from '../store'
import * as restore from './restore'
import { snapshot } from './snapshot'
import * as readings from './undo-readings'

// Rows stay until the undo is complete: the next DELETE continues it after a crash.
const cancel = sqlStatement<StoredImport>`
  update imports set status = iif(status = 'RUNNING', 'FAILED', status), lease = 0 where ${isOwnImport}
  returning ${importColumns}`

/** Rows per statement. Deleting a book also deletes its memos, readings and tags. */
const BATCH = 100

// The unary plus keeps SQLite from reading all books of the member.
const deleteUnchanged = sqlStatement<{ bookId: number }>`
  delete from books where +memberId = ${callerId} and bookId in (
    select books.bookId from importRows join books using (memberId, bookId)
    where ${isOwnReportRow}
      and row > :after and row <= :after + ${sql.raw(String(BATCH))}
      and outcome = 'created' and mergedBooks = 0 and undo is not null
      and not exists (select 1 from json_each(${snapshot}) as now where now.value is not undo ->> now.key)
  )
  returning bookId`
type KeptRow = { bookId: number; title: string; outcome: 'created' | 'updated'; left: string | null }
const selectKept = sqlStatement<KeptRow>`
  select books.bookId, books.title, outcome, undo -> 'left' as left from importRows join books using (memberId, bookId)
  where ${isOwnReportRow} and outcome in ('created', 'updated')
  order by row`
const deleteRows = sqlStatement`delete from importRows where ${isOwnReportRow}`
const hide = sqlStatement`update imports set isDeleted = 1, options = '', reason = null where ${isOwnImport} returning importId`

/** Rows of updated books per call, so that an undo takes fewer than the 1,000 statements that D1 allows. */
const UPDATES_BATCH = 250

/** @throws MAX_MEMBER_TEXT_BYTES when that quota has no room for what the import replaced; the next undo continues */
const restoreBooks = async (db: Db, caller: Caller, { importId, done }: StoredImport, quotas: Quotas) => {
  const { MAX_MEMBER_TEXT_BYTES } = quotas
  for (let after = 0; after < done; after += UPDATES_BATCH) {
    const rows = { importId, after, to: after + UPDATES_BATCH }
    const { unmarked } = await runAsCaller(db, caller, {
      marked: restore.markRows({ ...rows, MAX_MEMBER_TEXT_BYTES }),
      unmarked: firstRow(restore.countUnmarked(rows)),
      added: readings.deleteAdded(rows),
      newest: readings.insertNewest(rows),
      columns: restore.restoreColumns(rows),
      overtaken: readings.keepOvertaken(rows),
      promoted: readings.promoteNewest(rows),
      dropped: readings.clearDropped(rows),
      archived: readings.forgetArchived(rows),
      progress: restore.deleteProgress(rows),
      count: restore.countProgress(rows),
      texts: restore.restoreTexts({ ...rows, version: newVersion() }),
      memos: restore.deleteMemos(rows),
      tags: restore.deleteTags(rows),
      snapshots: restore.deleteSnapshots(rows),
    })
    if (unmarked?.count) throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
  }
}

const ALL = '["all"]'

/**
 * Cancels an import if it runs. Removes the books that it created, and restores those that it updated, as far as they
 * were not changed since. Returns undefined if the caller has no such import.
 * @throws MAX_MEMBER_TEXT_BYTES
 */
export const undoImport = async (
  db: Db,
  caller: Caller,
  importId: number,
  quotas: Quotas,
): Promise<(UndoneImport & { cancelled: StoredImport }) | undefined> => {
  const cancelled = await queryOne(db, caller, cancel({ importId }))
  if (!cancelled) return undefined
  let removed = 0
  for (let after = 0; after < cancelled.done; after += BATCH) {
    const { deleted } = await runAsCaller(db, caller, { deleted: deleteUnchanged({ importId, after }) })
    removed += deleted.length
  }
  // After the removal, since restored texts count towards the quota.
  if (cancelled.updated > 0 && !cancelled.isDryRun) await restoreBooks(db, caller, cancelled, quotas)
  const values = { importId }
  const { kept } = await runAsCaller(db, caller, {
    kept: selectKept(values),
    deleted: deleteRows(values),
    hidden: hide(values),
  })
  // A dry run created and updated nothing.
  if (cancelled.isDryRun) return { removed, restored: 0, kept: [], cancelled }
  return {
    removed,
    restored: kept.filter(({ left }) => left === '[]').length,
    kept: kept.map(({ bookId, title, outcome, left }) => ({
      bookId,
      title,
      left: JSON.parse((outcome === 'updated' && left) || ALL),
    })),
    cancelled,
  }
}
