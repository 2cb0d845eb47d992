import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { App } from '../env'
import { log } from './log'

/** Names the request, and logs one line of it, by its route's pattern: the address itself may hold what a person typed. */
export const logged: MiddlewareHandler<App> = async (c, next) => {
  const start = Date.now()
  // Never the client’s own: two incidents must not share one.
  c.set('requestId', crypto.randomUUID())
  c.header('X-Request-Id', c.get('requestId'))
  await next()
  log('info', 'request', {
    requestId: c.get('requestId'),
    method: c.req.method,
    route: matchedRoutes(c)[c.req.routeIndex]?.path,
    status: c.res.status,
    ms: Date.now() - start,
    memberId: c.get('caller')?.memberId,
  })
}
