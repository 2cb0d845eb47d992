import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { credentialOf } from '../auth/token'
import type { App, Bindings, CallerLimit } from '../env'
import { tooManyRequests } from '../errors'
import { annotate } from '../http/description/route-metadata'
import { DEADLINES } from '../runtime/deadlines'
import { log } from '../runtime/log'
import { createRecent } from '../runtime/recent'
import { withTimeout } from '../runtime/retry'
import { sourcesOf } from '../values/text/network'
import { knownMember } from './credentials'
import { networkOf } from './origin'

type RateLimiter = { [K in keyof Bindings]-?: NonNullable<Bindings[K]> extends RateLimit ? K : never }[keyof Bindings]

/** The period of the rate limits in wrangler.toml, and so the longest wait of a refused client. */
const PERIOD_SECONDS = 60

/** Counts a request, and returns whether the key is above the limit. */
const isOver = async (c: Context<App>, limiter: RateLimiter, key: string) => {
  const binding = c.env[limiter]
  if (!binding) return false
  // These limits are approximate anyway, so a failing limiter lets requests pass. What must be exact is counted in D1.
  const outcome = await withTimeout(DEADLINES.rateLimit, () => binding.limit({ key })).catch((error: Error) => {
    log('error', `rate limiter ${limiter} failed: ${error.message}`)
  })
  return outcome?.success === false
}

/**
 * Counts a request of a network, before anything is known about its caller.
 * @throws TOO_MANY_REQUESTS when the network is above the limit
 */
export const chargeNetwork = async (c: Context<App>, limiter: RateLimiter, kind: string) => {
  if (await isOver(c, limiter, `${kind} ${networkOf(c)}`)) throw tooManyRequests(`${limiter} ${kind}`, PERIOD_SECONDS)
}

/** The networks whose devices have failed to sign in too often, and until when. */
const failing = createRecent<number>(10_000)

/** Counts a device that failed to sign in. */
export const chargeFailure = async (c: Context<App>) => {
  const key = `device ${networkOf(c)}`
  if (await isOver(c, 'NETWORK_LIMIT', key)) failing.set(key, Date.now() + PERIOD_SECONDS * 1000)
}

/** @throws TOO_MANY_REQUESTS while devices of the network have failed too often */
export const refuseFailing = (c: Context<App>) => {
  const seconds = ((failing.get(`device ${networkOf(c)}`) ?? 0) - Date.now()) / 1000
  if (seconds > 0) throw tooManyRequests('NETWORK_LIMIT device', seconds)
}

/** Limits requests per route and network, approximately and per Cloudflare location. */
export const throttledByNetwork = annotate<MiddlewareHandler<App>>(
  async (c, next) => {
    await chargeNetwork(c, 'NETWORK_LIMIT', routePath(c))
    await next()
  },
  { limit: 'network' },
)

// Limits of callers. Nothing is counted before the database has confirmed the caller: otherwise the holder of an ended
// session, or of a token without the scope, could use up the member's limits.

/** The limits that callers are above, and until when. */
const exceeded = createRecent<number>(10_000)

/** What a limit counts by: the member; for links and account management the credential, so that no other uses it up. */
const keyOf = (c: Context<App>, { kind, perMember }: CallerLimit) => {
  const caller = c.get('caller')
  const isShared = perMember || (caller.kind !== 'link' && caller.required.length > 0)
  return `${kind} ${isShared ? knownMember(caller) : credentialOf(caller)}`
}

/** @throws TOO_MANY_REQUESTS while the caller is above one of the limits of this request */
export const refuseExceeded = (c: Context<App>) => {
  for (const limit of c.get('limits')) {
    const seconds = ((exceeded.get(keyOf(c, limit)) ?? 0) - Date.now()) / 1000
    if (seconds > 0) throw tooManyRequests(`${limit.binding} ${limit.kind}`, seconds)
  }
}

/**
 * Adds a limit to this request, which is charged to the caller once the database has confirmed it.
 * @throws TOO_MANY_REQUESTS while the caller is above it
 */
export const limitCaller = (c: Context<App>, limit: CallerLimit) => {
  c.set('limits', [...c.get('limits'), limit])
  refuseExceeded(c)
}

/** Counts this request towards the limits of its caller, whom the database has confirmed. */
export const chargeCaller = async (c: Context<App>) => {
  const charge = async (limit: CallerLimit) => {
    const key = keyOf(c, limit)
    if (await isOver(c, limit.binding, key)) exceeded.set(key, Date.now() + PERIOD_SECONDS * 1000)
  }
  await Promise.all(c.get('limits').map(charge))
}

const throttled =
  (binding: CallerLimit['binding']): MiddlewareHandler<App> =>
  async (c, next) => {
    limitCaller(c, { binding, kind: routePath(c) })
    await next()
  }

/** Limits requests per route and member. Mount it after `authenticated`. */
export const throttledByMember = annotate(throttled('MEMBER_LIMIT'), { limit: 'member' })

/** The same with the limit of searches, which clients send while their user types. */
export const throttledAsSearches = annotate(throttled('SEARCH_LIMIT'), { limit: 'search' })

/** The same with the limit of writes, for reads that clients repeat often. */
export const throttledAsWrites = annotate(throttled('WRITE_LIMIT'), { limit: 'write' })

/** The same with the limit of what devices send. */
export const throttledAsDevice = throttled('DEVICE_LIMIT')

/** The keys by which callers take turns: by credential, so that an ended one takes no turns of its member. */
export const turnsOf = (c: Context<App>) => [...sourcesOf(networkOf(c)), credentialOf(c.get('caller'))]
