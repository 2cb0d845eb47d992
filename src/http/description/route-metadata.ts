import type * as z from 'zod/mini'
import type { ErrorCode } from '../../errors'
import type { Scope } from '../../values/contract'

/** What a middleware tells the OpenAPI document about the routes it is mounted on. */
export type RouteMetadata = Partial<{
  membersOnly: true
  /** The scopes that an access token must have. Without any, access tokens are refused. */
  scopes: readonly Scope[]
  /** Which limit per minute the operation names: the tightest of those in wrangler.toml that it counts towards. */
  limit: 'network' | 'member' | 'search' | 'write' | 'link'
  /** It accepts `Idempotency-Key`. */
  keyed: true
  /** It evaluates `If-Match`. */
  conditional: true
  /** The error that browsers get as an HTML page. */
  errorPage: ErrorCode
  json: z.ZodMiniType
  query: z.ZodMiniType
  param: z.ZodMiniType
  /** A body that is a bare string, as an object schema with one field, under which handlers find the string. */
  text: z.ZodMiniObject
  /** The file part of a form. `parts`: its other parts, as JSON. `acceptsRawBody`: the body may be the file itself. */
  file: { field: string; maxBytes: number; parts?: z.core.$ZodType; acceptsRawBody?: true }
}>

const metadata = new WeakMap<object, RouteMetadata>()

/** Attaches metadata to a middleware for the OpenAPI document. It has no effect at run time. */
export const annotate = <Handler extends object>(handler: Handler, data: RouteMetadata) => {
  metadata.set(handler, data)
  return handler
}

export const metadataOf = (handler: object) => metadata.get(handler)
