import { sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller, selectCaller } from '../db/caller'
import { type Db, dynamicStatement, idempotent, sqlStatement, statement } from '../db/client'
import { members } from '../db/schema'
import { deleteOwnActivity, type Origin, recordOwnActivity } from '../sessions/activity'
import { deleteOtherSessions, deleteOwnSessions } from '../sessions/store'
import type { Profile, UpdatedProfile } from './schema'

export const profileColumns = { email: members.email, name: members.name }
const updatedColumns = { ...profileColumns, updatedAt: members.updatedAt }

/** Matches the member with an e-mail address, regardless of case. */
export const isEmail = sql`lower(${members.email}) = lower(${sql.placeholder('email')})`
export const selectExisting = statement((db) => db.select({ memberId: members.memberId }).from(members).where(isEmail))

const selectProfile = statement((db) => db.select(profileColumns).from(members).where(isCaller))
const selectUpdatedProfile = statement((db) => db.select(updatedColumns).from(members).where(isCaller))

/** @throws UNAUTHORIZED when the token is no longer valid */
export const getProfile = async (db: Db, caller: Caller): Promise<Profile> => {
  const [profile] = await runAsCaller(db, caller, selectProfile())
  return profile
}

type Changes = { name?: string; passwordHash?: string }

const recordPasswordChange = recordOwnActivity('PASSWORD_CHANGED')

/**
 * Updates the caller's name or password hash. A new password ends all sessions but the caller's own.
 * @param now the local time to record
 * @throws UNAUTHORIZED when the token is no longer valid
 */
export const updateProfile = async (
  db: Db,
  caller: Caller,
  { name, passwordHash }: Changes,
  now: string,
  origin: Origin,
): Promise<UpdatedProfile> => {
  if (name === undefined && passwordHash === undefined) {
    const [profile] = await runAsCaller(db, caller, selectUpdatedProfile())
    return profile
  }
  const credentialsVersion = passwordHash ? sql`${members.credentialsVersion} + 1` : undefined
  const update = dynamicStatement((builder) =>
    builder
      .update(members)
      .set({ name, passwordHash, credentialsVersion, updatedAt: now })
      .where(isCaller)
      .returning(updatedColumns),
  )
  // Incrementing the version is not idempotent.
  const [profile] = passwordHash
    ? await runAsCaller(db, caller, update, recordPasswordChange(origin), deleteOtherSessions())
    : await runAsCaller(db, caller, idempotent(update))
  return profile
}

const insertPurgeJob = sqlStatement<{ memberId: number }>(sql`
  insert into purgeJobs (memberId, createdAt)
  select ${members.memberId}, ${sql.placeholder('createdAt')} from ${members} where ${isCaller}
  returning memberId`)
// A sign-up's insert that runs a second time must not bring the member back.
const refuseClaim = sqlStatement<{ claimId: number }>(sql`
    insert into settledClaims (claimId, settledAt)
    select ${members.memberId}, ${sql.placeholder('createdAt')} from ${members} where ${isCaller}
    on conflict do nothing
    returning claimId`)
const deleteOwnUndos = sqlStatement<{ memberId: number }>(sql`
  delete from emailUndos where memberId = ${callerId} returning memberId`)
const deleteOwnTokens = sqlStatement<{ memberId: number }>(sql`
  delete from accessTokens where memberId = ${callerId} returning memberId`)
// No address has this form, and no password an empty hash.
const eraseCaller = statement((db) =>
  db
    .update(members)
    .set({
      email: sql`'withdrawn-' || ${members.memberId}`,
      name: '',
      passwordHash: '',
      withdrawnAt: sql`${sql.placeholder('createdAt')}`,
    })
    .where(isCaller)
    .returning({ memberId: members.memberId }),
)

/**
 * Withdraws the caller: all sessions and access tokens end, the e-mail address is free again, and name, password and
 * activity are erased. Leaves a job to delete the books, memos and images, which could take too long for one statement.
 * In a slot other than 0, the address is free only after `releaseAddresses`, which the job repeats.
 * @throws UNAUTHORIZED when the token is no longer valid
 */
export const withdraw = (db: Db, caller: Caller) => {
  const createdAt = Date.now()
  const erase = [
    insertPurgeJob({ createdAt }),
    eraseCaller({ createdAt }),
    deleteOwnActivity(),
    deleteOwnUndos(),
    deleteOwnTokens(),
    deleteOwnSessions(),
  ]
  const statements = caller.slot > 0 ? [refuseClaim({ createdAt }), ...erase] : erase
  return runAsCaller(db, caller, selectCaller(), ...statements)
}
