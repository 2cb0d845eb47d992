import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { books } from './books/routes'
import { catalogue } from './catalogue/routes'
import { connect } from './db/client'
import { docs } from './docs/routes'
import { type App, configure } from './env'
import { ApiError, answerError } from './http/errors'
import { headers } from './http/headers'
import { health } from './http/health'
import { log } from './http/log'
import { logged } from './http/request-log'
import { images } from './images/routes'
import { members } from './members/routes'
import { memos } from './memos/routes'

/** How far the database had come: a client that sends it back may be answered by a replica near by. */
const BOOKMARK = 'X-D1-Bookmark'
const BOOKMARK_FORM = /^[\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32}$/

// Who calls the app without a context, as `app.request` does, has nothing that would end the call early.
const keepAlive = (c: Context<App>, call: Promise<unknown>) => {
  try {
    c.executionCtx.waitUntil(call)
  } catch {}
}

export const app = new Hono<App>()

app.use(logged)
app.use(headers)
app.use(async (c, next) => {
  c.set('config', configure(c.env))
  const bookmark = c.req.header(BOOKMARK)
  const known = bookmark && BOOKMARK_FORM.test(bookmark) ? bookmark : undefined
  c.set(
    'db',
    connect(
      c.env.DB,
      known,
      (latest) => c.header(BOOKMARK, latest),
      (call) => keepAlive(c, call),
    ),
  )
  await next()
})
app.route('/', docs)

const api = app
  .route('/', health)
  .route('/', members)
  .route('/books', books)
  .route('/memos', memos)
  .route('/images', images)
  .route('/ext-lib', catalogue)

/** What `hc<Api>` of hono/client knows: every path, what it takes and what it answers. */
export type Api = typeof api

const refuseMethod = methodNotAllowed({
  app,
  onMethodNotAllowed: (c, methods) =>
    answerError(c, new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: methods.join(', ') } })),
})

// What no route takes is looked at only then: around every request it would cost those that a route takes.
app.notFound(async (c) => {
  c.res = answerError(c, new ApiError('NOT_FOUND'))
  return (await refuseMethod(c, async () => {})) ?? c.res
})

app.onError((error, c) => {
  // So that what is another's and what is absent are told alike to the byte.
  c.header(BOOKMARK, undefined)
  if (error instanceof ApiError) {
    if (error.cause) log('error', error.message, { requestId: c.get('requestId') })
    return answerError(c, error)
  }
  // Hono's own, of a body that its validator cannot read.
  if (error instanceof HTTPException && error.status === 400) return answerError(c, new ApiError('BODY_MALFORMED'))
  log('error', error.message, { requestId: c.get('requestId'), stack: error.stack })
  return answerError(c, new ApiError('INTERNAL'))
})
