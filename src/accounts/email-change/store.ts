import { type SQL, sql } from 'drizzle-orm'
import { callerId, isCaller } from '../../db/caller'
import { sqlStatement, type Values } from '../../db/client'
import { isAllowed } from '../../limits/attempts'
import { isUnsettled, takeForChangeIf } from '../addresses/claims'
import { isFree } from '../addresses/directory'
import type { Profile } from '../members/responses'
import { type Origin, recordActivity } from '../sessions/activity'
import { hasRightCode, selectRightCode } from './change-codes'
import { isUndoTo, restoreIf } from './restore'

// The statements of a change of e-mail address.

const sentVersion = sql`:credentialsVersion`
const storedVersion = sql`(select credentialsVersion from members where memberId = :memberId)`

/**
 * The statements that change the caller's address if a condition is met. Those of `restoreIf` return to a former address: like
 * its undo, but keeping the caller's session. To any other address, the others add an undo, record the activity and change
 * the address. A return increments the version, which the condition must check, so that they then do nothing.
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
    changed: update(values),
  })
}
const changeInSlot0 = (hasDirectory: boolean) =>
  changeIf(sql`${isAllowed} and ${hasRightCode(storedVersion)} and ${isFree(hasDirectory, true)}`)
export const changeHere = { alone: changeInSlot0(false), withDirectory: changeInSlot0(true) }
export const changeClaimed = changeIf(
  sql`${storedVersion} = ${sentVersion} and ${isUnsettled} and ${isFree(false, true)}`,
)

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
