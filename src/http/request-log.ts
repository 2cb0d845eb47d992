import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { App } from '../env'
import { log } from '../log'

/** Assigns a request id and logs one line per request. Logs the route pattern, as URLs may contain user input. */
export const logged: MiddlewareHandler<App> = async (c, next) => {
  const start = Date.now()
  // An id sent by the client is ignored: ids must be unique.
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
    slot: c.get('caller')?.slot || undefined,
  })
}
