import type { Hono, MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import type { App } from '../env'
import { ERRORS, ErrorBody, type ErrorCode } from './errors'

type Described = {
  summary: string
  description?: string
  tags: [string]
  responses: Record<number, ZodOpenApiResponseObject>
  /** The errors of its own; those that come with a token, a body or parameters are added. */
  errors?: ErrorCode[]
}
type Notes = Partial<{
  described: Described
  membersOnly: true
  throttled: true
  json: z.ZodType
  query: z.ZodType
  param: z.ZodType
  text: z.ZodType
  /** The part of a multipart body that holds a file. */
  file: string
}>

const notes = new WeakMap<object, Notes>()

/** Notes what a handler stands for in the API's document. */
export const note = <Handler extends object>(handler: Handler, noted: Notes) => {
  notes.set(handler, noted)
  return handler
}

/** Describes an operation: it does nothing at run time. */
export const describe = (described: Described): MiddlewareHandler<App> => note((_, next) => next(), { described })

export const json = (schema: z.ZodType, description = 'Success'): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema } },
})

export const empty = (description: string): ZodOpenApiResponseObject => ({ description })

const isBody = ({ json, text, file }: Notes) => Boolean(json ?? text ?? file)
const BODY_ERRORS = [
  'INVALID_FIELDS',
  'BODY_MISSING',
  'BODY_MALFORMED',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const

const errorCodes = (all: Notes): ErrorCode[] => [
  ...(all.membersOnly ? (['UNAUTHORIZED'] as const) : []),
  ...(all.throttled ? (['TOO_MANY_REQUESTS'] as const) : []),
  ...(isBody(all) ? BODY_ERRORS : []),
  ...(all.query || all.param ? (['INVALID_PARAMETERS'] as const) : []),
  ...(all.described?.errors ?? []),
  'UNAVAILABLE',
  'INTERNAL',
]

const errorResponses = (codes: ErrorCode[]) => {
  const ofStatus = Map.groupBy(codes, (code) => ERRORS[code][0])
  return [...ofStatus].map(([status, same]) => {
    const messages = same.map((code) => ERRORS[code][1] ?? 'Rules of fields or parameters are broken')
    return [status, json(ErrorBody, messages.join('; '))] as const
  })
}

const requestBody = ({ json: object, text, file }: Notes): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (object) return { requestBody: { required: true, content: { 'application/json': { schema: object } } } }
  if (file) {
    const properties = { [file]: { type: 'string', contentMediaType: 'application/octet-stream' } as const }
    const schema = { type: 'object' as const, required: [file], properties }
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } }
  }
  if (!text) return {}
  return {
    requestBody: { required: true, content: { 'text/plain': { schema: text }, 'application/json': { schema: text } } },
  }
}

const operation = (all: Notes): ZodOpenApiOperationObject | undefined => {
  if (!all.described) return undefined
  const { responses, errors: _, ...told } = all.described
  return {
    ...told,
    security: all.membersOnly ? [{ bearer: [] }] : [],
    requestParams: {
      ...(all.param && { path: all.param as z.ZodObject }),
      ...(all.query && { query: all.query as z.ZodObject }),
    },
    ...requestBody(all),
    responses: { ...Object.fromEntries(errorResponses(errorCodes(all))), ...responses },
  }
}

/** The OpenAPI document of every operation that is described, built from the very schemas that validate. */
export const documentOf = (app: Hono<App>) => {
  const operations = new Map<string, { method: string; path: string; all: Notes }>()
  for (const { method, path, handler } of app.routes) {
    const key = `${method} ${path}`
    const known = operations.get(key) ?? { method, path, all: {} }
    operations.set(key, { ...known, all: { ...known.all, ...notes.get(handler) } })
  }
  const paths: ZodOpenApiPathsObject = {}
  for (const { method, path, all } of operations.values()) {
    const template = path.replace(/:([\w-]+)/g, '{$1}')
    const built = operation(all)
    if (built) paths[template] = { ...paths[template], [method.toLowerCase()]: built }
  }
  return createDocument({
    openapi: '3.1.0',
    info: { title: 'Reading Library', version: '1.0.0' },
    paths,
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
  })
}
