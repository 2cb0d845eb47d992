import { sql } from 'drizzle-orm'
import { accountSubject, keyedHash } from '../../auth/keyed-hash'
import { afterResponse, type Db, run } from '../../db/client'
import { type Counted, insertAttempt, LISTED_FAILURES, LOGINS, limitNetwork, toAttempt } from '../../db/limits/attempts'
import { countOrRefuse, uncountOnFailure } from '../../db/limits/rate-limit'
import type { Config } from '../../env'
import { log } from '../../runtime/log'
import { createTurns } from '../../runtime/turns'
import { sourcesOf } from '../../values/text/network'
import { isEmail } from '../addresses/directory'
import { type Origin, recordActivity } from '../sessions/activity'
import { DUMMY_HASH, type Pause, verifyPassword } from './password'

/** About fifteen seconds of hashing. */
const MAX_WAITING = 64

/** The keys by which callers take turns. `account`: an e-mail address, or a credential. */
export const hashingKeys = (network: string, account: string) => [...sourcesOf(network), account.toLowerCase()]

/** One request hashes at a time. */
export const { requireCapacity: requireHashingCapacity, take: withHashingLease } = createTurns('hashing', MAX_WAITING)

/** Failed logins are counted per account and network, and per IPv6 /48. */
export const toLoginAttempt = async (config: Config, email: string, network: string) => {
  const toSubject = (source: string, suffix: string) =>
    accountSubject(config.JWT_SECRET, email, `login${suffix}`, source)
  return toAttempt(Date.now(), ...(await limitNetwork(network, toSubject, LOGINS)))
}

/**
 * Counts the check of a password as a failed login, so that it allows no more guesses than logins do.
 * @throws TOO_MANY_REQUESTS after too many failed logins
 */
export const countLogin = async (directory: Db, config: Config, email: string, network: string) =>
  countOrRefuse(directory, await toLoginAttempt(config, email, network))

/**
 * Checks a password that was counted as a failed login before, so that concurrent guesses cannot exceed the limit. If
 * it is right, continues with `work` in the same turn. The calling function uncounts it then; errors uncount it here.
 * @param find finds the member. A missing one takes as long as a wrong password
 * @returns undefined if the password is wrong
 * @throws TOO_MANY_REQUESTS when too many callers wait for hashing
 */
export const checkPassword = async <Member extends { passwordHash: string }, Result>(
  directory: Db,
  { password, keys, counted }: { password: string; keys: string[]; counted: Counted },
  find: () => Promise<Member | undefined>,
  work: (pause: Pause, member: Member) => Promise<Result>,
) => {
  const findAndVerify = async () => {
    const member = await find()
    return withHashingLease(keys, async (pause) => {
      const isRight = await verifyPassword(password, member?.passwordHash || DUMMY_HASH, pause)
      return isRight && member ? work(pause, member) : undefined
    })
  }
  return uncountOnFailure(directory, counted, findAndVerify())
}

// The attempt is inserted for an unknown e-mail, too, so that response times do not reveal whether it has a member.
const recordFailedLogin = recordActivity(
  'LOGIN_FAILED',
  sql`(select memberId from members where ${isEmail} and changes() > 0)`,
)

/** Lists a failed login in the member's activity, after the response. `db`: the database of the member's slot. */
export const recordFailure = (db: Db, config: Config, email: string, origin: Origin) => {
  const record = async () => {
    const subject = await keyedHash(config.JWT_SECRET, 'listed failure', email.toLowerCase())
    const attempt = toAttempt(Date.now(), { subject, limits: LISTED_FAILURES })
    await run(afterResponse(db), { listed: insertAttempt(attempt), activity: recordFailedLogin(origin, { email }) })
  }
  db.waitUntil(record().catch((error) => log('error', `activity: ${error}`)))
}
