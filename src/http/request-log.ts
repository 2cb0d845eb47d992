import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { App } from '../env'
import { log } from '../runtime/log'

/** Rare enough to be logged always. Uploads over slow connections are the most frequent of them. */
const SLOW_MS = 1000

/**
 * Assigns a request id and logs a sample of the requests: all 5xx responses and slow requests, and a share of the others,
 * including 4xx, of which clients can cause any number. Logs the route pattern, as URLs may contain user input.
 */
export const logged: MiddlewareHandler<App> = async (c, next) => {
  const start = Date.now()
  // An id sent by the client is ignored: ids must be unique.
  c.set('requestId', crypto.randomUUID())
  c.header('X-Request-Id', c.get('requestId'))
  await next()
  const ms = Date.now() - start
  // The configuration is absent if it is invalid.
  const sampleRate = c.res.status >= 500 || ms >= SLOW_MS ? 1 : (c.get('config')?.LOG_SAMPLE_RATE ?? 1)
  if (Math.random() >= sampleRate) return
  log('info', 'request', {
    requestId: c.get('requestId'),
    method: c.req.method,
    route: matchedRoutes(c)[c.req.routeIndex]?.path,
    status: c.res.status,
    ms,
    memberId: c.get('caller')?.memberId,
    slot: c.get('caller')?.slot || undefined,
    sampleRate,
  })
}
