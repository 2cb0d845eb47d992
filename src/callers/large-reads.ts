import type { Context, MiddlewareHandler, Next } from 'hono'
import { requiring } from '../db/caller'
import type { App } from '../env'
import { unavailable } from '../errors'
import { annotate } from '../http/description/route-metadata'
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter, type Limiter } from '../runtime/limiter'
import { createRecent } from '../runtime/recent'
import type { Scope } from '../values/contract'
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

/** @throws UNAVAILABLE when too many wait, or too long; TOO_MANY_REQUESTS if the caller exceeded a limit meanwhile */
const withLease = async (c: Context<App>, limiter: Limiter, amount: number, next: Next) => {
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

/** Years with more rows keep the database busy for up to a second. Lower for links, as anyone can request them. */
const LONG = { own: 5000, linked: 1000 }
/** How many requests each request of a member with a long year counts as. */
const LONG_CHARGE = 5
/** Per member, the rows of the longest year seen, if over `LONG.linked`. */
const longest = createRecent<number>(1000)
const createLease = () => createLimiter({ capacity: 1, leaseMs: DEADLINES.page, maxWaiting: 64 })
/** Separate, so that requests for links do not delay members. */
const longYears = { own: createLease(), linked: createLease() }

/** `charge`: how many requests each request of a member without a long year counts as. */
const limitYears =
  (whose: keyof typeof LONG, kind: string, charge: number): MiddlewareHandler<App> =>
  async (c, next) => {
    const isLong = (longest.get(memberOf(c)) ?? 0) > LONG[whose]
    for (let left = isLong ? LONG_CHARGE : charge; left > 0; left--) limitCaller(c, { binding: 'MEMBER_LIMIT', kind })
    if (isLong) limitCaller(c, { binding: 'MEMBER_LIMIT', kind: `long ${kind}`, perMember: true })
    if (!isLong) return next()
    await withLease(c, longYears[whose], 1, next)
  }

/**
 * Limits how many statistics, of all kinds, a member reads in a minute. Members with a long year read fewer, and take
 * turns, one at a time. Mount it after `authenticated`.
 * @throws UNAVAILABLE when too many wait, or for too long
 */
export const limitStatistics = annotate(limitYears('own', 'statistics', 1), { limit: 'member' })

const limitLongYear = limitYears('linked', 'link statistics', 0)
/**
 * Once a member has a long year, limits each of the `YEAR` links, and all of them together by a higher limit, so that
 * one link cannot use up that of the others. Mount it after `linked`.
 * @throws UNAVAILABLE like `limitStatistics`
 */
export const limitLinkedYear: MiddlewareHandler<App> = (c, next) =>
  c.get('link').shape.kind === 'YEAR' ? limitLongYear(c, next) : next()

/** What handlers behind `limitStatistics` or `limitLinkedYear` pass to the store to read statistics. */
export const statisticsOf = (c: Context<App>, ...furtherScopes: Scope[]) => ({
  db: c.get('db'),
  caller: requiring(c.get('caller'), ...furtherScopes),
  /** The time zone of members without one. */
  serviceZone: c.get('config').TIME_ZONE,
  /** Receives how many rows a year took to read. */
  onRead: (rows: number) => {
    if (rows > LONG.linked) longest.set(memberOf(c), Math.max(rows, longest.get(memberOf(c)) ?? 0))
  },
})
