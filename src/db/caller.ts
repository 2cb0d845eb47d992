import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { ApiError, insufficientScope, unauthorized } from '../errors'
import { type Right, type Scope, toBits } from '../values/contract'
import { DAY_MS } from '../values/time'
import {
  afterResponse,
  type Batch,
  type ConfirmedMember,
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

/** `required`: the rights that the operation requires of a token. Empty if it requires a session. */
type Credential = Readonly<{ slot: number; required: readonly Right[] }>
/** The member and session that a verified token names. Only the slot's database knows whether the session has ended. */
export type SessionCaller = Credential & Readonly<{ kind: 'session'; memberId: number; sessionId: string }>
/** The bearer of an access token or a link. Only the slot's database knows whether it exists and who owns it. */
type TokenCaller = Credential & Readonly<{ kind: 'token' | 'link'; tokenHash: string }>
export type Caller = SessionCaller | TokenCaller

/** The same caller in an operation that requires more. */
export const requiring = (caller: Caller, ...more: Right[]) => ({ ...caller, required: [...caller.required, ...more] })

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
/** The identifier of the access token that calls; null for a session. */
export const callerTokenId = sql`(select tokenId from accessTokens where tokenHash = :callerTokenHash)`

/** Whether the caller also has a right that the operation does not require. */
export const alsoHas = (right: Right) => sql`(:callerTokenHash is null or exists (
  select 1 from accessTokens where tokenHash = :callerTokenHash and scopes & ${sql.raw(String(toBits([right])))}
))`

/** Matches the caller's row in members. */
export const isCaller = sql`${members.memberId} = ${callerId}`

type MemberRow = typeof members.$inferSelect
/** Selects columns of the caller's row in members. */
export const selectMember = <Name extends keyof MemberRow>(...names: Name[]) =>
  sqlStatement<Pick<MemberRow, Name>>`select ${sql.raw(names.join(', '))} from members where ${isCaller}`

/**
 * Matches the caller's row with an identifier. Looks up the nearest identifier at or below it that exists, so that
 * another member's row costs the same as one that does not exist.
 * @param parameter SQL of the identifier, or the name of a parameter, by default that of the column
 */
export const isOwnRow = (
  id: SQLiteColumn,
  owner: SQLiteColumn,
  caller: SQL = callerId,
  parameter: string | SQL = id.name,
) => {
  const wanted = typeof parameter === 'string' ? sql.raw(`:${parameter}`) : parameter
  const nearest = sql`(select max(${id}) from ${id.table} where ${id} <= ${wanted})`
  // CASE fixes the order: the guard is evaluated for every row that is found.
  return sql`${id} = ${nearest} and case when ${owner} = ${caller} then ${id} = ${wanted} end`
}

/**
 * The same for identifiers of which there may be none at or below the wanted one, such as those of readings, which are
 * high: then it looks up the lowest, at the same cost.
 */
export const isOwnSparseRow = (id: SQLiteColumn, owner: SQLiteColumn, caller: SQL = callerId, parameter = id.name) => {
  const wanted = sql.raw(`:${parameter}`)
  const atOrBelow = sql`(select max(${id}) from ${id.table} where ${id} <= ${wanted})`
  const lowest = sql`(select min(${id}) from ${id.table} where ${id} is not null)`
  // Not coalesce alone, which would not always look up the lowest. The lowest of the trash is negative.
  return sql`${id} = max(coalesce(${atOrBelow}, ${wanted} - 1), ${lowest}) and case when ${owner} = ${caller} then ${id} = ${wanted} end`
}

/** Selects the caller's id, or no row if the guard is null. */
// Without the limit, SQLite would evaluate the guard twice, once for each use of its value.
const selectCaller = sqlStatement<{ memberId: number }>`
  select memberId from (select ${callerId} as memberId limit 1) where memberId is not null`

type Token = { tokenHash: string; memberId: number; scopes: number; lastUsedDay: number | null }
const selectToken = sqlStatement<Token>`
  select tokenHash, memberId, scopes, lastUsedDay from accessTokens where tokenHash = :callerTokenHash and ${isLive}`
const updateLastUsed = sqlStatement<{ memberId: number }>`
  update accessTokens set lastUsedDay = :today
  where tokenHash = :tokenHash and coalesce(lastUsedDay, -1) < :today returning memberId`

// Links never get this error: `refuseAsMissing` replaces it.
const refusal = ({ required }: Caller) =>
  required.length > 0 ? insufficientScope(required as readonly Scope[]) : new ApiError('SESSION_REQUIRED')

/** The values of the parameters whose names begin with `caller`. */
const parametersOf = (caller: Caller, callerNow: number) => {
  const { memberId, sessionId, tokenHash } = { memberId: null, sessionId: null, tokenHash: null, ...caller }
  const callerScopes = toBits(caller.required)
  return { callerMemberId: memberId, callerSessionId: sessionId, callerTokenHash: tokenHash, callerScopes, callerNow }
}

/** Records the day of use after the response, at most once a day. */
const markUsed = (db: Db, { tokenHash, lastUsedDay }: Token, now: number) => {
  const today = Math.floor(now / DAY_MS)
  if (lastUsedDay !== null && lastUsedDay >= today) return
  runAfterResponse(db, 'access token', { used: idempotent(updateLastUsed({ tokenHash, today })) })
}

/** `guard`: selects from, or updates, the caller's own row. It returns no row if the credential is not valid. */
type CallerBatch = Batch & { readonly guard?: Statement }
type CallerResults<B extends CallerBatch> = Results<Omit<B, 'guard'>> &
  (B extends { guard: Statement<infer Row> } ? { guard: Row } : unknown) & { member: ConfirmedMember }
const ALL_SCOPES = -1

/**
 * Runs the statements of an authenticated request in one round trip. Each statement is scoped to its owner by
 * `callerId` or `isCaller`. The guard, by default `selectCaller`, runs before them, which distinguishes 401 from 404.
 * Returns the results by name, and the `member` whom the guard found.
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
  const callerToken = caller.kind === 'session' ? undefined : firstRow(selectToken())
  const statements = { callerToken, guard: firstRow(guard), ...others }
  const { callerToken: token, ...results } = await run(db, statements, parametersOf(caller, now))
  const found = caller.kind === 'session' ? results.guard && { ...caller, scopes: ALL_SCOPES } : token
  if (!found) {
    // A replica may not have a new credential yet, so only a refusal by the primary is final.
    if (!db.isReplica) await db.onGuard?.('ended')
    throw unauthorized('ended')
  }
  if (token) markUsed(db, token, now)
  if (!results.guard) throw refusal(caller)
  const member = { memberId: found.memberId, scopes: found.scopes } as ConfirmedMember
  await db.onGuard?.(member)
  return { ...results, member } as unknown as CallerResults<B>
}

/** Runs a single statement as the caller, and returns its first row. */
export const queryOne = async <Row>(db: Db, caller: Caller, query: Statement<Row>): Promise<Row | undefined> =>
  (await runAsCaller(db, caller, { row: firstRow(query) })).row

/** Runs a single statement as the caller, and returns all its rows. */
export const queryAll = async <Row>(db: Db, caller: Caller, query: Statement<Row>): Promise<Row[]> =>
  (await runAsCaller(db, caller, { rows: query })).rows

/**
 * Checks the caller in a call of its own, before expensive work.
 * @throws the errors of `runAsCaller`
 */
export const requireMember = async (db: Db, caller: Caller) => (await runAsCaller(afterResponse(db), caller, {})).member
