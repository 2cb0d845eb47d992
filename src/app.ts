import type { Context } from 'hono'
import { methodNotAllowed as onlyAllowed } from 'hono/method-not-allowed'
import { emailChange } from './accounts/email-change/routes'
import { links } from './accounts/links/routes'
import { members } from './accounts/members/routes'
import { recovery } from './accounts/recovery/routes'
import { sessions } from './accounts/sessions/routes'
import { tokens } from './accounts/tokens/routes'
import { knownMember } from './callers/credentials'
import { networkOf } from './callers/origin'
import { catalogue } from './catalogue/routes'
import { connect } from './db/client'
import { deviceChanges } from './devices/changes/routes'
import { dav } from './devices/dav/routes'
import { documents } from './devices/documents/routes'
import { koreader } from './devices/koreader/routes'
import { readwise } from './devices/readwise/routes'
import { type App, configure } from './env'
import { ApiError, methodNotAllowed, underMaintenance } from './errors'
import { errorResponse, toApiError } from './http/error-response'
import { headers, refuseForeign } from './http/headers'
import { Hono } from './http/hono'
import { reportIgnored } from './http/ignored'
import { logged } from './http/request-log'
import { drained } from './input/drain'
import { authors } from './library/authors/routes'
import { books } from './library/books/routes'
import { editions } from './library/editions/routes'
import { goals } from './library/goals/routes'
import { images } from './library/images/routes'
import { linkViews } from './library/link-views/routes'
import { lookup } from './library/lookup/routes'
import { memos } from './library/memos/routes'
import { progress } from './library/progress/routes'
import { bookReadings, readings } from './library/readings/routes'
import { screens } from './library/screens/routes'
import { search } from './library/search/routes'
import { sittings } from './library/sittings/routes'
import { stats } from './library/stats/routes'
import { tags } from './library/tags/routes'
import { trash } from './library/trash/routes'
import { health } from './reference/health/routes'
import { docs } from './reference/routes'
import { databaseOf, databasesOf } from './slots/slots'
import { changes } from './transfer/changes/routes'
import { exports } from './transfer/export/routes'
import { imports } from './transfer/imports/routes'
import { PROTOCOLS } from './values/protocols'
import { sourcesOf } from './values/text/network'

/** `SLOT:BOOKMARK`, or just the bookmark for slot 0. A client sends it back, so that a recent replica may answer. */
const BOOKMARK = 'X-D1-Bookmark'
const BOOKMARK_FORMAT = /^(?:([1-9]\d{0,3}):)?([\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32})$/

/**
 * The bookmark of the request, unless it is malformed or of another database. Before there is a caller, only slot 0
 * uses one. A login begins with a write there, so that the primary answers: a replica might still have an old password.
 */
const readBookmark = (c: Context<App>, slot: number) => {
  if (slot > 0 && !c.get('caller')) return undefined
  const [, bookmarkSlot = 0, bookmark] = c.req.header(BOOKMARK)?.match(BOOKMARK_FORMAT) ?? []
  return Number(bookmarkSlot) === slot ? bookmark : undefined
}

const openSlot = (c: Context<App>, slot: number) =>
  connect(databaseOf(c.env, slot), {
    slot,
    sources: sourcesOf(networkOf(c)),
    bookmark: readBookmark(c, slot),
    onBookmark: (latest) => c.header(BOOKMARK, slot > 0 ? `${slot}:${latest}` : latest),
    waitUntil: (call) => c.executionCtx.waitUntil(call),
  })

export const app = new Hono<App>()

app.use(logged(knownMember))
app.use(headers)
app.use(drained)
app.use(refuseForeign)
app.use(async (c, next) => {
  c.set('config', configure(c.env))
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (c.var.config.MAINTENANCE === 'on' && !isRead) throw underMaintenance()
  const directory = openSlot(c, 0)
  const open = (slot: number) => (slot === 0 ? directory : openSlot(c, slot))
  c.set('slots', { numbers: [...databasesOf(c.env).keys()], directory, open })
  c.set('db', directory)
  await next()
})
app.route('/', docs)
app.use(reportIgnored)
app.route(PROTOCOLS.webdav, dav)
app.route(PROTOCOLS.koreader, koreader)
app.route(PROTOCOLS.readwise, readwise)

const api = app
  .route('/', health)
  .route('/', members)
  .route('/', recovery)
  .route('/', emailChange)
  .route('/', sessions)
  .route('/tokens', tokens)
  .route('/tokens', deviceChanges)
  .route('/links', links)
  .route('/l', linkViews)
  // Before the books, whose paths begin with an identifier.
  .route('/', search)
  .route('/', screens)
  .route('/', tags)
  .route('/books', progress)
  .route('/books', sittings)
  .route('/books', bookReadings)
  .route('/books', books)
  .route('/books', editions)
  .route('/readings', readings)
  .route('/authors', authors)
  .route('/stats', stats)
  .route('/goals', goals)
  .route('/memos', memos)
  .route('/trash', trash)
  .route('/images', images)
  .route('/imports', imports)
  .route('/', exports)
  .route('/', changes)
  .route('/documents', documents)
  .route('/ext-lib', catalogue)
  .route('/catalogue', lookup)

/** The type from which `hc<Api>` of hono/client infers every path, its inputs and its responses. */
export type Api = typeof api

const refuseMethod = onlyAllowed({
  app,
  onMethodNotAllowed: (c, methods) => {
    // Hono copies the headers of the response that this one replaces.
    c.res.headers.delete('X-Error-Code')
    return errorResponse(c, methodNotAllowed(methods))
  },
})

// Computes Allow only for unmatched requests: as a middleware it would slow down every request.
app.notFound(async (c) => {
  const message = c.req.path.endsWith('/') ? 'No resource at this path: remove the slash at its end' : undefined
  c.res = errorResponse(c, new ApiError('NOT_FOUND', { message }))
  return (await refuseMethod(c, async () => {})) ?? c.res
})

app.onError((error, c) => {
  // Removed from errors, so that the 404 for another member's resource is identical to the one for a missing resource.
  c.header(BOOKMARK, undefined)
  return errorResponse(c, toApiError(c, error))
})
