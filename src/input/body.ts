import type { Context } from 'hono'
import { confirmFirst } from '../callers/authenticated'
import { networkOf } from '../callers/origin'
import type { App } from '../env'
import { ApiError, malformedBody, unavailable } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter, type Lease } from '../runtime/limiter'
import { sourcesOf } from '../values/text/network'
import { waitForClient } from './client-wait'
import { describeMistake } from './json-mistake'
import { readGrowing, readWhole } from './read-body'

const MIB = 1024 * 1024
export const MAX_JSON_BYTES = MIB

// An isolate has 128 MB. An upload exists in up to four copies while it is read, sent to the reader and stored, JSON in about
// five. Leases are short, and renewed by a timer that ends with the request.
const LIMITS = { leaseMs: DEADLINES.bodyMemory, maxWaiting: 256, maxWaitMs: DEADLINES.bodyMemoryTurn }
const RENEW_MS = 1000
const memory = {
  json: createLimiter({ capacity: 4 * MIB, ...LIMITS }),
  upload: createLimiter({ capacity: 22 * MIB, ...LIMITS }),
}
/** Bodies up to this size need no lease; those of JSON may also be read before the caller is confirmed. */
export const SMALL_BYTES = 16_384
/** Minimum sending rates, in bytes per millisecond: normally, and while others wait for memory. */
const MIN_RATE = 8
const MIN_RATE_WHILE_OTHERS_WAIT = 128

/** The declared length of the body; undefined for a chunked one. */
export const declaredLength = (c: Context) => {
  const length = c.req.header('Content-Length')
  return length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined
}

/**
 * Reads a body of at most `maxBytes` and hands it to `handle`. Every upload, and every body above SMALL_BYTES, requires
 * a confirmed caller. Above SMALL_BYTES it also needs a lease on the isolate's memory, which grows with what has
 * arrived, and is held until `handle` is done or calls `release`.
 * @throws BODY_TOO_LARGE, for an upload FILE_TOO_LARGE; BODY_INCOMPLETE when the body is cut off or slow; UNAVAILABLE
 * when no memory becomes free in time; the errors of `confirmFirst`
 */
export const withBody = async (
  c: Context<App>,
  kind: keyof typeof memory,
  maxBytes: number,
  handle: (bytes: Uint8Array<ArrayBuffer>, release: () => void) => Promise<void>,
) => {
  const { raw } = c.req
  const length = declaredLength(c)
  const wait = <T>(read: () => Promise<T>) => waitForClient(c, read)
  let confirming: Promise<unknown> | undefined
  const confirm = () => {
    if (c.get('caller')) confirming ??= confirmFirst(c)
    return confirming
  }
  if (kind === 'upload') await confirm()
  if (!raw.body || (length !== undefined && length <= SMALL_BYTES))
    return handle(await wait(() => readWhole(raw)), () => {})
  const limiter = memory[kind]
  let lease: Lease | undefined
  let renewal: ReturnType<typeof setInterval> | undefined
  const acquire = async (size: number) => {
    lease = await limiter.acquire(size, sourcesOf(networkOf(c)), length ?? maxBytes + 1)
    if (lease) renewal = setInterval(lease.renew, RENEW_MS)
    return lease !== undefined
  }
  const reserve = async (size: number) => {
    await confirm()
    if (!(await (lease ? lease.grow(size) : acquire(size)))) throw unavailable('too many large bodies in flight')
  }
  const release = () => {
    clearInterval(renewal)
    lease?.release()
  }
  const minRate = () => (limiter.hasWaiters() ? MIN_RATE_WHILE_OTHERS_WAIT : MIN_RATE)
  try {
    const tooLarge = kind === 'upload' ? 'FILE_TOO_LARGE' : 'BODY_TOO_LARGE'
    const options = { length, maxBytes, tooLarge, freeBytes: SMALL_BYTES, wait, reserve, release, minRate } as const
    const bytes = await readGrowing(raw.body, options)
    lease?.complete()
    await handle(bytes, release)
  } finally {
    release()
  }
}

const JSON_TYPE = /^application\/(?:[^\s/]+\+)?json$/

export const mediaTypeOf = (c: Context) => c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
const decodeUtf8 = (bytes: Uint8Array) => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw malformedBody('it is not UTF-8, or it is compressed')
  }
}

/**
 * The text of a JSON body. A missing content type counts as JSON.
 * @param otherType a media type that is accepted beside JSON
 * @throws UNSUPPORTED_MEDIA_TYPE; BODY_MALFORMED when it is not UTF-8
 */
export const decodeBody = (c: Context, bytes: Uint8Array, otherType?: string) => {
  const type = mediaTypeOf(c)
  if (type && type !== otherType && !JSON_TYPE.test(type)) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  return decodeUtf8(bytes)
}

/** No request needs more. Thousands of levels would overflow the stack of code that walks the value. */
const MAX_DEPTH = 64

/**
 * The names of the outermost object, as they are written. Undefined if arrays and objects are nested deeper than MAX_DEPTH.
 * What is in strings does not count.
 */
const readNames = (json: string) => {
  const names: string[] = []
  let depth = 0
  let [start, end] = [0, 0]
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') {
      isInString = !isInString
      if (isInString) start = at
      else end = at + 1
    } else if (isInString) at += character === '\\' ? 1 : 0
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    else if (character === ':' && depth === 1) names.push(json.slice(start, end))
    if (depth > MAX_DEPTH) return undefined
  }
  return names
}

const parse = (text: string, toError = malformedBody) => {
  const names = readNames(text)
  if (!names) throw toError(`it is nested deeper than ${MAX_DEPTH} levels`)
  try {
    const value: unknown = JSON.parse(text)
    return { value, names }
  } catch {
    throw toError(describeMistake(text))
  }
}

/** @throws BODY_MALFORMED, or that of `toError`, when the text is not JSON, or nested deeper than MAX_DEPTH */
export const parseJson = (text: string, toError?: typeof malformedBody) => parse(text, toError).value

const kindOf = (value: unknown) => {
  if (typeof value === 'string') return 'a string: it may be encoded twice'
  return Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`
}

/**
 * An object, and the names that it has more than once, of which the last one counts.
 * @throws BODY_MALFORMED when the text is not a JSON object
 */
export const parseObject = (text: string): { body: object; repeated: string[] } => {
  const { value, names } = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformedBody(`it must be an object, not ${kindOf(value)}`)
  }
  if (names.length === Object.keys(value).length) return { body: value, repeated: [] }
  const groups = Map.groupBy(names, (name): string => JSON.parse(name))
  return { body: value, repeated: [...groups].flatMap(([name, { length }]) => (length > 1 ? [name] : [])) }
}
