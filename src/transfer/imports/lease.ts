import { sql } from 'drizzle-orm'
import { firstRow, sqlStatement } from '../../db/client'
import { DEADLINES } from '../../runtime/deadlines'
import { deleteObject, fileKey } from '../../storage/bucket'
import { query, type RunContext } from './run-context'
import { importColumns, type StoredImport } from './store'

// One run at a time has the lease of an import, and works on it. The imports of a member run one after another: those of
// devices wait for their turn.

/** A random number tells the runs apart. */
export const newLease = () => ({
  lease: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
  leaseEndsAt: Date.now() + DEADLINES.importLease,
})

type Leased = Pick<StoredImport, 'memberId' | 'importId' | 'lease' | 'file'>

const isImport = sql`memberId = :memberId and importId = :importId`
const isLeased = sql`${isImport} and lease = :lease and status = 'RUNNING'`

const updateLease = sqlStatement<StoredImport>`
  update imports set lease = :lease, leaseEndsAt = :leaseEndsAt, continuations = continuations + 1
  where memberId = :memberId and leaseEndsAt <= :now and importId = (
    select min(importId) from imports where memberId = :memberId and status = 'RUNNING' and isDeleted = 0
  )
  returning ${importColumns}`
const endLease = sqlStatement`update imports set leaseEndsAt = 0 where ${isLeased}`
/** Whether other imports of the member wait. */
type Waiting = { isWaiting: 0 | 1 }
const isWaiting = sql`exists (
  select 1 from imports where memberId = :memberId and importId > :importId and status = 'RUNNING' and isDeleted = 0
) as isWaiting`
const selectStatus = sqlStatement<Pick<StoredImport, 'status'> & Waiting>`
  select status, ${isWaiting} from imports where ${isImport}`
const fail = sqlStatement<Waiting>`
  update imports set status = 'FAILED', reason = :reason where ${isLeased} returning ${isWaiting}`
const clearFile = sqlStatement`update imports set file = null where ${isImport} and status <> 'RUNNING'`

/** Takes the lease of the member's oldest import that runs. Returns undefined if there is none, or another run has it. */
export const takeLease = async (context: RunContext, memberId: number) => {
  const taken = firstRow(updateLease({ memberId, now: Date.now(), ...newLease() }))
  return (await query(context, { taken })).taken
}

/** Deletes the file of an import that has ended. The sweep repeats it. */
export const dropFile = async (context: RunContext, ended: Pick<StoredImport, 'memberId' | 'importId' | 'file'>) => {
  if (ended.file === null) return
  await deleteObject(context.bucket, fileKey(ended.memberId, ended.file))
  await query(context, { cleared: clearFile(ended) })
}

/** Gives the lease back, and deletes the file if the import has ended. Returns whether another one waits. */
export const returnLease = async (context: RunContext, leased: Leased) => {
  const { stored } = await query(context, { ended: endLease(leased), stored: firstRow(selectStatus(leased)) })
  if (!stored || stored.status === 'RUNNING') return false
  await dropFile(context, leased)
  return stored.isWaiting === 1
}

/**
 * Ends an import as failed, so that the next one may start, unless another run has the lease. Returns whether
 * another one waits.
 */
export const failImport = async (context: RunContext, leased: Leased, reason: string) => {
  const { failed } = await query(context, { failed: firstRow(fail({ ...leased, reason })) })
  if (failed) await dropFile(context, leased)
  return failed?.isWaiting === 1
}
