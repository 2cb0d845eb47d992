import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import type { Scope } from '../contract'
import type { App } from '../env'
import type { ErrorCode } from '../errors'

/** The response headers that a route may declare; openapi/headers.ts has their descriptions. */
export type HeaderName =
  | 'Accept-Ranges'
  | 'Authorization'
  | 'Cache-Control'
  | 'Content-Range'
  | 'ETag'
  | 'Last-Modified'
  | 'Link'
  | 'Location'
  | 'RateLimit'
  | 'RateLimit-Policy'

/** The headers of responses that show a limit. */
export const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy'] as const satisfies HeaderName[]

/** The request headers that have an effect; openapi/headers.ts has their descriptions. */
export type RequestHeaderName =
  | 'Accept'
  | 'Accept-Language'
  | 'If-Match'
  | 'If-Modified-Since'
  | 'If-None-Match'
  | 'If-Range'
  | 'If-Unmodified-Since'
  | 'Range'
  | 'X-D1-Bookmark'

export type ResponseDescription = {
  description: string
  /** A schema per media type, or `binary`. */
  content?: Record<string, z.ZodType | 'binary'>
  headers?: HeaderName[]
}

type RouteDescription = {
  /** Verb and noun; generated clients use it as the method name. openapi/operations.ts has the texts. */
  operationId: string
  tags: [string]
  /** The path parameters, for a route that answers invalid ones with 404 instead of validating them. */
  path?: z.ZodObject
  /** The request headers that have an effect on this route. */
  requestHeaders?: RequestHeaderName[]
  /** The route uses the database. Routes for members always do. */
  usesDatabase?: true
  responses: Record<number, ResponseDescription>
  /** The errors specific to this route; those of authentication, throttling and validation are added. */
  errors?: ErrorCode[]
  /** An invalid field may count as an attempt; the error then has the RateLimit headers. */
  countsInvalidFields?: true
}

/** What a middleware contributes to the OpenAPI description of the routes it is mounted on. */
export type RouteMetadata = Partial<{
  described: RouteDescription
  membersOnly: true
  /** The scopes that an access token must have. Without any, access tokens are refused. */
  scopes: readonly Scope[]
  throttled: true
  json: z.ZodType
  query: z.ZodType
  param: z.ZodType
  /** A body that is a bare string, as an object schema with one field, under which handlers find the string. */
  text: z.ZodObject
  /** The file part of a multipart body. */
  file: { field: string; maxBytes: number }
}>

const metadata = new WeakMap<object, RouteMetadata>()

/** Attaches metadata to a middleware for the OpenAPI document. It has no effect at run time. */
export const annotate = <Handler extends object>(handler: Handler, data: RouteMetadata) => {
  metadata.set(handler, data)
  return handler
}

export const metadataOf = (handler: object) => metadata.get(handler)

/** Describes a route for the OpenAPI document. */
export const describeRoute = (described: RouteDescription): MiddlewareHandler<App> =>
  annotate((_, next) => next(), { described })

/** A JSON response. */
export const json = (schema: z.ZodType, description: string, ...headers: HeaderName[]): ResponseDescription => ({
  description,
  content: { 'application/json': schema },
  headers,
})

/** A response without a body. */
export const empty = (description: string, ...headers: HeaderName[]): ResponseDescription => ({ description, headers })
