import { sql } from 'drizzle-orm'
import { type Db, run, sqlStatement } from '../db/client'
import { joinCodes } from '../db/schema'
import type { Config } from '../env'
import { ApiError } from '../errors'
import { deleteAttempt } from './attempts'
import { hashingKeys, requireHashingCapacity, withHashingLease } from './hashing'
import { hashPassword } from './password'
import type { RateLimitHeaders } from './rate-limit'
import type { NewMember, Profile } from './schema'
import { selectExisting } from './store'
import { checkCode, deleteCodes, invalidCodeError, isValidCode } from './verification'

const { placeholder } = sql

const insertMember = (condition = sql``) =>
  sqlStatement<Profile>(sql`
    insert into members (email, name, passwordHash, createdAt, updatedAt)
    select ${placeholder('email')}, ${placeholder('name')}, ${placeholder('passwordHash')}, ${placeholder('createdAt')}, ${placeholder('createdAt')}
    where true ${condition}
    on conflict do nothing
    returning email, name`)
const insertUnverifiedMember = insertMember()
const insertVerifiedMember = insertMember(sql`and exists (select 1 from ${joinCodes} where ${isValidCode})`)

/**
 * Signs a member up, and deletes the verification codes of the address in the same transaction.
 * @param network where the request comes from
 * @param clock returns the local time
 * @throws MEMBER_EXISTS when the e-mail is taken, regardless of case; INVALID_FIELDS for an invalid code;
 * TOO_MANY_REQUESTS after too many tries, or when too many callers wait for hashing
 */
export const signUp = async (
  db: Db,
  config: Config,
  { email, name, password, authenticationCode }: NewMember,
  network: string,
  clock: () => string,
): Promise<{ profile: Profile; rateLimit: RateLimitHeaders }> => {
  const keys = hashingKeys(network, email)
  requireHashingCapacity(keys)
  const code = await checkCode(db, config, email, authenticationCode, network)
  const passwordHash = await withHashingLease(keys, (pause) => hashPassword(password, pause)).catch(async (error) => {
    if (code) await run(db, deleteAttempt(code.counted))
    throw error
  })
  const member = { email, name, passwordHash, createdAt: clock() }
  const [[created], [existing]] = code
    ? await run(
        db,
        insertVerifiedMember({ ...member, ...code, now: Date.now() }),
        selectExisting({ email }),
        deleteCodes({ ...code, email }),
      )
    : await run(db, insertUnverifiedMember(member), selectExisting({ email }))
  if (created) return { profile: created, rateLimit: code?.rateLimit ?? {} }
  throw existing ? new ApiError('MEMBER_EXISTS') : invalidCodeError(authenticationCode)
}
