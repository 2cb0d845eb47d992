// Builds the OpenAPI document from the routes' metadata. It is not part of the Worker, which serves the result as an
// asset that is generated when the Worker is bundled.
import type { Hono } from 'hono'
import * as z from 'zod/mini'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import type { App } from '../env'
import { ERRORS, type ErrorCode, toErrorBody } from '../errors'
import { metadataOf, type RouteMetadata } from '../http/route-metadata'
import { addDescriptions, describeProperty } from './add-descriptions'
import { ErrorBody } from './error-body'
import { exampleFieldError, exampleViolation } from './error-examples'
import type { Operation, ResponseDescription } from './feature-reference'
import { OPERATIONS } from './features'
import { REQUEST_HEADERS, RESPONSE_HEADERS, type RequestHeaderName } from './header-components'
import { adjustSchema } from './json-schema'

type Route = RouteMetadata & Operation & { tag: string; path: string }

const refer = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const hasBody = ({ json, text, file }: RouteMetadata) => Boolean(json ?? text ?? file)
const bodyErrors = ({ file }: RouteMetadata) =>
  [
    'INVALID_FIELDS',
    'BODY_MISSING',
    // A malformed form is an invalid field.
    ...(file ? [] : (['BODY_MALFORMED'] as const)),
    'BODY_INCOMPLETE',
    file ? 'FILE_TOO_LARGE' : 'BODY_TOO_LARGE',
    // A bare file may be of any type. The document shows only the form: clients of some generators cannot send either of two.
    ...(file?.acceptsRawBody ? [] : (['UNSUPPORTED_MEDIA_TYPE'] as const)),
  ] as const

const needsDatabase = ({ membersOnly, countsAttempts, usesDatabase }: Route) =>
  membersOnly ?? countsAttempts ?? usesDatabase

/** The error of an identifier in the path that the caller has nothing with. */
const NOT_FOUND: [parameter: string, ErrorCode][] = [
  ['{book-id}', 'BOOK_NOT_FOUND'],
  ['{memo-id}', 'MEMO_NOT_FOUND'],
  ['{reading-id}', 'READING_NOT_FOUND'],
  ['{member-id}', 'IMAGE_NOT_FOUND'],
  ['{session-id}', 'SESSION_NOT_FOUND'],
  ['{token-id}', 'TOKEN_NOT_FOUND'],
  ['{import-id}', 'IMPORT_NOT_FOUND'],
]

const errorCodes = (route: Route): ErrorCode[] => [
  ...(route.membersOnly ? (['UNAUTHORIZED', route.scopes ? 'INSUFFICIENT_SCOPE' : 'SESSION_REQUIRED'] as const) : []),
  ...(route.throttled || route.countsAttempts ? (['TOO_MANY_REQUESTS'] as const) : []),
  ...(hasBody(route) ? bodyErrors(route) : []),
  ...(route.query || route.param ? (['INVALID_PARAMETERS'] as const) : []),
  ...NOT_FOUND.flatMap(([parameter, code]) => (route.path.includes(parameter) ? [code] : [])),
  ...(route.errors ?? []),
  ...(needsDatabase(route) ? (['UNAVAILABLE'] as const) : []),
  'INTERNAL',
]

const COMMON_HEADERS = ['X-Request-Id', 'Access-Control-Allow-Origin']
const BOOKMARK = 'X-D1-Bookmark'

const COUNTED: ErrorCode[] = ['LOGIN_FAILED', 'TOO_MANY_REQUESTS']

const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy']
/** Whether one of these errors shows the limit on attempts: because the attempt failed, or is one too many. */
const showsLimit = ({ countsAttempts, countsInvalidFields }: Route, codes: ErrorCode[]) => {
  const counted: ErrorCode[] = countsInvalidFields ? [...COUNTED, 'INVALID_FIELDS'] : COUNTED
  return countsAttempts && codes.some((code) => counted.includes(code))
}

const errorHeaders = (status: number, codes: ErrorCode[], route: Route) => [
  ...COMMON_HEADERS,
  'X-Error-Code',
  ...(status === 401 || codes.includes('INSUFFICIENT_SCOPE') ? ['WWW-Authenticate'] : []),
  ...(status === 416 ? ['Content-Range'] : []),
  ...(codes.every((code) => ['TOO_MANY_REQUESTS', 'CATALOGUE_BUSY', 'UNAVAILABLE'].includes(code))
    ? ['Retry-After']
    : []),
  ...(showsLimit(route, codes) ? RATE_LIMIT : []),
]

