import { eq, lt, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { joinCodes, purgeJobs } from '../db/schema'
import { log } from '../log'
import { deleteAttemptsBefore, LONGEST_WINDOW_MS } from './attempts'

const HOUR_MS = 3_600_000
const MAX_JOBS = 100

const selectPurgeJobs = statement((db) =>
  db
    .select({ memberId: purgeJobs.memberId, createdAt: purgeJobs.createdAt })
    .from(purgeJobs)
    .orderBy(purgeJobs.createdAt)
    .limit(sql.placeholder('limit')),
)
const deletePurgeJob = statement((db) =>
  db
    .delete(purgeJobs)
    .where(eq(purgeJobs.memberId, sql.placeholder('memberId')))
    .returning({ memberId: purgeJobs.memberId }),
)

/**
 * Runs `purge` for withdrawn members, oldest first. A failure is logged and retried by the next sweep. A job is repeated
 * until it is an hour old, because an upload that began before the withdrawal may still store an image.
 */
export const runPurgeJobs = async (db: Db, purge: (memberId: number) => Promise<unknown>) => {
  const [jobs] = await run(db, selectPurgeJobs({ limit: MAX_JOBS }))
  for (const { memberId, createdAt } of jobs) {
    try {
      await purge(memberId)
      if (createdAt < Date.now() - HOUR_MS) await run(db, deletePurgeJob({ memberId }))
    } catch (error) {
      log('error', `purging images of member ${memberId}: ${error}`)
    }
  }
}

const deleteExpiredCodes = statement((db) =>
  db
    .delete(joinCodes)
    .where(lt(joinCodes.expiresAt, sql.placeholder('now')))
    .returning({ subject: joinCodes.subject }),
)

/** Deletes expired codes, and attempts that no longer count. */
export const sweepAttempts = (db: Db, now = Date.now()) =>
  run(db, deleteExpiredCodes({ now }), deleteAttemptsBefore({ before: now - LONGEST_WINDOW_MS }))
