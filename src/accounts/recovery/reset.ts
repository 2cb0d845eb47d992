import { type SQL, sql } from 'drizzle-orm'
import { idempotent, run, runAfterResponse, sqlStatement, type Values } from '../../db/client'
import { uncountOnFailure } from '../../db/limits/rate-limit'
import type { Variables } from '../../env'
import { localTime } from '../../values/time'
import { deleteCode, invalidCodeError } from '../codes/account-codes'
import { hashingKeys, requireHashingCapacity, withHashingLease } from '../passwords/check'
import { hashPassword } from '../passwords/password'
import { type Origin, recordActivity } from '../sessions/activity'
import { deleteTokensAndLinksOf } from '../tokens/store'
import { checkCode, hasValidCode, type ValidCode } from './reset-codes'
import type { PasswordReset } from './schema'

/** Matches unless the code was voided: by another reset, a change of address, a block, or a withdrawal. */
const isUnchanged = sql`memberId = :memberId and credentialsVersion = :credentialsVersion and withdrawnAt is null`

/** Sets a member's password and ends all sessions, access tokens and links, if a condition is met. */
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
const replacePassword = async ({ slots, config }: Variables, code: ValidCode, passwordHash: string, origin: Origin) => {
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

/**
 * Resets a password, and ends all sessions, access tokens and links. Hashes the password only if the code is right.
 * @throws INVALID_FIELDS, the same for each invalid code and for an unknown address; TOO_MANY_REQUESTS after too many
 * tries of the network, or when too many callers wait for hashing
 */
export const resetPassword = async (variables: Variables, reset: PasswordReset, origin: Origin) => {
  const { email, authenticationCode, password } = reset
  // Not the key of logins, with which strangers could crowd the member out of the queue.
  const keys = hashingKeys(origin.network, `reset ${email}`)
  requireHashingCapacity(keys)
  const {
    slots: { directory },
    config,
  } = variables
  const { valid, counted, rateLimit } = await checkCode(directory, config, email, authenticationCode, origin.network)
  const hashing = withHashingLease(keys, (pause) => hashPassword(password, pause))
  const passwordHash = await uncountOnFailure(directory, counted, hashing)
  const changed = await replacePassword(variables, valid, passwordHash, origin)
  if (!changed) throw invalidCodeError(authenticationCode, rateLimit)
  return { email: changed, memberId: valid.memberId, rateLimit }
}
