import type { Context } from 'hono'
import { canReadMemos, canWriteMemos } from '../../callers/authenticated'
import { limitLargePages } from '../../callers/large-reads'
import type { App } from '../../env'
import { ApiError, found } from '../../errors'
import { Hono } from '../../http/hono'
import { imageBase } from '../../http/public-base'
import { sendPage } from '../../http/send-page'
import { valid } from '../../input/validate'
import { getImage, headObject, IMAGE_KEY, IMMUTABLE, imageKey } from '../../storage/bucket'
import { cacheImage, dropCached, findCachedImage } from '../../storage/image-cache'
import { Paging } from '../../values/paging'
import { evaluateConditions, type Range, readRange } from './conditions'
import { ImagePath } from './schema'
import { deleteImage, listImages } from './store'

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

const loadOne = new Hono<App>().get('/:member-id/:name', async (c) => {
  const key = c.req.path.slice(1)
  if (!IMAGE_KEY.test(key)) throw new ApiError('IMAGE_NOT_FOUND')
  const url = `${imageBase(c)}/${key}`
  const { headers, method } = c.req.raw
  const isConditional = [...headers.keys()].some((name) => name === 'range' || name.startsWith('if-'))
  if (!isConditional && method === 'GET') {
    const cached = await findCachedImage(url)
    return cached ? c.newResponse(cached.body, { status: 200, headers: cached.headers }) : sendImage(c, key, url)
  }

  const image = found((await headObject(c.env.IMAGES, key)) ?? undefined, 'IMAGE_NOT_FOUND')
  const outcome = evaluateConditions(headers, image)
  if (outcome === 'failed') throw new ApiError('PRECONDITION_FAILED')
  if (outcome === 'unmodified') {
    const headers = imageHeaders(image)
    headers.delete('Content-Type')
    return c.body(null, { status: 304, headers })
  }
  if (method === 'HEAD') {
    return c.body(null, { status: 200, headers: [...imageHeaders(image), ['Content-Length', String(image.size)]] })
  }
  const range = readRange(headers, image)
  return range ? sendRange(c, key, range, image) : sendImage(c, key, url)
})

export const images = new Hono<App>()
  .get('/', canReadMemos, valid('query', Paging), limitLargePages, async (c) => {
    const base = imageBase(c)
    const { item, pageInfo } = await listImages(c.var.db, c.var.caller, c.req.valid('query'))
    const images = item.map((image) => ({ ...image, url: `${base}/${imageKey(image.memberId, image.name)}` }))
    return sendPage(c, { item: images, pageInfo })
  })
  .route('/', loadOne)
  .delete('/:member-id/:name', canWriteMemos, valid('param', ImagePath), async (c) => {
    const { 'member-id': memberId, name } = c.req.valid('param')
    const key = found(await deleteImage(c.var, c.env.IMAGES, memberId, name), 'IMAGE_NOT_FOUND')
    c.executionCtx.waitUntil(dropCached(imageBase(c), [key]))
    return c.body(null, 204)
  })
