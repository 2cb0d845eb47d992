import type { Context, MiddlewareHandler } from 'hono'
import type { App } from '../env'
import { ApiError } from './errors'

export const MAX_JSON_BYTES = 1_048_576
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/i

/** The body's bytes, cut off while reading: no more than `maxBytes` are ever held. */
const readBytes = async (request: Request, maxBytes: number) => {
  if (Number(request.headers.get('Content-Length')) > maxBytes) throw new ApiError('BODY_TOO_LARGE')
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new ApiError('BODY_TOO_LARGE')
    chunks.push(chunk)
  }
  return new Blob(chunks).bytes()
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
  const text = decode(await readBytes(c.req.raw, MAX_JSON_BYTES))
  if (text === '') throw new ApiError('BODY_MISSING')
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
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
  c.req.raw = new Request(c.req.raw, { headers, body: json })
}

/** Sees to it that the JSON validator behind gets an object. */
export const jsonObject: MiddlewareHandler<App> = async (c, next) => {
  const json = await readText(c)
  const value = parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('BODY_MALFORMED')
  handOn(c, json)
  await next()
}

/** Lets the JSON validator behind see a bare text, or the same as a JSON string, as an object's one field. */
export const bareText =
  (field: string): MiddlewareHandler<App> =>
  async (c, next) => {
    const body = await readText(c, 'text/plain')
    handOn(c, JSON.stringify({ [field]: body.startsWith('"') ? parse(body) : body }))
    await next()
  }
