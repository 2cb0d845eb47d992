import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { App } from '../env'
import { limitOf } from '../errors'
import { log, withLogFields } from '../runtime/log'
import { createRecent } from '../runtime/recent'
import { MINUTE_MS } from '../values/time'

/** Rare enough to be logged always: without the time that the client takes to send the body, which it chooses. */
const SLOW_MS = 1000

/** When each limit was last logged regardless of the sample rate. */
const lastLogged = createRecent<number>(1000)

/** Whether a limit refused a request for the first time in a minute. */
const isNewRefusal = (limit: string | undefined, now: number) => {
  if (limit === undefined || now - (lastLogged.get(limit) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return false
  lastLogged.set(limit, now)
  return true
}

type Caller = App['Variables']['caller']

/**
 * Assigns a request id and logs a sample of the requests: all 5xx responses and slow requests, one refusal a minute for
 * each limit, and a share of the others, including 4xx, of which clients can cause any number. Logs the route pattern,
 * as URLs may contain user input.
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
      const now = Date.now()
      const ms = now - start
      const limit = limitOf(c.error)
      const isSlow = ms - (c.get('clientMs') ?? 0) >= SLOW_MS
      const isAlways = c.res.status >= 500 || isSlow || isNewRefusal(limit, now)
      // The configuration is absent if it is invalid.
      const sampleRate = isAlways ? 1 : (c.get('config')?.LOG_SAMPLE_RATE ?? 1)
      if (Math.random() >= sampleRate) return
      const caller = c.get('caller') as Caller | undefined
      log('info', 'request', {
        method: c.req.method,
        route: matchedRoutes(c)[c.req.routeIndex]?.path,
        status: c.res.status,
        code: c.res.headers.get('X-Error-Code') ?? undefined,
        limit,
        ms,
        memberId: caller && memberOf(caller),
        slot: caller?.slot || undefined,
        sampleRate,
      })
    })
  }
