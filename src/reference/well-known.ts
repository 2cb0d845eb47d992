import { Hono } from 'hono'
import type { App } from '../env'
import { ApiError } from '../errors'
import { DAY_MS } from '../values/time'

const SECURITY = '/.well-known/security.txt'
const CATALOG = '/.well-known/api-catalog'
const CACHED = { 'Cache-Control': 'public, max-age=3600' }

/** RFC 9116 recommends less than a year. */
const VALID_MS = 180 * DAY_MS

export const wellKnown = new Hono<App>()
  // RFC 9116.
  .get(SECURITY, (c) => {
    const { SECURITY_CONTACT, PUBLIC_URL } = c.var.config
    if (!SECURITY_CONTACT) throw new ApiError('NOT_FOUND')
    const expires = new Date(Date.now() + VALID_MS).toISOString().slice(0, 10)
    const lines = [`Contact: ${SECURITY_CONTACT}`, `Expires: ${expires}T00:00:00Z`, 'Preferred-Languages: en']
    if (PUBLIC_URL?.startsWith('https:')) lines.push(`Canonical: ${PUBLIC_URL}${SECURITY}`)
    return c.body(`${lines.join('\n')}\n`, 200, { ...CACHED, 'Content-Type': 'text/plain; charset=utf-8' })
  })
  // RFC 9727, as a linkset (RFC 9264).
  .get(CATALOG, (c) => {
    const base = c.var.config.PUBLIC_URL ?? ''
    const link = (path: string, type: string) => [{ href: base + path, type }]
    const api = {
      anchor: `${base}/`,
      'service-desc': link('/openapi.json', 'application/json'),
      'service-doc': link('/docs', 'text/html'),
      status: link('/health', 'application/json'),
    }
    return c.body(JSON.stringify({ linkset: [api] }), 200, {
      ...CACHED,
      'Content-Type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      Link: `<${CATALOG}>; rel="api-catalog"`,
    })
  })
