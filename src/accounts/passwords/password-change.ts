import { keyedHash } from '../../auth/keyed-hash'
import { credentialOf } from '../../auth/token'
import { type Caller, isCaller, runAsCaller } from '../../db/caller'
import { afterResponse, type Db, run, statement } from '../../db/client'
import { members } from '../../db/schema/member-tables'
import type { Config } from '../../env'
import { fieldError } from '../../errors'
import {
  deleteAttempt,
  insertAttempt,
  insertCallerAttempt,
  PASSWORD_CHANGES,
  selectUsage,
  toAttempt,
} from '../../limits/attempts'
import { afterAttempt, type RateLimitHeaders, tooManyAttempts } from '../../limits/rate-limit'
import { log } from '../../runtime/log'
import type { Slots } from '../../slots/slots'
import { recordFailure, toLoginAttempt } from '../members/login'
import type { ProfilePatch } from '../members/schema'
import type { Origin } from '../sessions/activity'
import { hashingKeys, requireHashingCapacity, withHashingLease } from './hashing'
import { DUMMY_HASH, hashPassword, verifyPassword } from './password'

const selectCredentials = statement((db) =>
  db.select({ email: members.email, passwordHash: members.passwordHash }).from(members).where(isCaller),
)

export const currentPasswordError = (currentPassword: string | undefined, rateLimit?: RateLimitHeaders) =>
  fieldError('currentPassword', currentPassword, 'is wrong', rateLimit)

/**
 * Counts the verification of a password as a failed login until it succeeds, so that it allows no more guesses than logins
 * do.
 */
const countVerification = async (directory: Db, config: Config, email: string, network: string, now: number) => {
  const attempt = await toLoginAttempt(config, email, network, now)
  return run(directory, { usage: selectUsage(attempt), counted: insertAttempt(attempt) })
}

/**
 * Hashes a new password of the caller, and verifies the current one if it is sent. Hashing is expensive, so the session is
 * checked and the change counted first.
 * @param db the caller's database
 * @param from where the request comes from
 * @returns also the hash of the current password, if it was verified
 * @throws UNAUTHORIZED when the token is no longer valid; INVALID_FIELDS when the current password is wrong, or missing
 * although it is required; TOO_MANY_REQUESTS after too many changes or failed logins, or when too many callers wait for
 * hashing
 */
export const hashNewPassword = async (
  { directory }: Slots,
  db: Db,
  config: Config,
  caller: Caller,
  { password, currentPassword }: ProfilePatch & { password: string },
  { network, ...origin }: Origin & { network: string },
) => {
  if (currentPassword === undefined && config.REQUIRE_CURRENT_PASSWORD === 'on') {
    throw fieldError('currentPassword', null, 'is required')
  }
  const keys = hashingKeys(network, credentialOf(caller))
  requireHashingCapacity(keys)
  const now = Date.now()
  const subject = await keyedHash(config.JWT_SECRET, 'password change', credentialOf(caller))
  const attempt = toAttempt(now, { subject, limits: PASSWORD_CHANGES })
  const { guard, usage, counted } = await runAsCaller(db, caller, {
    guard: selectCredentials(),
    usage: selectUsage(attempt),
    counted: insertCallerAttempt(attempt),
  })
  const { email, passwordHash: oldHash } = guard
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const logins =
    currentPassword === undefined ? undefined : await countVerification(directory, config, email, network, now)
  if (logins?.counted.length === 0) {
    await run(db, { uncounted: deleteAttempt(counted) })
    throw tooManyAttempts(logins.usage, now)
  }

  const verifyAndHash = async (pause: () => Promise<void>) => {
    const isRight =
      currentPassword === undefined || (await verifyPassword(currentPassword, oldHash || DUMMY_HASH, pause))
    return isRight ? hashPassword(password, pause) : undefined
  }
  const passwordHash = await withHashingLease(keys, verifyAndHash).catch(async (error) => {
    await run(db, { uncounted: deleteAttempt(counted) })
    if (logins) await run(directory, { uncounted: deleteAttempt(logins.counted) })
    throw error
  })
  if (passwordHash === undefined) {
    const recorded = recordFailure(db, config, email, origin)
    db.waitUntil(recorded.catch((error) => log('error', `activity: ${error}`)))
    throw currentPasswordError(currentPassword, afterAttempt([...usage, ...(logins?.usage ?? [])], now))
  }
  if (logins) {
    const forgiven = run(afterResponse(directory), { uncounted: deleteAttempt(logins.counted) })
    db.waitUntil(forgiven.catch((error) => log('error', `password change: ${error}`)))
  }
  return { passwordHash, verifiedHash: logins ? oldHash : undefined, rateLimit: afterAttempt(usage, now) }
}
