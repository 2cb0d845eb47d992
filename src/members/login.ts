import { and, eq, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { members } from '../db/schema'
import type { Config } from '../env'
import { ApiError } from '../errors'
import { keyedHash } from '../keyed-hash'
import { issueToken } from '../token'
import { deleteAttempt, deleteAttempts, insertAttempt, LOGINS, limitNetwork, selectUsage, toAttempt } from './attempts'
import { hashingKeys, requireHashingCapacity, withHashingLease } from './hashing'
import { DUMMY_HASH, hashPassword, isOutdated, verifyPassword } from './password'
import { afterAttempt, afterReset, type RateLimitHeaders, tooManyAttempts } from './rate-limit'
import type { Credentials, Profile } from './schema'
import { isEmail, profileColumns } from './store'

const selectLogin = statement((db) =>
  db
    .select({
      ...profileColumns,
      memberId: members.memberId,
      passwordHash: members.passwordHash,
      tokenVersion: members.tokenVersion,
    })
    .from(members)
    .where(isEmail),
)

/** Replaces a hash, unless the password was changed since it was read. */
const replaceHash = statement((db) =>
  db
    .update(members)
    .set({ passwordHash: sql`${sql.placeholder('newHash')}` })
    .where(and(eq(members.memberId, sql.placeholder('memberId')), eq(members.passwordHash, sql.placeholder('oldHash'))))
    .returning({ memberId: members.memberId }),
)

/**
 * Logs a member in.
 * @param network where the request comes from: failed logins are counted per account and network, and per IPv6 /48
 * @throws LOGIN_FAILED for an unknown e-mail and for a wrong password, after the same time; TOO_MANY_REQUESTS after too
 * many failed logins, or when too many callers wait for hashing
 */
export const logIn = async (
  db: Db,
  config: Config,
  { email, password }: Credentials,
  network: string,
): Promise<{ profile: Profile; token: string; rateLimit: RateLimitHeaders }> => {
  const keys = hashingKeys(network, email)
  requireHashingCapacity(keys)

  // An attempt counts as failed until the password is verified, so that concurrent guesses cannot exceed the limit.
  const now = Date.now()
  const toSubject = (network: string) => keyedHash(config.JWT_SECRET, 'login', email.toLowerCase(), network)
  const attempt = toAttempt(now, ...(await limitNetwork(network, toSubject, LOGINS)))
  const [[member], usage, counted] = await run(db, selectLogin({ email }), selectUsage(attempt), insertAttempt(attempt))
  if (counted.length === 0) throw tooManyAttempts(usage, now)

  const oldHash = member?.passwordHash ?? DUMMY_HASH
  const verify = async (pause: () => Promise<void>) => {
    const isRight = await verifyPassword(password, oldHash, pause)
    return { isRight, newHash: isRight && isOutdated(oldHash) ? await hashPassword(password, pause) : undefined }
  }
  const { isRight, newHash } = await withHashingLease(keys, verify).catch(async (error) => {
    await run(db, deleteAttempt(counted))
    throw error
  })
  if (!member || !isRight) throw new ApiError('LOGIN_FAILED', { headers: afterAttempt(usage, now) })

  const { memberId } = member
  await (newHash
    ? run(db, deleteAttempts(attempt), replaceHash({ memberId, oldHash, newHash }))
    : run(db, deleteAttempts(attempt)))
  const profile = { email: member.email, name: member.name }
  return { profile, token: await issueToken(config, member), rateLimit: afterReset(usage, now) }
}
