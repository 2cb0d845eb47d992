import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import type { App } from '../env'
import type { ErrorCode } from './errors'

/** The headers that an answer may be described to have; `openapi.ts` says what each is. */
export type HeaderName =
  | 'Accept-Ranges'
  | 'Authorization'
  | 'Cache-Control'
  | 'Content-Range'
  | 'ETag'
  | 'Last-Modified'
  | 'Location'

export type Answer = {
  description: string
  /** A schema for each content type; none for what is no text. */
  content?: Record<string, z.ZodType | undefined>
  headers?: HeaderName[]
}

export type Described = {
  /** What generated clients call it: verb and noun. */
  operationId: string
  summary: string
  description?: string
  tags: [string]
  /** The parameters of the path, where no rule of theirs is broken by anything. */
  path?: z.ZodObject
  responses: Record<number, Answer>
  /** The errors of its own; those that come with a token, a body or parameters are added. */
  errors?: ErrorCode[]
}

export type Notes = Partial<{
  described: Described
  membersOnly: true
  throttled: true
  json: z.ZodType
  query: z.ZodType
  param: z.ZodType
  /** A body that is a bare string: an object of one field, under whose name it is validated. */
  text: z.ZodObject
  /** The part of a multipart body that holds a file. */
  file: { field: string; maxBytes: number }
}>

const notes = new WeakMap<object, Notes>()

/** Notes what a handler stands for in the API's document. */
export const note = <Handler extends object>(handler: Handler, noted: Notes) => {
  notes.set(handler, noted)
  return handler
}

/** What was noted on a handler. */
export const notesOf = (handler: object) => notes.get(handler)

/** Describes an operation: it does nothing at run time. */
export const describe = (described: Described): MiddlewareHandler<App> => note((_, next) => next(), { described })

export const json = (schema: z.ZodType, description: string, ...headers: HeaderName[]): Answer => ({
  description,
  content: { 'application/json': schema },
  headers,
})

export const empty = (description: string, ...headers: HeaderName[]): Answer => ({ description, headers })
