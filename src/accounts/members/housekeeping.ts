import { sql } from 'drizzle-orm'
import { type Db, run, sqlStatement } from '../../db/client'
import { deleteOldKeys } from '../../db/idempotency'
import { deleteAttemptsBefore, LONGEST_WINDOW_MS } from '../../db/limits/attempts'
import { HOUR_MS } from '../../values/time'
import { dayOf } from '../codes/mail-limits'
import { deleteOldActivity } from '../sessions/activity'
import { deleteExpiredSessions } from '../sessions/store'

const deleteExpiredFrom = (table: string) => sqlStatement`delete from ${sql.raw(table)} where expiresAt < :now`
const EXPIRING = ['emailUndos', 'accessTokens'].map(deleteExpiredFrom)
/** Only slot 0 has rows of these tables. */
const EXPIRING_CODES = ['joinCodes', 'accountCodes'].map(deleteExpiredFrom)

const deleteDailyMailsBefore = sqlStatement`delete from dailyMails where day < :today`

/** The most sessions, entries of activity and idempotency keys that one sweep deletes from a database. */
const MAX_ROWS = 10_000

/**
 * Deletes what has expired, and what no longer counts for a limit.
 * @param round the number of the round, which selects the members whose idempotency keys are read
 */
export const deleteExpired = (db: Db, now = Date.now(), round = Math.floor(now / HOUR_MS)) => {
  const inSlot0 = {
    codes: EXPIRING_CODES.map((build) => build({ now })),
    dailyMails: deleteDailyMailsBefore({ today: dayOf(now) }),
  }
  return run(db, {
    expired: EXPIRING.map((build) => build({ now })),
    sessions: deleteExpiredSessions({ now, limit: MAX_ROWS }),
    activity: deleteOldActivity({ now, limit: MAX_ROWS }),
    keys: deleteOldKeys(now, round, MAX_ROWS),
    attempts: deleteAttemptsBefore({ before: now - LONGEST_WINDOW_MS }),
    ...(db.slot === 0 && inSlot0),
  })
}
