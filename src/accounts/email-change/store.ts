import { type SQL, sql } from 'drizzle-orm'
import { callerId, isCaller } from '../../db/caller'
import { firstRow, sqlStatement, type Values } from '../../db/client'
import { isAllowed } from '../../db/limits/attempts'
import type { members } from '../../db/schema/member-tables'
import { isUnsettled, takeForChangeIf } from '../addresses/claims'
import { isFree } from '../addresses/directory'
import type { Profile } from '../members/responses'
import { type Origin, recordActivity } from '../sessions/activity'
import { deleteTokensAndLinksOf } from '../tokens/store'
import { hasRightCode, type Requester, selectRightCode } from './change-codes'

// The statements of a change of e-mail address, and of a return to a former one: by its code, or by a change back.

/** Matches the undo that restores an address, while it can be used. */
const isUndoTo = sql`lower(email) = lower(:email) and expiresAt > :now`
/** Selects the caller. `returnExpiresAt`: until when the requested address can be restored by an undo; null if it cannot. */
export const selectChanging = sqlStatement<
  Pick<typeof members.$inferSelect, 'memberId' | 'email' | 'passwordHash' | 'credentialsVersion'> &
    Pick<Requester, 'returnExpiresAt'>
>`
  select memberId, email, passwordHash, credentialsVersion,
    (select min(expiresAt) from emailUndos where memberId = ${callerId} and ${isUndoTo}) as returnExpiresAt
  from members where ${isCaller}`

/**
 * Builds the statements that restore a former address if a condition is met. `restored` returns the profile; the undos
 * of this change and all later ones are deleted. The password is deleted too, because it was needed to change the
 * address. Nobody can log in before a reset.
 * @param owner SQL for the member's id
 * @param isUndo matches the undo
 * @param isEnded matches the sessions that end
 */
export const restoreIf = (owner: SQL, isUndo: SQL, condition: SQL, isEnded = sql`true`) => {
  const member = sql`(select memberId from emailUndos where memberId = ${owner} and ${isUndo} and ${condition} limit 1)`
  const record = recordActivity('EMAIL_RESTORED', member)
  const deleteSessions = sqlStatement`delete from sessions where memberId = ${member} and ${isEnded}`
  const deleteTokensAndLinks = deleteTokensAndLinksOf(member)
  const restore = sqlStatement<Profile>`
    update members
    set email = :email, passwordHash = '', credentialsVersion = credentialsVersion + 1, updatedAt = :updatedAt
    where memberId = ${member}
    returning email, name`
  // The condition may no longer hold. But an undo of the address in use exists only if that was just restored.
  const deleteUndos = sqlStatement`
    delete from emailUndos where memberId = ${owner} and undoId >= (
      select min(undoId) from emailUndos where memberId = ${owner} and expiresAt > :now
        and lower(email) = (select lower(members.email) from members where memberId = ${owner})
    )`
  return (origin: Origin, values: Values) => ({
    restoration: record(origin, values),
    sessions: deleteSessions(values),
    tokens: deleteTokensAndLinks(values),
    restored: firstRow(restore(values)),
    undos: deleteUndos(values),
  })
}

const sentVersion = sql`:credentialsVersion`
const storedVersion = sql`(select credentialsVersion from members where memberId = :memberId)`

/**
 * The statements that change the caller's address if a condition is met. Those of `restoreIf` return to a former
 * address: like its undo, but keeping the caller's session. To any other address, the others add an undo, record the
 * activity and change the address. A return increments the version, which the condition must check, so that they then
 * do nothing.
 */
const changeIf = (condition: SQL) => {
  const isOther = sql`sessionId <> :callerSessionId`
  const restore = restoreIf(callerId, isUndoTo, condition, isOther)
  const isChanging = sql`${isCaller} and ${condition}`
  // An undo expires after the member's earlier ones, so that reservations expire in the order of the changes.
  const insertUndo = sqlStatement`
    insert into emailUndos (memberId, codeHash, email, expiresAt)
    select memberId, :undoHash, email,
      max(:undoExpiresAt, 1 + coalesce((select max(expiresAt) from emailUndos where memberId = :memberId), 0))
    from members where ${isChanging}`
  const record = recordActivity('EMAIL_CHANGED', sql`(select memberId from members where ${isChanging})`)
  // Must come last: the condition no longer holds afterwards.
  const update = sqlStatement<Profile>`
    update members
    set email = :email, credentialsVersion = credentialsVersion + 1, updatedAt = :updatedAt
    where ${isChanging}
    returning email, name`
  return (origin: Origin, values: Values) => ({
    ...restore(origin, values),
    newUndo: insertUndo(values),
    change: record(origin, values),
    changed: firstRow(update(values)),
  })
}
export const changeHere = changeIf(sql`${isAllowed} and ${hasRightCode(storedVersion)} and ${isFree(true)}`)
export const changeClaimed = changeIf(sql`${storedVersion} = ${sentVersion} and ${isUnsettled} and ${isFree(true)}`)

export const selectCodeHere = selectRightCode(storedVersion)
export const deleteVoidCode = sqlStatement`
  delete from accountCodes where codeHash = :codeHash and credentialsVersion < ${storedVersion}`

export const selectCode = selectRightCode(sentVersion)
export const takeWithCode = takeForChangeIf(sql`${isAllowed} and ${hasRightCode(sentVersion)}`)

/** Selects the former address after a change, null after a return, and no row if neither took effect. */
export const selectChanged = sqlStatement<{ oldEmail: string | null }>`
  select email as oldEmail from emailUndos where codeHash = :undoHash
  union all select null from members
  where memberId = :memberId and lower(email) = lower(:email) and passwordHash = ''`
