import type { Context, MiddlewareHandler } from 'hono'
import { accepts } from 'hono/accepts'
import type { App } from '../env'
import { ApiError } from '../errors'
import { PROTOCOLS } from '../values/protocols'
import { SECURITY } from './security-headers'

// Set before the response exists: hono/cors and hono/secure-headers change a finished response, which copies it each
// time, a measurable share of the CPU time.

const PREFLIGHT = Object.entries({
  'Access-Control-Allow-Methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
  'Access-Control-Allow-Headers':
    'Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match,If-Unchanged-Since,Range,X-Auth-Key,X-Auth-User,X-D1-Bookmark',
  'Access-Control-Max-Age': '86400',
})

const EXPOSED =
  'Authorization,Content-Disposition,Content-Range,ETag,Idempotency-Replayed,Link,Location,RateLimit,RateLimit-Policy,Retry-After,' +
  'WWW-Authenticate,X-D1-Bookmark,X-Error-Code,X-Ignored,X-Request-Id'

/**
 * Whether CORS_ORIGINS allows the origin. Read from the environment rather than from the validated configuration, so that
 * browsers can read configuration errors too.
 */
const isAllowed = (c: Context<App>, origin: string) =>
  (c.env.CORS_ORIGINS?.trim() || '*').split(/[\s,]+/).some((each) => each === '*' || each === origin)

/** Sets the security and CORS headers of every response, errors included, and answers preflight requests. */
export const headers: MiddlewareHandler<App> = async (c, next) => {
  for (const [name, value] of SECURITY) c.header(name, value)
  c.header('Vary', 'Origin')
  const origin = c.req.header('Origin')
  if (origin && isAllowed(c, origin)) {
    c.header('Access-Control-Allow-Origin', origin)
    c.header('Access-Control-Allow-Credentials', 'true')
    c.header('Access-Control-Expose-Headers', EXPOSED)
  }
  // WebDAV answers OPTIONS itself, unless a browser asks as a preflight.
  const isWebdav = c.req.path.startsWith(PROTOCOLS.webdav)
  const isPreflight = !isWebdav || c.req.header('Access-Control-Request-Method') !== undefined
  if (c.req.method !== 'OPTIONS' || !isPreflight) return next()
  for (const [name, value] of PREFLIGHT) c.header(name, value)
  return c.body(null, 204)
}

/** Whether a client prefers a media type over JSON. */
export const prefers = (c: Context, type: string) =>
  accepts(c, { header: 'Accept', supports: ['application/json', type], default: 'application/json' }) === type

/** The headers of an HTML page with this policy. They replace those of the API, which allow nothing. */
export const pageHeaders = (policy: Record<string, string>) => ({
  'Content-Security-Policy': Object.entries(policy)
    .map((directive) => directive.join(' '))
    .join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
})

/**
 * Refuses writes without a token from pages of foreign origins. CORS does not stop them: without a content type,
 * browsers send them without a preflight request. hono/csrf would also refuse clients that send no `Origin`.
 */
export const refuseForeign: MiddlewareHandler<App> = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD' || c.req.header('Authorization') !== undefined) return next()
  const origin = c.req.header('Origin')
  if (origin === undefined || isAllowed(c, origin)) return next()
  // Behind a proxy, the service's own pages may have another origin.
  const isOwn = origin === new URL(c.req.url).origin || c.req.header('Sec-Fetch-Site') === 'same-origin'
  if (!isOwn) throw new ApiError('ORIGIN_NOT_ALLOWED')
  await next()
}
