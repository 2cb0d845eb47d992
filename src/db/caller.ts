import { and, eq, or, sql } from 'drizzle-orm'
import { ApiError } from '../http/errors'
import { type Db, run, type Statement, statement } from './client'
import { members } from './schema'

/** Who a token says is calling. Whether that still holds, only the database knows. */
export type Caller = { memberId: number; tokenVersion: number; tokenId: string }

/**
 * The member that the token names, good or not: enough for a read, whose rows `asCaller` gives to no other. What writes
 * takes `callerId`.
 */
export const callerMemberId = sql.placeholder('callerMemberId')

/** True of the caller's own row in members, while the token is good: member not gone, token not revoked. */
export const isCaller = and(
  eq(members.memberId, callerMemberId),
  or(
    eq(members.tokenVersion, sql.placeholder('callerTokenVersion')),
    eq(members.keptTokenId, sql.placeholder('callerTokenId')),
  ),
)

/** The guard: the caller's member id while the token is good, else null, which equals no owner. */
export const callerId = sql<number>`(select ${members.memberId} from ${members} where ${isCaller})`

/** Selects nothing but that the caller is there. */
export const whoever = statement((db) => db.select({ memberId: members.memberId }).from(members).where(isCaller))

/**
 * Runs the caller's statements in one round trip, each of which names its owner: what writes by `isCaller` or
 * `callerId`, what reads by `callerMemberId`. The first one selects from the caller's own row, and so tells a caller who
 * is gone from a thing that is not there.
 * Answers that row, then the rows of each further statement.
 * @throws UNAUTHORIZED when the token is no longer good; no statement has then written anything.
 */
export const asCaller = async <Self, const Statements extends readonly Statement[]>(
  db: Db,
  caller: Caller,
  self: Statement<Self>,
  ...statements: Statements
) => {
  const guard = {
    callerMemberId: caller.memberId,
    callerTokenVersion: caller.tokenVersion,
    callerTokenId: caller.tokenId,
  }
  const guarded = [self, ...statements].map((each) => ({ ...each, values: { ...each.values, ...guard } }))
  const [selves, ...rows] = await run(db, ...(guarded as unknown as [Statement<Self>, ...Statements]))
  const row = selves[0]
  if (row === undefined) throw new ApiError('UNAUTHORIZED')
  return [row, ...rows] as const
}

/** `asCaller` for one statement whose first row, or its absence, is all that counts. */
export const once = async <Row>(db: Db, caller: Caller, own: Statement<Row>): Promise<Row | undefined> => {
  const [, rows] = await asCaller(db, caller, whoever(), own)
  return rows[0]
}
