import { type SQL, sql } from 'drizzle-orm'
import { createAccessToken, HINT_LENGTH, hashToken } from '../../auth/access-token'
import { type Caller, callerId, isCaller, isLive, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../db/client'
import type { accessTokens } from '../../db/schema/member-tables'
import { ApiError } from '../../errors'
import { fromBits, toBits } from '../../values/contract'
import { toInstant } from '../../values/fields'
import { DAY_MS } from '../../values/time'
import { type Origin, recordActivity } from '../sessions/activity'
import type { Owner } from './notice'
import type { AccessToken, CreatedToken } from './responses'
import { MAX_TOKENS, type NewToken } from './schema'

const isToken = sql.raw('kind is null')
const isOwnToken = sql`memberId = ${callerId} and tokenId = :tokenId and ${isLive} and ${isToken}`
const ownerOfToken = sql`(select memberId from accessTokens where ${isOwnToken})`

// Otherwise a member could fill the table with short-lived tokens between two sweeps.
const deleteOwnExpired = sqlStatement`delete from accessTokens where memberId = ${callerId} and not ${isLive}`
const insertToken = sqlStatement<{ createdAt: number }>`
  insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, expiresAt)
  select :tokenHash, owner, :tokenId, :name, :bits, :hint, :callerNow, :expiresAt
  from (select ${callerId} as owner)
  where owner is not null
    and (select count(*) from accessTokens where memberId = owner and ${isLive} and ${isToken}) < ${sql.raw(String(MAX_TOKENS))}
  returning createdAt`
const countOf = (condition: SQL) =>
  sql`(select count(*) from accessTokens where accessTokens.memberId = members.memberId and ${condition})`
/** How many access tokens and links a member has. */
export const countsOf = sql`${countOf(sql`${isLive} and ${isToken}`)} as tokens, ${countOf(sql`not ${isToken}`)} as links`
const selectOwner = sqlStatement<Owner>`select memberId, email, ${countsOf} from members where ${isCaller}`
const recordCreation = recordActivity('TOKEN_CREATED', ownerOfToken)

/**
 * Creates an access token of the caller. Only its hash is stored, so the token cannot be read again.
 * @throws MAX_TOKENS when the caller already has MAX_TOKENS tokens
 */
export const createToken = async (db: Db, caller: Caller, { name, scopes, expiresAt }: NewToken, origin: Origin) => {
  const token = createAccessToken(caller.slot)
  const [tokenId, bits, hint] = [crypto.randomUUID(), toBits(scopes), token.slice(0, HINT_LENGTH)]
  const row = { tokenHash: await hashToken(token), tokenId, name, bits, hint, expiresAt: expiresAt ?? null }
  const { guard: owner, inserted } = await runAsCaller(db, caller, {
    guard: selectOwner(),
    expired: deleteOwnExpired(),
    inserted: firstRow(insertToken(row)),
    activity: recordCreation(origin, { tokenId }),
  })
  if (!inserted) throw new ApiError('MAX_TOKENS')
  const created: CreatedToken = {
    tokenId,
    name,
    scopes: fromBits(bits),
    createdAt: toInstant(inserted.createdAt),
    expiresAt: expiresAt ? toInstant(expiresAt) : null,
    token,
  }
  // The owner was selected before the insert.
  return { created, owner: { ...owner, tokens: owner.tokens + 1 } }
}

type Stored = Pick<
  typeof accessTokens.$inferSelect,
  'tokenId' | 'name' | 'scopes' | 'hint' | 'createdAt' | 'expiresAt' | 'lastUsedDay'
>
const selectTokens = sqlStatement<Stored>`
  select tokenId, name, scopes, hint, createdAt, expiresAt, lastUsedDay from accessTokens
  where memberId = ${callerId} and ${isLive} and ${isToken}`

/** @param day days since 1970 */
export const toDate = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The caller's access tokens, newest first. */
export const listTokens = async (db: Db, caller: Caller): Promise<AccessToken[]> => {
  const { tokens } = await runAsCaller(db, caller, { tokens: selectTokens() })
  return tokens
    .toSorted((one, other) => other.createdAt - one.createdAt)
    .map(({ scopes, createdAt, expiresAt, lastUsedDay, ...token }) => ({
      ...token,
      scopes: fromBits(scopes),
      createdAt: toInstant(createdAt),
      expiresAt: expiresAt === null ? null : toInstant(expiresAt),
      lastUsedAt: lastUsedDay === null ? null : toDate(lastUsedDay),
    }))
}

const recordDeletions = recordActivity(
  'TOKEN_DELETED',
  sql`(select memberId from accessTokens where memberId = ${callerId} and ${isLive} and ${isToken} limit 1)`,
)
/** Builds the statement that deletes all access tokens of a member. */
export const deleteTokensOf = (member: SQL) =>
  sqlStatement`delete from accessTokens where memberId = ${member} and ${isToken}`
/** Builds the statement that deletes all access tokens and links of a member. */
export const deleteTokensAndLinksOf = (member: SQL) => sqlStatement`delete from accessTokens where memberId = ${member}`
const removeTokens = deleteTokensOf(callerId)

/** Deletes all access tokens of the caller. */
export const deleteTokens = (db: Db, caller: Caller, origin: Origin) =>
  runAsCaller(db, caller, { activity: recordDeletions(origin), removed: removeTokens() })

const recordDeletion = recordActivity('TOKEN_DELETED', ownerOfToken)
const removeToken = sqlStatement<{ tokenId: string }>`
  delete from accessTokens where ${isOwnToken} returning tokenId`

/** Deletes an access token of the caller, which stops working at once. Returns undefined if the caller has no such token. */
export const deleteToken = async (db: Db, caller: Caller, tokenId: string, origin: Origin) => {
  const { removed } = await runAsCaller(db, caller, {
    activity: recordDeletion(origin, { tokenId }),
    removed: removeToken({ tokenId }),
  })
  return removed[0]
}
