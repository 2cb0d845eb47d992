import { sql } from 'drizzle-orm'
import { type Caller, isCaller, runAsCaller } from '../db/caller'
import { type Db, dynamicStatement, idempotent, sqlStatement, statement } from '../db/client'
import { members } from '../db/schema'
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

/**
 * Updates the caller's name or password hash. A new password revokes every token but the caller's own.
 * @param now the local time to record
 * @throws UNAUTHORIZED when the token is no longer valid
 */
export const updateProfile = async (
  db: Db,
  caller: Caller,
  { name, passwordHash }: Changes,
  now: string,
): Promise<UpdatedProfile> => {
  if (name === undefined && passwordHash === undefined) {
    const [profile] = await runAsCaller(db, caller, selectUpdatedProfile())
    return profile
  }
  const revocation = { tokenVersion: sql`${members.tokenVersion} + 1`, keptTokenId: caller.tokenId }
  const update = dynamicStatement((builder) =>
    builder
      .update(members)
      .set({ name, passwordHash, ...(passwordHash && revocation), updatedAt: now })
      .where(isCaller)
      .returning(updatedColumns),
  )
  // Incrementing the version is not idempotent.
  const [profile] = await runAsCaller(db, caller, passwordHash ? update : idempotent(update))
  return profile
}

const insertPurgeJob = sqlStatement<{ memberId: number }>(sql`
  insert into purgeJobs (memberId, createdAt)
  select ${members.memberId}, ${sql.placeholder('createdAt')} from ${members} where ${isCaller}
  returning memberId`)
const deleteCaller = statement((db) => db.delete(members).where(isCaller).returning({ memberId: members.memberId }))

/**
 * Deletes the caller with all books and memos, and leaves a job to delete the images.
 * @throws UNAUTHORIZED when the token is no longer valid
 */
export const deleteMember = (db: Db, caller: Caller) =>
  runAsCaller(db, caller, insertPurgeJob({ createdAt: Date.now() }), deleteCaller())
