import { lt, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { joinCodes } from '../db/schema'
import { deleteAttemptsBefore, LONGEST_WINDOW_MS } from './attempts'

const deleteExpiredCodes = statement((db) =>
  db
    .delete(joinCodes)
    .where(lt(joinCodes.expiresAt, sql.placeholder('now')))
    .returning({ subject: joinCodes.subject }),
)

/** Deletes expired codes, and attempts that no longer count. */
export const sweepAttempts = (db: Db, now = Date.now()) =>
  run(db, deleteExpiredCodes({ now }), deleteAttemptsBefore({ before: now - LONGEST_WINDOW_MS }))
