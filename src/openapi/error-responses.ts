// The error responses of an operation, which follow from the metadata of its route.

import * as z from 'zod/mini'
import type { ZodOpenApiResponseObject } from 'zod-openapi'
import {
  type ErrorBody as Body,
  type Details,
  ERRORS,
  type ErrorCode,
  formRequired,
  invalidFields,
  invalidParameters,
  MAX_LISTED_ERRORS,
  toErrorBody,
} from '../errors'
import { needsDatabase, type Route } from '../http/description/feature-reference'
import { COMMON_HEADERS, RATE_LIMIT, refer } from '../http/description/header-components'
import type { RouteMetadata } from '../http/description/route-metadata'
import { shapeOf } from '../http/ignored'
import { rejectKey } from '../input/request-key'
import { firstIssues } from '../input/validate'
import { Memo } from '../library/memos/responses'
import { namedObject } from '../values/named'
import { listUpTo } from '../values/responses'
import { EXAMPLES } from './examples'

const FieldError = namedObject('FieldError', { field: z.string(), rejectedValue: z.unknown(), reason: z.string() })

const ViolationError = namedObject('ViolationError', {
  propertyPath: z.string(),
  rejectedValue: z.unknown(),
  reason: z.string(),
})

const ErrorBody = namedObject('ErrorResponse', {
  status: z.int().check(z.minimum(0), z.maximum(599)),
  message: z.nullable(z.string()),
  fieldErrors: z.nullable(listUpTo(MAX_LISTED_ERRORS, FieldError)),
  violationErrors: z.nullable(listUpTo(MAX_LISTED_ERRORS, ViolationError)),
}) satisfies z.ZodMiniType<Body>

const MemoConflict = namedObject('MemoConflict', { ...ErrorBody.shape, memo: z.nullable(Memo) })

const isWrite = ({ method }: Route) => method !== 'GET'
const hasBody = ({ json, text, file }: RouteMetadata) => Boolean(json ?? text ?? file)
const bodyErrors = ({ file }: RouteMetadata) =>
  [
    'INVALID_FIELDS',
    'BODY_MISSING',
    // A malformed form is an invalid field.
    ...(file ? [] : (['BODY_MALFORMED'] as const)),
    'BODY_INCOMPLETE',
    file ? 'FILE_TOO_LARGE' : 'BODY_TOO_LARGE',
    // A bare file may be of any type. The document shows only the form: some generators can send only one of two.
    ...(file?.acceptsRawBody ? [] : (['UNSUPPORTED_MEDIA_TYPE'] as const)),
  ] as const

const isErrorCode = (code: string): code is ErrorCode => code in ERRORS
/** The errors of identifiers in the path that the caller has nothing with: BOOK_NOT_FOUND for `{book-id}`. */
const notFoundErrors = ({ path }: Route) =>
  [...path.matchAll(/\{(\w+)(?:-id)?\}/g)]
    .map(([, name]) => `${name?.toUpperCase()}_NOT_FOUND`)
    .filter(isErrorCode)
    .filter((code) => ERRORS[code][0] === 404)

const KEY_ERRORS: ErrorCode[] = [
  'INVALID_PARAMETERS',
  'IDEMPOTENCY_KEY_REUSED',
  'CREATED_AND_DELETED',
  'MAX_IDEMPOTENCY_KEYS',
]

const errorCodes = (route: Route): ErrorCode[] => [
  ...(route.membersOnly ? (['UNAUTHORIZED', route.scopes ? 'INSUFFICIENT_SCOPE' : 'SESSION_REQUIRED'] as const) : []),
  ...(!route.membersOnly && isWrite(route) ? (['ORIGIN_NOT_ALLOWED'] as const) : []),
  ...(route.membersOnly && isWrite(route) && !route.conditional ? (['IF_MATCH_UNSUPPORTED'] as const) : []),
  // `authenticated` limits the writes of each member, and the access tokens that a network may try.
  ...(route.membersOnly || route.limit || route.countsAttempts ? (['TOO_MANY_REQUESTS'] as const) : []),
  ...(hasBody(route) ? bodyErrors(route) : []),
  ...(route.keyed ? KEY_ERRORS : []),
  ...(route.query || route.param ? (['INVALID_PARAMETERS'] as const) : []),
  ...notFoundErrors(route),
  ...(route.errors ?? []),
  ...(needsDatabase(route) ? (['UNAVAILABLE'] as const) : []),
  'INTERNAL',
]

const COUNTED: ErrorCode[] = ['LOGIN_FAILED', 'MEMBER_BLOCKED', 'TOO_MANY_REQUESTS']

/** Whether one of these errors shows the limit on attempts: because the attempt failed, or is one too many. */
const showsLimit = ({ countsAttempts, countsInvalidFields }: Route, codes: ErrorCode[]) => {
  const counted: ErrorCode[] = countsInvalidFields ? [...COUNTED, 'INVALID_FIELDS'] : COUNTED
  return countsAttempts && codes.some((code) => counted.includes(code))
}

