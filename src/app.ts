import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { secureHeaders } from 'hono/secure-headers'
import { books } from './books/routes'
import { catalogue } from './catalogue/routes'
import { connect } from './db/client'
import { type App, configure } from './env'
import { ApiError, answerError } from './http/errors'
import { health } from './http/health'
import { log } from './http/log'
import { logged } from './http/request-log'
import { images } from './images/routes'
import { members } from './members/routes'
import { memos } from './memos/routes'

/** How far the database had come: a client that sends it back may be answered by a replica near by. */
const BOOKMARK = 'X-D1-Bookmark'
const BOOKMARK_FORM = /^[\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32}$/

const allowedOrigin = (origin: string, c: Context<App>) => {
  // Not by the checked configuration: what is wrong with that is for pages to read, too.
  const origins = (c.env.CORS_ORIGINS || '*').split(/[\s,]+/)
  return origins.includes('*') || origins.includes(origin) ? origin : null
}

export const app = new Hono<App>()

app.use(logged)
app.use(
  secureHeaders({
    contentSecurityPolicy: { defaultSrc: ["'none'"], sandbox: [] },
    crossOriginResourcePolicy: 'cross-origin',
    // What follows speaks to pages, and nothing here is one.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
)
app.use(async (c, next) => {
  await next()
  if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
})
app.use(
  cors({
    origin: allowedOrigin,
    credentials: true,
    allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type'],
    exposeHeaders: ['Authorization', 'Location', 'ETag', 'Retry-After', 'X-Request-Id'],
    maxAge: 86_400,
  }),
)
app.use(async (c, next) => {
  c.set('config', configure(c.env))
  const bookmark = c.req.header(BOOKMARK)
  c.set('db', connect(c.env.DB, bookmark && BOOKMARK_FORM.test(bookmark) ? bookmark : undefined))
  await next()
  const latest = c.var.db.session.getBookmark()
  if (latest) c.header(BOOKMARK, latest)
})
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) =>
      answerError(c, new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: methods.join(', ') } })),
  }),
)

app
  .route('/', health)
  .route('/', members)
  .route('/books', books)
  .route('/memos', memos)
  .route('/images', images)
  .route('/ext-lib', catalogue)

app.notFound((c) => answerError(c, new ApiError('NOT_FOUND')))

app.onError((error, c) => {
  if (error instanceof ApiError) return answerError(c, error)
  // Hono's own, of a body that its validator cannot read.
  if (error instanceof HTTPException && error.status === 400) return answerError(c, new ApiError('BODY_MALFORMED'))
  log('error', error.message, { requestId: c.var.requestId, stack: error.stack })
  return answerError(c, new ApiError('INTERNAL'))
})
