import { keyedHash } from '../../auth/keyed-hash'
import { credentialOf } from '../../auth/token'
import { type Caller, isCaller, runAsCaller } from '../../db/caller'
import { type Db, run, statement } from '../../db/client'
import { members } from '../../db/schema/member-tables'
import type { Config } from '../../env'
import { fieldError } from '../../errors'
import { deleteAttempt, EMAIL_CHANGES, insertAttempt, selectUsage, toAttempt } from '../../limits/attempts'
import { afterAttempt, type RateLimitHeaders, tooManyAttempts } from '../../limits/rate-limit'
import { log } from '../../runtime/log'
import type { Slots } from '../../slots/slots'
import { limitMails } from '../codes/mail-limits'
import { recordFailure, toLoginAttempt } from '../members/login'
import { hashingKeys, requireHashingCapacity, withHashingLease } from '../passwords/hashing'
import { DUMMY_HASH, verifyPassword } from '../passwords/password'
import type { Origin } from '../sessions/activity'
import type { Requester } from './change-codes'
import { returnExpiresAt } from './restore'
import type { EmailChange } from './schema'

const selectCredentials = statement((db) =>
  db
    .select({
      memberId: members.memberId,
      email: members.email,
      passwordHash: members.passwordHash,
      credentialsVersion: members.credentialsVersion,
      returnExpiresAt,
    })
    .from(members)
    .where(isCaller),
)

/** Counts the mail, and uncounts the verification of the password, which was counted as a failed login. */
const countMail = async (
  directory: Db,
  config: Config,
  { caller, email, network }: { caller: Caller; email: string; network: string },
  verification: { attemptId: number }[],
) => {
  const now = Date.now()
  const ofSession = await keyedHash(config.JWT_SECRET, 'email change', credentialOf(caller))
  const limited = await limitMails(config, email, network, 'change mail')
  const attempt = toAttempt(now, { subject: ofSession, limits: EMAIL_CHANGES.session }, ...limited)
  const { usage, counted } = await run(directory, {
    uncounted: deleteAttempt(verification),
    usage: selectUsage(attempt),
    counted: insertAttempt(attempt),
  })
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  return afterAttempt(usage, now)
}

/**
 * Verifies the caller's password for a change of e-mail address, and counts the mail. Nothing here depends on whether the
 * new address is taken.
 * @param db the caller's database
 * @param from where the request comes from
 * @throws UNAUTHORIZED when the token is no longer valid; INVALID_FIELDS for a wrong password and for the caller's own
 * address; TOO_MANY_REQUESTS after too many failed logins or mails, or when too many callers wait for hashing
 */
export const requestChange = async (
  { directory }: Slots,
  db: Db,
  config: Config,
  caller: Caller,
  { email, password }: EmailChange,
  { network, ...origin }: Origin & { network: string },
): Promise<{ requester: Requester; rateLimit: RateLimitHeaders }> => {
  const keys = hashingKeys(network, credentialOf(caller))
  requireHashingCapacity(keys)
  const now = Date.now()
  const { guard } = await runAsCaller(db, caller, { guard: selectCredentials({ email, now }) })
  const { passwordHash, email: oldEmail, ...member } = guard
  if (oldEmail.toLowerCase() === email.toLowerCase()) throw fieldError('email', email, 'is already your address')

  const attempt = await toLoginAttempt(config, oldEmail, network, now)
  const { usage, counted } = await run(directory, { usage: selectUsage(attempt), counted: insertAttempt(attempt) })
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const verify = (pause: () => Promise<void>) => verifyPassword(password, passwordHash || DUMMY_HASH, pause)
  const isRight = await withHashingLease(keys, verify).catch(async (error) => {
    await run(directory, { uncounted: deleteAttempt(counted) })
    throw error
  })
  if (!isRight) {
    const recorded = recordFailure(db, config, oldEmail, origin)
    db.waitUntil(recorded.catch((error) => log('error', `activity: ${error}`)))
    throw fieldError('password', password, 'is wrong', afterAttempt(usage, now))
  }
  const rateLimit = await countMail(directory, config, { caller, email, network }, counted)
  return { requester: { ...member, slot: caller.slot }, rateLimit }
}
