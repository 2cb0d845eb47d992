import { lt, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { dailyMails, joinCodes } from '../db/schema'
import { DAY_MS, deleteAttemptsBefore, LONGEST_WINDOW_MS } from './attempts'

const deleteExpiredCodes = statement((db) =>
  db
    .delete(joinCodes)
    .where(lt(joinCodes.expiresAt, sql.placeholder('now')))
    .returning({ subject: joinCodes.subject }),
)

const deleteDailyMailsBefore = statement((db) =>
  db
    .delete(dailyMails)
    .where(lt(dailyMails.day, sql.placeholder('today')))
    .returning({ day: dailyMails.day }),
)

/** Deletes expired codes, and what no longer counts for a limit. */
export const sweepAttempts = (db: Db, now = Date.now()) =>
  run(
    db,
    deleteExpiredCodes({ now }),
    deleteAttemptsBefore({ before: now - LONGEST_WINDOW_MS }),
    deleteDailyMailsBefore({ today: Math.floor(now / DAY_MS) }),
  )
