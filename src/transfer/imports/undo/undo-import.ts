import { sql } from 'drizzle-orm'
import { type Caller, queryOne, runAsCaller } from '../../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../../db/client'
import { ownQuotaExceeded } from '../../../db/quotas'
import { newVersion } from '../../../library/memos/versions'
import type { Quotas } from '../../../values/quotas'
import type { UndoneImport } from '../responses'
import { hideImports, importColumns, isOwnImport, isOwnReportRow, type StoredImport } from '../store'
import { MAX_CHANGES } from '../write/remaining-memos'
import { forGood, type Last, type Removal, selectLastOf } from './removal'
import * as restore from './restore'
import * as readings from './undo-readings'

// Rows stay until the undo is complete: the next DELETE continues it after a crash.
const cancel = sqlStatement<StoredImport>`
  update imports set status = iif(status = 'RUNNING', 'FAILED', status), lease = 0 where ${isOwnImport}
  returning ${importColumns}`

type KeptRow = { bookId: number; title: string; outcome: 'created' | 'updated'; left: string | null }
const selectKept = sqlStatement<KeptRow>`
  select books.bookId, books.title, outcome, undo -> 'left' as left from importRows join books using (memberId, bookId)
  where ${isOwnReportRow} and outcome in ('created', 'updated') and exists (select 1 from imports where ${isOwnImport})
  order by row`
const deleteRows = sqlStatement`
  delete from importRows where ${isOwnReportRow} and row > :after and row <= :after + ${sql.raw(String(MAX_CHANGES))}`
const hide = sqlStatement`${hideImports} where ${isOwnImport} returning importId`

/**
 * Rows that are not undone yet. Each also has an entry of the log, and trims an old one. Memos are deleted in batches of
 * their own.
 */
const selectLastOfUpdated = sqlStatement<Last>`${selectLastOf(
  sql`outcome = 'updated' and undo -> 'changes' is not null`,
  sql`30 + 4 * coalesce(json_array_length(undo, '$.events'), 0)
    + 5 * coalesce(json_array_length(undo, '$.reading.added'), 0) + 5 * coalesce(json_array_length(undo, '$.rated'), 0) + 4 * coalesce(json_array_length(undo, '$.tags'), 0)
    + 5 * coalesce(json_array_length(texts), 0)`,
)}`

/** @throws MAX_MEMBER_TEXT_BYTES when that quota has no room for what the import replaced; the next undo continues */
const restoreBooks = async (db: Db, caller: Caller, importId: number, quotas: Quotas, removal: Removal) => {
  const { MAX_MEMBER_TEXT_BYTES } = quotas
  for (let after = 0, removed = 0; ; ) {
    const { range } = await runAsCaller(db, caller, { range: firstRow(selectLastOfUpdated({ importId, after })) })
    if (!range?.last) return removed
    const rows = { importId, after, to: range.last }
    const { unmarked } = await runAsCaller(db, caller, {
      marked: restore.markRows({ ...rows, MAX_MEMBER_TEXT_BYTES }),
      unmarked: firstRow(restore.countUnmarked(rows)),
      texts: restore.restoreTexts({ ...rows, version: newVersion() }),
    })
    if (unmarked?.count) throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
    for (let isLeft = true; isLeft; ) {
      const memos = await runAsCaller(db, caller, removal.memos({ ...rows, MAX_MEMBER_TEXT_BYTES }))
      removed += memos.removed.length
      isLeft = memos.removed.length === removal.mostMemos
    }
    await runAsCaller(db, caller, {
      ratings: restore.restoreRatings(rows),
      added: readings.deleteAdded(rows),
      newest: readings.insertNewest(rows),
      columns: restore.restoreColumns(rows),
      overtaken: readings.keepOvertaken(rows),
      promoted: readings.promoteNewest(rows),
      dropped: readings.clearDropped(rows),
      archived: readings.forgetArchived(rows),
      progress: restore.deleteProgress(rows),
      count: restore.countProgress(rows),
      tags: restore.deleteTags(rows),
      snapshots: restore.deleteSnapshots(rows),
    })
    after = rows.to
  }
}

const ALL = '["all"]'

/** `memos`: how many were removed from books that stay. */
type Undone = UndoneImport & { memos: number; undone: StoredImport }

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
  removal = forGood,
): Promise<Undone | undefined> => {
  const undone = await queryOne(db, caller, cancel({ importId }))
  if (!undone) return undefined
  let removed = 0
  for (let after = 0; ; ) {
    const values = { importId, after, MAX_MEMBER_TEXT_BYTES: quotas.MAX_MEMBER_TEXT_BYTES }
    const { range, removed: books } = await runAsCaller(db, caller, {
      range: firstRow(removal.selectLast(values)),
      ...removal.books(values),
    })
    removed += books.length
    if (!range?.last) break
    after = range.last
  }
  // After the removal, since restored texts count towards the quota.
  const isUpdated = undone.updated > 0 && !undone.isDryRun
  const memos = isUpdated ? await restoreBooks(db, caller, importId, quotas, removal) : 0
  const values = { importId }
  const { kept } = await runAsCaller(db, caller, {
    kept: selectKept(values),
    deleted: deleteRows({ importId, after: 0 }),
    hidden: hide(values),
  })
  for (let after = MAX_CHANGES; after < undone.done; after += MAX_CHANGES) {
    await runAsCaller(db, caller, { deleted: deleteRows({ importId, after }) })
  }
  // A dry run created and updated nothing.
  if (undone.isDryRun) return { removed, restored: 0, kept: [], memos, undone }
  return {
    removed,
    restored: kept.filter(({ left }) => left === '[]').length,
    kept: kept.map(({ bookId, title, outcome, left }) => ({
      bookId,
      title,
      left: JSON.parse((outcome === 'updated' && left) || ALL),
    })),
    memos,
    undone,
  }
}
