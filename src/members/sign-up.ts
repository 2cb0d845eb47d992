import { sql } from 'drizzle-orm'
import { type Db, run, sqlStatement } from '../db/client'
import { joinCodes } from '../db/schema'
import type { Config } from '../env'
import { ApiError } from '../errors'
import { requireHashingCapacity, withHashingLease } from './hashing'
import { hashPassword } from './password'
import type { NewMember, Profile } from './schema'
import { selectExisting } from './store'
import { deleteCode, invalidCode, isValidProof, proveAddress } from './verification'

const { placeholder } = sql

const insertMember = (condition = sql``) =>
  sqlStatement<Profile>(sql`
    insert into members (email, name, passwordHash, createdAt, updatedAt)
    select ${placeholder('email')}, ${placeholder('name')}, ${placeholder('passwordHash')}, ${placeholder('createdAt')}, ${placeholder('createdAt')}
    where true ${condition}
    on conflict do nothing
    returning email, name`)
const insertUnverifiedMember = insertMember()
const insertVerifiedMember = insertMember(sql`and exists (select 1 from ${joinCodes} where ${isValidProof})`)

/**
 * Signs a member up, and consumes the verification code in the same transaction.
 * @param network where the request comes from
 * @param now the local time to record
 * @throws MEMBER_EXISTS when the e-mail is taken, regardless of case; INVALID_FIELDS for an invalid code;
 * TOO_MANY_REQUESTS after too many tries, or when too many callers wait for hashing
 */
export const signUp = async (
  db: Db,
  config: Config,
  { email, name, password, authenticationCode }: NewMember,
  network: string,
  now: string,
): Promise<Profile> => {
  requireHashingCapacity(network)
  const proof = await proveAddress(db, config, email, authenticationCode)
  const passwordHash = await withHashingLease(network, (pause) => hashPassword(password, pause))
  const member = { email, name, passwordHash, createdAt: now }
  const [[created], [existing]] = proof
    ? await run(
        db,
        insertVerifiedMember({ ...member, ...proof, now: Date.now() }),
        selectExisting({ email }),
        deleteCode(proof),
      )
    : await run(db, insertUnverifiedMember(member), selectExisting({ email }))
  if (created) return created
  throw existing ? new ApiError('MEMBER_EXISTS') : invalidCode(authenticationCode)
}
