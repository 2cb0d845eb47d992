import { and, eq, sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { members } from '../db/schema'
import type { Config } from '../env'
import { ApiError, tooManyRequests } from '../errors'
import { keyedHash } from '../keyed-hash'
import { issueToken } from '../token'
import { deleteAttempts, insertAttempt, LOGINS, secondsUntilAllowed, selectAttempts, toWindow } from './attempts'
import { requireHashingCapacity, withHashingLease } from './hashing'
import { DUMMY_HASH, hashPassword, isOutdated, verifyPassword } from './password'
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
 * @param network where the request comes from: failed logins are counted per account and network
 * @throws LOGIN_FAILED for an unknown e-mail and for a wrong password, after the same time; TOO_MANY_REQUESTS after too
 * many failed logins, or when too many callers wait for hashing
 */
export const logIn = async (
  db: Db,
  config: Config,
  { email, password }: Credentials,
  network: string,
): Promise<{ profile: Profile; token: string }> => {
  requireHashingCapacity(network)

  // An attempt counts as failed until the password has proved right, so that concurrent guesses cannot exceed the limit.
  const now = Date.now()
  const subject = await keyedHash(config.JWT_SECRET, 'login', email.toLowerCase(), network)
  const window = toWindow(LOGINS, subject, now)
  const [[member], [counted], [failed]] = await run(
    db,
    selectLogin({ email }),
    insertAttempt(window),
    selectAttempts(window),
  )
  if (!counted) throw tooManyRequests(secondsUntilAllowed(LOGINS, failed?.oldest, now))

  const storedHash = member?.passwordHash ?? DUMMY_HASH
  const isRight = await withHashingLease(network, (pause) => verifyPassword(password, storedHash, pause))
  if (!member || !isRight) throw new ApiError('LOGIN_FAILED')

  if (isOutdated(storedHash)) {
    const newHash = await withHashingLease(network, (pause) => hashPassword(password, pause))
    const replacement = replaceHash({ memberId: member.memberId, oldHash: storedHash, newHash })
    await run(db, deleteAttempts({ subject }), replacement)
  } else {
    await run(db, deleteAttempts({ subject }))
  }
  return { profile: { email: member.email, name: member.name }, token: await issueToken(config, member) }
}
