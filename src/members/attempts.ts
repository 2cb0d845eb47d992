import { and, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import { sqlStatement, statement } from '../db/client'
import { attempts } from '../db/schema'

// Exact limits. An attempt is checked and counted in one statement, so that concurrent attempts cannot exceed a limit.

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** At most `max` attempts in a sliding window. */
type Limit = { max: number; windowMs: number }
export const MAILS: Limit = { max: 5, windowMs: HOUR_MS }
export const CODE_TRIES: Limit = { max: 20, windowMs: 24 * HOUR_MS }
export const LOGINS: Limit = { max: 10, windowMs: 15 * MINUTE_MS }
/** Older attempts no longer count for any limit. */
export const LONGEST_WINDOW_MS = CODE_TRIES.windowMs

/** The placeholder values of the statements below. */
export const toWindow = ({ max, windowMs }: Limit, subject: string, now: number) => ({
  subject,
  now,
  since: now - windowMs,
  max,
})

const subject = sql.placeholder('subject')
export const countSince = (since: SQL) =>
  sql`(select count(*) from ${attempts} where ${attempts.subject} = ${subject} and ${attempts.at} > ${since})`

/** True while the subject is below the limit. */
export const isBelowLimit = sql`${countSince(sql`${sql.placeholder('since')}`)} < ${sql.placeholder('max')}`

/** Counts an attempt, or returns no row when the limit is reached. */
export const insertAttempt = sqlStatement<{ attemptId: number }>(sql`
  insert into attempts (subject, at)
  select ${subject}, ${sql.placeholder('now')} where ${isBelowLimit}
  returning attemptId`)

/** The number of attempts in the window, and the time of the oldest. */
export const selectAttempts = statement((db) =>
  db
    .select({ count: sql<number>`count(*)`.as('count'), oldest: sql<number | null>`min(${attempts.at})`.as('oldest') })
    .from(attempts)
    .where(and(eq(attempts.subject, subject), gt(attempts.at, sql.placeholder('since')))),
)

/** The seconds until the oldest attempt leaves the window, which makes the next one possible. */
export const secondsUntilAllowed = ({ windowMs }: Limit, oldest: number | null | undefined, now: number) =>
  ((oldest ?? now) + windowMs - now) / 1000

export const deleteAttempts = statement((db) =>
  db.delete(attempts).where(eq(attempts.subject, subject)).returning({ attemptId: attempts.attemptId }),
)

export const deleteAttempt = statement((db) =>
  db
    .delete(attempts)
    .where(eq(attempts.attemptId, sql.placeholder('attemptId')))
    .returning({ attemptId: attempts.attemptId }),
)

export const deleteAttemptsBefore = statement((db) =>
  db
    .delete(attempts)
    .where(lt(attempts.at, sql.placeholder('before')))
    .returning({ attemptId: attempts.attemptId }),
)
