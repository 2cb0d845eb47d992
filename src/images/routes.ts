import { type Context, Hono } from 'hono'
import type { App } from '../env'
import { ApiError, found } from '../http/errors'
import { describe, empty } from '../http/openapi'
import { findCached, isImageKey, keepCached } from './bucket'

/** What R2 says of a range that lies outside the object. */
const UNSATISFIABLE = '(10039)'

const description = (text: string) => ({
  description: text,
  content: Object.fromEntries(['png', 'jpeg', 'gif', 'webp', 'avif'].map((type) => [`image/${type}`, {}])),
})

/** The headers of an image, a year's caching among them; whatever it holds, no browser runs it. */
const headersOf = (object: R2Object) => {
  const headers = new Headers({
    ETag: object.httpEtag,
    'Last-Modified': object.uploaded.toUTCString(),
    'Accept-Ranges': 'bytes',
    'Content-Length': String(object.size),
  })
  object.writeHttpMetadata(headers)
  return headers
}

type Range = { offset: number; length?: number } | { suffix: number }

/** The one range that a header asks for; undefined for none, for several, and for what makes no sense. */
const parseRange = (header: string | undefined): Range | undefined => {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '') return last === '' ? undefined : { suffix: Number(last) }
  if (last === '') return { offset: Number(first) }
  const length = Number(last) - Number(first) + 1
  return length > 0 ? { offset: Number(first), length } : undefined
}

/** Where a range begins and how long it is in an object of a size; a length below 1 lies outside. */
const locate = (range: Range, size: number) => {
  if ('suffix' in range) return { first: Math.max(0, size - range.suffix), length: Math.min(range.suffix, size) }
  return { first: range.offset, length: Math.min(range.length ?? size, size - range.offset) }
}

const unsatisfiable = async (c: Context<App>, key: string) => {
  const object = found((await c.env.IMAGES.head(key)) ?? undefined, 'IMAGE_NOT_FOUND')
  return c.body(null, { status: 416, headers: { 'Content-Range': `bytes */${object.size}` } })
}

const answer = (c: Context<App>, object: R2Object | R2ObjectBody, range: Range | undefined) => {
  const headers = headersOf(object)
  if (c.req.method === 'HEAD') return c.body(null, { status: 200, headers })
  if (!('body' in object)) {
    headers.delete('Content-Length')
    const isUnchanged = c.req.header('If-None-Match') ?? c.req.header('If-Modified-Since')
    return c.body(null, { status: isUnchanged ? 304 : 412, headers })
  }
  if (!range) {
    const [body, copy] = object.body.tee()
    c.executionCtx.waitUntil(keepCached(c.req.url, new Response(copy, { headers })))
    return c.body(body, { status: 200, headers })
  }
  const { first, length } = locate(range, object.size)
  headers.set('Content-Range', `bytes ${first}-${first + length - 1}/${object.size}`)
  headers.set('Content-Length', String(length))
  return c.body(object.body, { status: 206, headers })
}

const load = (c: Context<App>, key: string, range: Range | undefined) => {
  const { headers, method } = c.req.raw
  if (method === 'HEAD') return c.env.IMAGES.head(key)
  return c.env.IMAGES.get(key, { onlyIf: headers, ...(range && { range }) })
}

export const images = new Hono<App>().get(
  '/:member-id/:name',
  describe({
    summary: 'Load an image',
    description: 'Needs no token, so that browsers load it from `<img>`. Conditional and range requests are answered.',
    tags: ['Images'],
    responses: {
      200: description('The image'),
      206: description('The part asked for'),
      304: empty('Unchanged'),
      412: empty('Changed'),
      416: empty('No such part'),
    },
    errors: ['IMAGE_NOT_FOUND'],
  }),
  async (c) => {
    const key = c.req.path.slice(1)
    if (!isImageKey(key)) throw new ApiError('IMAGE_NOT_FOUND')
    const cached = await findCached(c.req.raw)
    if (cached) return cached
    const range = parseRange(c.req.header('Range'))
    const object = await load(c, key, range).catch((error: Error) => {
      if (!error.message.includes(UNSATISFIABLE)) throw error
      return undefined
    })
    const isOutside = object && range && locate(range, object.size).length < 1
    if (object === undefined || isOutside) return unsatisfiable(c, key)
    return answer(c, found(object ?? undefined, 'IMAGE_NOT_FOUND'), range)
  },
)
