import { getTableColumns, sql } from 'drizzle-orm'
import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import { type Caller, callerId, callerTokenId, queryOne, runAsCaller } from '../../db/caller'
import { type ConfirmedMember, type Db, firstRow, sqlStatement } from '../../db/client'
import { insertAttemptIf, isAllowed, type Limit, selectUsage, toAttempt } from '../../db/limits/attempts'
import { isReached, tooManyAttempts } from '../../db/limits/rate-limit'
import { limit, offset } from '../../db/parameters'
import { imports } from '../../db/schema/import-tables'
import { ApiError, tooManyRequests } from '../../errors'
import { toInstant } from '../../values/fields'
import { type Page, toLimit, toPage } from '../../values/paging'
import { DAY_MS } from '../../values/time'
import type { EntryMember, FormatName, ImportOptions, UnreadColumn } from '../entries/entry'
import { storeMember } from './receive/member'
import type { Import, ImportRow } from './responses'
import {
  type Change,
  type ListQuery,
  MAX_FILES_PER_DAY,
  MAX_KEPT,
  MAX_KEPT_OF_DEVICES,
  MAX_LISTED_OF_DEVICES,
  MAX_PER_DAY,
  type RowsQuery,
} from './schema'

const { columns: _, isDeleted: __, ...STORED } = getTableColumns(imports)
export const importColumns = sql.raw(Object.keys(STORED).join(', '))
/** A row of imports, as D1 returns it. */
export type StoredImport = Omit<typeof imports.$inferSelect, 'columns' | 'isDeleted' | 'isDryRun' | 'format'> & {
  isDryRun: 0 | 1
  format: FormatName
}
const isOwn = sql`memberId = ${callerId} and isDeleted = 0`
export const isOwnImport = sql`${isOwn} and importId = :importId`

export const toImport = (row: StoredImport): Import => {
  const { importId, status, format, isDryRun, merge, encoding, unknownColumns, total, reason } = row
  const { created, updated, unchanged, skipped, failed, tokenId, fileName } = row
  const [unknown, unread]: [string[], UnreadColumn[]] = JSON.parse(unknownColumns ?? '[[], []]')
  return {
    importId,
    tokenId,
    fileName,
    status,
    format,
    dryRun: isDryRun === 1,
    merge,
    encoding,
    unknownColumns: unknown,
    unreadColumns: unread,
    createdAt: toInstant(importId),
    rows: total,
    counts: { created, updated, unchanged, skipped, failed },
    reason,
  }
}

const running = sql`select 1 from imports as other where memberId = ${callerId} and isDeleted = 0 and status = 'RUNNING'`
/** Whether the import that the member started runs. Those of devices wait for one another, and for that one. */
const isOwnRunning = sql`exists (${running} and tokenId is null)`
/** When the 20th most recent import began, if that was within a day: the next may begin a day later. Otherwise null. */
const limitedSince = sql`(
  select importId from imports where memberId = ${callerId} and importId > :dayAgo and isDryRun = 0 and tokenId is null
  order by importId desc limit 1 offset ${sql.raw(String(MAX_PER_DAY - 1))}
)`
/** Whether the caller may start an import. Also checked before a file is read, which costs more than all else. */
const mayStart = sql`not ${isOwnRunning} and ${limitedSince} is null`
type Limits = { limitedSince: number | null }
const selectLimits = sqlStatement<Limits>`select ${limitedSince} as limitedSince`

/** Why `mayStart` was false. */
const refusal = (limits: Limits | undefined, now: number) =>
  limits?.limitedSince
    ? tooManyRequests('import', Math.ceil((limits.limitedSince + DAY_MS - now) / 1000))
    : new ApiError('IMPORT_RUNNING')

/** Files that a member sends for import, without those of devices. */
export const FILES: Limit[] = [{ name: 'import-file', max: MAX_FILES_PER_DAY, windowMs: DAY_MS }]
const countFile = insertAttemptIf(sql`${isAllowed} and ${callerId} is not null and ${mayStart}`)

/**
 * Checks that the caller, who was confirmed before the file was read, may start an import now, and counts the file. An
 * import can still be refused when it starts.
 * @throws UNAUTHORIZED; IMPORT_RUNNING while another one runs; TOO_MANY_REQUESTS after twenty imports or sixty files in
 * a day
 */
export const admitFile = async (db: Db, caller: Caller, { memberId }: ConfirmedMember, secret: string) => {
  const now = Date.now()
  const subject = await accountSubject(secret, memberAccount(memberId), 'import-file')
  const values = { ...toAttempt(now, { subject, limits: FILES }), dayAgo: now - DAY_MS }
  const { limits, usage, counted } = await runAsCaller(db, caller, {
    limits: firstRow(selectLimits(values)),
    usage: selectUsage(values),
    counted: countFile(values),
  })
  if (counted.length > 0) return
  throw usage.some(isReached) ? tooManyAttempts(usage, now) : refusal(limits, now)
}

export type NewImport = Pick<
  StoredImport,
  'isDryRun' | 'merge' | 'format' | 'encoding' | 'file' | 'total' | 'lease' | 'leaseEndsAt'
> & {
  unknownColumns: string[]
  unreadColumns: UnreadColumn[]
  /** The columns of the table of failed rows. */
  columns: string[]
  /** Of a file that a device sent. */
  device?: { fileName: string; fileHash: string }
  options: ImportOptions & { keepVisibility: boolean }
  member?: EntryMember
}

const INSERTED =
  'isDryRun, merge, format, encoding, unknownColumns, columns, options, file, total, lease, leaseEndsAt, fileHash, fileName'
