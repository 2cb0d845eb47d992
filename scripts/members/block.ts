import type { D1Database } from '@cloudflare/workers-types'

// The guard reads only sessions, access tokens and links, so those of a blocked member get identifiers that no token
// can name: a request reads no further row to be refused.

/** Begins the identifiers of sessions, and the hashes of access tokens, that are set aside. */
const ASIDE = 'blocked '
export const toAside = (credential: string) => ASIDE + credential

/** The credentials that are set aside, or those in use, by name, as what countRows selects from. */
export const listAside = (isAside: boolean) => {
  const condition = isAside ? 'like' : 'not like'
  return {
    sessions: `(select memberId from sessions where sessionId ${condition} '${ASIDE}%')`,
    'access tokens and links': `(select memberId from accessTokens where tokenHash ${condition} '${ASIDE}%')`,
  }
}

const runAll = (database: D1Database, memberId: number, queries: string[]) =>
  database.batch(queries.map((query) => database.prepare(query).bind(memberId)))

/** Sets sessions, access tokens and links of members aside, unless they are. `whose`: a condition. */
const setAside = (whose: string) =>
  [
    ['sessions', 'sessionId'],
    ['accessTokens', 'tokenHash'],
  ].map(
    ([table, column]) =>
      `update ${table} set ${column} = '${ASIDE}' || ${column} where ${whose} and ${column} not like '${ASIDE}%'`,
  )

/** Sets sessions, access tokens and links aside, and voids all codes that were mailed to the member. */
export const blockMember = (database: D1Database, memberId: number) =>
  runAll(database, memberId, [
    `update members set blockedAt = coalesce(blockedAt, unixepoch() * 1000), credentialsVersion = credentialsVersion + 1
      where memberId = ? and withdrawnAt is null`,
    ...setAside('memberId = ?'),
  ])

/** Sets aside the sessions and access tokens of blocked members that are in use. Returns how many. */
export const setAsideAgain = async (database: D1Database) => {
  const whose = 'memberId in (select memberId from members where blockedAt is not null)'
  const results = await database.batch(setAside(whose).map((query) => database.prepare(query)))
  return results.reduce((sum, { meta }) => sum + meta.changes, 0)
}

/** Brings back the sessions, access tokens and links that have not expired since. */
export const unblockMember = (database: D1Database, memberId: number) =>
  runAll(database, memberId, [
    'update members set blockedAt = null where memberId = ?',
    `update sessions set sessionId = substr(sessionId, ${ASIDE.length + 1}) where memberId = ? and sessionId like '${ASIDE}%'`,
    `update accessTokens set tokenHash = substr(tokenHash, ${ASIDE.length + 1}) where memberId = ? and tokenHash like '${ASIDE}%'`,
  ])

/** Finds credentials of blocked members that are not set aside, and those of others that are. */
export const checkAside = (table: string, column: string, isActive: string) => `
  select '${table}' as "table", memberId as id, '${column}' as field,
    iif(blockedAt is null, 'in use', 'set aside') as expected, iif(blockedAt is null, 'set aside', 'in use') as found
  from ${table} join members using (memberId) where ${isActive} and (blockedAt is null) = (${column} like '${ASIDE}%')`
