import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { ApiError, insufficientScope, unauthorized } from '../errors'
import { type Right, type Scope, toBits } from '../values/contract'
import { DAY_MS } from '../values/time'
import {
  afterResponse,
  type Batch,
  type Db,
  firstRow,
  idempotent,
  type Results,
  run,
  runAfterResponse,
  type Statement,
  sqlStatement,
} from './client'
import { members } from './schema/member-tables'

/** Whether the database accepted the credential, in the last call of this request. */
type Judged = { verdict?: 'valid' | 'invalid' }
/** The member and session that a verified token names. Only the slot's database knows whether the session has ended. */
export type SessionCaller = { slot: number; memberId: number; sessionId: string } & Judged
/** The bearer of an access token or a link. Only the slot's database knows whether it exists and who owns it. */
type TokenCaller = {
  slot: number
  tokenHash: string
  /** What the operation requires. Empty if it requires a session. */
  required: readonly Right[]
  /** Known after the first call to the database. */
  memberId?: number
  /** The bits of all scopes that the token has. Known after the database has accepted it. */
  scopes?: number
} & Judged
export type Caller = SessionCaller | TokenCaller

const sessionMember = sql`(
  select memberId from sessions where memberId = :callerMemberId and sessionId = :callerSessionId
)`
const hasScopes = sql`:callerScopes <> 0 and scopes & :callerScopes = :callerScopes`
/** Matches access tokens that have not expired. */
export const isLive = sql`(expiresAt is null or expiresAt > :callerNow)`
const tokenMember = sql`(
  select memberId from accessTokens
  where tokenHash = :callerTokenHash and ${hasScopes} and ${isLive}
)`

/** The guard: the caller's member id if the session or access token is valid, otherwise null, which equals no owner. */
export const callerId = sql<number>`coalesce(${sessionMember}, ${tokenMember})`

/** Matches the caller's row in members. */
export const isCaller = sql`${members.memberId} = ${callerId}`

type Member = typeof members.$inferSelect
/** Selects columns of the caller's row in members. */
export const selectMember = <Name extends keyof Member>(...names: Name[]) =>
  sqlStatement<Pick<Member, Name>>`select ${sql.raw(names.join(', '))} from members where ${isCaller}`

/**
 * Matches the caller's row with an identifier, by default a parameter named like the column. Looks up the nearest
 * identifier at or below it that exists, so that another member's row costs the same as one that does not exist.
 */
export const isOwnRow = (id: SQLiteColumn, owner: SQLiteColumn, caller: SQL = callerId, parameter = id.name) => {
  const wanted = sql.raw(`:${parameter}`)
  const nearest = sql`(select max(${id}) from ${id.table} where ${id} <= ${wanted})`
  // CASE fixes the order: the guard is evaluated for every row that is found.
  return sql`${id} = ${nearest} and case when ${owner} = ${caller} then ${id} = ${wanted} end`
}

/** Selects the caller's id, or no row if the guard is null. */
// Without the limit, SQLite would evaluate the guard twice, once for each use of its value.
export const selectCaller = sqlStatement<{ memberId: number }>`
  select memberId from (select ${callerId} as memberId limit 1) where memberId is not null`

const selectToken = sqlStatement<{ memberId: number; scopes: number; lastUsedDay: number | null }>`
  select memberId, scopes, lastUsedDay from accessTokens where tokenHash = :callerTokenHash and ${isLive}`
const updateLastUsed = sqlStatement<{ memberId: number }>`
  update accessTokens set lastUsedDay = :today
  where tokenHash = :tokenHash and coalesce(lastUsedDay, -1) < :today returning memberId`

// Links never get this error: `refuseAsMissing` replaces it.
const refusal = ({ required }: TokenCaller) =>
  required.length > 0 ? insufficientScope(required as readonly Scope[]) : new ApiError('SESSION_REQUIRED')

