import { sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller, selectMember } from '../../db/caller'
import { type Db, idempotent, sqlStatement } from '../../db/client'
import { ERASED } from '../../db/withdrawal'
import type { Variables } from '../../env'
import { localTime } from '../../values/time'
import { deleteOwnActivity, type Origin, recordActivity } from '../sessions/activity'
import { deleteOtherSessionsIf, deleteOwnSessions } from '../sessions/store'
import { deleteTokensAndLinksOf, deleteTokensOf } from '../tokens/store'
import type { Job } from './purge'
import type { Profile, Settings, UpdatedProfile } from './responses'

const selectProfile = selectMember('email', 'name')
const selectUpdatedProfile = selectMember('email', 'name', 'updatedAt')

/** @throws UNAUTHORIZED when the token is no longer valid */
export const getProfile = async (db: Db, caller: Caller): Promise<Profile> => {
  const { guard } = await runAsCaller(db, caller, { guard: selectProfile() })
  return guard
}

const selectSettings = selectMember('timeZone')

/** `serviceZone`: the time zone of members without one. */
export const getSettings = async (db: Db, caller: Caller, serviceZone: string): Promise<Settings> => {
  const { guard } = await runAsCaller(db, caller, { guard: selectSettings() })
  return { timeZone: guard.timeZone ?? serviceZone }
}

/** `verifiedHash`: that of the current password, if it was verified. `deleteAccessTokens`: only with a new password. */
type Changes = {
  name?: string
  passwordHash?: string
  verifiedHash?: string | null
  deleteAccessTokens?: boolean
  timeZone?: string | null
}

const changed = sql.raw(
  'name = coalesce(:name, name), timeZone = iif(:setsZone, :timeZone, timeZone), updatedAt = :now',
)

const updateSettings = sqlStatement<UpdatedProfile>`
  update members set ${changed} where ${isCaller} returning email, name, updatedAt`
const updatePassword = sqlStatement<UpdatedProfile>`
  update members set ${changed}, passwordHash = :newHash
  where ${isCaller} and passwordHash = coalesce(:verifiedHash, passwordHash)
  returning email, name, updatedAt`
/** The caller's id after the hash, which has a new salt, was stored. */
const changedCaller = sql`(select memberId from members where ${isCaller} and passwordHash = :newHash)`
const recordPasswordChange = recordActivity('PASSWORD_CHANGED', changedCaller)
const deleteOtherSessions = deleteOtherSessionsIf(sql`memberId = ${changedCaller}`)
const deleteTokensOfChanged = deleteTokensOf(changedCaller)

/**
 * Updates the caller's name, time zone or password hash. A new password ends all sessions but the caller's own, and
 * access tokens only with `deleteAccessTokens`.
 * @returns undefined, without a change, if the password was changed since it was verified
 */
export const updateProfile = async (
  { db, caller, config }: Variables,
  { name, passwordHash, verifiedHash = null, deleteAccessTokens = false, timeZone }: Changes,
  origin: Origin,
): Promise<UpdatedProfile | undefined> => {
  if (name === undefined && passwordHash === undefined && timeZone === undefined) {
    const { guard } = await runAsCaller(db, caller, { guard: selectUpdatedProfile() })
    return guard
  }
  const now = localTime(config.TIME_ZONE)
  const set = { name: name ?? null, setsZone: Number(timeZone !== undefined), timeZone: timeZone ?? null, now }
  if (passwordHash === undefined) {
    const { guard } = await runAsCaller(db, caller, { guard: idempotent(updateSettings(set)) })
    return guard
  }
  // Mailed codes stay valid: otherwise the thief of a session could void them by changing the password repeatedly.
  const values = { ...set, newHash: passwordHash, verifiedHash }
  const { updated } = await runAsCaller(db, caller, {
    updated: updatePassword(values),
    activity: recordPasswordChange(origin, values),
    sessions: deleteOtherSessions(values),
    tokens: deleteAccessTokens ? deleteTokensOfChanged(values) : undefined,
  })
  return updated[0]
}

const insertPurgeJob = sqlStatement`
  insert into purgeJobs (memberId, createdAt) select memberId, :createdAt from members where ${isCaller}`
// A sign-up's insert that runs a second time must not bring the member back.
const refuseClaim = sqlStatement`
  insert into settledClaims (claimId, settledAt) select memberId, :createdAt from members where ${isCaller}
  on conflict do nothing`
const deleteOwnUndos = sqlStatement`delete from emailUndos where memberId = ${callerId}`
const deleteOwnTokensAndLinks = deleteTokensAndLinksOf(callerId)
const eraseCaller = sqlStatement`
  update members set ${sql.raw(ERASED)}, withdrawnAt = :createdAt where ${isCaller}`

/**
 * Withdraws the caller: all sessions, access tokens and links end, the e-mail address is free again, and name, password
 * and activity are erased. Leaves a job to delete the books, memos and images, which could take too long for one
 * statement. In a slot other than 0, the address is free only after `releaseAddresses`, which the job repeats. Returns
 * the job.
 */
export const withdraw = async (db: Db, caller: Caller): Promise<Job> => {
  const createdAt = Date.now()
  const { member } = await runAsCaller(db, caller, {
    claim: caller.slot > 0 ? refuseClaim({ createdAt }) : undefined,
    job: insertPurgeJob({ createdAt }),
    erased: eraseCaller({ createdAt }),
    activity: deleteOwnActivity(),
    undos: deleteOwnUndos(),
    tokens: deleteOwnTokensAndLinks(),
    sessions: deleteOwnSessions(),
  })
  return { memberId: member.memberId, createdAt }
}
