import { type Context, Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { ApiError, found } from '../errors'
import { describeRoute, empty } from '../http/describe-route'
import { IdParameter } from '../schema/values'
import { imageBase } from './address'
import { cacheImage, findCachedImage, getImage, headImage, IMMUTABLE, isImageKey } from './bucket'
import { evaluateConditions, type Range, readRange } from './conditions'

const ImagePath = z.object({
  'member-id': IdParameter.describe('The member who uploaded the image'),
  name: z.string().max(27).describe('The file name, from the URL that the upload returned'),
})
const HEADERS = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Cache-Control'] as const
const CONTENT = Object.fromEntries(
  ['png', 'jpeg', 'gif', 'webp', 'avif'].map((type) => [`image/${type}`, undefined] as const),
)

const imageHeaders = (object: R2Object) => {
  const headers = new Headers({
    ETag: object.httpEtag,
    'Last-Modified': object.uploaded.toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': IMMUTABLE,
  })
  object.writeHttpMetadata(headers)
  return headers
}

const loadImage = async (c: Context<App>, key: string, range?: Range) =>
  found((await getImage(c.env.IMAGES, key, range)) ?? undefined, 'IMAGE_NOT_FOUND')

const sendRange = async (c: Context<App>, key: string, range: Range, { size }: R2Object) => {
  if (range.length === 0) {
    throw new ApiError('RANGE_NOT_SATISFIABLE', { headers: { 'Content-Range': `bytes */${size}` } })
  }
  const object = await loadImage(c, key, range)
  const headers = imageHeaders(object)
  headers.set('Content-Range', `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`)
  headers.set('Content-Length', String(range.length))
  return c.body(object.body, { status: 206, headers })
}

const sendImage = async (c: Context<App>, key: string, url: string) => {
  const object = await loadImage(c, key)
  const headers = imageHeaders(object)
  headers.set('Content-Length', String(object.size))
  const [body, copy] = object.body.tee()
  c.executionCtx.waitUntil(cacheImage(url, new Response(copy, { headers })))
  return c.body(body, { status: 200, headers })
}

export const images = new Hono<App>().get(
  '/:member-id/:name',
  describeRoute({
    operationId: 'loadImage',
    summary: 'Load an image',
    description: 'Needs no token, so that browsers can load it with `<img>`. Supports conditional and range requests.',
    tags: ['Images'],
    responses: {
      200: { description: 'The image', content: CONTENT, headers: [...HEADERS] },
      206: { description: 'The requested range', content: CONTENT, headers: [...HEADERS, 'Content-Range'] },
      304: empty('Not modified', ...HEADERS),
    },
    path: ImagePath,
    errors: ['IMAGE_NOT_FOUND', 'PRECONDITION_FAILED', 'RANGE_NOT_SATISFIABLE'],
  }),
  async (c) => {
    const key = c.req.path.slice(1)
    if (!isImageKey(key)) throw new ApiError('IMAGE_NOT_FOUND')
    const url = `${imageBase(c)}/${key}`
    const { headers, method } = c.req.raw
    const isConditional = [...headers.keys()].some((name) => name === 'range' || name.startsWith('if-'))
    if (!isConditional && method === 'GET') {
      const cached = await findCachedImage(url)
      return cached ? c.newResponse(cached.body, { status: 200, headers: cached.headers }) : sendImage(c, key, url)
    }

    const image = found((await headImage(c.env.IMAGES, key)) ?? undefined, 'IMAGE_NOT_FOUND')
    const outcome = evaluateConditions(headers, image)
    if (outcome === 'failed') throw new ApiError('PRECONDITION_FAILED')
    if (outcome === 'unmodified') return c.body(null, { status: 304, headers: imageHeaders(image) })
    if (method === 'HEAD') {
      return c.body(null, { status: 200, headers: [...imageHeaders(image), ['Content-Length', String(image.size)]] })
    }
    const range = readRange(headers, image)
    return range ? sendRange(c, key, range, image) : sendImage(c, key, url)
  },
)
