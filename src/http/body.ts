import type { Context, MiddlewareHandler } from 'hono'
import type { App } from '../env'
import { withTimeout } from '../retry'
import { withRoom } from './body-room'
import { ApiError } from './errors'
import { type FormPart, readForm } from './multipart'

export const MAX_JSON_BYTES = 1_048_576
const JSON_TYPE = /^application\/(?:[^\s/]+\+)?json$/

const typeOf = (c: Context) => c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()

/** The length that a body is told to have; undefined when none is told. */
const lengthOf = (c: Context) => {
  const told = c.req.header('Content-Length')
  return told !== undefined && /^\d+$/.test(told) ? Number(told) : undefined
}

/** A body's bytes, cut off while reading: undefined when there are more than `maxBytes`, of which no more are held. */
export const readAtMost = async (body: ReadableStream<Uint8Array> | null, maxBytes: number) => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
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

/** A body that takes longer to come holds its room for too long. */
const LONGEST_MS = 60_000

/** Takes in a body of at most `maxBytes`, once there is room for it until the request is answered. */
const takingIn =
  (kind: 'json' | 'file', maxBytes: number, read: (c: Context<App>) => Promise<void>): MiddlewareHandler<App> =>
  async (c, next) => {
    const told = lengthOf(c) ?? maxBytes
    if (told > maxBytes) throw new ApiError('BODY_TOO_LARGE')
    await withRoom(kind, told, async () => {
      await read(c)
      await next()
    })
  }

const readBytes = async (c: Context<App>, maxBytes: number) => {
  // What is told is what comes, and comes faster in one piece.
  const read = () =>
    lengthOf(c) !== undefined
      ? c.req.arrayBuffer().then((buffer) => new Uint8Array(buffer))
      : readAtMost(c.req.raw.body, maxBytes)
  const bytes = await withTimeout(LONGEST_MS, read).catch(() => {
    // The client went away, sent less than it had told, or sends too slowly.
    throw new ApiError('BODY_MALFORMED')
  })
  if (!bytes) throw new ApiError('BODY_TOO_LARGE')
  return bytes
}

const decode = (bytes: Uint8Array) => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new ApiError('BODY_MALFORMED')
  }
}

/** The body's text, once it is sure that there is one and that it may be read as JSON (or as the type named). */
const readText = async (c: Context<App>, alsoTakes?: string) => {
  const text = decode(await readBytes(c, MAX_JSON_BYTES))
  if (text === '') throw new ApiError('BODY_MISSING')
  const type = typeOf(c)
  if (type && type !== alsoTakes && !JSON_TYPE.test(type)) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  return text
}

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    throw new ApiError('BODY_MALFORMED')
  }
}

// Without a JSON content type the validator behind would take any body for `{}`.
const handOn = (c: Context, json: string) => {
  const headers = new Headers(c.req.raw.headers)
  headers.set('Content-Type', 'application/json')
  c.req.bodyCache = {}
  c.req.raw = new Request(c.req.raw, { headers, body: json })
}

/** Sees to it that the JSON validator behind gets an object. */
export const jsonObject = takingIn('json', MAX_JSON_BYTES, async (c) => {
  const json = await readText(c)
  const value = parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('BODY_MALFORMED')
  const isAtHand = 'arrayBuffer' in c.req.bodyCache && typeOf(c) === 'application/json'
  if (!isAtHand) handOn(c, json)
})

/** Lets the JSON validator behind see a bare text, or the same as a JSON string, as an object's one field. */
export const bareText = (field: string) =>
  takingIn('json', MAX_JSON_BYTES, async (c) => {
    const body = (await readText(c, 'text/plain')).trim()
    handOn(c, JSON.stringify({ [field]: body.startsWith('"') ? parse(body) : body }))
  })

/** What a multipart body may weigh beyond its file: boundaries, headers and small fields. */
const MULTIPART_EXTRA_BYTES = 65_536

/** Hands the parts of a multipart form of at most one file's size to `take`. */
export const multipartForm = (maxFileBytes: number, take: (c: Context<App>, parts: FormPart[]) => void) =>
  takingIn('file', maxFileBytes + MULTIPART_EXTRA_BYTES, async (c) => {
    const body = await readBytes(c, maxFileBytes + MULTIPART_EXTRA_BYTES)
    if (body.byteLength === 0) throw new ApiError('BODY_MISSING')
    if (typeOf(c) !== 'multipart/form-data') throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
    take(c, readForm(body, c.req.header('Content-Type') ?? ''))
  })
