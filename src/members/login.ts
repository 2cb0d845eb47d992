import { and, eq, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { members } from '../db/schema'
import type { Config } from '../env'
import { ApiError } from '../errors'
import { keyedHash } from '../keyed-hash'
import type { Slots } from '../slots'
import { issueToken } from '../token'
import { deleteAttempt, deleteAttempts, insertAttempt, LOGINS, limitNetwork, selectUsage, toAttempt } from './attempts'
import { type Address, chooseStandIn, selectHolder, selectShares, toAddress } from './directory'
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

type Attempt = ReturnType<typeof toAttempt>

/** With one database: counts the attempt and finds the member in one call. */
const findHere = async (db: Db, email: string, attempt: Attempt) => {
  const [[member], usage, counted] = await run(db, selectLogin({ email }), selectUsage(attempt), insertAttempt(attempt))
  return { usage, counted, slot: 0, find: async () => member }
}

/**
 * With several: counts the attempt and finds the slot in one call, and the member in another, even in slot 0. For an
 * unknown address it queries a stand-in slot, so that neither calls nor time reveal whether an account exists.
 */
const findAnywhere = async (slots: Slots, address: Address, addressHash: string, attempt: Attempt) => {
  const [[holder], shares, usage, counted] = await run(
    slots.directory,
    selectHolder(address),
    selectShares(),
    selectUsage(attempt),
    insertAttempt(attempt),
  )
  const bound = shares.filter(({ slot }) => slots.numbers.includes(slot))
  const slot = holder ? (holder.slot ?? 0) : chooseStandIn(addressHash, bound)
  const find = async () => {
    const [[member]] = await run(slots.open(slot), selectLogin(address))
    return member
  }
  return { usage, counted, slot, find }
}

/**
 * Logs a member in.
 * @param network where the request comes from: failed logins are counted per account and network, and per IPv6 /48
 * @throws LOGIN_FAILED for an unknown e-mail and for a wrong password, after the same time; TOO_MANY_REQUESTS after too
 * many failed logins, or when too many callers wait for hashing
 */
export const logIn = async (
  slots: Slots,
  config: Config,
  { email, password }: Credentials,
  network: string,
): Promise<{ profile: Profile; token: string; rateLimit: RateLimitHeaders }> => {
  const keys = hashingKeys(network, email)
  requireHashingCapacity(keys)
  const { directory } = slots

  // An attempt counts as failed until the password is verified, so that concurrent guesses cannot exceed the limit.
  const now = Date.now()
  const toSubject = (network: string) => keyedHash(config.JWT_SECRET, 'login', email.toLowerCase(), network)
  const attempt = toAttempt(now, ...(await limitNetwork(network, toSubject, LOGINS)))
  const address = await toAddress(slots, config, email)
  const { usage, counted, slot, find } = address.addressHash
    ? await findAnywhere(slots, address, address.addressHash, attempt)
    : await findHere(directory, email, attempt)
  if (counted.length === 0) throw tooManyAttempts(usage, now)

  const findAndVerify = async () => {
    const member = await find()
    const oldHash = member?.passwordHash ?? DUMMY_HASH
    const verify = async (pause: () => Promise<void>) => {
      const isRight = await verifyPassword(password, oldHash, pause)
      const newHash = isRight && isOutdated(oldHash) ? await hashPassword(password, pause) : undefined
      return isRight && member ? { member, oldHash, newHash } : undefined
    }
    return withHashingLease(keys, verify)
  }
  const verified = await findAndVerify().catch(async (error) => {
    await run(directory, deleteAttempt(counted))
    throw error
  })
  if (!verified) throw new ApiError('LOGIN_FAILED', { headers: afterAttempt(usage, now) })

  const { member, oldHash, newHash } = verified
  const replace = newHash ? [replaceHash({ memberId: member.memberId, oldHash, newHash })] : []
  await (slot === 0
    ? run(directory, deleteAttempts(attempt), ...replace)
    : Promise.all([run(directory, deleteAttempts(attempt)), newHash && run(slots.open(slot), ...replace)]))
  const profile = { email: member.email, name: member.name }
  return { profile, token: await issueToken(config, member, slot), rateLimit: afterReset(usage, now) }
}
