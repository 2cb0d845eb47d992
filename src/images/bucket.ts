import { ApiError } from '../http/errors'
import { log } from '../http/log'
import { cleanImage } from './formats/clean'

export const MAX_IMAGE_BYTES = 10 * 1024 * 1024
const RANDOM_BYTES = 16
const DELETED_AT_ONCE = 1000
const A_YEAR = 'public, max-age=31536000, immutable'

const prefixOf = (memberId: number) => `images/${memberId}/`
const KEY = /^images\/[1-9]\d{0,15}\/[\w-]{22}\.(?:png|jpg|gif|webp|avif)$/

/** Whether a key is one that this service gave to an image. */
export const isImageKey = (key: string) => KEY.test(key)

/**
 * Cleans an upload and stores it under a key that cannot be guessed.
 * @returns the key
 * @throws UNSUPPORTED_MEDIA_TYPE when it is none of the five types, broken, or too large to be drawn; UNAVAILABLE when
 * the bucket fails, and then nothing is stored
 */
export const storeImage = async (bucket: R2Bucket, memberId: number, upload: Uint8Array<ArrayBuffer>) => {
  const image = cleanImage(upload)
  if (!image) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const name = random.toBase64({ alphabet: 'base64url', omitPadding: true })
  const key = `${prefixOf(memberId)}${name}.${image.type.extension}`
  const httpMetadata = { contentType: image.type.mime, cacheControl: A_YEAR }
  await bucket.put(key, image.bytes, { httpMetadata }).catch((error: Error) => {
    log('error', `bucket: ${error.message}`)
    throw new ApiError('UNAVAILABLE')
  })
  return key
}

/** How long a data centre may answer an image without asking the bucket: so long it may outlive its deletion there. */
const EDGE_CACHED = 'public, max-age=600'

// These it would not answer as HTTP says.
const NOT_FOR_THE_CACHE = ['Range', 'If-Match', 'If-Unmodified-Since']

/** An image out of the edge cache, or that it is unchanged; undefined where there is none. */
export const findCached = async (request: Request) => {
  if (NOT_FOR_THE_CACHE.some((name) => request.headers.has(name))) return undefined
  const cached = await caches.default.match(request)
  if (!cached) return undefined
  const answer = new Response(cached.body, cached)
  answer.headers.set('Cache-Control', A_YEAR)
  return answer
}

/** Keeps a whole image in the edge cache. */
export const keepCached = (url: string, image: Response) => {
  image.headers.set('Cache-Control', EDGE_CACHED)
  return caches.default.put(url, image)
}

/**
 * Deletes every image of a member, any number of them, from the bucket, and from this data centre's cache of the
 * address that they are served at.
 */
export const purgeImages = async (bucket: R2Bucket, memberId: number, origin: string | undefined) => {
  for (;;) {
    const { objects } = await bucket.list({ prefix: prefixOf(memberId), limit: DELETED_AT_ONCE })
    if (objects.length === 0) return
    const keys = objects.map(({ key }) => key)
    await bucket.delete(keys)
    if (origin) await Promise.all(keys.map((key) => caches.default.delete(`${origin}/${key}`)))
  }
}
