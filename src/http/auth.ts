import type { MiddlewareHandler } from 'hono'
import type { App } from '../env'
import { note } from './describe'
import { ApiError } from './errors'
import { verifyToken } from './token'

const BEARER = /^bearer +(\S+) *$/i

const authenticate: MiddlewareHandler<App> = async (c, next) => {
  const token = c.req.header('Authorization')?.match(BEARER)?.[1]
  const caller = token && (await verifyToken(c.get('config'), token))
  if (!caller) throw new ApiError('UNAUTHORIZED')
  c.set('caller', caller)
  await next()
}
/** Lets a request through whose token is well signed and not expired, and names its caller, `c.get('caller')`. */
export const authenticated = note(authenticate, { membersOnly: true })

/** Sign-up and login are for those who have no token. */
export const anonymous: MiddlewareHandler<App> = async (c, next) => {
  if (c.req.header('Authorization') !== undefined) throw new ApiError('AUTHORIZATION_NOT_ALLOWED')
  await next()
}
