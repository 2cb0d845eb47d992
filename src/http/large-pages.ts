import type { MiddlewareHandler } from 'hono'
import type { App } from '../env'
import { unavailable } from '../errors'
import { createLimiter } from '../limiter'
import type { Paging } from '../schema/paging'
import { turnsOf } from './throttle'

/** Pages up to this size need no lease. */
const SMALL_SIZE = 100
// A book takes up to 12 KB of text, and an isolate holds several copies of a response.
const pages = createLimiter({ capacity: 1000, leaseMs: 15_000, maxWaiting: 64 })

/**
 * Limits how many books large pages load at a time, so that several of them do not exceed the isolate's memory. Mount it
 * after `authenticated` and the validation of the query.
 * @throws UNAVAILABLE when too many wait, or for too long
 */
export const limitLargePages: MiddlewareHandler<App, string, { out: { query: Paging } }> = async (c, next) => {
  const { size } = c.req.valid('query')
  if (size <= SMALL_SIZE) return next()
  const lease = await pages.acquire(size, turnsOf(c))
  if (!lease) throw unavailable('too many large pages in flight')
  return next().finally(lease.release)
}
