import { type SQL, sql } from 'drizzle-orm'
import { createAccessToken, HINT_LENGTH, hashToken, userOfSlot } from '../../auth/access-token'
import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import { type Caller, callerId, isCaller, isLive, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../db/client'
import { DEVICE_TOKENS, insertAttemptIf, isAllowed, selectUsage, toAttempt } from '../../db/limits/attempts'
import { isReached, tooManyAttempts } from '../../db/limits/rate-limit'
import type { accessTokens } from '../../db/schema/member-tables'
import type { Variables } from '../../env'
import { ApiError } from '../../errors'
import { fromBits, toBits } from '../../values/contract'
import { toInstant } from '../../values/fields'
import { PROTOCOLS } from '../../values/protocols'
import { DAY_MS } from '../../values/time'
import { deleteAndRecord, type Origin, recordActivity } from '../sessions/activity'
import type { Owner } from './notice'
import type { AccessToken, CreatedToken } from './responses'
import { isIntake, MAX_TOKENS, type NewToken } from './schema'

const isToken = sql.raw('kind is null')
const isLiveToken = sql`${isLive} and ${isToken}`
const isTokenWithId = sql`tokenId = :tokenId and ${isLiveToken}`

// Otherwise a member could fill the table with short-lived tokens between two sweeps.
const deleteOwnExpired = sqlStatement`delete from accessTokens where memberId = ${callerId} and not ${isLive}`
type Stored = Pick<
  typeof accessTokens.$inferSelect,
  'tokenId' | 'name' | 'scopes' | 'hint' | 'createdAt' | 'expiresAt' | 'lastUsedDay'
> & { startsBooks: number }
const columns = sql.raw('tokenId, name, scopes, hint, createdAt, expiresAt, lastUsedDay, startsBooks')
const insertToken = sqlStatement<Stored>`
  insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, expiresAt, startsBooks)
  select :tokenHash, owner, :tokenId, :name, :bits, :hint, :callerNow, :expiresAt, :startsBooks
  from (select ${callerId} as owner)
  where owner is not null and ${isAllowed}
    and (select count(*) from accessTokens where memberId = owner and ${isLiveToken}) < ${sql.raw(String(MAX_TOKENS))}
  returning ${columns}`
const countToken = insertAttemptIf(sql`exists (select 1 from accessTokens where tokenHash = :tokenHash)`)
const countOf = (condition: SQL) =>
  sql`(select count(*) from accessTokens where accessTokens.memberId = members.memberId and ${condition})`
/** How many access tokens and links a member has. */
export const countsOf = sql`${countOf(isLiveToken)} as tokens, ${countOf(sql`not ${isToken}`)} as links`
const selectOwner = sqlStatement<Owner>`select memberId, email, ${countsOf} from members where ${isCaller}`
const recordCreation = recordActivity(
  'TOKEN_CREATED',
  sql`(select memberId from accessTokens where memberId = ${callerId} and ${isTokenWithId})`,
)

/** @param day days since 1970 */
export const toDate = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

const toAccessToken = ({ scopes, createdAt, expiresAt, lastUsedDay, startsBooks, ...token }: Stored): AccessToken => ({
  ...token,
  scopes: fromBits(scopes),
  createdAt: toInstant(createdAt),
  expiresAt: expiresAt === null ? null : toInstant(expiresAt),
  lastUsedAt: lastUsedDay === null ? null : toDate(lastUsedDay),
  startsBooks: startsBooks === 1,
})

/** What to type on a device of a member of the slot. @param base the URL of the service */
const addressesOf = (slot: number, base: string) => ({
  username: userOfSlot(slot),
  koreader: `${base}${PROTOCOLS.koreader}`,
  webdav: `${base}${PROTOCOLS.webdav}/`,
  readwise: `${base}${PROTOCOLS.readwise}/api/v2`,
  moonReader: `${base}${PROTOCOLS.readwise}/api/v2/highlights`,
})

/**
 * Creates an access token of the caller. Only its hash is stored, so the token cannot be read again.
 * @param base the URL of the service, which the token of a device needs
 * @throws MAX_TOKENS when the caller already has MAX_TOKENS tokens; for a device, TOO_MANY_REQUESTS after those of a day,
 * INTERNAL if the URL is not configured
 */
export const createToken = async (
  { db, caller, config }: Variables,
  { name, scopes, expiresAt, startsBooks }: NewToken,
  base: () => string,
  origin: Origin,
) => {
  const isForDevice = scopes.some(isIntake)
  const token = createAccessToken(caller.slot, isForDevice)
  const addresses = isForDevice ? addressesOf(caller.slot, base()) : null
  const [tokenId, bits, hint] = [crypto.randomUUID(), toBits(scopes), token.slice(0, HINT_LENGTH)]
  const tokenHash = await hashToken(token)
  const now = Date.now()
  // The guard refuses access tokens.
  const account = memberAccount(caller.kind === 'session' ? caller.memberId : 0)
  const subject = await accountSubject(config.JWT_SECRET, account, 'device-token')
  const attempt = toAttempt(now, { subject, limits: isForDevice ? DEVICE_TOKENS : [] })
  const stored = {
    tokenHash,
    tokenId,
    name,
    bits,
    hint,
    expiresAt: expiresAt ?? null,
    startsBooks: Number(startsBooks),
  }
  const row = { ...stored, ...attempt }
  const {
    member,
    guard: owner,
    inserted,
    usage,
  } = await runAsCaller(db, caller, {
    guard: selectOwner(),
    expired: deleteOwnExpired(),
    usage: selectUsage(attempt),
    inserted: firstRow(insertToken(row)),
    counted: isForDevice ? countToken(row) : undefined,
    activity: recordCreation(origin, { tokenId }),
  })
  if (!inserted) throw usage.some(isReached) ? tooManyAttempts(usage, now) : new ApiError('MAX_TOKENS')
  const { hint: _, lastUsedAt: __, ...shown } = toAccessToken(inserted)
  const created: CreatedToken = { ...shown, token, addresses }
  // The owner was selected before the insert.
  return { created, member, owner: { ...owner, tokens: owner.tokens + 1 } }
}

const selectTokens = sqlStatement<Stored>`
  select ${columns} from accessTokens where memberId = ${callerId} and ${isLiveToken}`

/** The caller's access tokens, newest first. */
export const listTokens = async (db: Db, caller: Caller): Promise<AccessToken[]> => {
  const { tokens } = await runAsCaller(db, caller, { tokens: selectTokens() })
  return tokens.toSorted((one, other) => other.createdAt - one.createdAt).map(toAccessToken)
}

/** Builds the statement that deletes all access tokens of a member. */
export const deleteTokensOf = (member: SQL) =>
  sqlStatement`delete from accessTokens where memberId = ${member} and ${isToken}`
/** Builds the statement that deletes all access tokens and links of a member. */
export const deleteTokensAndLinksOf = (member: SQL) => sqlStatement`delete from accessTokens where memberId = ${member}`

/** Deletes all access tokens of the caller that have not expired. */
export const deleteTokens = deleteAndRecord('TOKEN_DELETED', 'accessTokens', isLiveToken)
/** Deletes the access token `tokenId` of the caller, which stops working at once. */
export const deleteToken = deleteAndRecord('TOKEN_DELETED', 'accessTokens', isTokenWithId)
