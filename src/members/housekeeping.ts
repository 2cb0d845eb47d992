import { eq, lt, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { joinCodes, purgeJobs } from '../db/schema'
import { log } from '../http/log'
import { dropAttempts, LONGEST_WINDOW } from './attempts'

const LONGEST_REQUEST = 3_600_000
const selectPurgeJobs = statement((db) =>
  db
    .select({ memberId: purgeJobs.memberId, createdAt: purgeJobs.createdAt })
    .from(purgeJobs)
    .orderBy(purgeJobs.createdAt)
    .limit(sql.placeholder('limit')),
)
const dropPurgeJob = statement((db) =>
  db
    .delete(purgeJobs)
    .where(eq(purgeJobs.memberId, sql.placeholder('memberId')))
    .returning({ memberId: purgeJobs.memberId }),
)

const JOBS_AT_ONCE = 100

/**
 * Runs `purge` for members who withdrew, the oldest first; one that fails is logged, and left for the next time. A job
 * is done with only once no upload that began before the withdrawal can still be under way.
 */
export const runPurgeJobs = async (db: Db, purge: (memberId: number) => Promise<unknown>) => {
  const [jobs] = await run(db, selectPurgeJobs({ limit: JOBS_AT_ONCE }))
  for (const { memberId, createdAt } of jobs) {
    try {
      await purge(memberId)
      if (createdAt < Date.now() - LONGEST_REQUEST) await run(db, dropPurgeJob({ memberId }))
    } catch (error) {
      log('error', `purge of member ${memberId}: ${error}`)
    }
  }
}

const dropExpiredCodes = statement((db) =>
  db
    .delete(joinCodes)
    .where(lt(joinCodes.expiresAt, sql.placeholder('now')))
    .returning({ subject: joinCodes.subject }),
)

/** Deletes the codes that are over, and the attempts that no limit looks at any more. */
export const sweepAttempts = (db: Db, now = Date.now()) =>
  run(db, dropExpiredCodes({ now }), dropAttempts({ before: now - LONGEST_WINDOW }))
