import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller, selectMember } from '../../db/caller'
import { type Db, idempotent, sqlStatement } from '../../db/client'
import type { sessions } from '../../db/schema/member-tables'
import { toInstant } from '../../values/fields'
import { deleteAndRecord } from './activity'
import type { Session } from './responses'

/** Creates a session, unless the member has been blocked, or the password changed, since it was verified. */
export const insertSession = sqlStatement<{ sessionId: string }>`
  insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt, device, country)
  select memberId, :sessionId, :now, :now, :expiresAt, :device, :country
  from members where memberId = :memberId and passwordHash = :verifiedHash and blockedAt is null
  returning sessionId`

const selectSessions = sqlStatement<Omit<typeof sessions.$inferSelect, 'memberId'>>`
  select sessionId, createdAt, renewedAt, expiresAt, device, country from sessions
  where memberId = ${callerId} and expiresAt > :callerNow`

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
      current: caller.kind === 'session' && session.sessionId === caller.sessionId,
    }))
}

const renew = sqlStatement<{ memberId: number; sessionId: string; issuedAt: number; expiresAt: number }>`
  update sessions
  set renewedAt = :callerNow,
    expiresAt = max(expiresAt, min(:callerNow + :tokenTtl, createdAt + :sessionTtl))
  where memberId = ${callerId} and sessionId = :callerSessionId
  returning memberId, sessionId, renewedAt as issuedAt, expiresAt`
const selectProfile = selectMember('email', 'name')

/** Extends the caller's session; earlier tokens stay valid. `lifetimes`: of a token, and of a session from login. */
export const renewSession = async (db: Db, caller: Caller, lifetimes: { tokenTtl: number; sessionTtl: number }) => {
  const { guard, renewed } = await runAsCaller(db, caller, {
    guard: selectProfile(),
    renewed: idempotent(renew(lifetimes)),
  })
  return { profile: guard, session: renewed[0] }
}

const endWhere = (condition: SQL) => deleteAndRecord('SESSION_ENDED', 'sessions', condition)
const isOther = sql`sessionId <> :callerSessionId`
/** Ends the caller's current session. */
export const endCurrentSession = endWhere(sql`sessionId = :callerSessionId`)
/** Ends the session `sessionId` of the caller. */
export const endSession = endWhere(sql`sessionId = :sessionId`)
/** Ends all sessions of the caller except the current one. */
export const endOtherSessions = endWhere(isOther)

/** Deletes the caller's other sessions if a condition is met. */
export const deleteOtherSessionsIf = (condition: SQL) =>
  sqlStatement`delete from sessions where memberId = ${callerId} and ${isOther} and ${condition}`
/** Deletes all sessions of the caller. Must be the last statement of its batch: the guard fails afterwards. */
export const deleteOwnSessions = sqlStatement`delete from sessions where memberId = ${callerId}`

/** Deletes expired sessions, oldest first. */
export const deleteExpiredSessions = sqlStatement`
  delete from sessions where (memberId, sessionId) in (
    select memberId, sessionId from sessions where expiresAt < :now order by expiresAt limit :limit
  )`
