import type { Context, MiddlewareHandler } from 'hono'
import { hashDeviceKey, hashToken, hasTokenForm, readLinkSecret, slotOfToken, slotOfUser } from '../auth/access-token'
import { credentialOf, verifyToken } from '../auth/token'
import { type Caller, requireMember } from '../db/caller'
import type { App } from '../env'
import { ApiError, insufficientScope, unauthorized } from '../errors'
import { annotate } from '../http/description/route-metadata'
import type { Scope } from '../values/contract'
import { SUFFIXES, toShape } from '../values/link'
import { confirmedMember, hasEnded, knownMember, remember } from './credentials'
import { chargeCaller, chargeFailure, chargeNetwork, limitCaller, refuseExceeded, refuseFailing } from './throttle'

const CREDENTIALS = /^(bearer|token) +(\S+) *$/i

const DOUBLED = /^(?:bearer|token) +(?:bearer|token) /i
const BARE = /^[\w-]{20,}(?:\.[\w.-]*)?$/

const isBoundSlot = (c: Context<App>, slot: number) => c.get('slots').numbers.includes(slot)

/** @throws UNAUTHORIZED when the token is malformed, or of a slot that is not bound: anyone can make one up */
const findBearer = async (c: Context<App>, token: string, required: Scope[]): Promise<Caller> => {
  const slot = slotOfToken(token)
  if (slot === undefined) throw unauthorized('malformed')
  if (!isBoundSlot(c, slot)) throw unauthorized('ended')
  return { kind: 'token', slot, tokenHash: await hashToken(token), required }
}

/** @throws UNAUTHORIZED when the header names no caller */
const findCaller = async (c: Context<App>, required: Scope[]): Promise<Caller> => {
  const header = c.req.header('Authorization') ?? ''
  const [, scheme = '', token = ''] = header.match(CREDENTIALS) ?? []
  if (hasTokenForm(token)) return findBearer(c, token, required)
  if (scheme.toLowerCase() === 'bearer') return { ...(await verifyToken(c.get('config'), token)), required }
  throw unauthorized(DOUBLED.test(header) ? 'doubled' : BARE.test(header) ? 'bare' : 'missing')
}

/** Sets the variables of handlers. When the database confirms the caller, charges the limits of the request, once. */
const setCaller = (c: Context<App>, caller: Caller, onEnded = async () => {}) => {
  let charged: Promise<unknown> | undefined
  c.set('caller', caller)
  c.set('limits', [])
  c.set('db', {
    ...c.get('slots').open(caller.slot),
    credential: credentialOf(caller),
    onGuard: async (found) => {
      remember(caller, found)
      c.set('isUnverified', false)
      if (found === 'ended') return onEnded()
      charged ??= chargeCaller(c)
      await charged
    },
  })
}

/**
 * Nothing is done for a member, or charged to one, before the database has confirmed who is calling. The one call of
 * most requests confirms the caller and does the work; the limits are charged after it. Before expensive work,
 * `confirmFirst` makes a call of its own.
 */
const authenticate =
  (required: Scope[], isConditional = false): MiddlewareHandler<App> =>
  async (c, next) => {
    const caller = await findCaller(c, required)
    if (hasEnded(caller)) throw unauthorized('ended')
    setCaller(c, caller)
    // A session token cannot be forged, so account management is exempt from this limit, which other callers of the
    // network could use up.
    const isExempt = required.length === 0 && caller.kind === 'session'
    if (!isExempt && confirmedMember(caller) === undefined) await chargeNetwork(c, 'CREDENTIAL_LIMIT', 'credential')
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      if (!isConditional && c.req.header('If-Match') !== undefined) throw new ApiError('IF_MATCH_UNSUPPORTED')
      limitCaller(c, { binding: 'WRITE_LIMIT', kind: 'write' })
    }
    await next()
    // Expensive work is charged even if the request failed before its first database call.
    if (c.get('isUnverified')) await requireMember(c.get('db'), caller).catch(() => {})
  }

/**
 * Confirms the caller in a database call, which charges the limits, before expensive work. Makes no call if the database
 * confirmed the credential within the last minute.
 * @throws UNAUTHORIZED, INSUFFICIENT_SCOPE, SESSION_REQUIRED; TOO_MANY_REQUESTS when the caller is above a limit
 */
export const confirmFirst = async (c: Context<App>) => {
  const { caller, db } = c.var
  const recent = confirmedMember(caller)
  if (recent) {
    c.set('isUnverified', true)
    return recent
  }
  const member = await requireMember(db, caller)
  refuseExceeded(c)
  return member
}

/**
 * Requires the token of a session, or an access token with all the given scopes. Sets `caller` and the caller's
 * database, and limits the writes of each member. The guard in the database checks that the session has not ended, or
 * that the access token exists.
 */
export const authenticated = (...required: [Scope, ...Scope[]]) =>
  annotate(authenticate(required), { membersOnly: true, scopes: required })

/** The same for writes that evaluate `If-Match`. Others refuse it, because the client relies on it. */
export const conditional = (...required: [Scope, ...Scope[]]) =>
  annotate(authenticate(required, true), { membersOnly: true, scopes: required, conditional: true })

