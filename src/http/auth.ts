import type { MiddlewareHandler } from 'hono'
import type { App } from '../env'
import { ApiError } from '../errors'
import { verifyToken } from '../token'
import { annotate } from './describe-route'
import { checkRate } from './throttle'

const BEARER = /^bearer +(\S+) *$/i

const authenticate: MiddlewareHandler<App> = async (c, next) => {
  const token = c.req.header('Authorization')?.match(BEARER)?.[1]
  const caller = token && (await verifyToken(c.get('config'), token))
  if (!caller) throw new ApiError('UNAUTHORIZED')
  c.set('caller', caller)
  if (caller.slot > 0) c.set('db', c.get('slots').open(caller.slot))
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') await checkRate(c, 'WRITE_LIMIT', String(caller.memberId))
  await next()
}
/**
 * Requires a token that is signed and not expired, sets `caller` and the caller's database, and limits the writes of each member. Revocation is
 * checked by the database guard.
 */
export const authenticated = annotate(authenticate, { membersOnly: true })

/** Rejects an `Authorization` header: the contract allows none on sign-up and login. */
export const anonymous: MiddlewareHandler<App> = async (c, next) => {
  if (c.req.header('Authorization') !== undefined) throw new ApiError('AUTHORIZATION_NOT_ALLOWED')
  await next()
}
