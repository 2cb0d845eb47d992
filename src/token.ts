import { sign, verify } from '@tsndr/cloudflare-worker-jwt'
import * as z from 'zod'
import type { Caller } from './db/caller'
import type { Config } from './env'
import { hmacKey } from './keyed-hash'
import { MAX_SLOT } from './placement'

const ISSUER = 'reading-library'
const ALGORITHM = 'HS256'
const YEAR_2020 = 1_577_836_800

// The library accepts a missing exp, any iss, `crit` and additional parts, so header and claims are validated here.
const Header = z.strictObject({ alg: z.literal(ALGORITHM), typ: z.literal('JWT') })
const Claims = z.strictObject({
  iss: z.literal(ISSUER),
  sub: z.string().regex(/^[1-9]\d{0,15}$/),
  iat: z.int().min(YEAR_2020),
  exp: z.int().min(YEAR_2020),
  jti: z.uuid(),
  /** The member's token version at login. A password change increments the stored version, which revokes this token. */
  ver: z.int().min(0),
  /** The database that the member is in, unless it is slot 0. It only routes requests: the guard in there decides. */
  slot: z.int().min(1).max(MAX_SLOT).optional(),
})
const COMPACT_FORM = /^[\w-]{1,100}\.[\w-]{1,1000}\.[\w-]{43}$/

/** Issues a token to a member whose password was just verified. */
export const issueToken = async (config: Config, member: { memberId: number; tokenVersion: number }, slot = 0) => {
  const iat = Math.floor(Date.now() / 1000)
  const claims: z.infer<typeof Claims> = {
    iss: ISSUER,
    sub: String(member.memberId),
    iat,
    exp: iat + config.TOKEN_TTL_SECONDS,
    jti: crypto.randomUUID(),
    ver: member.tokenVersion,
    ...(slot > 0 && { slot }),
  }
  return sign(claims, await hmacKey(config.JWT_SECRET), { algorithm: ALGORITHM })
}

// A valid signature stays valid, so it is verified once per isolate. Expiry and revocation are checked on each request.
const MAX_CACHED = 1000
type Verified = { caller: Caller; exp: number; secret: string }
const cache = new Map<string, Verified>()

const addToCache = (token: string, verified: Verified) => {
  const [oldest] = cache.keys()
  if (oldest !== undefined && cache.size >= MAX_CACHED) cache.delete(oldest)
  cache.set(token, verified)
}

const readClaims = async (token: string, secret: string) => {
  const decoded = await verify(token, await hmacKey(secret), { algorithm: ALGORITHM })
  if (!decoded || !Header.safeParse(decoded.header).success) return undefined
  return Claims.safeParse(decoded.payload).data
}

/**
 * The caller a token names, or undefined when it is malformed, forged or expired. During a rotation of the secret,
 * tokens signed with JWT_SECRET_PREVIOUS are accepted too. Revocation is checked by the database only.
 */
export const verifyToken = async (config: Config, token: string): Promise<Caller | undefined> => {
  const { JWT_SECRET, JWT_SECRET_PREVIOUS } = config
  const known = cache.get(token)
  if (known && (known.secret === JWT_SECRET || known.secret === JWT_SECRET_PREVIOUS)) {
    return known.exp > Date.now() / 1000 ? known.caller : undefined
  }
  if (!COMPACT_FORM.test(token)) return undefined
  for (const secret of [JWT_SECRET, JWT_SECRET_PREVIOUS]) {
    if (!secret) continue
    // verify throws on parts that are not base64 or not JSON.
    const claims = await readClaims(token, secret).catch(() => undefined)
    if (!claims) continue
    const { sub, ver, jti, slot = 0 } = claims
    const caller = { memberId: Number(sub), tokenVersion: ver, tokenId: jti, slot }
    addToCache(token, { caller, exp: claims.exp, secret })
    return caller
  }
  return undefined
}