export const canReadLibrary = authenticated('library:read')
export const canWriteLibrary = authenticated('library:write')
/** For changes that return more than they were sent. */
export const canEditLibrary = authenticated('library:read', 'library:write')
export const canReadMemos = authenticated('memos:read')
export const canWriteMemos = authenticated('memos:write')
export const canReadAll = authenticated('library:read', 'memos:read')
export const canEditAll = authenticated('library:read', 'library:write', 'memos:write')

/** Like `authenticated`, but refuses access tokens, and counts limits per session: for account management. */
export const sessionOnly = annotate(authenticate([]), { membersOnly: true })

const BASIC = /^basic +([\w+/]+=*) *$/i
const MD5 = /^[\da-f]{32}$/

/** @throws UNAUTHORIZED when it is no base64 */
const decodeBase64 = (text: string) => {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text))
  } catch {
    throw unauthorized('malformed')
  }
}

/**
 * A device sends its token as the password of HTTP Basic, as `Bearer` or `Token`, or, as KOReader does, its MD5.
 * @throws UNAUTHORIZED when it sends none
 */
const findDevice = async (c: Context<App>, required: Scope[]): Promise<Caller> => {
  const [, basic] = c.req.header('Authorization')?.match(BASIC) ?? []
  if (basic !== undefined) {
    const credentials = decodeBase64(basic)
    return findBearer(c, credentials.slice(credentials.indexOf(':') + 1), required)
  }
  const key = c.req.header('x-auth-key')
  if (key === undefined || c.req.header('Authorization') !== undefined) return findCaller(c, required)
  if (!MD5.test(key)) throw unauthorized('malformed')
  const slot = slotOfUser(c.req.header('x-auth-user') ?? '')
  return { kind: 'token', slot: isBoundSlot(c, slot) ? slot : 0, tokenHash: await hashDeviceKey(key), required }
}

/**
 * Requires the token of a device. Only failures count towards the limit of a network, because many devices share the
 * address of a proxy.
 * @param isPush a device takes its queue of pushes as sent, whatever the answer: a valid one is never refused for load
 */
const authenticateDevice =
  (required: Scope[], isPush: boolean): MiddlewareHandler<App> =>
  async (c, next) => {
    const caller = await findDevice(c, required)
    // A session may use the API, not the protocols of devices.
    if (caller.kind !== 'token') throw insufficientScope(required)
    if (hasEnded(caller)) throw unauthorized('ended')
    setCaller(c, caller, () => chargeFailure(c))
    if (isPush) {
      const db = c.get('db')
      c.set('db', { ...db, isPush, sources: knownMember(caller) === undefined ? db.sources : [] })
    } else if (knownMember(caller) === undefined) refuseFailing(c)
    await next()
    if (c.get('isUnverified')) await requireMember(c.get('db'), caller).catch(() => {})
  }

/** For pushes of progress, which devices do not repeat. */
export const pushedByDevice = annotate(authenticateDevice(['intake:write'], true), {
  membersOnly: true,
  scopes: ['intake:write'],
})
/** For all else that devices send. */
export const sentByDevice = annotate(authenticateDevice(['intake:write'], false), {
  membersOnly: true,
  scopes: ['intake:write'],
})
export const readByDevice = annotate(authenticateDevice(['intake:read'], false), {
  membersOnly: true,
  scopes: ['intake:read'],
})

const LINK = /^([^.]*)((?:\.[a-z]+)*)$/

/**
 * Requires a link: the last path segment is its secret and a suffix. Sets `link` and what `authenticated` sets. Limits
 * count per link, and per network, so visitors do not use up the member's limits.
 * @throws LINK_NOT_FOUND when the secret is malformed or was just refused, or links of its kind have no such suffix
 */
export const linked = annotate<MiddlewareHandler<App>>(
  async (c, next) => {
    const [, secret = '', suffix = ''] = c.req.param('link')?.match(LINK) ?? []
    const named = readLinkSecret(secret)
    if (!named || !isBoundSlot(c, named.slot) || !SUFFIXES[named.kind].includes(suffix))
      throw new ApiError('LINK_NOT_FOUND')
    const { slot } = named
    const caller = { kind: 'link', slot, tokenHash: await hashToken(secret), required: ['show'] } satisfies Caller
    if (hasEnded(caller)) throw new ApiError('LINK_NOT_FOUND')
    c.set('link', { shape: toShape(named.kind, named.variant), secret, suffix })
    setCaller(c, caller)
    await chargeNetwork(c, 'CREDENTIAL_LIMIT', 'link')
    limitCaller(c, { binding: 'WRITE_LIMIT', kind: 'link' })
    await next()
  },
  { limit: 'link' },
)

/** Rejects an `Authorization` header: the contract allows none on sign-up and login. */
export const anonymous: MiddlewareHandler<App> = async (c, next) => {
  if (c.req.header('Authorization') !== undefined) throw new ApiError('AUTHORIZATION_NOT_ALLOWED')
  await next()
}
