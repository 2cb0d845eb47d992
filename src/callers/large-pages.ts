import type { Context, MiddlewareHandler, Next } from 'hono'
import type { App } from '../env'
import { unavailable } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter, type Limiter } from '../runtime/limiter'
import { createRecent } from '../runtime/recent'
import { DEEP_OFFSET, isDeep, type Page, type Paging } from '../values/paging'
import { knownMember } from './credentials'
import { limitCaller, refuseExceeded, turnsOf } from './throttle'

/** Pages up to this size need no lease, unless they are slow. */
const SMALL_SIZE = 100
// A book takes up to 12 KB of text, and an isolate holds several copies of a response.
const CAPACITY = 1000
const pages = createLimiter({ capacity: CAPACITY, leaseMs: DEADLINES.page, maxWaiting: 64 })
/** Only two slow pages are read at a time, because they keep the database busy for milliseconds. */
const SLOW_AMOUNT = CAPACITY / 2

/** The members whose list of abandoned books, which is counted for each page, was last seen to be long. */
const countedLong = createRecent<true>(1000)

export const memberOf = (c: Context<App>) => String(knownMember(c.get('caller')))

/** Remembers whether a list that is counted for each page is long: all its pages are slow then. */
export const recordCount = (c: Context<App>, { pageInfo }: Page<unknown>) => {
  if (pageInfo.totalElements > DEEP_OFFSET) countedLong.set(memberOf(c), true)
  else countedLong.delete(memberOf(c))
}

/**
 * Handles a request while it has a lease.
 * @throws UNAVAILABLE when too many wait, or for too long; TOO_MANY_REQUESTS if others of the caller exceeded a limit
 * meanwhile
 */
export const withLease = async (c: Context<App>, limiter: Limiter, amount: number, next: Next) => {
  const lease = await limiter.acquire(amount, turnsOf(c))
  if (!lease) throw unavailable('too many large pages in flight')
  try {
    refuseExceeded(c)
    await next()
  } finally {
    lease.release()
  }
}

type Limit = MiddlewareHandler<App, string, { out: { query: Paging } }>

const limitPages =
  (isCounted: boolean): Limit =>
  async (c, next) => {
    const paging = c.req.valid('query')
    if (isDeep(paging)) limitCaller(c, { binding: 'MEMBER_LIMIT', kind: 'deep page' })
    const isSlow = isDeep(paging) || (isCounted && countedLong.get(memberOf(c)) === true)
    const amount = Math.max(paging.size > SMALL_SIZE ? paging.size : 0, isSlow ? SLOW_AMOUNT : 0)
    if (amount === 0) return next()
    await withLease(c, pages, amount, next)
  }

/**
 * Limits how many items large pages load at a time, so that several of them do not exceed the isolate's memory, how
 * many deep pages are read at a time, and how many a member reads in a minute. Mount it after `authenticated` and the
 * validation of the query.
 * @throws UNAVAILABLE when too many wait, or for too long; TOO_MANY_REQUESTS after too many deep pages
 */
export const limitLargePages = limitPages(false)

/** The same for a list that is counted for each page. Its handler calls `recordCount`. */
export const limitCountedPages = limitPages(true)
