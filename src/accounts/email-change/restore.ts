import { type SQL, sql } from 'drizzle-orm'
import { callerId, isCaller } from '../../db/caller'
import { sqlStatement, type Values } from '../../db/client'
import type { members } from '../../db/schema/member-tables'
import type { Profile } from '../members/responses'
import { type Origin, recordActivity } from '../sessions/activity'
import { deleteTokensOf } from '../tokens/store'
import type { Requester } from './change-codes'

// The statements that restore a former address: with the code mailed to it, or by a change back to it.

/** Matches the undo that restores an address, while it can be used. */
export const isUndoTo = sql`lower(email) = lower(:email) and expiresAt > :now`
/**
 * Selects the caller. `returnExpiresAt`: when the undo of the caller that restores an address expires; null if there is none,
 * so that a change to it is no return.
 */
export const selectChanging = sqlStatement<
  Pick<typeof members.$inferSelect, 'memberId' | 'email' | 'passwordHash' | 'credentialsVersion'> &
    Pick<Requester, 'returnExpiresAt'>
>`
  select memberId, email, passwordHash, credentialsVersion,
    (select min(expiresAt) from emailUndos where memberId = ${callerId} and ${isUndoTo}) as returnExpiresAt
  from members where ${isCaller}`

/**
 * Builds the statements that restore a former address if a condition is met. `restored` returns the profile; the undos of this
 * change and all later ones are deleted.
 * The password is deleted too, because it was needed to change the address. Nobody can log in before a reset.
 * @param owner SQL for the member's id
 * @param isUndo matches the undo
 * @param isEnded matches the sessions that end
 */
export const restoreIf = (owner: SQL, isUndo: SQL, condition: SQL, isEnded = sql`true`) => {
  const member = sql`(select memberId from emailUndos where memberId = ${owner} and ${isUndo} and ${condition} limit 1)`
  const record = recordActivity('EMAIL_RESTORED', member)
  const deleteSessions = sqlStatement`delete from sessions where memberId = ${member} and ${isEnded}`
  const deleteTokens = deleteTokensOf(member)
  const restore = sqlStatement<Profile>`
    update members
    set email = :email, passwordHash = '', credentialsVersion = credentialsVersion + 1, updatedAt = :updatedAt
    where memberId = ${member}
    returning email, name`
  // The condition may no longer hold. But an undo that restores the address in use exists only if that was just restored.
  const deleteUndos = sqlStatement`
    delete from emailUndos where memberId = ${owner} and undoId >= (
      select min(undoId) from emailUndos where memberId = ${owner} and expiresAt > :now
        and lower(email) = (select lower(members.email) from members where memberId = ${owner})
    )`
  return (origin: Origin, values: Values) => ({
    restoration: record(origin, values),
    sessions: deleteSessions(values),
    tokens: deleteTokens(values),
    restored: restore(values),
    undos: deleteUndos(values),
  })
}
