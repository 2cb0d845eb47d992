import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import type { App } from '../env'
import { ApiError } from '../errors'

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

const PAGE_HEADERS = { 'Content-Security-Policy': PAGE_POLICY, 'Cross-Origin-Opener-Policy': 'same-origin' }

/** Sends one of the files that `scripts/assets.ts` made, under an ETag; so it is asked for again but seldom sent. */
const sendFile = async (c: Context<App>, path: string) => {
  const known = c.req.header('If-None-Match')
  const file = await c.env.ASSETS.fetch(new URL(path, c.req.url), {
    method: c.req.raw.method,
    headers: known ? { 'If-None-Match': known } : {},
  })
  if (file.status !== 200 && file.status !== 304) throw new ApiError('NOT_FOUND')
  const headers: Record<string, string> = { 'Cache-Control': 'public, no-cache' }
  for (const name of ['Content-Type', 'ETag']) {
    const told = file.headers.get(name)
    if (told) headers[name] = told
  }
  const isPage = headers['Content-Type']?.startsWith('text/html')
  return c.newResponse(file.body, { status: file.status, headers: { ...headers, ...(isPage && PAGE_HEADERS) } })
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
  .get('/docs', (c) => sendFile(c, '/docs/index.html'))
  .get('/docs/:file', (c) => sendFile(c, c.req.path))
