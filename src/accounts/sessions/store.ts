import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller } from '../../db/caller'
import { type Db, idempotent, sqlStatement, statement } from '../../db/client'
import { members, sessions } from '../../db/schema/member-tables'
import { toInstant } from '../../values/fields'
import { type Origin, recordActivity } from './activity'
import type { Session } from './responses'

const { placeholder } = sql

/** Creates a session of a member, unless the password has been changed since it was verified. */
export const insertSession = sqlStatement<{ sessionId: string }>`
  insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt, device, country)
  select memberId, ${placeholder('sessionId')}, ${placeholder('now')}, ${placeholder('now')}, ${placeholder('expiresAt')},
    ${placeholder('device')}, ${placeholder('country')}
  from members where memberId = ${placeholder('memberId')} and passwordHash = ${placeholder('verifiedHash')}
  returning sessionId`

const selectSessions = statement((db) =>
  db
    .select({
      sessionId: sessions.sessionId,
      createdAt: sessions.createdAt,
      renewedAt: sessions.renewedAt,
      expiresAt: sessions.expiresAt,
      device: sessions.device,
      country: sessions.country,
    })
    .from(sessions)
    .where(and(eq(sessions.memberId, callerId), gt(sessions.expiresAt, placeholder('callerNow')))),
)

/** The caller's sessions, newest first. */
export const listSessions = async (db: Db, caller: Caller): Promise<Session[]> => {
  const { sessions } = await runAsCaller(db, caller, { sessions: selectSessions() })
  return sessions
    .toSorted((one, other) => other.createdAt - one.createdAt)
    .map(({ createdAt, renewedAt, expiresAt, ...session }) => ({
      ...session,
      createdAt: toInstant(createdAt),
      renewedAt: toInstant(renewedAt),
      expiresAt: toInstant(expiresAt),
      current: 'sessionId' in caller && session.sessionId === caller.sessionId,
    }))
}

const renew = sqlStatement<{ memberId: number; sessionId: string; issuedAt: number; expiresAt: number }>`
  update sessions
  set renewedAt = ${placeholder('callerNow')},
    expiresAt = max(expiresAt, min(${placeholder('callerNow')} + ${placeholder('tokenTtl')}, createdAt + ${placeholder('sessionTtl')}))
  where memberId = ${callerId} and sessionId = ${placeholder('callerSessionId')}
  returning memberId, sessionId, renewedAt as issuedAt, expiresAt`
const selectProfile = statement((db) =>
  db.select({ email: members.email, name: members.name }).from(members).where(isCaller),
)

/**
 * Extends the caller's session. Earlier tokens of the session stay valid until they expire.
 * @param lifetimes of a token, and of a session counted from its login, in milliseconds
 */
export const renewSession = async (db: Db, caller: Caller, lifetimes: { tokenTtl: number; sessionTtl: number }) => {
  const { guard, renewed } = await runAsCaller(db, caller, {
    guard: selectProfile(),
    renewed: idempotent(renew(lifetimes)),
  })
  return { profile: guard, session: renewed[0] }
}

const endWhere = (condition: SQL) => {
  const isEnding = sql`memberId = ${callerId} and ${condition}`
  const record = recordActivity('SESSION_ENDED', sql`(select memberId from sessions where ${isEnding} limit 1)`)
  const remove = sqlStatement<{ sessionId: string }>`delete from sessions where ${isEnding} returning sessionId`
  /** @returns the number of sessions that ended */
  return async (db: Db, caller: Caller, origin: Origin, values: { sessionId?: string } = {}) => {
    const { ended } = await runAsCaller(db, caller, { activity: record(origin, values), ended: remove(values) })
    return ended.length
  }
}
const isCurrent = sql`sessionId = ${placeholder('callerSessionId')}`
const isOther = sql`sessionId <> ${placeholder('callerSessionId')}`
const endCurrent = endWhere(isCurrent)
/** Ends the caller's current session. */
export const endCurrentSession = async (db: Db, caller: Caller, origin: Origin) => {
  await endCurrent(db, caller, origin)
  caller.verdict = 'invalid'
}
/** Ends the session `sessionId` of the caller. */
export const endSession = endWhere(sql`sessionId = ${placeholder('sessionId')}`)
/** Ends all sessions of the caller except the current one. */
export const endOtherSessions = endWhere(isOther)

const deleteOwnWhere = (condition: SQL) =>
  sqlStatement<{ sessionId: string }>`
    delete from sessions where memberId = ${callerId} and ${condition} returning sessionId`
/** Deletes the caller's other sessions if a condition is met. */
export const deleteOtherSessionsIf = (condition: SQL) => deleteOwnWhere(sql`${isOther} and ${condition}`)
/** Deletes all sessions of the caller. Must be the last statement of its batch: the guard fails afterwards. */
export const deleteOwnSessions = deleteOwnWhere(sql`true`)

/** Deletes expired sessions, oldest first. */
export const deleteExpiredSessions = sqlStatement<{ sessionId: string }>`
  delete from sessions where (memberId, sessionId) in (
    select memberId, sessionId from sessions where expiresAt < ${placeholder('now')} order by expiresAt limit ${placeholder('limit')}
  ) returning sessionId`
