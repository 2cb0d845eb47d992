import type * as z from 'zod/mini'
import type { ErrorCode } from '../../errors'

/** The response headers that an operation may declare; ../headers.ts has their descriptions. */
export type HeaderName =
  | 'Accept-Ranges'
  | 'Authorization'
  | 'Cache-Control'
  | 'Content-Disposition'
  | 'Content-Range'
  | 'ETag'
  | 'Last-Modified'
  | 'Link'
  | 'Location'
  | 'RateLimit'
  | 'RateLimit-Policy'

/** The headers of responses that show a limit. */
export const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy'] as const satisfies HeaderName[]

/** The request headers that have an effect; ../headers.ts has their descriptions. */
export type RequestHeaderName =
  | 'Accept'
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
  content?: Record<string, z.ZodMiniType | 'binary'>
  headers?: HeaderName[]
}

/** What the document says of an operation beyond the metadata of its route. */
export type Operation = {
  /** Verb and noun; generated clients use it as the method name. */
  operationId: string
  summary: string
  description: string
  /** The path parameters, for a route that answers invalid ones with 404 instead of validating them. */
  path?: z.ZodMiniType
  /** The request headers that have an effect on this operation. */
  requestHeaders?: RequestHeaderName[]
  /** The operation uses the database. Operations for members always do. */
  usesDatabase?: true
  responses: Record<number, ResponseDescription>
  /** The errors specific to this operation; those of authentication, throttling and validation are added. */
  errors?: ErrorCode[]
  /** An invalid field may count as an attempt; the error then has the RateLimit headers. */
  countsInvalidFields?: true
}

/** Operations by method and path, such as `GET /books/{book-id}`. */
export type Operations = Record<string, Operation>

/** A JSON response. */
export const json = (schema: z.ZodMiniType, description: string, ...headers: HeaderName[]): ResponseDescription => ({
  description,
  content: { 'application/json': schema },
  headers,
})

/** A response without a body. */
export const empty = (description: string, ...headers: HeaderName[]): ResponseDescription => ({ description, headers })
