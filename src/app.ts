import { type Context, Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { authors } from './authors/routes'
import { books } from './books/routes'
import { catalogue } from './catalogue/routes'
import { confirmCaller } from './db/caller'
import { connect } from './db/client'
import { docs } from './docs/routes'
import { editions } from './editions/routes'
import { emailChange } from './email-change/routes'
import { type App, configure } from './env'
import { ApiError } from './errors'
import { exports } from './export/routes'
import { health } from './health/routes'
import { drained } from './http/drain'
import { errorResponse } from './http/error-response'
import { headers } from './http/headers'
import { networkOf } from './http/network'
import { logged } from './http/request-log'
import { images } from './images/routes'
import { imports } from './imports/routes'
import { log } from './log'
import { members } from './members/routes'
import { memos } from './memos/routes'
import { sourcesOf } from './network'
import { progress } from './progress/routes'
import { bookReadings, readings } from './readings/routes'
import { recovery } from './recovery/routes'
import { search } from './search/routes'
import { sessions } from './sessions/routes'
import { databaseOf, databasesOf } from './slots'
import { tags } from './tags/routes'
import { tokens } from './tokens/routes'

/** `SLOT:BOOKMARK`, or just the bookmark for slot 0. A client sends it back, so that a recent enough replica may answer. */
const BOOKMARK = 'X-D1-Bookmark'
const BOOKMARK_FORMAT = /^(?:([1-9]\d{0,3}):)?([\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32})$/

/**
 * The bookmark of the request, unless it is malformed or of another database. Before there is a caller, only slot 0 uses
 * one, where a login begins with a write, so that the primary answers: a replica might still have an old password.
 */
const readBookmark = (c: Context<App>, slot: number) => {
  if (slot > 0 && !c.get('caller')) return undefined
  const [, bookmarkSlot = 0, bookmark] = c.req.header(BOOKMARK)?.match(BOOKMARK_FORMAT) ?? []
  return Number(bookmarkSlot) === slot ? bookmark : undefined
}

// Without an execution context, as in `app.request`, nothing ends a call early.
const waitUntil = (c: Context<App>, call: Promise<unknown>) => {
  try {
    c.executionCtx.waitUntil(call)
  } catch {}
}

const openSlot = (c: Context<App>, slot: number) =>
  connect(databaseOf(c.env, slot), {
    slot,
    sources: sourcesOf(networkOf(c)),
    bookmark: readBookmark(c, slot),
    onBookmark: (latest) => c.header(BOOKMARK, slot > 0 ? `${slot}:${latest}` : latest),
    waitUntil: (call) => waitUntil(c, call),
  })

export const app = new Hono<App>()

app.use(logged)
app.use(headers)
app.use(drained)
app.use(async (c, next) => {
  c.set('config', configure(c.env))
  const directory = openSlot(c, 0)
  const open = (slot: number) => (slot === 0 ? directory : openSlot(c, slot))
  c.set('slots', { numbers: [...databasesOf(c.env).keys()], directory, open })
  c.set('db', directory)
  c.set('confirmCaller', confirmCaller)
  await next()
})
app.route('/', docs)

const api = app
  .route('/', health)
  .route('/', members)
  .route('/', recovery)
  .route('/', emailChange)
  .route('/', sessions)
  .route('/tokens', tokens)
  // Before the books, whose paths begin with an identifier.
  .route('/', search)
  .route('/', tags)
  .route('/books', editions)
  .route('/books', progress)
  .route('/books', bookReadings)
  .route('/books', books)
  .route('/readings', readings)
  .route('/authors', authors)
  .route('/memos', memos)
  .route('/images', images)
  .route('/imports', imports)
  .route('/', exports)
  .route('/ext-lib', catalogue)

/** The type from which `hc<Api>` of hono/client infers every path, its inputs and its responses. */
export type Api = typeof api

const refuseMethod = methodNotAllowed({
  app,
  onMethodNotAllowed: (c, methods) => {
    // Hono copies the headers of the response that this one replaces.
    c.res.headers.delete('X-Error-Code')
    return errorResponse(c, new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: methods.join(', ') } }))
  },
})

// Computes Allow only for unmatched requests: as a middleware it would slow down every request.
app.notFound(async (c) => {
  c.res = errorResponse(c, new ApiError('NOT_FOUND'))
  return (await refuseMethod(c, async () => {})) ?? c.res
})

app.onError((error, c) => {
  // Removed from errors, so that the 404 for another member's resource is identical to the one for a missing resource.
  c.header(BOOKMARK, undefined)
  const request = { requestId: c.get('requestId'), slot: c.get('caller')?.slot || undefined }
  if (error instanceof ApiError) {
    if (error.cause) log('error', error.message, request)
    return errorResponse(c, error)
  }
  log('error', error.message, { ...request, stack: error.stack })
  return errorResponse(c, new ApiError('INTERNAL'))
})
