import type { Context } from 'hono'
import { confirmFirst, sentByDevice } from '../../callers/authenticated'
import { throttledAsDevice } from '../../callers/throttle'
import type { App } from '../../env'
import { ApiError, ERRORS } from '../../errors'
import { toApiError } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { parseJson, SMALL_BYTES, withBody } from '../../input/body'
import { contextOf } from '../../transfer/imports/routes'
import { MAX_FILE_BYTES } from '../../transfer/imports/schema'
import { checkToken, sendHighlights } from './store'

// The part of Readwise's API with which apps send highlights.

// With and without a slash: apps differ. Moon+ Reader sends to the address as it was typed.
const AUTH = ['/api/v2/auth', '/api/v2/auth/']
const HIGHLIGHTS = ['/api/v2/highlights', '/api/v2/highlights/', '/api/v2', '/api/v2/']
const NOT_HERE = 'Only GET /api/v2/auth and POST /api/v2/highlights are here'

const sendError = (thrown: Error, c: Context<App>) => {
  const { code, details } = toApiError(c, thrown)
  const [known, message] = ERRORS[code]
  // Readwise has no 422.
  const status = known === 422 ? 400 : known
  const detail = status === 401 ? 'Invalid token.' : (details.message ?? message)
  return c.json({ detail }, status, { 'X-Error-Code': code, ...details.headers })
}

const decoder = new TextDecoder()
/** Whether a body has anything to import. Apps test the connection with an empty list. */
const isFilled = (bytes: Uint8Array) => {
  if (bytes.length > SMALL_BYTES) return true
  const value = parseJson(decoder.decode(bytes))
  return (Array.isArray(value) ? value : (Object(value).highlights ?? [])).length !== 0
}

export const readwise = new Hono<App>()
  .onError(sendError)
  .on('GET', AUTH, sentByDevice, throttledAsDevice, async (c) => {
    await checkToken(c.var.db, c.var.caller)
    return c.body(null, 204)
  })
  .on('POST', HIGHLIGHTS, sentByDevice, throttledAsDevice, async (c) => {
    let books: Awaited<ReturnType<typeof sendHighlights>> = []
    c.set('ignoredFields', [])
    await withBody(c, 'upload', MAX_FILE_BYTES, async (bytes) => {
      if (isFilled(bytes)) books = await sendHighlights(contextOf(c), await confirmFirst(c), bytes)
    })
    return c.json(books, 200)
  })
  .all('*', () => {
    throw new ApiError('NOT_FOUND', { message: NOT_HERE })
  })
