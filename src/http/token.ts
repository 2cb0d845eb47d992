import { sign, verify } from '@tsndr/cloudflare-worker-jwt'
import * as z from 'zod'
import type { Caller } from '../db/caller'
import type { Config } from '../env'
import { hmacKey } from './keys'

const ISSUER = 'reading-library'
const ALGORITHM = 'HS256'
const NOT_BEFORE_2020 = 1_577_836_800

// The library takes a missing exp, any iss, `crit` and further parts: what it leaves open is closed here.
const Header = z.strictObject({ alg: z.literal(ALGORITHM), typ: z.literal('JWT') })
const Claims = z.strictObject({
  iss: z.literal(ISSUER),
  sub: z.string().regex(/^[1-9]\d{0,15}$/),
  iat: z.int().min(NOT_BEFORE_2020),
  exp: z.int().min(NOT_BEFORE_2020),
  jti: z.uuid(),
  /** The member's token version at login: a password change raises the member's and so revokes this. */
  ver: z.int().min(0),
})
const COMPACT_FORM = /^[\w-]{1,100}\.[\w-]{1,1000}\.[\w-]{43}$/

/** A token for a member who has just proved the password. It holds no e-mail and no name. */
export const issueToken = async (config: Config, member: { memberId: number; tokenVersion: number }) => {
  const iat = Math.floor(Date.now() / 1000)
  const claims: z.infer<typeof Claims> = {
    iss: ISSUER,
    sub: String(member.memberId),
    iat,
    exp: iat + config.TOKEN_TTL_SECONDS,
    jti: crypto.randomUUID(),
    ver: member.tokenVersion,
  }
  return sign(claims, await hmacKey(config.JWT_SECRET), { algorithm: ALGORITHM })
}

// A signature that was good stays good: only its end and, in the database, its revocation need to be looked at again.
const VERIFIED_AT_MOST = 1000
type Verified = { caller: Caller; exp: number; secret: string }
const verified = new Map<string, Verified>()

const remember = (token: string, known: Verified) => {
  const [oldest] = verified.keys()
  if (oldest !== undefined && verified.size >= VERIFIED_AT_MOST) verified.delete(oldest)
  verified.set(token, known)
}

const readClaims = async (token: string, secret: string) => {
  const decoded = await verify(token, await hmacKey(secret), { algorithm: ALGORITHM })
  if (!decoded || !Header.safeParse(decoded.header).success) return undefined
  return Claims.safeParse(decoded.payload).data
}

/**
 * Who the token says is calling; undefined when it is malformed, forged or expired. During a rotation of the secret,
 * tokens signed with JWT_SECRET_PREVIOUS are still taken. Whether the token was revoked is for the database to say.
 */
export const verifyToken = async (config: Config, token: string): Promise<Caller | undefined> => {
  const { JWT_SECRET, JWT_SECRET_PREVIOUS } = config
  const known = verified.get(token)
  if (known && (known.secret === JWT_SECRET || known.secret === JWT_SECRET_PREVIOUS)) {
    return known.exp > Date.now() / 1000 ? known.caller : undefined
  }
  if (!COMPACT_FORM.test(token)) return undefined
  for (const secret of [JWT_SECRET, JWT_SECRET_PREVIOUS]) {
    if (!secret) continue
    // It throws on a part that is no base64 or no JSON.
    const claims = await readClaims(token, secret).catch(() => undefined)
    if (!claims) continue
    const caller = { memberId: Number(claims.sub), tokenVersion: claims.ver, tokenId: claims.jti }
    remember(token, { caller, exp: claims.exp, secret })
    return caller
  }
  return undefined
}
