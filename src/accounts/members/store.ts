import { and, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller, selectCaller } from '../../db/caller'
import { type Db, dynamicStatement, idempotent, sqlStatement, statement } from '../../db/client'
import { members } from '../../db/schema/member-tables'
import { deleteOwnActivity, type Origin, recordActivity } from '../sessions/activity'
import { deleteOtherSessionsIf, deleteOwnSessions } from '../sessions/store'
import { deleteTokensOf } from '../tokens/store'
import type { Profile, UpdatedProfile } from './responses'

export const profileColumns = { email: members.email, name: members.name }
const updatedColumns = { ...profileColumns, updatedAt: members.updatedAt }

const selectProfile = statement((db) => db.select(profileColumns).from(members).where(isCaller))
const selectUpdatedProfile = statement((db) => db.select(updatedColumns).from(members).where(isCaller))

/** @throws UNAUTHORIZED when the token is no longer valid */
export const getProfile = async (db: Db, caller: Caller): Promise<Profile> => {
  const { guard } = await runAsCaller(db, caller, { guard: selectProfile() })
  return guard
}

/** `verifiedHash`: that of the current password, if it was verified. `deleteAccessTokens`: only with a new password. */
type Changes = { name?: string; passwordHash?: string; verifiedHash?: string | null; deleteAccessTokens?: boolean }

const isVerified = sql`${members.passwordHash} = coalesce(${sql.placeholder('verifiedHash')}, ${members.passwordHash})`
/** The caller's id after the hash, which has a new salt, was stored. */
const changedCaller = sql`(
  select ${members.memberId} from ${members} where ${isCaller} and ${members.passwordHash} = ${sql.placeholder('newHash')}
)`
const recordPasswordChange = recordActivity('PASSWORD_CHANGED', changedCaller)
const deleteOtherSessions = deleteOtherSessionsIf(sql`memberId = ${changedCaller}`)
const deleteTokensOfChanged = deleteTokensOf(changedCaller)

/**
 * Updates the caller's name or password hash. A new password ends all sessions but the caller's own, and access tokens only
 * with `deleteAccessTokens`.
 * @param now the local time to record
 * @returns undefined, without a change, if the password was changed since it was verified
 * @throws UNAUTHORIZED when the token is no longer valid
 */
export const updateProfile = async (
  db: Db,
  caller: Caller,
  { name, passwordHash, verifiedHash = null, deleteAccessTokens = false }: Changes,
  now: string,
  origin: Origin,
): Promise<UpdatedProfile | undefined> => {
  if (name === undefined && passwordHash === undefined) {
    const { guard } = await runAsCaller(db, caller, { guard: selectUpdatedProfile() })
    return guard
  }
  if (passwordHash === undefined) {
    const rename = dynamicStatement((builder) =>
      builder.update(members).set({ name, updatedAt: now }).where(isCaller).returning(updatedColumns),
    )
    const { guard } = await runAsCaller(db, caller, { guard: idempotent(rename) })
    return guard
  }
  // Mailed codes stay valid: otherwise the thief of a session could void them all by changing the password again and again.
  const values = { newHash: passwordHash, verifiedHash }
  const update = dynamicStatement(
    (builder) =>
      builder
        .update(members)
        .set({ name, passwordHash, updatedAt: now })
        .where(and(isCaller, isVerified))
        .returning(updatedColumns),
    values,
  )
  const { updated } = await runAsCaller(db, caller, {
    updated: update,
    activity: recordPasswordChange(origin, values),
    sessions: deleteOtherSessions(values),
    tokens: deleteAccessTokens ? deleteTokensOfChanged(values) : undefined,
  })
  return updated[0]
}

const insertPurgeJob = sqlStatement<{ memberId: number }>`
  insert into purgeJobs (memberId, createdAt)
  select ${members.memberId}, ${sql.placeholder('createdAt')} from ${members} where ${isCaller}
  returning memberId`
// A sign-up's insert that runs a second time must not bring the member back.
const refuseClaim = sqlStatement<{ claimId: number }>`
    insert into settledClaims (claimId, settledAt)
    select ${members.memberId}, ${sql.placeholder('createdAt')} from ${members} where ${isCaller}
    on conflict do nothing
    returning claimId`
const deleteOwnUndos = sqlStatement<{ memberId: number }>`
  delete from emailUndos where memberId = ${callerId} returning memberId`
const deleteOwnTokens = deleteTokensOf(callerId)
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
 * @returns the member's id
 * @throws UNAUTHORIZED when the token is no longer valid
 */
export const withdraw = async (db: Db, caller: Caller) => {
  const createdAt = Date.now()
  const { guard } = await runAsCaller(db, caller, {
    guard: selectCaller(),
    claim: caller.slot > 0 ? refuseClaim({ createdAt }) : undefined,
    job: insertPurgeJob({ createdAt }),
    erased: eraseCaller({ createdAt }),
    activity: deleteOwnActivity(),
    undos: deleteOwnUndos(),
    tokens: deleteOwnTokens(),
    sessions: deleteOwnSessions(),
  })
  return guard.memberId
}
