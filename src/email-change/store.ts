import { type SQL, sql } from 'drizzle-orm'
import { isCaller } from '../db/caller'
import { sqlStatement, statement } from '../db/client'
import { members } from '../db/schema'
import { isAllowed } from '../members/attempts'
import { isUnsettled, takeForChangeIf } from '../members/claims'
import { isFree } from '../members/directory'
import type { Profile } from '../members/responses'
import { type Origin, recordActivity } from '../sessions/activity'
import { hasRightCode, selectRightCode } from './codes'

// The statements of a change of e-mail address.

const { placeholder } = sql
const memberId = sql`${placeholder('memberId')}`
const sentVersion = sql`${placeholder('credentialsVersion')}`
const storedVersion = sql`(select ${members.credentialsVersion} from ${members} where ${members.memberId} = ${memberId})`

export const selectOwn = statement((db) =>
  db
    .select({
      memberId: members.memberId,
      email: members.email,
      credentialsVersion: members.credentialsVersion,
    })
    .from(members)
    .where(isCaller),
)

/** When the undo that restores the new address expires, if it is a former one of the member. */
const returnExpiresAt = sql`
  select max(expiresAt) from emailUndos
  where memberId = ${memberId} and lower(email) = lower(${placeholder('email')}) and expiresAt > ${placeholder('now')}`

/** The statements that change the caller's address if a condition is met. The first one returns the former address. */
const changeIf = (condition: SQL) => {
  const isChanging = sql`${isCaller} and ${condition}`
  // An undo expires after the member's earlier ones, so that reservations expire in the order of the changes. That of a
  // return to a former address expires right after that address's own: a thief must not be able to outwait the owner.
  const insertUndo = sqlStatement<{ email: string }>(
    () => sql`
    insert into emailUndos (memberId, codeHash, email, expiresAt)
    select memberId, ${placeholder('undoHash')}, email,
      max(
        coalesce((${returnExpiresAt}), ${placeholder('undoExpiresAt')}),
        1 + coalesce((select max(expiresAt) from emailUndos where memberId = ${memberId}), 0)
      )
    from members where ${isChanging}
    returning email`,
  )
  const record = recordActivity('EMAIL_CHANGED', sql`(select memberId from members where ${isChanging})`)
  // Must come last: the condition no longer holds afterwards.
  const update = sqlStatement<Profile>(
    () => sql`
    update members
    set email = ${placeholder('email')}, credentialsVersion = credentialsVersion + 1, updatedAt = ${placeholder('updatedAt')}
    where ${isChanging}
    returning email, name`,
  )
  return (origin: Origin, values: Record<string, unknown>) =>
    [insertUndo(values), record(origin, values), update(values)] as const
}
const changeInSlot0 = (hasDirectory: boolean) =>
  changeIf(sql`${isAllowed} and ${hasRightCode(storedVersion)} and ${isFree(hasDirectory, memberId)}`)
export const changeHere = { alone: changeInSlot0(false), withDirectory: changeInSlot0(true) }
export const changeClaimed = changeIf(
  sql`credentialsVersion = ${sentVersion} and ${isUnsettled} and ${isFree(false, memberId)}`,
)

export const selectCodeHere = selectRightCode(storedVersion)
export const deleteVoidCode = sqlStatement<{ codeHash: string }>(
  () => sql`
  delete from accountCodes where codeHash = ${placeholder('codeHash')} and credentialsVersion < ${storedVersion}
  returning codeHash`,
)

export const selectCode = selectRightCode(sentVersion)
export const takeWithCode = takeForChangeIf(sql`${isAllowed} and ${hasRightCode(sentVersion)}`)

export const selectUndone = sqlStatement<{ email: string }>(
  () => sql`
  select email from emailUndos where codeHash = ${placeholder('undoHash')}`,
)
