import type { Context } from 'hono'
import { confirmFirst, sentByDevice } from '../../callers/authenticated'
import { throttledAsDevice } from '../../callers/throttle'
import type { App } from '../../env'
import { ApiError, ERRORS, methodNotAllowed } from '../../errors'
import { toApiError } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { withBody } from '../../input/body'
import { startDeviceImport } from '../../transfer/imports/receive/start-device-import'
import { contextOf } from '../../transfer/imports/routes'
import { MAX_FILE_BYTES } from '../../transfer/imports/schema'
import { receiveStatistics, sendStatistics } from '../statistics/routes'
import { STATISTICS_FILE } from '../statistics/schema'
import { NO_INFINITE_DEPTH, toMultistatus } from './multistatus'

// A WebDAV folder (RFC 4918, class 1) that imports what is put into it, and keeps only reading statistics. Every path below it
// is a folder if its last part has no dot, otherwise the name of a file.

const METHODS = ['OPTIONS', 'PROPFIND', 'GET', 'HEAD', 'PUT', 'MKCOL']
const XML = { 'Content-Type': 'application/xml; charset=utf-8' }

/** The error as text, which some apps show. */
const sendError = (error: Error, c: Context<App>) => {
  const { code, details } = toApiError(c, error)
  const [status, message] = ERRORS[code]
  const isRefused = status === 401
  const text = isRefused ? 'Wrong user name or token' : (details.message ?? message)
  // A browser would keep what is typed, and send it with requests of other pages, too.
  const isBrowser = c.req.header('Sec-Fetch-Mode') !== undefined
  const more =
    status === 422 && !isStatistics(c) ? ' Send exports of KOReader, or other files that POST /imports takes.' : ''
  return c.text(`${text}${more}\n`, status, {
    'X-Error-Code': code,
    ...details.headers,
    ...(isRefused && !isBrowser && { 'WWW-Authenticate': 'Basic realm="Reading Library"' }),
  })
}

const pathOf = (c: Context) => new URL(c.req.url).pathname

/** The last part of the path. It is shown, and used for nothing else. */
const nameOf = (c: Context) => {
  const name = pathOf(c).split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const isStatistics = (c: Context) => nameOf(c) === STATISTICS_FILE

export const dav = new Hono<App>()
  .onError(sendError)
  .options('*', (c) => c.body(null, 200, { DAV: '1', Allow: METHODS.join(', ') }))
  .use(sentByDevice, throttledAsDevice, async (c, next) => {
    await confirmFirst(c)
    await next()
  })
  // The body, which says what to list, is not read.
  .on('PROPFIND', '*', (c) => {
    if (!/^[01]$/.test(c.req.header('Depth') ?? '')) return c.body(NO_INFINITE_DEPTH, 403, XML)
    if (nameOf(c).includes('.')) throw new ApiError('NOT_FOUND')
    return c.body(toMultistatus(pathOf(c)), 207, XML)
  })
  .get('*', (c) => {
    if (isStatistics(c)) return sendStatistics(c)
    throw new ApiError('NOT_FOUND', { message: 'Files are imported, and not kept' })
  })
  .put('*', async (c) => {
    if (isStatistics(c)) return receiveStatistics(c)
    const fileName = nameOf(c)
    if (fileName.endsWith('.sqlite3')) {
      const message = `Reading statistics must be called ${STATISTICS_FILE}.`
      throw new ApiError('FILE_NOT_IMPORTABLE', { message })
    }
    // Nothing is kept that a tag could match.
    if (c.req.header('If-Match') !== undefined) throw new ApiError('PRECONDITION_FAILED')
    c.set('ignoredFields', [])
    await withBody(c, 'upload', MAX_FILE_BYTES, async (bytes) => {
      await startDeviceImport(contextOf(c), await confirmFirst(c), bytes, { protocol: 'webdav', fileName })
    })
    return c.body(null, 201)
  })
  // Every folder exists.
  .on('MKCOL', '*', (c) => c.body(null, 201))
  .all('*', () => {
    throw methodNotAllowed(METHODS)
  })
