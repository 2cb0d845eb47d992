import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { App } from '../env'

type Level = 'info' | 'warn' | 'error'

/** One structured line. It never holds a password, a code, a token or an e-mail address. */
export const log = (level: Level, message: string, fields: Record<string, unknown> = {}) =>
  console[level](JSON.stringify({ level, message, ...fields }))

/** One line a request, by its route's pattern: the address itself may hold what a person typed. */
export const logged: MiddlewareHandler<App> = async (c, next) => {
  const start = Date.now()
  await next()
  log('info', 'request', {
    requestId: c.var.requestId,
    method: c.req.method,
    route: matchedRoutes(c)[c.req.routeIndex]?.path,
    status: c.res.status,
    ms: Date.now() - start,
    memberId: c.var.caller?.memberId,
  })
}