/** Examples of the errors whose body never varies. */
const FIXED_EXAMPLES: Record<string, object> = Object.fromEntries(
  (Object.keys(ERRORS) as ErrorCode[])
    // NOT_FOUND and METHOD_NOT_ALLOWED belong to no operation.
    .filter((code) => ERRORS[code][1] !== null && code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED')
    .map((code) => [code, { summary: ERRORS[code][1] ?? '', value: toErrorBody(code) }]),
)

const titleOf = (code: ErrorCode) =>
  ERRORS[code][1] ?? (code === 'INVALID_FIELDS' ? 'Invalid fields in the body' : 'Invalid path or query parameters')

const examplesOf = (codes: ErrorCode[], route: RouteMetadata): Record<string, object> =>
  Object.fromEntries(
    codes.flatMap((code): [string, object][] => {
      if (FIXED_EXAMPLES[code]) return [[code, { $ref: `#/components/examples/${code}` }]]
      const details = code === 'INVALID_FIELDS' ? exampleFieldError(route) : exampleViolation(route)
      return details ? [[code, { summary: titleOf(code), value: toErrorBody(code, details) }]] : []
    }),
  )

const errorResponses = (route: Route) => {
  const byStatus = Map.groupBy(new Set(errorCodes(route)), (code) => ERRORS[code][0])
  return [...byStatus].map(([status, codes]) => {
    const response: ZodOpenApiResponseObject = {
      description: codes.map(titleOf).join('; '),
      headers: refer(...errorHeaders(status, codes, route)),
      content: { 'application/json': { schema: ErrorBody, examples: examplesOf(codes, route) } },
    }
    return [status, response] as const
  })
}

/** OpenAPI 3.1 prefers `contentMediaType`, but generators know only this form. */
const BINARY = { type: 'string', format: 'binary' } as const

const isPaged = (schema: z.ZodMiniType | 'binary' | undefined) =>
  schema instanceof z.ZodMiniObject && 'pageInfo' in schema.shape

const toResponse = (
  { description, content, headers = [] }: ResponseDescription,
  route: Route,
): ZodOpenApiResponseObject => ({
  description,
  headers: refer(
    ...COMMON_HEADERS,
    ...(needsDatabase(route) ? [BOOKMARK] : []),
    ...(isPaged(content?.['application/json']) ? ['Link'] : []),
    ...headers,
    ...(route.countsAttempts ? RATE_LIMIT : []),
  ),
  ...(content && {
    content: Object.fromEntries(
      Object.entries(content).map(([type, schema]) => [type, { schema: schema === 'binary' ? BINARY : schema }]),
    ),
  }),
})

const requestHeaders = (route: Route) => [
  ...(route.requestHeaders ?? []),
  ...(needsDatabase(route) ? ([BOOKMARK] as const) : []),
]
const referToParameter = (name: RequestHeaderName) => ({ $ref: `#/components/parameters/${name}` })

/** The object that a schema is, or will be. */
const toObject = (schema: z.core.$ZodType) =>
  (schema instanceof z.ZodMiniLazy ? schema.def.getter() : schema) as z.ZodMiniObject

const requestBody = ({ json, text, file }: RouteMetadata): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (json) return { requestBody: { required: true, content: { 'application/json': { schema: json } } } }
  if (file) {
    const { field, parts } = file
    const others = Object.entries(parts ? toObject(parts).shape : {}).map(([name]) => {
      return [name, { type: 'string' as const, description: describeProperty('', name) }] as const
    })
    const properties = {
      [field]: { ...BINARY, description: describeProperty('', field) },
      ...Object.fromEntries(others),
    }
    const schema = { type: 'object' as const, required: [field], properties }
    const content = {
      'multipart/form-data': { schema },
    }
    return { requestBody: { required: true, content } }
  }
  if (!text) return {}
  const schema = Object.values(text.shape)[0] as z.ZodMiniType
  return { requestBody: { required: true, content: { 'text/plain': { schema }, 'application/json': { schema } } } }
}

/** The kinds of token that the operation accepts, for its description. */
const tokenNote = ({ membersOnly, scopes }: RouteMetadata) => {
  if (!membersOnly) return ''
  if (!scopes) return '\n\nRequires the token of a session: access tokens are refused.'
  const names = scopes.map((scope) => `\`${scope}\``).join(' and ')
  return `\n\nAn access token needs the scope${scopes.length > 1 ? 's' : ''} ${names}.`
}

const toOperation = (route: Route): ZodOpenApiOperationObject => {
  const { operationId, summary, description, tag, responses, param = route.pathParameters, query } = route
  const successes = Object.entries(responses).map(([status, answer]) => [status, toResponse(answer, route)] as const)
  return {
    operationId,
    summary,
    description: `${description}${tokenNote(route)}`,
    tags: [tag],
    security: route.membersOnly ? [{ bearer: [...(route.scopes ?? [])] }] : [],
    requestParams: {
      ...(param && { path: toObject(param) }),
      ...(query && { query: toObject(query) }),
    },
    parameters: requestHeaders(route).map(referToParameter),
    ...requestBody(route),
    responses: { ...Object.fromEntries(errorResponses(route)), ...Object.fromEntries(successes) },
  }
}

/** The metadata of each route: what all its middlewares contribute, merged. */
const collectMetadata = (app: Hono<App>) => {
  const routes = new Map<string, RouteMetadata>()
  for (const { method, path, handler } of app.routes) {
    const template = path.replace(/:([\w-]+)(?:\{[^}]+\})?/g, '{$1}')
    const key = `${method} ${template}`
    routes.set(key, { ...routes.get(key), ...metadataOf(handler) })
  }
  // `authenticated` limits the writes of each member, and the access tokens that a network may try.
  for (const metadata of routes.values()) if (metadata.membersOnly) metadata.throttled = true
  return routes
}

/** The OpenAPI document of the operations, built from the schemas that validate, in the order of the routes. */
export const documentOf = (app: Hono<App>) => {
  const paths: ZodOpenApiPathsObject = {}
  for (const [key, metadata] of collectMetadata(app)) {
    const operation = OPERATIONS.get(key)
    if (!operation) continue
    const [method = '', path = ''] = key.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: toOperation({ ...metadata, ...operation, path }) }
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Reading Library', version: '1.1.0' },
      paths,
      components: {
        schemas: { ErrorCode: z.enum(Object.keys(ERRORS)) },
        headers: RESPONSE_HEADERS,
        parameters: REQUEST_HEADERS,
        examples: FIXED_EXAMPLES,
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT, or an access token',
            description:
              'The token of a session, which login returns in its `Authorization` header (a JWT: HS256, verified according ' +
              'to RFC8725), or an access token of `createToken`. An access token is sent as `Bearer rl_…` or `Token rl_…`, ' +
              'and must have the scopes that the operation lists. Operations that list none refuse access tokens.',
          },
        },
      },
    },
    { override: adjustSchema },
  )
  addDescriptions(document)
  return document
}
