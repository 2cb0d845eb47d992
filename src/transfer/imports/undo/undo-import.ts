import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../../db/client'
import { ownQuotaExceeded } from '../../../db/quotas'
import { newVersion } from '../../../library/memos/versions'
import { pastCount } from '../../../library/readings/blocks'
import { PRICED_ROWS } from '../../../values/prices'
import type { Quotas } from '../../../values/quotas'
import { tagRowsOfBook } from '../../book-columns'
import type { UndoneImport } from '../responses'
import { hideImports, importColumns, isOwnImport, isOwnReportRow, type StoredImport } from '../store'
import { MAX_CHANGES } from '../write/remaining-memos'
import * as restore from './restore'
import { isUnchanged } from './snapshot'
import * as readings from './undo-readings'

// Rows stay until the undo is complete: the next DELETE continues it after a crash.
const cancel = sqlStatement<StoredImport>`
  update imports set status = iif(status = 'RUNNING', 'FAILED', status), lease = 0 where ${isOwnImport}
  returning ${importColumns}`

/** An undo of 10,000 rows then takes fewer than the 1,000 statements that D1 allows, but for rows with many memos. */
const MAX_ROWS = 250
/**
 * The last of the next rows of the report that one batch undoes: together, they change at most MAX_CHANGES rows. Null if
 * none is left.
 */
const selectLastOf = (condition: SQL, changes: SQL) => sql`
  select max(row) as last from (
    select row, row_number() over (order by row) as number, sum(coalesce(${changes}, 1)) over (order by row) as changes
    from (
      select * from importRows where ${isOwnReportRow} and row > :after and ${condition} order by row limit ${sql.raw(String(MAX_ROWS))}
    ) as importRows left join books on books.bookId = importRows.bookId and +books.memberId = importRows.memberId
  ) where changes <= ${sql.raw(String(MAX_CHANGES))} or number = 1`
type Last = { last: number | null }
/** Counts all rows of a book. Deleting a memo also changes the last one, which moves into its place. */
const lastOfCreated = selectLastOf(
  sql`outcome = 'created'`,
  sql`20 + 2 * memoCount + ${sql.raw(String(PRICED_ROWS))} * (1 + eventBlocks)
  + ${pastCount()} + 4 * (select count(*) from ${tagRowsOfBook})`,
)
const selectLastOfCreated = sqlStatement<Last>`${lastOfCreated}`

// The unary plus keeps SQLite from reading all books of the member.
const deleteUnchanged = sqlStatement<{ bookId: number }>`
  delete from books where +memberId = ${callerId} and bookId in (
    select books.bookId from importRows join books using (memberId, bookId)
    where ${isOwnReportRow}
      and row > :after and row <= (${lastOfCreated})
      and outcome = 'created' and mergedBooks = 0 and undo is not null and ${isUnchanged}
  )
  returning bookId`
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
const restoreBooks = async (db: Db, caller: Caller, importId: number, quotas: Quotas) => {
  const { MAX_MEMBER_TEXT_BYTES } = quotas
  for (let after = 0; ; ) {
    const { range } = await runAsCaller(db, caller, { range: firstRow(selectLastOfUpdated({ importId, after })) })
    if (!range?.last) return
    const rows = { importId, after, to: range.last }
    const { unmarked } = await runAsCaller(db, caller, {
      marked: restore.markRows({ ...rows, MAX_MEMBER_TEXT_BYTES }),
      unmarked: firstRow(restore.countUnmarked(rows)),
      texts: restore.restoreTexts({ ...rows, version: newVersion() }),
    })
    if (unmarked?.count) throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
    for (let isLeft = true; isLeft; ) {
      const { memos } = await runAsCaller(db, caller, { memos: restore.deleteMemos(rows) })
      isLeft = memos.length === restore.MOST_MEMOS
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
): Promise<(UndoneImport & { undone: StoredImport }) | undefined> => {
  const undone = await queryOne(db, caller, cancel({ importId }))
  if (!undone) return undefined
  let removed = 0
  for (let after = 0; ; ) {
    const { range, deleted } = await runAsCaller(db, caller, {
      range: firstRow(selectLastOfCreated({ importId, after })),
      deleted: deleteUnchanged({ importId, after }),
    })
    removed += deleted.length
    if (!range?.last) break
    after = range.last
  }
  // After the removal, since restored texts count towards the quota.
  if (undone.updated > 0 && !undone.isDryRun) await restoreBooks(db, caller, importId, quotas)
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
  if (undone.isDryRun) return { removed, restored: 0, kept: [], undone }
  return {
    removed,
    restored: kept.filter(({ left }) => left === '[]').length,
    kept: kept.map(({ bookId, title, outcome, left }) => ({
      bookId,
      title,
      left: JSON.parse((outcome === 'updated' && left) || ALL),
    })),
    undone,
  }
}
