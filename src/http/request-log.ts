import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { App } from '../env'
import { log, withLogFields } from '../runtime/log'

/** Rare enough to be logged always. Uploads over slow connections are the most frequent of them. */
const SLOW_MS = 1000

type Caller = App['Variables']['caller']

/**
 * Assigns a request id and logs a sample of the requests: all 5xx responses and slow requests, and a share of the
 * others, including 4xx, of which clients can cause any number. Logs the route pattern, as URLs may contain user input.
 * All lines of a request have its id and the version of the Worker.
 */
export const logged =
  (memberOf: (caller: Caller) => number | undefined): MiddlewareHandler<App> =>
  (c, next) => {
    // An id sent by the client is ignored: ids must be unique.
    const requestId = crypto.randomUUID()
    c.header('X-Request-Id', requestId)
    return withLogFields({ requestId, version: c.env.VERSION.id }, async () => {
      const start = Date.now()
      await next()
      const ms = Date.now() - start
      // The configuration is absent if it is invalid.
      const sampleRate = c.res.status >= 500 || ms >= SLOW_MS ? 1 : (c.get('config')?.LOG_SAMPLE_RATE ?? 1)
      if (Math.random() >= sampleRate) return
      const caller = c.get('caller') as Caller | undefined
      log('info', 'request', {
        method: c.req.method,
        route: matchedRoutes(c)[c.req.routeIndex]?.path,
        status: c.res.status,
        code: c.res.headers.get('X-Error-Code') ?? undefined,
        ms,
        memberId: caller && memberOf(caller),
        slot: caller?.slot || undefined,
        sampleRate,
      })
    })
  }