/** `isQueued`: another import of the member runs. Until the file is stored, the lease keeps others from running it. */
export type Created = StoredImport & { isQueued: 0 | 1 }
const insertImport = sqlStatement<Created>`
  insert into imports (memberId, importId, status, tokenId, ${sql.raw(INSERTED)})
  select owner, max(:now, coalesce((select max(importId) from imports where memberId = owner), 0) + 1),
    iif(:total = 0, 'DONE', 'RUNNING'),
    iif(:fileHash is null, null, ${callerTokenId}), ${sql.raw(INSERTED.replaceAll(/\w+/g, ':$&'))}
  from (select ${callerId} as owner limit 1)
  where owner is not null and (:fileHash is not null or ${mayStart})
  returning ${importColumns}, exists (${running} and importId < imports.importId) as isQueued`
/** Hides imports, and clears what they have of their files. Their identifiers are not used again. */
export const hideImports = sql.raw(
  `update imports set isDeleted = 1, options = '', columns = null, unknownColumns = null, reason = null, fileHash = null,
  fileName = null`,
)
/**
 * All but the last imports, dry runs, or imports of devices. Counted separately, since dry runs and devices must not end
 * the undo of an import.
 */
const outdated = sql`(
  select importId from imports where ${isOwn} and isDryRun = :isDryRun and (tokenId is null) = (:fileHash is null)
  order by importId desc limit -1 offset iif(:fileHash is null, ${sql.raw(`${MAX_KEPT}, ${MAX_KEPT_OF_DEVICES}`)})
)`
const hideOutdated = sqlStatement`
  ${hideImports}
  where ${isOwn} and status <> 'RUNNING' and importId in ${outdated}`

/**
 * Starts an import, whose lease the caller has.
 * @throws IMPORT_RUNNING while another one runs, TOO_MANY_REQUESTS after twenty in a day
 */
export const createImport = async (
  db: Db,
  caller: Caller,
  { options, unknownColumns, unreadColumns, columns, member, device, ...values }: NewImport,
) => {
  const now = Date.now()
  const dayAgo = now - DAY_MS
  const { fileHash, fileName } = { fileHash: null, fileName: null, ...device }
  const insert = insertImport({
    ...values,
    fileHash,
    fileName,
    now,
    dayAgo,
    options: JSON.stringify(options),
    columns: JSON.stringify(columns),
    unknownColumns: unknownColumns.length > 0 ? JSON.stringify([unknownColumns, unreadColumns]) : null,
  })
  const { limits, created } = await runAsCaller(db, caller, {
    limits: firstRow(selectLimits({ dayAgo })),
    created: firstRow(insert),
    ...storeMember(caller, member, values),
    hidden: hideOutdated({ isDryRun: values.isDryRun, fileHash }),
  })
  if (created) return created
  throw refusal(limits, now)
}

const selectImport = sqlStatement<StoredImport>`select ${importColumns} from imports where ${isOwnImport}`
const selectImports = sqlStatement<StoredImport>`
  select ${importColumns} from imports where ${isOwn} and (tokenId is null) = (:from = 'member')
  order by importId desc limit :limit`

/** Returns undefined if the caller has no such import. */
export const getImport = (db: Db, caller: Caller, importId: number) => queryOne(db, caller, selectImport({ importId }))

export const listImports = async (db: Db, caller: Caller, { from }: ListQuery): Promise<Import[]> => {
  const values = { from, limit: from === 'member' ? 2 * MAX_KEPT : MAX_LISTED_OF_DEVICES }
  const { rows } = await runAsCaller(db, caller, { rows: selectImports(values) })
  return rows.map(toImport)
}

type StoredRow = Omit<ImportRow, 'losses' | 'changes' | 'similarTo'> &
  Record<'losses' | 'changes' | 'similarTo', string | null>
const toRow = ({ losses, changes, similarTo, ...row }: StoredRow): ImportRow => ({
  ...row,
  similarTo: JSON.parse(similarTo ?? 'null'),
  losses: JSON.parse(losses ?? '[]'),
  changes: Object.entries<Change>(JSON.parse(changes ?? '{}')).map(([field, change]) => {
    const [from, to] = change.map((value) => (value === null ? null : String(value)))
    return { field, from: from ?? null, to: to ?? null }
  }),
})
const reported = sql.raw(`line, title, outcome, code, losses, bookId, undo -> 'changes' as changes, (
    select json_object('bookId', books.bookId, 'title', books.title) from books
    where books.bookId = undo ->> 'similarTo' and +books.memberId = importRows.memberId
  ) as similarTo`)
/** Matches the rows of the report of one of the caller's imports. */
export const isOwnReportRow = sql`importRows.memberId = ${callerId} and importRows.importId = :importId`
// Rows are numbered without gaps, so a page of all of them is a range. A page of an outcome counts through at most
// 10,000.
const selectPage = sqlStatement<StoredRow>`
  select ${reported} from importRows
  where ${isOwnReportRow} and row > ${offset} order by row limit ${limit}`
const selectPageOfOutcome = sqlStatement<StoredRow>`
  select ${reported} from importRows
  where ${isOwnReportRow} and outcome = :outcome order by row limit ${limit} offset ${offset}`

/** A page of the report. Returns undefined if the caller has no such import. */
export const listRows = async (
  db: Db,
  caller: Caller,
  importId: number,
  { outcome, ...paging }: RowsQuery,
): Promise<Page<ImportRow> | undefined> => {
  const values = { importId, outcome, ...toLimit(paging) }
  const select = outcome === 'ALL' ? selectPage(values) : selectPageOfOutcome(values)
  const { found, rows } = await runAsCaller(db, caller, {
    found: firstRow(selectImport({ importId })),
    rows: select,
  })
  if (!found) return undefined
  return toPage(rows.map(toRow), outcome === 'ALL' ? found.done : found[outcome], paging)
}
