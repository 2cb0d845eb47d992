import type { Context, MiddlewareHandler } from 'hono'
import { hashToken, hasTokenForm, readLinkSecret, slotOfToken } from '../auth/access-token'
import { credentialOf, verifyToken } from '../auth/token'
import type { App } from '../env'
import { ApiError, tooManyRequests, unauthorized } from '../errors'
import { annotate } from '../http/route-metadata'
import type { Right, Scope } from '../values/contract'
import { SUFFIXES, toShape } from '../values/link'
import { confirmedMember, hasEnded, rememberVerdict } from './credentials'
import { chargeCaller, chargeNetwork, limitCaller, PERIOD_SECONDS } from './throttle'

type Caller = App['Variables']['caller']

const CREDENTIALS = /^(bearer|token) +(\S+) *$/i

const DOUBLED = /^(?:bearer|token) +(?:bearer|token) /i
const BARE = /^[\w-]{20,}(?:\.[\w.-]*)?$/

const toTokenCaller = async (token: string, slot: number, required: Right[]): Promise<Caller> => ({
  slot,
  tokenHash: await hashToken(token),
  required,
})
const isBoundSlot = (c: Context<App>, slot: number) => c.get('slots').numbers.includes(slot)

/** @throws UNAUTHORIZED when the header names no caller */
const findCaller = async (c: Context<App>, required: Scope[]) => {
  const header = c.req.header('Authorization') ?? ''
  const [, scheme = '', token = ''] = header.match(CREDENTIALS) ?? []
  if (hasTokenForm(token)) {
    const slot = slotOfToken(token)
    if (slot === undefined) throw unauthorized('malformed')
    // Anyone can make up a token of an unbound slot.
    if (!isBoundSlot(c, slot)) throw unauthorized('ended')
    return toTokenCaller(token, slot, required)
  }
  if (scheme.toLowerCase() === 'bearer') return verifyToken(c.get('config'), token)
  throw unauthorized(DOUBLED.test(header) ? 'doubled' : BARE.test(header) ? 'bare' : 'missing')
}

/** Sets the variables that handlers read. `limitedPer`: what the caller's limits count by. */
const setCaller = (c: Context<App>, caller: Caller, limitedPer: App['Variables']['limitedPer']) => {
  c.set('caller', caller)
  c.set('limits', [])
  c.set('limitedPer', limitedPer)
  c.set('db', { ...c.get('slots').open(caller.slot), credential: credentialOf(caller) })
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
    setCaller(c, caller, required.length === 0 ? 'credential' : 'member')
    // Nobody can make up a session token, so account management does not need this limit, which others could use up.
    const isExempt = required.length === 0 && 'sessionId' in caller
    if (!isExempt && confirmedMember(caller) === undefined) await chargeNetwork(c, 'CREDENTIAL_LIMIT', 'credential')
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      if (!isConditional && c.req.header('If-Match') !== undefined) throw new ApiError('IF_MATCH_UNSUPPORTED')
      limitCaller(c, { binding: 'WRITE_LIMIT', kind: 'write' })
    }
    await next()
    await settle(c, caller)
  }

/** Remembers whether the database accepted the credential, and charges the caller's limits. */
const settle = async (c: Context<App>, caller: Caller) => {
  // Expensive work is charged even if the request failed before its first database call.
  if (c.get('isUnverified') && caller.verdict === undefined) {
    const confirmCaller = c.get('confirmCaller')
    await confirmCaller(c.get('db'), caller).catch(() => {})
  }
  rememberVerdict(caller)
  if (caller.verdict === 'valid') await chargeCaller(c)
}

/**
 * Confirms the caller in a database call, and then charges the limits, before expensive work. Makes no call if the
 * database confirmed the credential within the last minute, or if the route needs no token.
 * @throws UNAUTHORIZED, INSUFFICIENT_SCOPE, SESSION_REQUIRED; TOO_MANY_REQUESTS when the caller is above a limit
 */
export const confirmFirst = async (c: Context<App>) => {
  const caller = c.get('caller') as Caller | undefined
  if (!caller || caller.verdict === 'valid') return
  const member = confirmedMember(caller)
  if (member !== undefined) {
    caller.memberId = member
    c.set('isUnverified', true)
    return
  }
  const { db, confirmCaller } = c.var
  await confirmCaller(db, caller)
  if (await chargeCaller(c)) throw tooManyRequests(PERIOD_SECONDS)
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

const LINK = /^([^.]*)((?:\.[a-z]+)*)$/

/**
 * Requires a link: the last path segment is its secret and a suffix. Sets `link` and what `authenticated` sets. Limits
 * count per link, and per network, so visitors do not use up the member's limits.
 * @throws LINK_NOT_FOUND when the secret is malformed, was refused within the last minute, or its kind of link has no
 * such suffix
 */
export const linked = annotate<MiddlewareHandler<App>>(
  async (c, next) => {
    const [, secret = '', suffix = ''] = c.req.param('link')?.match(LINK) ?? []
    const named = readLinkSecret(secret)
    if (!named || !isBoundSlot(c, named.slot) || !SUFFIXES[named.kind].includes(suffix))
      throw new ApiError('LINK_NOT_FOUND')
    const caller = await toTokenCaller(secret, named.slot, ['show'])
    if (hasEnded(caller)) throw new ApiError('LINK_NOT_FOUND')
    c.set('link', { shape: toShape(named.kind, named.variant), secret, suffix })
    setCaller(c, caller, 'credential')
    await chargeNetwork(c, 'CREDENTIAL_LIMIT', 'link')
    limitCaller(c, { binding: 'WRITE_LIMIT', kind: 'link' })
    await next()
    await settle(c, caller)
  },
  { limit: 'link' },
)

/** Rejects an `Authorization` header: the contract allows none on sign-up and login. */
export const anonymous: MiddlewareHandler<App> = async (c, next) => {
  if (c.req.header('Authorization') !== undefined) throw new ApiError('AUTHORIZATION_NOT_ALLOWED')
  await next()
}
