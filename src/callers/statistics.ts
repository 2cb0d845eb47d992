import type { Context, MiddlewareHandler } from 'hono'
import { requiring } from '../db/caller'
import type { App } from '../env'
import { annotate } from '../http/description/route-metadata'
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter } from '../runtime/limiter'
import { createRecent } from '../runtime/recent'
import type { Scope } from '../values/contract'
import { memberOf, withLease } from './large-pages'
import { limitCaller } from './throttle'

/**
 * A year of more rows keeps the database busy for up to a second. The threshold for links is lower, as anyone with the
 * address can request them.
 */
const LONG = { own: 5000, linked: 1000 }
/** As how many requests each one of a member with a long year counts. */
const LONG_CHARGE = 5
/** Per member, the rows of the longest year seen, if over `LONG.linked`. */
const longest = createRecent<number>(1000)
const createLease = () => createLimiter({ capacity: 1, leaseMs: DEADLINES.page, maxWaiting: 64 })
/** Separate, so that requests for links do not delay members. */
const longYears = { own: createLease(), linked: createLease() }

/** `charge`: as how many requests one of a member without a long year counts. */
const limitYears =
  (whose: keyof typeof LONG, kind: string, charge: number): MiddlewareHandler<App> =>
  async (c, next) => {
    const isLong = (longest.get(memberOf(c)) ?? 0) > LONG[whose]
    for (let left = isLong ? LONG_CHARGE : charge; left > 0; left--)
      limitCaller(c, { binding: 'MEMBER_LIMIT', kind, perMember: true })
    if (!isLong) return next()
    await withLease(c, longYears[whose], 1, next)
  }

/**
 * Limits how many statistics of all kinds a member reads in a minute. Of members with a long year, it allows fewer, and
 * one at a time. Mount it after `authenticated`.
 * @throws UNAVAILABLE when too many wait, or for too long
 */
export const limitStatistics = annotate(limitYears('own', 'statistics', 1), { limit: 'member' })

const limitLongYear = limitYears('linked', 'link statistics', 0)
/**
 * Limits a member's `YEAR` links together, once a year is long; `linked` limits each link. Mount it after `linked`.
 * @throws UNAVAILABLE like `limitStatistics`
 */
export const limitLinkedYear: MiddlewareHandler<App> = (c, next) =>
  c.get('link').shape.kind === 'YEAR' ? limitLongYear(c, next) : next()

/** How handlers behind `limitStatistics` or `limitLinkedYear` read the statistics of its caller. */
export const statisticsOf = (c: Context<App>, ...furtherScopes: Scope[]) => ({
  db: c.get('db'),
  caller: requiring(c.get('caller'), ...furtherScopes),
  /** The time zone of members without one. */
  serviceZone: c.get('config').TIME_ZONE,
  /** Receives the number of rows of a year that was read. */
  onRead: (rows: number) => {
    if (rows > LONG.linked) longest.set(memberOf(c), Math.max(rows, longest.get(memberOf(c)) ?? 0))
  },
})
