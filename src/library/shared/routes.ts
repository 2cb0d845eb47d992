import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { App } from '../../env'
import { ApiError } from '../../errors'
import { valid } from '../../http/bodies/validate'
import { linked } from '../../http/guard/authenticated'
import { limitLinkedYear, statisticsOf } from '../../http/guard/statistics'
import { publicBase } from '../../http/public-base'
import { annotate } from '../../http/route-metadata'
import { toPicture } from '../stats/figures'
import { drawYear } from '../stats/picture/draw'
import { toCalendar } from './calendar'
import { toEntries } from './entries'
import { toAtom, toJsonFeed } from './feeds'
import { drawError, drawList, drawYearPage, LIST_POLICY, toYearPolicy } from './page'
import type { SharedList } from './responses'
import { ShowQuery } from './schema'
import { type ListLink, listShown, loadShownYear } from './store'

/** Entries of a feed, and events of a calendar. */
const SIZES: Record<string, number> = { '.feed.json': 50, '.atom': 50, '.ics': 500 }

const toETag = async (body: string) => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  return `"${new Uint8Array(digest).toBase64({ alphabet: 'base64url', omitPadding: true })}"`
}

const HTML = 'text/html; charset=utf-8'

const setPolicy = (c: Context<App>, policy: Record<string, string>) => {
  c.header(
    'Content-Security-Policy',
    Object.entries(policy)
      .map((directive) => directive.join(' '))
      .join('; '),
  )
  c.header('Cross-Origin-Opener-Policy', 'same-origin')
}

/** Sends a form of a link, or 304 if the client has it. */
const send = async (c: Context<App>, body: string, type: string, policy?: Record<string, string>) => {
  const etag = await toETag(body)
  // Nothing keeps it without asking again, so that a link that was deleted is gone.
  const headers = { ETag: etag, 'Cache-Control': 'private, no-cache', 'X-Robots-Tag': 'noindex' }
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  if (policy) setPolicy(c, policy)
  // The bookmark is of no use without a token.
  c.header('X-D1-Bookmark', undefined)
  const known = c.req.header('If-None-Match')?.split(/\s*,\s*/) ?? []
  if (known.some((each) => each === '*' || each.replace(/^W\//, '') === etag)) return c.body(null, 304)
  return c.body(body, 200, { 'Content-Type': type })
}

const sendPage = async (c: Context<App>, page: ReturnType<typeof drawList>, policy: Record<string, string>) =>
  send(c, String(await page), HTML, policy)

const sendYear = async (c: Context<App>, { theme }: ShowQuery) => {
  const { suffix, secret, year } = c.get('link')
  const { name, ...loaded } = await loadShownYear(statisticsOf(c), year ?? 0)
  const picture = toPicture(loaded)
  if (suffix === '.svg') return send(c, drawYear(picture, { theme, size: 'card' }), 'image/svg+xml')
  const { books, pagesFinished } = picture
  const description = `${picture.year} in books: ${books} finished, ${pagesFinished} pages`
  const frame = { name, description, url: `${publicBase(c)}/l/${secret}`, contact: c.var.config.SECURITY_CONTACT }
  return sendPage(c, drawYearPage({ ...frame, year: picture.year, secret }), await toYearPolicy())
}

const DESCRIPTIONS = { SHELF: 'Books', MEMOS: 'Memos on books', CALENDAR: 'Finished books' }

const sendList = async (c: Context<App>, link: ListLink, { cursor, size }: ShowQuery) => {
  const { suffix, secret, kind } = c.get('link')
  const { config, caller, db } = c.var
  const page = suffix in SIZES ? { size: SIZES[suffix] ?? size } : { cursor, size }
  const shown = await listShown(db, caller, link, page, config)
  const { name, item, next } = shown
  if (suffix === '.json')
    return send(c, JSON.stringify({ name, kind, item, next } satisfies SharedList), 'application/json')
  const base = publicBase(c)
  const [url, { hostname: host }] = [`${base}/l/${secret}`, new URL(base)]
  const entries = toEntries(shown, host)
  const feed = { about: shown, entries, url, host }
  if (suffix === '.feed.json') return send(c, JSON.stringify(toJsonFeed(feed)), 'application/feed+json')
  if (suffix === '.atom') return send(c, toAtom(feed), 'application/atom+xml; charset=utf-8')
  if (suffix === '.ics') return send(c, toCalendar(feed), 'text/calendar; charset=utf-8')
  const frame = { name, url, description: DESCRIPTIONS[link.kind], contact: config.SECURITY_CONTACT }
  return sendPage(c, drawList({ ...frame, kind: link.kind, entries, next, isFirst: !cursor, secret }), LIST_POLICY)
}

const isList = (link: App['Variables']['link']): link is App['Variables']['link'] & ListLink => link.kind !== 'YEAR'

/** Browsers get a page about a link that does not exist. */
const errorPage = annotate<MiddlewareHandler<App>>(
  async (c, next) => {
    await next()
    const isMissing = c.error instanceof ApiError && c.error.code === 'LINK_NOT_FOUND'
    if (!isMissing || c.req.path.includes('.') || !c.req.header('Accept')?.includes('text/html')) return
    setPolicy(c, LIST_POLICY)
    c.res = c.body(String(await drawError()), 404, { 'Content-Type': HTML })
  },
  { errorPage: 'LINK_NOT_FOUND' },
)

/** What links show. Nothing here names the member. */
export const shared = new Hono<App>().get(
  '/:link',
  errorPage,
  valid('query', ShowQuery),
  linked,
  limitLinkedYear,
  async (c) => {
    const link = c.get('link')
    const query = c.req.valid('query')
    return isList(link) ? sendList(c, link, query) : sendYear(c, query)
  },
)
