import { unavailable } from '../../errors'
import { log } from '../../runtime/log'
import { withRetries, withTimeout } from '../../runtime/retry'
import { createTurns } from '../../runtime/turns'
import { DAY_MS } from '../../values/time'
import { MARKS, marksOf, toMark } from '../../values/withdrawal'
import { cleanImage, type ImageType } from './clean/clean-image'

export const MAX_IMAGE_BYTES = 10 * 1024 * 1024
const RANDOM_BYTES = 16
export const IMMUTABLE = 'public, max-age=31536000, immutable'

const keyPrefix = (memberId: number) => `images/${memberId}/`
const filePrefix = (memberId: number) => `imports/${memberId}/`
/** The key of the file of an import, which no request can load. */
export const fileKey = (memberId: number, file: string) => `${filePrefix(memberId)}${file}`
/** The object's key, which is also the path of the image. */
export const toKey = (memberId: number, name: string) => `${keyPrefix(memberId)}${name}`
/** The format of the keys that `toKey` creates for uploads. */
export const IMAGE_KEY = /^images\/[1-9]\d{0,15}\/[\w-]{22}\.(?:png|jpg|gif|webp)$/

/** Timeout of a bucket call, retries included. */
const BUCKET_TIMEOUT_MS = 10_000
const CLEANUP_TIMEOUT_MS = 1000

/** Calls the bucket. Every call here is idempotent, so any failure is retried. */
export const callBucket = <T>(call: () => Promise<T>) =>
  withRetries(BUCKET_TIMEOUT_MS, call, () => true).catch((error) => {
    throw unavailable(`bucket: ${error}`)
  })

export const headImage = (bucket: R2Bucket, key: string) => callBucket(() => bucket.head(key))
export const getImage = (bucket: R2Bucket, key: string, range?: R2Range) => callBucket(() => bucket.get(key, { range }))

/** An upload that was cleaned, and the name it will have. */
export type NewImage = { name: string; type: ImageType; bytes: Uint8Array<ArrayBuffer> }

/** Frees the memory of an upload before the next one needs it: garbage collection may come too late. */
export const freeBytes = (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer.transfer(0)

const cleanAndFree = (upload: Uint8Array<ArrayBuffer>) => {
  try {
    return cleanImage(upload)
  } finally {
    freeBytes(upload)
  }
}

/** About four seconds of cleaning. */
const MAX_WAITING = 64
const turns = createTurns(MAX_WAITING)

/**
 * Cleans an upload, and gives it a name that cannot be guessed. Uploads are cleaned one at a time. Detaches the
 * upload's buffer.
 * @param keys the keys by which uploads take turns
 * @throws TOO_MANY_REQUESTS when too many uploads are waiting; the errors of `cleanImage`
 */
export const cleanUpload = async (upload: Uint8Array<ArrayBuffer>, keys: string[]): Promise<NewImage> => {
  const image = await turns.take(keys, (pause) => Promise.try(cleanAndFree, upload).finally(pause))
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const name = random.toBase64({ alphabet: 'base64url', omitPadding: true })
  return { name: `${name}.${image.type.extension}`, type: image.type, bytes: image.bytes }
}

const putObject = (bucket: R2Bucket, key: string, ...content: [string | Uint8Array<ArrayBuffer>, R2PutOptions?]) =>
  callBucket(async () => {
    const stored = await bucket.put(key, ...content)
    if (stored?.key !== key) throw new Error('put returned no object with this key')
  })

/** Whether an image is stored, although storing it failed. False if the bucket fails, too. */
export const isStored = (bucket: R2Bucket, key: string) =>
  withTimeout(CLEANUP_TIMEOUT_MS, () => bucket.head(key)).then(
    (image) => image !== null,
    () => false,
  )

/**
 * Stores an image.
 * @param isShared whether other requests may store the same image, so that this one must not delete it
 * @throws UNAVAILABLE if the bucket fails, after deleting what may have been stored unless it is shared
 */
export const putImage = (bucket: R2Bucket, key: string, { bytes, type }: NewImage, isShared = false) => {
  const httpMetadata = { contentType: type.mime, cacheControl: IMMUTABLE }
  return putObject(bucket, key, bytes, { httpMetadata }).catch(async (error) => {
    if (isShared) throw error
    const logLeftover = (reason: Error) => log('error', `image may be orphaned: ${key}: ${reason.message}`)
    await withTimeout(CLEANUP_TIMEOUT_MS, () => bucket.delete(key)).catch(logLeftover)
    throw error
  })
}

/** @throws UNAVAILABLE if the bucket fails */
export const deleteObject = (bucket: R2Bucket, key: string) => callBucket(() => bucket.delete(key))

/** The edge cache is not purged in other data centres, so a deleted image may be served there for this long. */
const EDGE_CACHE = 'public, max-age=600'

/** Treat a slow cache as a miss. */
const CACHE_TIMEOUT_MS = 1000

/** Looks an image up in the cache of this data centre. */
export const findCachedImage = async (url: string) => {
  const cached = await withTimeout(CACHE_TIMEOUT_MS, () => caches.default.match(url)).catch(() => undefined)
  if (!cached) return undefined
  const response = new Response(cached.body, cached)
  response.headers.set('Cache-Control', IMMUTABLE)
  return response
}

/** Stores a complete image in the cache of this data centre. */
export const cacheImage = (url: string, image: Response) => {
  image.headers.set('Cache-Control', EDGE_CACHE)
  return caches.default.put(url, image)
}

/** The most keys that R2 lists or deletes in one call. */
const R2_BATCH = 1000

const purgePrefix = async (bucket: R2Bucket, prefix: string) => {
  const purged: string[] = []
  for (;;) {
    const { objects } = await callBucket(() => bucket.list({ prefix, limit: R2_BATCH }))
    if (objects.length === 0) return purged
    const keys = objects.map(({ key }) => key)
    await callBucket(() => bucket.delete(keys))
    purged.push(...keys)
  }
}

/** Deletes all objects of a member and returns the keys of the images. */
export const purgeObjects = async (bucket: R2Bucket, memberId: number) => {
  await purgePrefix(bucket, filePrefix(memberId))
  return purgePrefix(bucket, keyPrefix(memberId))
}

/** Longer than any dump should be kept. */
const MARKS_KEPT_MS = 400 * DAY_MS

/**
 * Marks a withdrawal outside the database: after an older dump is restored, the member is deleted again.
 * @param at when the member withdrew, in milliseconds since 1970
 */
export const markWithdrawn = (bucket: R2Bucket, memberId: number, at: number) =>
  putObject(bucket, toMark(memberId, at), '')

/** Deletes the oldest thousand of the marks that are older than 400 days. */
export const deleteOldMarks = async (bucket: R2Bucket, now: number) => {
  const { objects } = await callBucket(() => bucket.list({ prefix: MARKS, limit: R2_BATCH }))
  const end = marksOf(now - MARKS_KEPT_MS)
  const old = objects.map(({ key }) => key).filter((key) => key < end)
  if (old.length > 0) await callBucket(() => bucket.delete(old))
}

/** Each deletion from the cache is a subrequest, and their number per invocation is limited. */
const MAX_CACHE_DELETIONS = 500

/** Deletes images from the cache of this data centre. In others they expire after EDGE_CACHE. */
export const dropCached = (base: string, keys: string[]) =>
  Promise.all(keys.slice(0, MAX_CACHE_DELETIONS).map((key) => caches.default.delete(`${base}/${key}`)))
