import { sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { ApiError } from '../errors'
import { type Db, run, type Statement, statement } from './client'
import { members } from './schema'

/** The member a verified token names. Only the member's database, that of the slot, knows whether it was revoked. */
export type Caller = { memberId: number; tokenVersion: number; tokenId: string; slot: number }

/** Matches the caller's row in members while the token is valid: the member exists and has not revoked it. */
export const isCaller = sql`${members.memberId} = ${sql.placeholder('callerMemberId')} and (
  ${members.tokenVersion} = ${sql.placeholder('callerTokenVersion')}
  or ${members.keptTokenId} = ${sql.placeholder('callerTokenId')}
)`

/** The guard: the caller's member id while the token is valid, otherwise null, which equals no owner. */
export const callerId = sql<number>`(select ${members.memberId} from ${members} where ${isCaller})`

/**
 * Matches the caller's row with an identifier, a placeholder named like the column. Looks up the nearest identifier at or
 * below it that exists, so that another member's row costs the same as one that does not exist.
 */
export const isOwnRow = (id: SQLiteColumn, owner: SQLiteColumn) => {
  const wanted = sql.placeholder(id.name)
  const nearest = sql`(select max(${id}) from ${id.table} where ${id} <= ${wanted})`
  // CASE fixes the order: the guard is evaluated for every row that is found.
  return sql`${id} = ${nearest} and case when ${owner} = ${callerId} then ${id} = ${wanted} end`
}

/** Returns the caller's id, or no row when the token is no longer valid. */
export const selectCaller = statement((db) => db.select({ memberId: members.memberId }).from(members).where(isCaller))

/**
 * Runs the statements of an authenticated request in one round trip. Each statement is scoped to its owner by
 * `callerId` or `isCaller`. The first one selects from the caller's own row, which distinguishes 401 from 404.
 * @returns the row of the first statement, then the rows of each further one
 * @throws UNAUTHORIZED when the token is no longer valid; no statement has then read or written any member's data
 */
export const runAsCaller = async <Self, const Statements extends readonly Statement[]>(
  db: Db,
  caller: Caller,
  callerQuery: Statement<Self>,
  ...statements: Statements
) => {
  const guard = {
    callerMemberId: caller.memberId,
    callerTokenVersion: caller.tokenVersion,
    callerTokenId: caller.tokenId,
  }
  const guarded = [callerQuery, ...statements].map((each) => ({ ...each, values: { ...each.values, ...guard } }))
  const [callerRows, ...rows] = await run(db, ...(guarded as unknown as [Statement<Self>, ...Statements]))
  const row = callerRows[0]
  if (row === undefined) throw new ApiError('UNAUTHORIZED')
  return [row, ...rows] as const
}

/** Runs a single statement as the caller, and returns its first row. */
export const queryOne = async <Row>(db: Db, caller: Caller, query: Statement<Row>): Promise<Row | undefined> => {
  const [, rows] = await runAsCaller(db, caller, selectCaller(), query)
  return rows[0]
}

/** @throws UNAUTHORIZED when the token is no longer valid */
export const requireCaller = (db: Db, caller: Caller) => runAsCaller(db, caller, selectCaller())
