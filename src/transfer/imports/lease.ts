import { sql } from 'drizzle-orm'
import { firstRow, sqlStatement } from '../../db/client'
import { DEADLINES } from '../../runtime/deadlines'
import { deleteObject, fileKey } from '../../storage/bucket'
import { query, type RunContext } from './run-context'
import { importColumns, type StoredImport } from './store'

// One run at a time has the lease of an import, and works on it.

/** A random number tells the runs apart. */
export const newLease = () => ({
  lease: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
  leaseEndsAt: Date.now() + DEADLINES.importLease,
})

type Key = Pick<StoredImport, 'memberId' | 'importId'>
type Leased = Pick<StoredImport, 'memberId' | 'importId' | 'lease' | 'file'>

const isImport = sql`memberId = :memberId and importId = :importId`
const isLeased = sql`${isImport} and lease = :lease and status = 'RUNNING'`

const updateLease = sqlStatement<StoredImport>`
  update imports set lease = :lease, leaseEndsAt = :leaseEndsAt, continuations = continuations + 1
  where ${isImport} and status = 'RUNNING' and isDeleted = 0 and leaseEndsAt <= :now
  returning ${importColumns}`
const endLease = sqlStatement`update imports set leaseEndsAt = 0 where ${isLeased}`
const selectStatus = sqlStatement<Pick<StoredImport, 'status'>>`select status from imports where ${isImport}`
const fail = sqlStatement<Pick<StoredImport, 'importId'>>`
  update imports set status = 'FAILED', reason = :reason where ${isLeased} returning importId`
const clearFile = sqlStatement`update imports set file = null where ${isImport} and status <> 'RUNNING'`

/** Returns undefined if the import has ended, or another run has the lease. */
export const takeLease = async (context: RunContext, key: Key) => {
  const taken = firstRow(updateLease({ ...key, now: Date.now(), ...newLease() }))
  return (await query(context, { taken })).taken
}

/** Deletes the file of an import that has ended. The sweep repeats it. */
export const dropFile = async (context: RunContext, ended: Pick<StoredImport, 'memberId' | 'importId' | 'file'>) => {
  if (ended.file === null) return
  await deleteObject(context.bucket, fileKey(ended.memberId, ended.file))
  await query(context, { cleared: clearFile(ended) })
}

/** Gives the lease back, and deletes the file if the import has ended. */
export const returnLease = async (context: RunContext, leased: Leased) => {
  const { stored } = await query(context, { ended: endLease(leased), stored: firstRow(selectStatus(leased)) })
  if (stored && stored.status !== 'RUNNING') await dropFile(context, leased)
}

/** Ends an import as failed, so that the next one may start, unless another run has the lease. */
export const failImport = async (context: RunContext, leased: Leased, reason: string) => {
  const { failed } = await query(context, { failed: firstRow(fail({ ...leased, reason })) })
  if (failed) await dropFile(context, leased)
}
