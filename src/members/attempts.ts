import { and, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import { statement } from '../db/client'
import { attempts } from '../db/schema'

// Counted exactly, in the statement that counts: whoever comes at once is counted one by one.

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** At most so many in a window that slides. */
export type Limit = { most: number; within: number }
export const MAILS: Limit = { most: 5, within: HOUR }
export const CODE_TRIES: Limit = { most: 20, within: 24 * HOUR }
export const LOGINS: Limit = { most: 10, within: 15 * MINUTE }
/** After so long no limit looks at an attempt any more. */
export const LONGEST_WINDOW = CODE_TRIES.within

/** The values of `isAllowed` and of the statements built on it. */
export const windowOf = ({ most, within }: Limit, subject: string, now: number) => ({
  subject,
  now,
  since: now - within,
  most,
})

const subject = sql.placeholder('subject')
export const countSince = (since: SQL) =>
  sql`(select count(*) from ${attempts} where ${attempts.subject} = ${subject} and ${attempts.at} > ${since})`

/** True while the subject's attempts in the window are below the limit. */
export const isAllowed = sql`${countSince(sql`${sql.placeholder('since')}`)} < ${sql.placeholder('most')}`

/** Counts one more attempt, or returns no row when the limit is reached. */
export const countAttempt = statement((db) =>
  db
    .insert(attempts)
    .select(sql`select null, ${subject}, ${sql.placeholder('now')} where ${isAllowed}`)
    .returning({ attemptId: attempts.attemptId }),
)

/** How many attempts are in the window, and when the oldest was: once it has left, there is room again. */
export const countAttempts = statement((db) =>
  db
    .select({ count: sql<number>`count(*)`.as('count'), oldest: sql<number | null>`min(${attempts.at})`.as('oldest') })
    .from(attempts)
    .where(and(eq(attempts.subject, subject), gt(attempts.at, sql.placeholder('since')))),
)

/** The seconds until the limit lets the subject try again. */
export const secondsLeft = ({ within }: Limit, oldest: number | null | undefined, now: number) =>
  ((oldest ?? now) + within - now) / 1000

export const forgetAttempts = statement((db) =>
  db.delete(attempts).where(eq(attempts.subject, subject)).returning({ attemptId: attempts.attemptId }),
)

export const forgetAttempt = statement((db) =>
  db
    .delete(attempts)
    .where(eq(attempts.attemptId, sql.placeholder('attemptId')))
    .returning({ attemptId: attempts.attemptId }),
)

export const dropAttempts = statement((db) =>
  db
    .delete(attempts)
    .where(lt(attempts.at, sql.placeholder('before')))
    .returning({ attemptId: attempts.attemptId }),
)
