// Builds the API's document. No part of the Worker: the document is an asset that is made when the Worker is built.
import type { Hono } from 'hono'
import type * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import type { App } from '../env'
import { type Answer, type HeaderName, type Notes, notesOf } from './describe'
import { ERRORS, ErrorBody, type ErrorCode, toErrorBody } from './errors'
import { complete } from './json-schema'
import { badBody, badParameter } from './refusals'

const header = (description: string, format?: string, required = true) => ({
  description,
  required,
  schema: { type: 'string' as const, maxLength: 1024, ...(format && { format }) },
})

const HEADERS = {
  'Accept-Ranges': header('`bytes`: a part may be asked for.'),
  'Access-Control-Allow-Origin': header('The origin that asked, where it may read the answer.', undefined, false),
  Authorization: header('The token, as `Bearer <JWT>`: what later requests send in the header of the same name.'),
  'Cache-Control': header('How long it may be kept.'),
  'Content-Range': header('Which bytes of how many these are.'),
  ETag: header('What `If-None-Match` names to be told only of a change.'),
  'Last-Modified': header('When it was stored.'),
  Location: header('The address of what was created.', 'uri-reference'),
  'Retry-After': header('The seconds after which it is worth trying again.'),
  'WWW-Authenticate': header('`Bearer`: how to prove who is calling.'),
  'X-D1-Bookmark': header('How far the database had come; sent back, it lets a replica near by answer.'),
  'X-Request-Id': header('The request’s identifier, under which the log knows it.', 'uuid'),
} satisfies Partial<Record<string, ReturnType<typeof header>>> & Record<HeaderName, object>

const refer = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

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

const ALWAYS = ['X-Request-Id', 'Access-Control-Allow-Origin']

const errorHeaders = (status: number, codes: ErrorCode[]) => [
  ...ALWAYS,
  ...(status === 401 ? ['WWW-Authenticate'] : []),
  ...(codes.every((code) => ['TOO_MANY_REQUESTS', 'CATALOGUE_BUSY', 'UNAVAILABLE'].includes(code))
    ? ['Retry-After']
    : []),
]

/** The errors that answer the same whatever is asked. */
const FIXED: Record<string, object> = Object.fromEntries(
  (Object.keys(ERRORS) as ErrorCode[])
    // The last two are of addresses and methods that are no operation.
    .filter((code) => ERRORS[code][1] !== null && code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED')
    .map((code) => [code, { summary: ERRORS[code][1] ?? '', value: toErrorBody(code) }]),
)

/** An answer of each error, as the service gives it; where rules are broken, one that the rules themselves give. */
const examplesOf = (codes: ErrorCode[], all: Notes): Record<string, object> =>
  Object.fromEntries(
    codes.flatMap((code): [string, object][] => {
      if (FIXED[code]) return [[code, { $ref: `#/components/examples/${code}` }]]
      const details = code === 'INVALID_FIELDS' ? badBody(all) : badParameter(all)
      return details ? [[code, { summary: titleOf(code), value: toErrorBody(code, details) }]] : []
    }),
  )

const titleOf = (code: ErrorCode) =>
  ERRORS[code][1] ??
  (code === 'INVALID_FIELDS' ? 'Fields of the body break rules' : 'Parameters of the path or the query break rules')

const errorResponses = (all: Notes) => {
  const ofStatus = Map.groupBy(new Set(errorCodes(all)), (code) => ERRORS[code][0])
  return [...ofStatus].map(([status, codes]) => {
    const response: ZodOpenApiResponseObject = {
      description: codes.map(titleOf).join('; '),
      headers: refer(...errorHeaders(status, codes)),
      content: { 'application/json': { schema: ErrorBody, examples: examplesOf(codes, all) } },
    }
    return [status, response] as const
  })
}

const response = ({ description, content, headers = [] }: Answer, all: Notes): ZodOpenApiResponseObject => ({
  description,
  headers: refer(...ALWAYS, ...(all.membersOnly ? ['X-D1-Bookmark'] : []), ...headers),
  ...(content && {
    content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, schema ? { schema } : {}])),
  }),
})

const requestBody = ({ json, text, file }: Notes): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (json) return { requestBody: { required: true, content: { 'application/json': { schema: json } } } }
  if (file) {
    const { field, maxBytes } = file
    const type = 'string' as const
    const part = { type, contentMediaType: 'application/octet-stream', maxLength: maxBytes, description: 'The file' }
    const schema = { type: 'object' as const, required: [field], properties: { [field]: part } }
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } }
  }
  if (!text) return {}
  const [schema] = Object.values(text.shape)
  return { requestBody: { required: true, content: { 'text/plain': { schema }, 'application/json': { schema } } } }
}

const operation = (all: Notes): ZodOpenApiOperationObject | undefined => {
  if (!all.described) return undefined
  const { responses, errors: _, path = all.param, ...told } = all.described
  const good = Object.entries(responses).map(([status, answer]) => [status, response(answer, all)] as const)
  return {
    ...told,
    security: all.membersOnly ? [{ bearer: [] }] : [],
    requestParams: {
      ...(path && { path: path as z.ZodObject }),
      ...(all.query && { query: all.query as z.ZodObject }),
    },
    ...requestBody(all),
    responses: { ...Object.fromEntries(errorResponses(all)), ...Object.fromEntries(good) },
  }
}

type WithParameters = { parameters?: { schema: { enum?: unknown[] } }[] }

const parametersOf = ({ paths }: ReturnType<typeof createDocument>) =>
  Object.values(paths ?? {})
    .flatMap((item): WithParameters[] => Object.values(item))
    .flatMap(({ parameters = [] }) => parameters.map(({ schema }) => schema))

/** The OpenAPI document of every operation that is described, built from the very schemas that validate. */
export const documentOf = (app: Hono<App>) => {
  const operations = new Map<string, { method: string; path: string; all: Notes }>()
  for (const { method, path, handler } of app.routes) {
    const key = `${method} ${path}`
    const known = operations.get(key) ?? { method, path, all: {} }
    operations.set(key, { ...known, all: { ...known.all, ...notesOf(handler) } })
  }
  const paths: ZodOpenApiPathsObject = {}
  for (const { method, path, all } of operations.values()) {
    const template = path.replace(/:([\w-]+)/g, '{$1}')
    const built = operation(all)
    if (built) paths[template] = { ...paths[template], [method.toLowerCase()]: built }
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Reading Library', version: '1.0.0' },
      paths,
      components: {
        headers: HEADERS,
        examples: FIXED,
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description:
              'The token that a login answers in its `Authorization` header: HS256, verified as RFC8725 asks.',
          },
        },
      },
    },
    { override: complete },
  )
  for (const schema of parametersOf(document)) {
    // All of an address is text.
    if (schema.enum)
      Object.assign(schema, { type: 'string', enum: schema.enum.filter((value) => typeof value === 'string') })
  }
  return document
}
