import { type SQL, sql } from 'drizzle-orm'
import { idempotent, run, runAfterResponse, sqlStatement, type Values } from '../../db/client'
import type { Variables } from '../../env'
import { localTime } from '../../values/time'
import { deleteCode } from '../codes/account-codes'
import { type Origin, recordActivity } from '../sessions/activity'
import { deleteTokensAndLinksOf } from '../tokens/store'
import { hasValidCode, type ValidCode } from './reset-codes'

/**
 * Matches the member unless the code was voided: by another reset, a change of e-mail address, a block, or a
 * withdrawal.
 */
const isUnchanged = sql`memberId = :memberId and credentialsVersion = :credentialsVersion and withdrawnAt is null`

/**
 * The statements that set the password of a member and end all sessions, access tokens and links, if a condition is
 * met.
 */
const replacePasswordIf = (condition: SQL) => {
  const member = sql`(select memberId from members where ${condition})`
  const record = recordActivity('PASSWORD_RESET', member)
  const deleteSessions = sqlStatement`delete from sessions where memberId = ${member}`
  const deleteTokensAndLinks = deleteTokensAndLinksOf(member)
  // Must come last: the condition no longer holds afterwards.
  const update = sqlStatement<{ email: string }>`
    update members
    set passwordHash = :passwordHash, updatedAt = :updatedAt, credentialsVersion = credentialsVersion + 1
    where memberId = ${member}
    returning email`
  return (origin: Origin, values: Values) => ({
    activity: record(origin, values),
    sessions: deleteSessions(values),
    tokens: deleteTokensAndLinks(values),
    changed: update(values),
  })
}
const replaceWithCode = replacePasswordIf(sql`${isUnchanged} and ${hasValidCode}`)
const replaceInSlot = replacePasswordIf(isUnchanged)

/** Deletes the codes that the reset voids, but not those of a later version, which were issued after it. */
const deleteVoidCodes = sqlStatement`
  delete from accountCodes where subject = :subject and credentialsVersion <= :credentialsVersion`

/**
 * Sets the password of the member who has a valid code, and ends all sessions, access tokens and links. In slot 0 this
 * is one transaction. In other slots, the code is deleted first: if the slot then fails, the member needs another one.
 * @returns the member's e-mail address, or undefined if the code was used, expired or voided since it was checked
 */
export const replacePassword = async (
  { slots, config }: Variables,
  code: ValidCode,
  passwordHash: string,
  origin: Origin,
) => {
  const { directory } = slots
  const values = { ...code, passwordHash, updatedAt: localTime(config.TIME_ZONE), now: Date.now() }
  if (code.slot === 0) {
    const { changed } = await run(directory, { ...replaceWithCode(origin, values), codes: deleteVoidCodes(values) })
    return changed[0]?.email
  }
  const slot = slots.open(code.slot)
  const { codes } = await run(directory, { codes: deleteCode(values) })
  if (codes.length === 0) return undefined
  const { changed } = await run(slot, replaceInSlot(origin, values))
  runAfterResponse(directory, 'password reset', { codes: idempotent(deleteVoidCodes(values)) })
  return changed[0]?.email
}
