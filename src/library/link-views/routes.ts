import type { Context, MiddlewareHandler } from 'hono'
import { linked } from '../../callers/authenticated'
import { knownMember } from '../../callers/credentials'
import { limitLinkedYear, statisticsOf } from '../../callers/large-reads'
import type { App } from '../../env'
import { ApiError } from '../../errors'
import { annotate } from '../../http/description/route-metadata'
import { pageHeaders } from '../../http/headers'
import { Hono } from '../../http/hono'
import { imageBase, publicBase } from '../../http/public-base'
import { valid } from '../../input/validate'
import { matchesWeakEtag } from '../../values/text/etags'
import { toPlain } from '../../values/text/plain'
import { finishesOf, toPicture } from '../stats/figures'
import { drawYear, MAX_SPINES, toReadTime } from '../stats/picture/draw'
import { toEntries } from './entries'
import { toAtom, toCalendar, toJsonFeed } from './feeds'
import { drawError, drawList, drawYearPage, ERROR_POLICY, toListPolicy, toYearPolicy } from './page'
import type { LinkedList } from './responses'
import { LinkQuery } from './schema'
import { type About, type ListLink, listLinked, loadLinkedYear } from './store'

/** Entries of a feed, and events of a calendar. */
const FEED_SIZES: Record<string, number> = { '.feed.json': 50, '.atom': 50, '.ics': 500 }

const toETag = async (body: string) => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  return `"${new Uint8Array(digest).toBase64({ alphabet: 'base64url', omitPadding: true })}"`
}

const toPlainNames = ({ name, ownerName }: About) => ({
  name: toPlain(name),
  ownerName: ownerName && toPlain(ownerName),
})

const HTML = 'text/html; charset=utf-8'

/** Sends a response with an ETag, or 304 if the client has it. */
const send = async (c: Context<App>, body: string, type: string, policy?: Record<string, string>) => {
  const etag = await toETag(body)
  // Caches must revalidate, so that a deleted link stops at once.
  const headers = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    'X-Robots-Tag': 'noindex',
    ...(policy && pageHeaders(policy)),
  }
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  // Links always read the primary, so they need no bookmark.
  c.header('X-D1-Bookmark', undefined)
  const known = c.req.header('If-None-Match')
  if (known !== undefined && matchesWeakEtag(known, etag)) return c.body(null, 304)
  return c.body(body, 200, { 'Content-Type': type })
}

const sendYear = async (c: Context<App>, year: number, query: LinkQuery) => {
  const { suffix, secret } = c.get('link')
  const { about, ...loaded } = await loadLinkedYear(statisticsOf(c), year)
  const picture = toPicture(loaded)
  if (suffix === '.svg') return send(c, drawYear(picture, { theme: query.theme, size: query.picture }), 'image/svg+xml')
  const { books, pagesFinished, minutesRead } = picture
  const finishes = finishesOf(loaded)
  const time = minutesRead > 0 ? `, ${toReadTime(minutesRead).join(' ')} of reading` : ''
  const description = `${picture.year} in books: ${books} finished, ${pagesFinished} pages${time}`
  const frame = {
    ...toPlainNames(about),
    description,
    url: `${publicBase(c)}/l/${secret}`,
    contact: c.var.config.SECURITY_CONTACT,
  }
  const html = await drawYearPage({
    ...frame,
    year: picture.year,
    // The page names no more books than the picture shows.
    finishes: finishes.slice(0, MAX_SPINES).map(({ title, author, finishedAt }) => ({
      title: toPlain(title),
      author: author && toPlain(author),
      finishedAt,
    })),
    isCut: finishes.length > MAX_SPINES,
    secret,
  })
  return send(c, String(html), HTML, await toYearPolicy())
}

const DESCRIPTIONS = { SHELF: 'Books', MEMOS: 'Memos on books', CALENDAR: 'Finished books' }

const sendList = async (c: Context<App>, link: ListLink, { cursor, size }: LinkQuery) => {
  const { suffix, secret } = c.get('link')
  const { kind } = link
  const { config } = c.var
  const feedSize = FEED_SIZES[suffix]
  const page = feedSize ? { size: feedSize } : { cursor, size }
  const shown = await listLinked(c.var, link, page)
  const { item, next } = shown
  if (suffix === '.json')
    return send(
      c,
      JSON.stringify({ name: shown.name, kind, ownerName: shown.ownerName, item, next } satisfies LinkedList),
      'application/json',
    )
  const names = toPlainNames(shown)
  const base = publicBase(c)
  const [url, { hostname: host }] = [`${base}/l/${secret}`, new URL(base)]
  const images = `${imageBase(c)}/images/${knownMember(c.get('caller'))}/`
  const entries = await toEntries(shown, host, images)
  const feed = { about: { ...shown, ...names }, entries, url, host }
  if (suffix === '.feed.json') return send(c, JSON.stringify(toJsonFeed(feed)), 'application/feed+json')
  if (suffix === '.atom') return send(c, toAtom(feed), 'application/atom+xml; charset=utf-8')
  if (suffix === '.ics') return send(c, toCalendar(feed), 'text/calendar; charset=utf-8')
  const frame = { ...names, url, description: DESCRIPTIONS[kind], contact: config.SECURITY_CONTACT }
  const html = await drawList({ ...frame, kind, entries, next, isFirst: !cursor, secret })
  return send(c, String(html), HTML, toListPolicy(url))
}

/** Sends browsers an HTML page for LINK_NOT_FOUND. Addresses with a suffix get JSON. */
const errorPage = annotate<MiddlewareHandler<App>>(
  async (c, next) => {
    await next()
    const isMissing = c.error instanceof ApiError && c.error.code === 'LINK_NOT_FOUND'
    if (!isMissing || c.req.path.includes('.') || !c.req.header('Accept')?.includes('text/html')) return
    c.res = c.body(String(await drawError()), 404, { 'Content-Type': HTML })
    // A response that is assigned gets the headers of the one it replaces.
    for (const [name, value] of Object.entries(pageHeaders(ERROR_POLICY))) c.header(name, value)
  },
  { errorPage: 'LINK_NOT_FOUND' },
)

/** What links show. Nothing here names the member, unless the link has `showName`. */
export const linkViews = new Hono<App>().get(
  '/:link',
  errorPage,
  valid('query', LinkQuery),
  linked,
  limitLinkedYear,
  async (c) => {
    const { shape } = c.get('link')
    const query = c.req.valid('query')
    return shape.kind === 'YEAR' ? sendYear(c, shape.year, query) : sendList(c, shape, query)
  },
)
