import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../db/client'
import { MAX_REPORT_BYTES } from '../../values/prices'
import { query, type RunContext } from './run-context'
import { hideImports, type StoredImport } from './store'

// The reports of a member's imports may take MAX_REPORT_BYTES. Beyond that, the oldest are deleted, those of devices first.

/** Rows that a batch deletes. */
const BATCH = 5000
/** In a table WITHOUT ROWID, SQLite moves the end of a row of over about 1 KB to overflow pages of its own. */
const storedBytes = sql.raw(
  `(select iif(bytes > 1000, (bytes / 4092 + 1) * 4096 + 500, bytes) from (
    select 60 + octet_length(concat(title, code, losses, cells, undo, texts)) as bytes
  ))`,
)
const isImport = sql`memberId = :memberId and importId = :importId`
/** Counts the rows of a chunk. */
const countRows = sqlStatement`
  update imports set reportBytes = reportBytes + (
    select coalesce(sum(${storedBytes}), 0) from importRows where ${isImport} and row > :doneBefore and row <= :done
  ) where ${isImport} and done = :done and lease = :lease`
/** Hides the oldest reports beyond the limit, but never that of the running import. */
const hideOldest = sqlStatement<{ importId: number }>`
  ${hideImports}
  where memberId = :memberId and isDeleted = 0 and importId <> :importId and importId in (
    select importId from (
      select importId, sum(reportBytes) over (order by tokenId is not null, importId desc) as bytes from imports
      where memberId = :memberId and isDeleted = 0
    ) where bytes > ${sql.raw(String(MAX_REPORT_BYTES))}
  )`
/** The statements that follow those of a chunk. */
export const limitReports = (ofChunk: {
  memberId: number
  importId: number
  doneBefore: number
  done: number
  lease: number
}) => [countRows(ofChunk), hideOldest(ofChunk)]

const deleteHidden = sqlStatement<{ row: number }>`
  delete from importRows where memberId = :memberId and (importId, row) in (
    select importId, row from imports cross join importRows using (memberId, importId)
    where imports.memberId = :memberId and isDeleted = 1 limit ${sql.raw(String(BATCH))}
  ) returning row`
/** Those of the member still count towards the limit of a day. */
const deleteOfDevices = sqlStatement`
  delete from imports where memberId = :memberId and isDeleted = 1 and tokenId is not null and file is null
    and status <> 'RUNNING' and not exists (
      select 1 from importRows where (importRows.memberId, importRows.importId) = (imports.memberId, imports.importId)
    )`
/** Deletes what the member cannot see any more: the rows of reports, and the imports of devices. */
export const deleteHiddenRows = async (context: RunContext, { memberId }: StoredImport) => {
  for (let isLeft = true; isLeft; ) {
    const { deleted } = await query(context, {
      deleted: deleteHidden({ memberId }),
      imports: deleteOfDevices({ memberId }),
    })
    isLeft = deleted.length === BATCH
  }
}
