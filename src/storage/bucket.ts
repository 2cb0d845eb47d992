import { unavailable } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { log } from '../runtime/log'
import { withRetries, withTimeout } from '../runtime/retry'
import { MARKS, type Mark, marksOf, toMark } from '../values/marks'
import { DAY_MS } from '../values/time'

export const IMMUTABLE = 'public, max-age=31536000, immutable'

const keyPrefix = (memberId: number) => `images/${memberId}/`
const filePrefix = (memberId: number) => `imports/${memberId}/`
/** The key of the file of an import, which no request can load. */
export const fileKey = (memberId: number, file: string) => `${filePrefix(memberId)}${file}`
const statisticsPrefix = (memberId: number) => `statistics/${memberId}/`
/** The key of an object of reading statistics. */
export const statisticsKey = (memberId: number, name: string) => `${statisticsPrefix(memberId)}${name}`
/** The object's key, which is also the path of the image. */
export const imageKey = (memberId: number, name: string) => `${keyPrefix(memberId)}${name}`
/** The format of the keys that `imageKey` creates for uploads. */
export const IMAGE_KEY = /^images\/[1-9]\d{0,15}\/[\w-]{22}\.(?:png|jpg|gif|webp)$/

type Image = { bytes: Uint8Array<ArrayBuffer>; type: string }

/** Calls the bucket. Every call here is idempotent, so any failure is retried. */
export const callBucket = <T>(call: () => Promise<T>) =>
  withRetries(DEADLINES.bucketCall, call, () => true).catch((error) => {
    throw unavailable(`bucket: ${error}`)
  })

export const headObject = (bucket: R2Bucket, key: string) => callBucket(() => bucket.head(key))
export const getImage = (bucket: R2Bucket, key: string, range?: R2Range) => callBucket(() => bucket.get(key, { range }))
export const getObject = (bucket: R2Bucket, key: string) => callBucket(() => bucket.get(key))
/** The bytes of an object, or null if there is none. */
export const getBytes = (bucket: R2Bucket, key: string) =>
  callBucket(async () => {
    const object = await bucket.get(key)
    return object && new Uint8Array(await object.arrayBuffer())
  })

const putObject = (bucket: R2Bucket, key: string, ...content: [string | Uint8Array, R2PutOptions?]) =>
  callBucket(async () => {
    const stored = await bucket.put(key, ...content)
    if (stored?.key !== key) throw new Error('put returned no object with this key')
  })

/** @throws UNAVAILABLE if the bucket fails; then the object may be stored */
export const putBytes = (bucket: R2Bucket, key: string, bytes: Uint8Array) => putObject(bucket, key, bytes)

/** Whether an image is stored, although storing it failed. False if the bucket fails, too. */
export const isStored = (bucket: R2Bucket, key: string) =>
  withTimeout(DEADLINES.bucketCleanup, () => bucket.head(key)).then(
    (image) => image !== null,
    () => false,
  )

/**
 * Stores an image.
 * @param isShared whether other requests may store the same image, so that this one must not delete it
 * @throws UNAVAILABLE if the bucket fails, after deleting what may have been stored unless it is shared
 */
export const putImage = (bucket: R2Bucket, key: string, { bytes, type }: Image, isShared = false) => {
  const httpMetadata = { contentType: type, cacheControl: IMMUTABLE }
  return putObject(bucket, key, bytes, { httpMetadata }).catch(async (error) => {
    if (isShared) throw error
    const logLeftover = (reason: Error) => log('error', `image may be orphaned: ${key}: ${reason.message}`)
    await withTimeout(DEADLINES.bucketCleanup, () => bucket.delete(key)).catch(logLeftover)
    throw error
  })
}

/** @throws UNAVAILABLE if the bucket fails */
export const deleteObject = (bucket: R2Bucket, key: string) => callBucket(() => bucket.delete(key))

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
  await purgePrefix(bucket, statisticsPrefix(memberId))
  return purgePrefix(bucket, keyPrefix(memberId))
}

/** Longer than any backup should be kept. */
const MARKS_KEPT_MS = 400 * DAY_MS

/** Remembers something outside the database: after an older one is restored, it is repeated. */
export const putMark = (bucket: R2Bucket, mark: Mark) => putObject(bucket, toMark(mark), '')

/** Deletes the oldest thousand of the marks that are older than 400 days. */
export const deleteOldMarks = async (bucket: R2Bucket, now: number) => {
  const { objects } = await callBucket(() => bucket.list({ prefix: MARKS, limit: R2_BATCH }))
  const end = marksOf(now - MARKS_KEPT_MS)
  const old = objects.map(({ key }) => key).filter((key) => key < end)
  if (old.length > 0) await callBucket(() => bucket.delete(old))
}
