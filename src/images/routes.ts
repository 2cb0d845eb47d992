import { type Context, Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { ApiError, found } from '../errors'
import { describeRoute, empty } from '../http/describe-route'
import { IdParameter } from '../schema/values'
import { imageBase } from './address'
import { A_YEAR, findCached, getImage, headImage, isImageKey, keepCached } from './bucket'
import { judge, type Range, rangeOf } from './conditions'

const ImagePath = z.object({
  'member-id': IdParameter.describe('Whose image it is'),
  name: z.string().max(27).describe('Its name, as the upload answered it'),
})
const HEADERS = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Cache-Control'] as const
const CONTENT = Object.fromEntries(
  ['png', 'jpeg', 'gif', 'webp', 'avif'].map((type) => [`image/${type}`, undefined] as const),
)

/** The headers of an image, a year's caching among them; whatever it holds, no browser runs it. */
const headersOf = (object: R2Object) => {
  const headers = new Headers({
    ETag: object.httpEtag,
    'Last-Modified': object.uploaded.toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': A_YEAR,
  })
  object.writeHttpMetadata(headers)
  return headers
}

const load = async (c: Context<App>, key: string, range?: Range) =>
  found((await getImage(c.env.IMAGES, key, range)) ?? undefined, 'IMAGE_NOT_FOUND')

const sendPart = async (c: Context<App>, key: string, range: Range, { size }: R2Object) => {
  if (range.length === 0) {
    throw new ApiError('RANGE_NOT_SATISFIABLE', { headers: { 'Content-Range': `bytes */${size}` } })
  }
  const object = await load(c, key, range)
  const headers = headersOf(object)
  headers.set('Content-Range', `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`)
  headers.set('Content-Length', String(range.length))
  return c.body(object.body, { status: 206, headers })
}

const sendWhole = async (c: Context<App>, key: string, url: string) => {
  const object = await load(c, key)
  const headers = headersOf(object)
  headers.set('Content-Length', String(object.size))
  const [body, copy] = object.body.tee()
  c.executionCtx.waitUntil(keepCached(url, new Response(copy, { headers })))
  return c.body(body, { status: 200, headers })
}

export const images = new Hono<App>().get(
  '/:member-id/:name',
  describeRoute({
    operationId: 'loadImage',
    summary: 'Load an image',
    description: 'Needs no token, so that browsers load it from `<img>`. Conditional and range requests are answered.',
    tags: ['Images'],
    responses: {
      200: { description: 'The image', content: CONTENT, headers: [...HEADERS] },
      206: { description: 'The part asked for', content: CONTENT, headers: [...HEADERS, 'Content-Range'] },
      304: empty('Unchanged', ...HEADERS),
    },
    path: ImagePath,
    errors: ['IMAGE_NOT_FOUND', 'PRECONDITION_FAILED', 'RANGE_NOT_SATISFIABLE'],
  }),
  async (c) => {
    const key = c.req.path.slice(1)
    if (!isImageKey(key)) throw new ApiError('IMAGE_NOT_FOUND')
    const url = `${imageBase(c)}/${key}`
    const { headers, method } = c.req.raw
    const isPlain = ![...headers.keys()].some((name) => name === 'range' || name.startsWith('if-'))
    if (isPlain && method === 'GET') {
      const cached = await findCached(url)
      return cached ? c.newResponse(cached.body, { status: 200, headers: cached.headers }) : sendWhole(c, key, url)
    }

    const known = found((await headImage(c.env.IMAGES, key)) ?? undefined, 'IMAGE_NOT_FOUND')
    const verdict = judge(headers, known)
    if (verdict === 'other') throw new ApiError('PRECONDITION_FAILED')
    if (verdict === 'unchanged') return c.body(null, { status: 304, headers: headersOf(known) })
    if (method === 'HEAD') {
      return c.body(null, { status: 200, headers: [...headersOf(known), ['Content-Length', String(known.size)]] })
    }
    const range = rangeOf(headers, known)
    return range ? sendPart(c, key, range, known) : sendWhole(c, key, url)
  },
)
