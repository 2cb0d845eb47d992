import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { App, Bindings } from '../env'
import { tooManyRequests } from '../errors'
import { log } from '../log'
import { withTimeout } from '../retry'
import { networkOf } from './network'
import { annotate } from './route-metadata'

type RateLimiter = { [K in keyof Bindings]-?: NonNullable<Bindings[K]> extends RateLimit ? K : never }[keyof Bindings]

/** The period of the rate limits in wrangler.toml, and so the longest wait of a refused client. */
const PERIOD_SECONDS = 60
const TIMEOUT_MS = 1000

/** @throws TOO_MANY_REQUESTS when the key is above the limit */
export const checkRate = async (c: Context<App>, limiter: RateLimiter, key: string) => {
  const binding = c.env[limiter]
  if (!binding) return
  // These limits are approximate anyway, so a failing limiter lets requests pass. What must be exact is counted in D1.
  const outcome = await withTimeout(TIMEOUT_MS, () => binding.limit({ key })).catch((error: Error) => {
    log('error', `rate limiter ${limiter} failed: ${error.message}`, { requestId: c.get('requestId') })
  })
  if (outcome?.success === false) throw tooManyRequests(PERIOD_SECONDS)
}

const throttle = (limiter: RateLimiter, keyOf: (c: Context<App>) => string) => {
  const handler: MiddlewareHandler<App> = async (c, next) => {
    await checkRate(c, limiter, keyOf(c))
    await next()
  }
  return annotate(handler, { throttled: true })
}

/** Limits requests per route and network, approximately and per Cloudflare location. */
export const throttledByNetwork = throttle('NETWORK_LIMIT', (c) => `${routePath(c)} ${networkOf(c)}`)

// The sessions that the database refused last. Their tokens are still signed, but must not use up the member's limits.
const MAX_ENDED = 1000
const endedSessions = new Set<string>()

export const setEnded = (sessionId: string, isEnded: boolean) => {
  endedSessions.delete(sessionId)
  if (!isEnded) return
  endedSessions.add(sessionId)
  const [oldest] = endedSessions
  if (oldest !== undefined && endedSessions.size > MAX_ENDED) endedSessions.delete(oldest)
}

/** The member or, for a session that has ended or an access token that this isolate does not know, the network. */
export const callerKey = (c: Context<App>) => {
  const caller = c.get('caller')
  const isEnded = 'sessionId' in caller && endedSessions.has(caller.sessionId)
  return isEnded || caller.memberId === undefined ? `network ${networkOf(c)}` : String(caller.memberId)
}

/** Limits requests per route and member. Mount it after `authenticated`. */
export const throttledByMember = throttle('MEMBER_LIMIT', (c) => `${routePath(c)} ${callerKey(c)}`)
