import { sql } from 'drizzle-orm'
import { issueToken } from '../../auth/token'
import { type Db, firstRow, run, runAfterResponse, sqlStatement } from '../../db/client'
import { type Attempt, countAttempt, deleteAttempts } from '../../db/limits/attempts'
import { afterAttempt, afterReset, tooManyAttempts } from '../../db/limits/rate-limit'
import type { Config } from '../../env'
import { ApiError } from '../../errors'
import type { Slots } from '../../slots/slots'
import { type Address, findSlot, isEmail, toAddress } from '../addresses/directory'
import { requireIntact, requireOfSlot, selectMarks } from '../addresses/marks'
import { checkPassword, hashingKeys, recordFailure, requireHashingCapacity, toLoginAttempt } from '../passwords/check'
import { hashPassword, isOutdated } from '../passwords/password'
import { type Origin, recordActivity } from '../sessions/activity'
import { insertSession } from '../sessions/store'
import type { Profile } from './responses'
import type { Credentials } from './schema'

const selectLogin = sqlStatement<Profile & { memberId: number; passwordHash: string; blockedAt: number | null }>`
  select memberId, email, name, passwordHash, blockedAt from members where ${isEmail}`

/** Replaces a hash, unless the password was changed since it was read. */
const replaceHash = sqlStatement`
  update members set passwordHash = :newHash where memberId = :memberId and passwordHash = :oldHash`

/** With one database: counts the attempt and finds the member in one call. */
const findHere = async (db: Db, address: Address, attempt: Attempt) => {
  const { member, ...results } = await run(db, {
    marks: selectMarks(address),
    member: firstRow(selectLogin(address)),
    ...countAttempt(attempt),
  })
  return { ...results, slot: 0, find: async () => member }
}

/** With several: counts the attempt and finds the slot in one call, and the member in another, even in slot 0. */
const findAnywhere = async (slots: Slots, address: Address, addressHash: string, attempt: Attempt) => {
  const batch = { marks: selectMarks(address), ...countAttempt(attempt) }
  const { slot, marks, usage, counted } = await findSlot(slots, { ...address, addressHash }, batch)
  const find = async () => {
    const { own, member } = await run(slots.open(slot), {
      own: slot > 0 ? selectMarks(address) : undefined,
      member: firstRow(selectLogin(address)),
    })
    if (own) requireOfSlot(slot, marks, own)
    return member
  }
  return { marks, usage, counted, slot, find }
}

const recordLogin = recordActivity(
  'LOGIN',
  sql`(select memberId from sessions where memberId = :memberId and sessionId = :sessionId)`,
)

/**
 * Logs a member in. Failed logins are counted per account and network, and per IPv6 /48.
 * @throws LOGIN_FAILED for an unknown e-mail and for a wrong password, after the same time; MEMBER_BLOCKED, only with
 * the right password, which then still counts as a failed login; TOO_MANY_REQUESTS after too many failed logins, or
 * when too many callers wait for hashing; UNAVAILABLE instead of LOGIN_FAILED while a slot or the key of the directory
 * is lost
 */
export const logIn = async (slots: Slots, config: Config, { email, password }: Credentials, origin: Origin) => {
  const keys = hashingKeys(origin.network, email)
  requireHashingCapacity(keys)
  const { directory } = slots
  const attempt = await toLoginAttempt(config, email, origin.network)
  const { now } = attempt
  const address = await toAddress(slots, config, email)
  const { marks, usage, counted, slot, find } = address.addressHash
    ? await findAnywhere(slots, address, address.addressHash, attempt)
    : await findHere(directory, address, attempt)
  if (counted.length === 0) throw tooManyAttempts(usage, now)

  const verified = await checkPassword(directory, { password, keys, counted }, find, async (pause, member) => ({
    member,
    newHash: isOutdated(member.passwordHash) ? await hashPassword(password, pause) : undefined,
  }))
  const fail = () => {
    recordFailure(slots.open(slot), config, email, origin)
    return new ApiError('LOGIN_FAILED', { headers: afterAttempt(usage, now) })
  }
  if (!verified) {
    await requireIntact(directory, marks)
    throw fail()
  }

  const { member, newHash } = verified
  if (member.blockedAt !== null) throw new ApiError('MEMBER_BLOCKED', { headers: afterAttempt(usage, now) })
  const { memberId, passwordHash: oldHash } = member
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
  if (slot > 0) runAfterResponse(directory, 'login', { forgiven: forgive })
  const profile = { email: member.email, name: member.name }
  return { profile, token: await issueToken(config, session, slot), rateLimit: afterReset(usage, now) }
}
