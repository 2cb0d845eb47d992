import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import type { Profile } from '../members/responses'
import { type Origin, recordActivity } from '../sessions/activity'

// The statements that restore a former address: with the code mailed to it, or by a change back to it.

const { placeholder } = sql

/** Matches the undo that restores an address, while it can be used. */
export const isUndoTo = sql`lower(email) = lower(${placeholder('email')}) and expiresAt > ${placeholder('now')}`
/** When the undo of the caller that restores an address expires. Null if there is none, so that a change to it is no return. */
export const returnExpiresAt = sql<number | null>`(
  select min(expiresAt) from emailUndos where memberId = ${callerId} and ${isUndoTo}
)`.as('returnExpiresAt')

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
  const deleteSessions = sqlStatement<{
    sessionId: string
  }>`delete from sessions where memberId = ${member} and ${isEnded} returning sessionId`
  const deleteTokens = sqlStatement<{
    tokenId: string
  }>`delete from accessTokens where memberId = ${member} returning tokenId`
  const restore = sqlStatement<Profile>`
    update members
    set email = ${placeholder('email')}, passwordHash = '', credentialsVersion = credentialsVersion + 1,
      updatedAt = ${placeholder('updatedAt')}
    where memberId = ${member}
    returning email, name`
  // The condition may no longer hold. But an undo that restores the address in use exists only if that was just restored.
  const deleteUndos = sqlStatement<{ undoId: number }>`
    delete from emailUndos where memberId = ${owner} and undoId >= (
      select min(undoId) from emailUndos where memberId = ${owner} and expiresAt > ${placeholder('now')}
        and lower(email) = (select lower(members.email) from members where memberId = ${owner})
    ) returning undoId`
  return (origin: Origin, values: Record<string, unknown>) => ({
    restoration: record(origin, values),
    sessions: deleteSessions(values),
    tokens: deleteTokens(values),
    restored: restore(values),
    undos: deleteUndos(values),
  })
}
