import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { App, Bindings } from '../env'
import { withTimeout } from '../retry'
import { note } from './describe'
import { tooMany } from './errors'
import { log } from './log'

type Limiter = { [K in keyof Bindings]-?: Bindings[K] extends RateLimit ? K : never }[keyof Bindings]

/** The period of the limits in wrangler.toml: how long a caller who is refused may have to wait. */
const PERIOD_SECONDS = 60

/** A guard that takes longer is worth less than the answer it holds up. */
const LONGEST_MS = 1000

/** The /64 of an IPv6 address, which is one customer's; an IPv4 address as it is. */
const network = (address: string) => {
  if (!address.includes(':')) return address
  const [head = [], tail] = address.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = tail ? Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0') : []
  return [...head, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')
}

/** The network that a request comes from, by the header that Cloudflare sets on every request. */
export const networkOf = (c: Context<App>) => network(c.req.header('CF-Connecting-IP') ?? 'local')

const throttle = (limiter: Limiter, keyOf: (c: Context<App>) => string) => {
  const handler: MiddlewareHandler<App> = async (c, next) => {
    // What must be exact is counted in the database, so a limiter that fails lets through.
    const ask = () => c.env[limiter].limit({ key: keyOf(c) })
    const outcome = await withTimeout(LONGEST_MS, ask).catch((error: Error) => {
      log('error', `${limiter}: ${error.message}`, { requestId: c.get('requestId') })
    })
    if (outcome?.success === false) throw tooMany(PERIOD_SECONDS)
    await next()
  }
  return note(handler, { throttled: true })
}

/** A guard against floods from one network, each route for itself. It is approximate, and counts for each location. */
export const throttledByNetwork = throttle('NETWORK_LIMIT', (c) => `${routePath(c)} ${networkOf(c)}`)

/** A guard against floods from one member; behind `authenticated`. */
export const throttledByMember = throttle('MEMBER_LIMIT', (c) => String(c.get('caller').memberId))
