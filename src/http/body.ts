import type { Context } from 'hono'
import type { App } from '../env'
import { ApiError, unavailable } from '../errors'
import { createLimiter, type Lease } from '../limiter'
import { withTimeout } from '../retry'
import { networkOf } from './network'

const MIB = 1024 * 1024
export const MAX_JSON_BYTES = MIB

const READ_TIMEOUT_MS = 60_000
// An isolate has 128 MB. An upload exists in up to four copies while it is read, cleaned and stored, JSON in about five.
// Leases are short, and renewed by a timer that ends with the request.
const LIMITS = { leaseMs: 5000, maxWaiting: 256, maxWaitMs: 10_000 }
const RENEW_MS = 1000
const memory = {
  json: createLimiter({ capacity: 4 * MIB, ...LIMITS }),
  upload: createLimiter({ capacity: 22 * MIB, ...LIMITS }),
}
/** Bodies up to this size need no lease. */
const SMALL_BYTES = 16_384

/** The declared length of the body; undefined for a chunked one. */
const declaredLength = (c: Context) => {
  const length = c.req.header('Content-Length')
  return length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined
}

/**
 * Reads a stream into one array. Stops reading and returns undefined when there are more than `maxBytes`.
 * @param reserve called with the size so far before each chunk is kept
 */
export const readAtMost = async (
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  reserve?: (size: number) => Promise<void>,
) => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    await reserve?.(size)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

const readBytes = async (c: Context, maxBytes: number, reserve: (size: number) => Promise<void>) => {
  const length = declaredLength(c)
  if (length !== undefined) await reserve(length)
  // The runtime enforces a declared length, and reads the body faster in one piece.
  const read = async () =>
    length === undefined ? readAtMost(c.req.raw.body, maxBytes, reserve) : new Uint8Array(await c.req.raw.arrayBuffer())
  const bytes = await withTimeout(READ_TIMEOUT_MS, read).catch((error) => {
    // Any other error means that the client disconnected, sent less than declared, or is too slow.
    throw error instanceof ApiError ? error : new ApiError('BODY_MALFORMED')
  })
  if (!bytes) throw new ApiError('BODY_TOO_LARGE')
  return bytes
}

/**
 * Reads a body of at most `maxBytes` and hands it to `handle`. A large body needs a lease on the isolate's memory,
 * which is held until `handle` is done.
 * @throws BODY_TOO_LARGE; BODY_MALFORMED when the body is cut off or slow; UNAVAILABLE when no memory becomes free in time
 */
export const withBody = async (
  c: Context<App>,
  kind: keyof typeof memory,
  maxBytes: number,
  handle: (bytes: Uint8Array<ArrayBuffer>) => Promise<void>,
) => {
  if ((declaredLength(c) ?? 0) > maxBytes) throw new ApiError('BODY_TOO_LARGE')
  let lease: Lease | undefined
  let renewal: ReturnType<typeof setInterval> | undefined
  let isOver = false
  const reserve = async (size: number) => {
    // Stops reading after a timeout.
    if (isOver) throw new ApiError('BODY_MALFORMED')
    if (lease || size <= SMALL_BYTES) return
    lease = await memory[kind].acquire(declaredLength(c) ?? maxBytes, networkOf(c))
    if (!lease) throw unavailable('too many large bodies in flight')
    renewal = setInterval(lease.renew, RENEW_MS)
  }
  try {
    await handle(await readBytes(c, maxBytes, reserve))
  } finally {
    isOver = true
    clearInterval(renewal)
    lease?.release()
  }
}

const JSON_TYPE = /^application\/(?:[^\s/]+\+)?json$/

export const mediaTypeOf = (c: Context) => c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()

const decodeUtf8 = (bytes: Uint8Array) => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new ApiError('BODY_MALFORMED')
  }
}

/**
 * The text of a JSON body. A missing content type counts as JSON.
 * @param otherType a media type that is accepted beside JSON
 * @throws BODY_MISSING, UNSUPPORTED_MEDIA_TYPE; BODY_MALFORMED when it is not UTF-8
 */
export const toText = (c: Context, bytes: Uint8Array, otherType?: string) => {
  if (bytes.length === 0) throw new ApiError('BODY_MISSING')
  const type = mediaTypeOf(c)
  if (type && type !== otherType && !JSON_TYPE.test(type)) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  return decodeUtf8(bytes)
}

/** @throws BODY_MALFORMED when the text is not JSON */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('BODY_MALFORMED')
  }
}

/** @throws BODY_MALFORMED when the text is not a JSON object */
export const parseObject = (text: string): object => {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('BODY_MALFORMED')
  return value
}
