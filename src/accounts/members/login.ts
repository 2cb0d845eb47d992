import { and, eq, sql } from 'drizzle-orm'
import { keyedHash } from '../../auth/keyed-hash'
import { issueToken } from '../../auth/token'
import { afterResponse, type Db, firstRow, run, statement } from '../../db/client'
import { members } from '../../db/schema/member-tables'
import type { Config } from '../../env'
import { ApiError } from '../../errors'
import {
  deleteAttempt,
  deleteAttempts,
  insertAttempt,
  LISTED_FAILURES,
  LOGINS,
  limitNetwork,
  selectUsage,
  toAttempt,
} from '../../limits/attempts'
import { afterAttempt, afterReset, type RateLimitHeaders, tooManyAttempts } from '../../limits/rate-limit'
import { log } from '../../runtime/log'
import type { Slots } from '../../slots/slots'
import { type Address, findSlot, isEmail, toAddress } from '../addresses/directory'
import { hashingKeys, requireHashingCapacity, withHashingLease } from '../passwords/hashing'
import { DUMMY_HASH, hashPassword, isOutdated, verifyPassword } from '../passwords/password'
import { type Origin, recordActivity } from '../sessions/activity'
import { insertSession } from '../sessions/store'
import type { Profile } from './responses'
import type { Credentials } from './schema'
import { profileColumns } from './store'

const selectLogin = statement((db) =>
  db
    .select({
      ...profileColumns,
      memberId: members.memberId,
      passwordHash: members.passwordHash,
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

type Attempt = ReturnType<typeof toAttempt>

/** Failed logins are counted per account and network, and per IPv6 /48. */
export const toLoginAttempt = async (config: Config, email: string, network: string, now: number) => {
  const toSubject = (part: string) => keyedHash(config.JWT_SECRET, 'login', email.toLowerCase(), part)
  return toAttempt(now, ...(await limitNetwork(network, toSubject, LOGINS)))
}

/** With one database: counts the attempt and finds the member in one call. */
const findHere = async (db: Db, email: string, attempt: Attempt) => {
  const { member, usage, counted } = await run(db, {
    member: firstRow(selectLogin({ email })),
    usage: selectUsage(attempt),
    counted: insertAttempt(attempt),
  })
  return { usage, counted, slot: 0, find: async () => member }
}

/** With several: counts the attempt and finds the slot in one call, and the member in another, even in slot 0. */
const findAnywhere = async (slots: Slots, address: Address, addressHash: string, attempt: Attempt) => {
  const count = { usage: selectUsage(attempt), counted: insertAttempt(attempt) }
  const { slot, usage, counted } = await findSlot(slots, { ...address, addressHash }, count)
  const find = async () => {
    const { members } = await run(slots.open(slot), { members: selectLogin(address) })
    return members[0]
  }
  return { usage, counted, slot, find }
}

const recordLogin = recordActivity(
  'LOGIN',
  sql`(select memberId from sessions where memberId = ${sql.placeholder('memberId')} and sessionId = ${sql.placeholder('sessionId')})`,
)
// The attempt is inserted for an unknown e-mail, too, so that response times do not reveal whether it has a member.
const recordFailedLogin = recordActivity(
  'LOGIN_FAILED',
  sql`(select memberId from members where ${isEmail} and changes() > 0)`,
)

/**
 * Lists a failed login in the member's activity. Call it after the response.
 * @param db the database of the member's slot
 */
export const recordFailure = async (db: Db, config: Config, email: string, origin: Origin) => {
  const subject = await keyedHash(config.JWT_SECRET, 'listed failure', email.toLowerCase())
  const attempt = toAttempt(Date.now(), { subject, limits: LISTED_FAILURES })
  await run(afterResponse(db), { listed: insertAttempt(attempt), activity: recordFailedLogin(origin, { email }) })
}

/**
 * Logs a member in.
 * @param from where the request comes from: failed logins are counted per account and network, and per IPv6 /48
 * @throws LOGIN_FAILED for an unknown e-mail and for a wrong password, after the same time; TOO_MANY_REQUESTS after too
 * many failed logins, or when too many callers wait for hashing
 */
export const logIn = async (
  slots: Slots,
  config: Config,
  { email, password }: Credentials,
  { network, ...origin }: Origin & { network: string },
): Promise<{ profile: Profile; token: string; rateLimit: RateLimitHeaders }> => {
  const keys = hashingKeys(network, email)
  requireHashingCapacity(keys)
  const { directory } = slots

  // An attempt counts as failed until the password is verified, so that concurrent guesses cannot exceed the limit.
  const now = Date.now()
  const attempt = await toLoginAttempt(config, email, network, now)
  const address = await toAddress(slots, config, email)
  const { usage, counted, slot, find } = address.addressHash
    ? await findAnywhere(slots, address, address.addressHash, attempt)
    : await findHere(directory, email, attempt)
  if (counted.length === 0) throw tooManyAttempts(usage, now)

  const findAndVerify = async () => {
    const member = await find()
    const oldHash = member?.passwordHash || DUMMY_HASH
    const verify = async (pause: () => Promise<void>) => {
      const isRight = await verifyPassword(password, oldHash, pause)
      const newHash = isRight && isOutdated(oldHash) ? await hashPassword(password, pause) : undefined
      return isRight && member ? { member, oldHash, newHash } : undefined
    }
    return withHashingLease(keys, verify)
  }
  const verified = await findAndVerify().catch(async (error) => {
    await run(directory, { uncounted: deleteAttempt(counted) })
    throw error
  })
  const fail = () => {
    const recorded = recordFailure(slots.open(slot), config, email, origin)
    directory.waitUntil(recorded.catch((error) => log('error', `activity: ${error}`)))
    return new ApiError('LOGIN_FAILED', { headers: afterAttempt(usage, now) })
  }
  if (!verified) throw fail()

  const { member, oldHash, newHash } = verified
  const { memberId } = member
  const expiresAt = now + 1000 * config.TOKEN_TTL_SECONDS
  const session = { memberId, sessionId: crypto.randomUUID(), issuedAt: now, expiresAt }
  const forgive = deleteAttempts(attempt)
  const { created } = await run(slots.open(slot), {
    created: insertSession({ ...session, ...origin, now, verifiedHash: oldHash }),
    activity: recordLogin(origin, session),
    newHash: newHash ? replaceHash({ memberId, oldHash, newHash }) : undefined,
    forgiven: slot === 0 ? forgive : undefined,
  })
  if (created.length === 0) throw fail()
  if (slot > 0) {
    const forgiven = run(afterResponse(directory), { forgiven: forgive })
    directory.waitUntil(forgiven.catch((error) => log('error', `login: ${error}`)))
  }
  const profile = { email: member.email, name: member.name }
  return { profile, token: await issueToken(config, session, slot), rateLimit: afterReset(usage, now) }
}
