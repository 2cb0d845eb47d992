import { sign, verify } from '@tsndr/cloudflare-worker-jwt'
import * as z from 'zod/mini'
import type { Caller, SessionCaller } from '../db/caller'
import type { Config } from '../env'
import { unauthorized } from '../errors'
import { createRecent } from '../runtime/recent'
import { MAX_SLOT } from '../slots/placement'
import { hmacKey } from './keyed-hash'

const ISSUER = 'reading-library'
const ALGORITHM = 'HS256'
const YEAR_2020 = 1_577_836_800

// The library accepts a missing exp, any iss, `crit` and additional parts, so header and claims are validated here.
const Header = z.lazy(() => z.strictObject({ alg: z.literal(ALGORITHM), typ: z.literal('JWT') }))
const Claims = z.lazy(() =>
  z.strictObject({
    iss: z.literal(ISSUER),
    sub: z.string().check(z.regex(/^[1-9]\d{0,15}$/)),
    iat: z.int().check(z.minimum(YEAR_2020)),
    exp: z.int().check(z.minimum(YEAR_2020)),
    /** The session, which must still be in the database. */
    sid: z.uuid(),
    /** The database that the member is in, unless it is slot 0. It only routes requests: the guard in there decides. */
    slot: z.optional(z.int().check(z.minimum(1), z.maximum(MAX_SLOT))),
  }),
)
const COMPACT_FORM = /^[\w-]{1,100}\.[\w-]{1,1000}\.[\w-]{43}$/

/**
 * Identifies the credential of a caller: a session or an access token. Unlike the member, it is the caller's alone. Has the
 * slot, because the MD5 of a token names none: with the wrong user name, the token is looked up in another one.
 */
export const credentialOf = (caller: Caller) =>
  caller.kind === 'session'
    ? `${caller.slot} ${caller.memberId} ${caller.sessionId}`
    : `${caller.slot} ${caller.tokenHash}`

/** The session that a token is issued for. Times are in milliseconds since 1970. */
type Issued = { memberId: number; sessionId: string; issuedAt: number; expiresAt: number }

export const issueToken = async (
  config: Config,
  { memberId, sessionId, issuedAt, expiresAt }: Issued,
  slot: number,
) => {
  const claims: z.infer<typeof Claims> = {
    iss: ISSUER,
    sub: String(memberId),
    iat: Math.floor(issuedAt / 1000),
    exp: Math.floor(expiresAt / 1000),
    sid: sessionId,
    ...(slot > 0 && { slot }),
  }
  return sign(claims, await hmacKey(config.JWT_SECRET), { algorithm: ALGORITHM })
}

// A valid signature stays valid: it is verified once per isolate, expiry and session on each request.
type Verified = { session: Omit<SessionCaller, 'required'>; exp: number; secret: string }
const cache = createRecent<Verified>(1000)

const readClaims = async (token: string, secret: string) => {
  // Expiry is checked on each request.
  const options = { algorithm: ALGORITHM, clockTolerance: Number.POSITIVE_INFINITY } as const
  const decoded = await verify(token, await hmacKey(secret), options)
  if (!decoded || !Header.safeParse(decoded.header).success) return undefined
  return Claims.safeParse(decoded.payload).data
}

const readToken = async ({ JWT_SECRET, JWT_SECRET_PREVIOUS }: Config, token: string): Promise<Verified> => {
  const known = cache.get(token)
  if (known && (known.secret === JWT_SECRET || known.secret === JWT_SECRET_PREVIOUS)) return known
  if (!COMPACT_FORM.test(token)) throw unauthorized('malformed')
  for (const secret of [JWT_SECRET, JWT_SECRET_PREVIOUS]) {
    if (!secret) continue
    // verify throws on parts that are not base64 or not JSON.
    const claims = await readClaims(token, secret).catch(() => undefined)
    if (!claims) continue
    const { slot = 0, sub, sid } = claims
    const session = { kind: 'session', slot, memberId: Number(sub), sessionId: sid } as const
    const verified = { session, exp: claims.exp, secret }
    cache.set(token, verified)
    return verified
  }
  throw unauthorized('malformed')
}

/**
 * The session a token names. During a rotation of the secret, tokens signed with JWT_SECRET_PREVIOUS are accepted too.
 * Whether the session has ended, only the database knows.
 * @throws UNAUTHORIZED when it is malformed, forged or expired
 */
export const verifyToken = async (config: Config, token: string) => {
  const { session, exp } = await readToken(config, token)
  if (exp <= Date.now() / 1000) throw unauthorized('expired')
  return session
}