/** The values of the parameters whose names begin with `caller`. */
const parametersOf = (caller: Caller, callerNow: number) => {
  const { tokenHash: callerTokenHash, required } = 'tokenHash' in caller ? caller : { tokenHash: null, required: [] }
  const { memberId, sessionId } = 'sessionId' in caller ? caller : { memberId: null, sessionId: null }
  const callerScopes = toBits(required)
  return { callerMemberId: memberId, callerSessionId: sessionId, callerTokenHash, callerScopes, callerNow }
}

/** Records the day of use after the response, at most once a day. */
const markUsed = (db: Db, tokenHash: string, lastUsedDay: number | null, now: number) => {
  const today = Math.floor(now / DAY_MS)
  if (lastUsedDay !== null && lastUsedDay >= today) return
  runAfterResponse(db, 'access token', { used: idempotent(updateLastUsed({ tokenHash, today })) })
}

/** A replica may not have a new credential yet, so only a refusal by the primary is final. */
const refuse = (db: Db, caller: Caller) => {
  if (!db.isReplica) caller.verdict = 'invalid'
  return unauthorized('ended')
}

/** `guard`: selects from, or updates, the caller's own row. It returns no row if the credential is not valid. */
type CallerBatch = Batch & { readonly guard?: Statement }
type CallerResults<B extends CallerBatch> = Results<Omit<B, 'guard'>> &
  (B extends { guard: Statement<infer Row> } ? { guard: Row } : unknown)

/**
 * Runs the statements of an authenticated request in one round trip. Each statement is scoped to its owner by
 * `callerId` or `isCaller`. The guard, by default `selectCaller`, runs before them, which distinguishes 401 from 404.
 * Sets the caller's `verdict` if the caller is accepted, or if the primary refuses the credential itself.
 * @throws UNAUTHORIZED when the session has ended or the access token is unknown or expired; INSUFFICIENT_SCOPE or
 * SESSION_REQUIRED when the access token does not allow the operation. Then no statement has read or written member
 * data.
 */
export const runAsCaller = async <B extends CallerBatch>(
  db: Db,
  caller: Caller,
  batch: B,
): Promise<CallerResults<B>> => {
  const now = Date.now()
  const { guard = selectCaller(), ...others } = batch
  const guarded = { guard: firstRow(guard), ...others }
  const shared = parametersOf(caller, now)
  if (!('tokenHash' in caller)) {
    const results = await run(db, guarded, shared)
    if (!results.guard) throw refuse(db, caller)
    caller.verdict = 'valid'
    return results as unknown as CallerResults<B>
  }
  const withToken = { callerToken: firstRow(selectToken()), ...guarded }
  const { callerToken: token, ...results } = await run(db, withToken, shared)
  if (!token) throw refuse(db, caller)
  caller.memberId = token.memberId
  markUsed(db, caller.tokenHash, token.lastUsedDay, now)
  if (!results.guard) throw refusal(caller)
  caller.scopes = token.scopes
  caller.verdict = 'valid'
  return results as unknown as CallerResults<B>
}

/** Runs a single statement as the caller, and returns its first row. */
export const queryOne = async <Row>(db: Db, caller: Caller, query: Statement<Row>): Promise<Row | undefined> => {
  const { row } = await runAsCaller(db, caller, { row: firstRow(query) })
  return row
}

/** Runs a single statement as the caller, and returns all its rows. */
export const queryAll = async <Row>(db: Db, caller: Caller, query: Statement<Row>): Promise<Row[]> => {
  const { rows } = await runAsCaller(db, caller, { rows: query })
  return rows
}

/**
 * Checks the caller in a call of its own, before expensive work. Returns the member's id.
 * @throws the errors of `runAsCaller`
 */
export const confirmCaller = async (db: Db, caller: Caller) => {
  const { guard } = await runAsCaller(afterResponse(db), caller, { guard: selectCaller() })
  return guard.memberId
}
