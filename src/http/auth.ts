import type { Context, MiddlewareHandler } from 'hono'
import { hashToken, hasTokenForm, slotOfToken } from '../access-token'
import type { Scope } from '../contract'
import type { App } from '../env'
import { ApiError } from '../errors'
import { verifyToken } from '../token'
import { networkOf } from './network'
import { annotate } from './route-metadata'
import { callerKey, checkRate, setEnded } from './throttle'

type Caller = App['Variables']['caller']

const CREDENTIALS = /^(bearer|token) +(\S+) *$/i

// The members of the access tokens used last, for limits that count per member. The database alone decides whether a
// token is valid.
const MAX_KNOWN = 1000
const memberOfToken = new Map<string, number>()

const remember = (tokenHash: string, memberId: number) => {
  memberOfToken.delete(tokenHash)
  memberOfToken.set(tokenHash, memberId)
  const [oldest] = memberOfToken.keys()
  if (oldest !== undefined && memberOfToken.size > MAX_KNOWN) memberOfToken.delete(oldest)
}

/** An access token that names an unbound slot is just unknown: anyone can make one up. */
const toTokenCaller = async (c: Context<App>, token: string, required: Scope[]): Promise<Caller | undefined> => {
  const slot = slotOfToken(token)
  if (slot === undefined || !c.get('slots').numbers.includes(slot)) return undefined
  const tokenHash = await hashToken(token)
  return { slot, tokenHash, required, memberId: memberOfToken.get(tokenHash) }
}

const findCaller = async (c: Context<App>, required: Scope[]) => {
  const [, scheme = '', token = ''] = c.req.header('Authorization')?.match(CREDENTIALS) ?? []
  if (hasTokenForm(token)) return toTokenCaller(c, token, required)
  return scheme.toLowerCase() === 'bearer' ? verifyToken(c.get('config'), token) : undefined
}

const authenticate =
  (required: Scope[]): MiddlewareHandler<App> =>
  async (c, next) => {
    const caller = await findCaller(c, required)
    if (!caller) throw new ApiError('UNAUTHORIZED')
    c.set('caller', caller)
    if (caller.slot > 0) c.set('db', c.get('slots').open(caller.slot))
    // Anyone can make up access tokens, each of which would cost a database call.
    if (caller.memberId === undefined) await checkRate(c, 'NETWORK_LIMIT', `access token ${networkOf(c)}`)
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') await checkRate(c, 'WRITE_LIMIT', callerKey(c))
    await next()
    const isRefused = c.error instanceof ApiError && c.error.code === 'UNAUTHORIZED'
    if ('sessionId' in caller) {
      if (isRefused || !c.error) setEnded(caller.sessionId, isRefused)
    } else if (isRefused) memberOfToken.delete(caller.tokenHash)
    else if (caller.memberId !== undefined) remember(caller.tokenHash, caller.memberId)
  }

/**
 * Requires the token of a session, or an access token with all the given scopes. Sets `caller` and the caller's database,
 * and limits the writes of each member. The guard in the database checks that the session has not ended, or that the access
 * token exists.
 */
export const authenticated = (...required: [Scope, ...Scope[]]) =>
  annotate(authenticate(required), { membersOnly: true, scopes: required })

/** Like `authenticated`, but refuses access tokens: for account management. */
export const sessionOnly = annotate(authenticate([]), { membersOnly: true })

/** Rejects an `Authorization` header: the contract allows none on sign-up and login. */
export const anonymous: MiddlewareHandler<App> = async (c, next) => {
  if (c.req.header('Authorization') !== undefined) throw new ApiError('AUTHORIZATION_NOT_ALLOWED')
  await next()
}
