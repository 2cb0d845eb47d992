import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import { credentialOf } from '../../auth/token'
import { runAsCaller, selectMember } from '../../db/caller'
import { runAfterResponse } from '../../db/client'
import { deleteAttempt, insertCallerAttempt, PASSWORD_CHANGES, selectUsage, toAttempt } from '../../db/limits/attempts'
import { afterAttempt, type RateLimitHeaders, tooManyAttempts, uncountOnFailure } from '../../db/limits/rate-limit'
import type { Variables } from '../../env'
import { fieldError } from '../../errors'
import type { ProfilePatch } from '../members/schema'
import type { Origin } from '../sessions/activity'
import {
  checkPassword,
  countLogin,
  hashingKeys,
  recordFailure,
  requireHashingCapacity,
  withHashingLease,
} from './check'
import { hashPassword, type Pause } from './password'

const selectCredentials = selectMember('email', 'passwordHash')

export const currentPasswordError = (currentPassword: string | undefined, rateLimit?: RateLimitHeaders) =>
  fieldError('currentPassword', currentPassword, 'is wrong', rateLimit)

/**
 * Hashes a new password of the caller, and verifies the current one if it is sent. Hashing is expensive, so the session
 * is checked and the change counted first.
 * @returns also the hash of the current password, if it was verified
 * @throws INVALID_FIELDS when the current password is wrong, or missing although it is required; TOO_MANY_REQUESTS
 * after too many changes or failed logins, or when too many callers wait for hashing
 */
export const hashNewPassword = async (
  { slots: { directory }, db, config, caller }: Variables,
  { password, currentPassword }: ProfilePatch & { password: string },
  origin: Origin,
) => {
  if (currentPassword === undefined && config.REQUIRE_CURRENT_PASSWORD === 'on') {
    throw fieldError('currentPassword', null, 'is required')
  }
  const keys = hashingKeys(origin.network, credentialOf(caller))
  requireHashingCapacity(keys)
  const now = Date.now()
  // The guard refuses access tokens.
  const subject = await accountSubject(
    config.JWT_SECRET,
    memberAccount(caller.kind === 'session' ? caller.memberId : 0),
    'password-change',
    credentialOf(caller),
  )
  const attempt = toAttempt(now, { subject, limits: PASSWORD_CHANGES })
  const { guard, usage, counted } = await runAsCaller(db, caller, {
    guard: selectCredentials(),
    usage: selectUsage(attempt),
    counted: insertCallerAttempt(attempt),
  })
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const { email, passwordHash: oldHash } = guard
  const hash = (pause: Pause) => hashPassword(password, pause)
  const checkAndHash = async () => {
    if (currentPassword === undefined) return { login: undefined, passwordHash: await withHashingLease(keys, hash) }
    const login = await countLogin(directory, config, email, origin.network)
    const check = { password: currentPassword, keys, counted: login.counted }
    return { login, passwordHash: await checkPassword(directory, check, async () => guard, hash) }
  }
  const { login, passwordHash } = await uncountOnFailure(db, counted, checkAndHash())
  if (passwordHash === undefined) {
    recordFailure(db, config, email, origin)
    throw currentPasswordError(currentPassword, afterAttempt([...usage, ...(login?.usage ?? [])], now))
  }
  if (login) runAfterResponse(directory, 'password change', { uncounted: deleteAttempt(login.counted) })
  return { passwordHash, verifiedHash: login && oldHash, rateLimit: afterAttempt(usage, now) }
}
