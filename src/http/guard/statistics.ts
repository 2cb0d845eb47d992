import type { Context, MiddlewareHandler } from 'hono'
import type { App } from '../../env'
import { createLimiter } from '../../runtime/limiter'
import { createRecent } from '../../runtime/recent'
import { annotate } from '../route-metadata'
import { knownMember } from './credentials'
import { withLease } from './large-pages'
import { limitCaller } from './throttle'

/** A year of more rows keeps the database busy for up to a second. */
const LONG = 5000
/** As how many requests each one of a member with a long year counts. */
const LONG_CHARGE = 5
/** The members who were seen to have a long year. */
const withLongYear = createRecent<true>(1000)
const longYears = createLimiter({ capacity: 1, leaseMs: 15_000, maxWaiting: 64 })

const memberOf = (c: Context<App>) => String(knownMember(c.get('caller')))

/** `charge`: as how many requests one of a member without a long year counts. */
const limitYears =
  (charge: number): MiddlewareHandler<App> =>
  async (c, next) => {
    const isLong = withLongYear.get(memberOf(c)) === true
    for (let left = isLong ? LONG_CHARGE : charge; left > 0; left--)
      limitCaller(c, { binding: 'MEMBER_LIMIT', kind: 'statistics' })
    if (!isLong) return next()
    await withLease(c, longYears, 1, next)
  }

/**
 * Limits how many statistics of all kinds a member reads in a minute. Of members with a long year, it allows fewer, and one at a
 * time. Mount it after `authenticated`.
 * @throws UNAVAILABLE when too many wait, or for too long
 */
export const limitStatistics = annotate<MiddlewareHandler<App>>(limitYears(1), { throttled: true, limit: 'member' })

const limitLongYear = limitYears(0)
/** The same for the year of a link, which has another limit unless it is long. Mount it after `linked`. */
export const limitLinkedYear: MiddlewareHandler<App> = (c, next) =>
  c.get('link').kind === 'YEAR' ? limitLongYear(c, next) : next()

/** How the handler behind `limitStatistics` reads the statistics of its caller. */
export const statisticsOf = (c: Context<App>) => ({
  db: c.get('db'),
  caller: c.get('caller'),
  /** The time zone of members without one. */
  serviceZone: c.get('config').TIME_ZONE,
  /** Receives the number of rows of a year that was read. */
  onRead: (rows: number) => {
    if (rows > LONG) withLongYear.set(memberOf(c), true)
  },
})