const errorHeaders = (status: number, codes: ErrorCode[], route: Route) => [
  ...COMMON_HEADERS,
  'X-Error-Code',
  ...(status === 401 || codes.includes('INSUFFICIENT_SCOPE') ? ['WWW-Authenticate'] : []),
  ...(status === 412 && route.conditional ? ['ETag'] : []),
  ...(status === 416 ? ['Content-Range'] : []),
  ...(route.errorPage && codes.includes(route.errorPage)
    ? ['Content-Security-Policy', 'Cross-Origin-Opener-Policy']
    : []),
  ...(codes.every((code) => ['TOO_MANY_REQUESTS', 'CATALOGUE_BUSY', 'UNAVAILABLE'].includes(code))
    ? ['Retry-After']
    : []),
  ...(showsLimit(route, codes) ? RATE_LIMIT : []),
]

/** The first field that rejects the value, the value, and the reason. */
const findRejection = (schema: z.ZodMiniType | undefined, value: string) => {
  for (const [field, fieldSchema] of Object.entries(shapeOf(schema))) {
    const result = z.safeParse(fieldSchema, value)
    const [issue] = result.success ? [] : firstIssues(result.error.issues, value)
    if (issue) return [field, value, issue[2]] as const
  }
  return undefined
}

/** An invalid field of the route's body, if any can be invalid. */
const rejectField = ({ json, text, file }: RouteMetadata) => {
  if (file) return [file.field, null, 'is required: the form has image instead'] as const
  return json ? findRejection(json, '') : findRejection(text, 'yesterday')
}
/** An invalid path or query parameter of the route, if any can be invalid. */
const rejectParameter = ({ param, query, keyed }: RouteMetadata) =>
  findRejection(param, '0') ??
  findRejection(query, '0') ??
  findRejection(param ?? query, ' ') ??
  (keyed ? rejectKey('two words') : undefined)

const exampleDetails = (code: ErrorCode, route: RouteMetadata): Details | undefined => {
  const isField = code === 'INVALID_FIELDS'
  const rejection = isField ? rejectField(route) : rejectParameter(route)
  return rejection && (isField ? invalidFields(rejection) : invalidParameters(rejection)).details
}

/** Examples of the errors whose body never varies. */
export const FIXED_EXAMPLES: Record<string, object> = Object.fromEntries(
  (Object.keys(ERRORS) as ErrorCode[])
    // NOT_FOUND and METHOD_NOT_ALLOWED belong to no operation.
    .filter((code) => ERRORS[code][1] !== null && code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED')
    .map((code) => [code, { summary: ERRORS[code][1] ?? '', value: toErrorBody(code) }]),
)

const titleOf = (code: ErrorCode, { file }: RouteMetadata) =>
  (code === 'UNSUPPORTED_MEDIA_TYPE' && file ? formRequired().details.message : ERRORS[code][1]) ??
  (code === 'INVALID_FIELDS' ? 'Invalid fields in the body' : 'Invalid path or query parameters')

const examplesOf = (codes: ErrorCode[], route: RouteMetadata): Record<string, object> =>
  Object.fromEntries(
    codes.flatMap((code): [string, object][] => {
      if (code === 'PRECONDITION_FAILED' && route.conditional) {
        const value = { ...toErrorBody(code), memo: EXAMPLES.createMemo?.response }
        return [[code, { summary: titleOf(code, route), value }]]
      }
      if (code === 'UNSUPPORTED_MEDIA_TYPE' && route.file) {
        return [[code, { summary: titleOf(code, route), value: toErrorBody(code, formRequired().details) }]]
      }
      if (FIXED_EXAMPLES[code]) return [[code, { $ref: `#/components/examples/${code}` }]]
      const details = exampleDetails(code, route)
      return details ? [[code, { summary: titleOf(code, route), value: toErrorBody(code, details) }]] : []
    }),
  )

export const errorResponses = (route: Route) => {
  const byStatus = Map.groupBy(new Set(errorCodes(route)), (code) => ERRORS[code][0])
  return [...byStatus].map(([status, codes]) => {
    const response: ZodOpenApiResponseObject = {
      description: codes.map((code) => titleOf(code, route)).join('; '),
      headers: refer(...errorHeaders(status, codes, route)),
      content: {
        'application/json': {
          schema: status === 412 && route.conditional ? MemoConflict : ErrorBody,
          examples: examplesOf(codes, route),
        },
        ...(route.errorPage &&
          codes.includes(route.errorPage) && {
            'text/html': {
              schema: { type: 'string' as const },
              examples: { [route.errorPage]: { value: '<!doctype html>' } },
            },
          }),
      },
    }
    return [status, response] as const
  })
}
