import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import type { App } from '../env'
import { ApiError } from '../http/errors'

const NONE = "'none'"
/** What the page may load: its own files, the document and this API. Pictures in data: are those of its stylesheet. */
const PAGE_POLICY = Object.entries({
  'default-src': NONE,
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': NONE,
  'form-action': NONE,
  'frame-ancestors': NONE,
})
  .map((directive) => directive.join(' '))
  .join('; ')

/** Sends one of the files that `scripts/assets.ts` made, under an ETag; so it is asked for again but seldom sent. */
const sendFile = async (c: Context<App>, path: string, headers: Record<string, string> = {}) => {
  const asked = new Request(new URL(path, c.req.url), { method: c.req.raw.method, headers: c.req.raw.headers })
  const file = await c.env.ASSETS.fetch(asked)
  if (file.status !== 200 && file.status !== 304) throw new ApiError('NOT_FOUND')
  const kept = ['Content-Type', 'ETag'].map((name) => [name, file.headers.get(name)] as const)
  const told = Object.fromEntries(kept.filter((header): header is [string, string] => header[1] !== null))
  return c.newResponse(file.body, {
    status: file.status,
    headers: { ...told, 'Cache-Control': 'public, no-cache', ...headers },
  })
}

export const docs = new Hono<App>()
  .get('/', (c) => {
    const type = accepts(c, {
      header: 'Accept',
      supports: ['application/json', 'text/html'],
      default: 'application/json',
    })
    c.header('Vary', 'Origin, Accept')
    return c.redirect(type === 'text/html' ? '/docs' : '/openapi.json')
  })
  .get('/openapi.json', (c) => sendFile(c, '/openapi.json'))
  .get('/docs', (c) =>
    sendFile(c, '/docs/index.html', {
      'Content-Security-Policy': PAGE_POLICY,
      'Cross-Origin-Opener-Policy': 'same-origin',
    }),
  )
  .get('/docs/:file', (c) => sendFile(c, c.req.path))
