// Builds the OpenAPI document from the routes' metadata. It is not part of the Worker, which serves the result as an
// asset that is generated when the Worker is bundled.

import * as z from 'zod/mini'
import type { CreateDocumentOptions } from 'zod-openapi'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import packageJson from '../../package.json' with { type: 'json' }
import type { App } from '../env'
import { ERRORS } from '../errors'
import { needsDatabase, type ResponseDescription, type Route } from '../http/description/feature-reference'
import {
  COMMON_HEADERS,
  RATE_LIMIT,
  REQUEST_HEADERS,
  RESPONSE_HEADERS,
  type RequestHeaderName,
  refer,
} from '../http/description/header-components'
import { metadataOf, type RouteMetadata } from '../http/description/route-metadata'
import type { Hono } from '../http/hono'
import { shapeOf } from '../http/ignored'
import { MAX_INT } from '../values/contract'
import { isLenient } from '../values/named'
import { errorResponses, FIXED_EXAMPLES } from './error-responses'
import { addDescriptions, describeProperty, OPERATIONS } from './features'

type Override = Extract<CreateDocumentOptions['override'], (...args: never[]) => unknown>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

const SCALARS = ['string', 'integer', 'number']

/** Flattens choices. A scalar or null becomes one schema of two types; arrays would lose their items in generators. */
const mergeChoices = (schema: JsonSchema, choices: JsonSchema[]) => {
  const flat = choices.flatMap((each) => (Object.keys(each).join() === 'anyOf' && each.anyOf) || [each])
  const [first, second] = flat
  const isScalar = SCALARS.includes(String(first?.type)) && first?.const === undefined
  if (!isScalar || flat.length !== 2 || second?.type !== 'null') {
    schema.anyOf = flat
    return
  }
  delete schema.anyOf
  Object.assign(schema, first, { type: [first?.type, 'null'] })
}

/** Adjusts each generated JSON Schema: adds integer formats, and removes what generators misunderstand. */
const adjustSchema: Override = ({ jsonSchema, zodSchema }) => {
  if (jsonSchema.anyOf && isLenient(zodSchema)) {
    Object.assign(jsonSchema, jsonSchema.anyOf[0])
    delete jsonSchema.anyOf
  }
  if (jsonSchema.anyOf) mergeChoices(jsonSchema, jsonSchema.anyOf)
  if ([jsonSchema.type].flat().includes('integer')) {
    // Left over from integer parameters, which are validated as text.
    for (const keyword of ['pattern', 'maxLength'] as const) delete jsonSchema[keyword]
    jsonSchema.format = Number(jsonSchema.maximum) > MAX_INT ? 'int64' : 'int32'
  }
  // zod leaves out the default of a parameter that is converted.
  if (zodSchema instanceof z.ZodMiniDefault) jsonSchema.default = zodSchema.def.defaultValue
  // Clients must accept the fields that later versions add to responses.
  delete jsonSchema.additionalProperties
}

const BOOKMARK = 'X-D1-Bookmark'

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
    ...(route.keyed ? ['Idempotency-Replayed'] : []),
    ...(route.countsAttempts ? RATE_LIMIT : []),
  ),
  ...(content && {
    content: Object.fromEntries(
      Object.entries(content).map(([type, schema]) => [type, { schema: schema === 'binary' ? BINARY : schema }]),
    ),
  }),
})

const requestHeaders = (route: Route) => [
  ...(route.keyed ? (['Idempotency-Key'] as const) : []),
  ...(route.requestHeaders ?? []),
  ...(needsDatabase(route) ? ([BOOKMARK] as const) : []),
]
const referToParameter = (name: RequestHeaderName) => ({ $ref: `#/components/parameters/${name}` })

/** The object that a schema is, or will be. */
const toObject = (schema: z.core.$ZodType) =>
  (schema instanceof z.ZodMiniLazy ? schema.def.getter() : schema) as z.ZodMiniObject

const requestBody = ({ json, text, file, operationId }: Route): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (json) return { requestBody: { required: true, content: { 'application/json': { schema: json } } } }
  if (file) {
    const describe = (name: string) => ({ type: 'string' as const, description: describeProperty(operationId, name) })
    const parts = Object.keys(shapeOf(file.parts)).map((name) => [name, describe(name)] as const)
    const properties = { [file.field]: { ...BINARY, ...describe(file.field) }, ...Object.fromEntries(parts) }
    const schema = { type: 'object' as const, required: [file.field], properties }
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } }
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

/** The fields of a change that null clears. */
const nullNote = ({ method, json }: Route) => {
  if (method !== 'PATCH' || !json) return ''
  const cleared = Object.entries(shapeOf(json)).filter(([, field]) => z.safeParse(field, null).success)
  const names = cleared.map(([name]) => `\`${name}\``).join(', ')
  return names ? ` Null clears ${names}; no other field may be null.` : ' No field may be null.'
}

/** As in wrangler.toml. */
const PER_MINUTE = { network: 600, member: 30, search: 120, write: 1000, link: 1000 }

const limitNote = ({
  method,
  membersOnly,
  scopes,
  limit = membersOnly && method !== 'GET' ? 'write' : undefined,
}: Route) => {
  if (!limit) return ''
  const whose = limit === 'network' || limit === 'link' ? limit : scopes ? 'member' : 'session'
  const what = limit === 'write' && method !== 'GET' ? 'writes of any kind' : 'requests'
  return `\n\nLimit: about ${PER_MINUTE[limit].toLocaleString('en')} ${what} a minute per ${whose}.`
}

const toOperation = (route: Route): ZodOpenApiOperationObject => {
  const { operationId, summary, description, tag, responses, param = route.pathParameters, query } = route
  const successes = Object.entries(responses).map(([status, answer]) => [status, toResponse(answer, route)] as const)
  return {
    operationId,
    summary,
    description: `${description}${nullNote(route)}${tokenNote(route)}${limitNote(route)}`,
    tags: [tag],
    security: route.membersOnly ? [{ bearer: [...(route.scopes ?? [])] }] : [],
    requestParams: { ...(param && { path: toObject(param) }), ...(query && { query: toObject(query) }) },
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
  return routes
}

/** The OpenAPI document of the operations, built from the schemas that validate, in the order of the routes. */
export const documentOf = (app: Hono<App>) => {
  const paths: ZodOpenApiPathsObject = {}
  for (const [key, metadata] of collectMetadata(app)) {
    const operation = OPERATIONS.get(key)
    if (!operation) continue
    const [method = '', path = ''] = key.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: toOperation({ ...metadata, ...operation, method, path }) }
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Reading Library', version: packageJson.version },
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
