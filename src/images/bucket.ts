import { ApiError, unavailable } from '../errors'
import { log } from '../log'
import { withRetries, withTimeout } from '../retry'
import { cleanImage } from './formats/clean'

export const MAX_IMAGE_BYTES = 10 * 1024 * 1024
const RANDOM_BYTES = 16
const DELETED_AT_ONCE = 1000
export const A_YEAR = 'public, max-age=31536000, immutable'

const prefixOf = (memberId: number) => `images/${memberId}/`
const KEY = /^images\/[1-9]\d{0,15}\/[\w-]{22}\.(?:png|jpg|gif|webp|avif)$/

/** Whether a key is one that this service gave to an image. */
export const isImageKey = (key: string) => KEY.test(key)

const LONGEST_MS = 10_000
const LONGEST_CLEARING_MS = 1000

/** Asks the bucket, thrice if it must be: whatever is asked for here may be done twice. */
const ask = <T>(call: () => Promise<T>) =>
  withTimeout(LONGEST_MS, () => withRetries(call, () => true)).catch((error) => {
    throw unavailable(`bucket: ${error}`)
  })

export const headImage = (bucket: R2Bucket, key: string) => ask(() => bucket.head(key))
export const getImage = (bucket: R2Bucket, key: string, range?: R2Range) => ask(() => bucket.get(key, { range }))

/** Gives bytes back at once that nobody will look at again: garbage would be collected too late for what comes next. */
const freeBytes = (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer.transfer(0)

/**
 * Cleans an upload and stores it under a key that cannot be guessed. Its bytes are gone afterwards.
 * @returns the key
 * @throws UNSUPPORTED_MEDIA_TYPE when it is none of the five types, broken, or too large to be drawn; UNAVAILABLE when
 * the bucket fails, and then what it may have stored is deleted
 */
export const storeImage = async (bucket: R2Bucket, memberId: number, upload: Uint8Array<ArrayBuffer>) => {
  const image = cleanImage(upload)
  if (!image) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const name = random.toBase64({ alphabet: 'base64url', omitPadding: true })
  const key = `${prefixOf(memberId)}${name}.${image.type.extension}`
  const httpMetadata = { contentType: image.type.mime, cacheControl: A_YEAR }
  const put = async () => {
    const stored = await bucket.put(key, image.bytes, { httpMetadata })
    if (stored?.key !== key) throw new Error('an answer of another shape')
  }
  await ask(put).catch(async (error) => {
    const left = (why: Error) => log('error', `${key}: may be left: ${why.message}`)
    await withTimeout(LONGEST_CLEARING_MS, () => bucket.delete(key)).catch(left)
    throw error
  })
  for (const bytes of [upload, image.bytes]) freeBytes(bytes)
  return key
}

/** How long a data centre may answer an image without asking the bucket: so long it may outlive its deletion there. */
const EDGE_CACHED = 'public, max-age=600'

/** A cache that takes longer is none. */
const CACHE_LONGEST_MS = 1000

/** An image out of this data centre's cache; undefined where there is none. */
export const findCached = async (url: string) => {
  const cached = await withTimeout(CACHE_LONGEST_MS, () => caches.default.match(url)).catch(() => undefined)
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

/** Deletes every image of a member, any number of them; answers their keys. */
export const purgeImages = async (bucket: R2Bucket, memberId: number) => {
  const purged: string[] = []
  for (;;) {
    const { objects } = await ask(() => bucket.list({ prefix: prefixOf(memberId), limit: DELETED_AT_ONCE }))
    if (objects.length === 0) return purged
    const keys = objects.map(({ key }) => key)
    await ask(() => bucket.delete(keys))
    purged.push(...keys)
  }
}

/** How many images are dropped from the cache: each is a request of its own, of which an invocation has so many. */
const DROPPED_AT_MOST = 500

/** Drops images from this data centre's cache; elsewhere they go when EDGE_CACHED is over. */
export const dropCached = (base: string, keys: string[]) =>
  Promise.all(keys.slice(0, DROPPED_AT_MOST).map((key) => caches.default.delete(`${base}/${key}`)))
