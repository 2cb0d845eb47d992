import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ErrorCode } from '../../../src/errors'
import { SECURITY } from '../../../src/http/security-headers'
import { buildDocument } from '../../../src/openapi/document'
import { PROTOCOLS } from '../../../src/values/protocols'
import { toText } from '../bytes'

/** Without its introduction. */
export const document = buildDocument('')

type Reference = { $ref?: string }
type Header = Reference & { required?: boolean; schema?: object }
type Media = { schema?: object; examples?: Record<string, object> }
export type Response = { headers?: Record<string, Header>; content?: Record<string, Media> }
type PathItem = Record<string, { responses: Record<string, Response> } | undefined>

/** Resolves a reference of the document. */
export const resolve = <T extends Reference>(node: T): T => {
  if (!node.$ref) return node
  const at = node.$ref.slice(2).split('/')
  return at.reduce<unknown>((tree, key) => (tree as Record<string, unknown>)[key], document) as T
}

// A search is the rest of the path.
const toPattern = (template: string) =>
  new RegExp(`^${template.replace('{title-or-author}', '.*').replace(/\{[^}]+\}/g, '[^/]+')}$`)
const paths = Object.entries(document.paths as Record<string, PathItem>)
  .map(([template, item]) => ({ template, item, pattern: toPattern(template) }))
  // Literal segments take precedence over parameters.
  .sort((a, b) => a.template.split('{').length - b.template.split('{').length)

/** The documented operation of a request, if there is one. */
const findOperation = (method: string, path: string) => {
  const item = paths.find(({ pattern }) => pattern.test(path))?.item
  return item?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()]
}

/**
 * A schema of the document with references that Ajv resolves there, so that it compiles each component once. Clients must
 * accept fields that the document does not describe; this service must not send any.
 */
const withoutOtherFields = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(withoutOtherFields)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]) =>
    key === '$ref' ? [key, `document${value}`] : [key, withoutOtherFields(value)],
  )
  const copy = Object.fromEntries(entries)
  return 'properties' in copy ? { additionalProperties: false, ...copy } : copy
}
const root = { $id: 'document', components: withoutOtherFields(document.components) }

// In workerd, Ajv compiles schemas with the `Function` that the Vitest plugin provides to tests.
const createValidator = (options: Options = {}) => {
  // `scripts/lint-openapi.ts` checks the schemas themselves.
  const ajv = addFormats(new Ajv2020({ allErrors: true, meta: false, validateSchema: false, ...options }))
  // What OpenAPI adds to JSON Schema, and validates nothing.
  ajv.addVocabulary(['components', 'discriminator', 'example']).addSchema(root)
  const compiled = new Map<string, ValidateFunction>()
  /** What is wrong with a value; undefined if it matches the schema. */
  return (schema: object, value: unknown) => {
    const key = JSON.stringify(schema)
    const validate = compiled.get(key) ?? ajv.compile(withoutOtherFields(schema) as object)
    compiled.set(key, validate)
    if (validate(value)) return undefined
    return validate.errors?.map(({ instancePath, message, params }) => {
      return `${instancePath} ${message} ${JSON.stringify(params)}`.trim()
    })
  }
}
const validateBody = createValidator()
// The values of headers arrive as text.
const validateHeaders = createValidator({ coerceTypes: true })

/** Headers that the document does not describe. */
const UNDESCRIBED = [
  // The document has it as the key of the content.
  'content-type',
  // Added by HTTP servers, caches and proxies.
  ...['age', 'connection', 'content-encoding', 'content-length', 'date', 'keep-alive', 'server', 'transfer-encoding'],
  // Added by Cloudflare.
  ...['alt-svc', 'cf-cache-status', 'cf-ray', 'nel', 'report-to'],
  // For caches and browsers, in every response.
  ...['vary', 'access-control-allow-credentials', 'access-control-expose-headers'],
]
/** The security headers, which the document describes only where a route replaces their value. */
const FIXED = new Map(SECURITY.map(([name, value]) => [name.toLowerCase(), value]))

const isUndescribed = (name: string, value: string) => UNDESCRIBED.includes(name) || FIXED.get(name) === value

const checkHeaders = ({ headers: described = {} }: Response, headers: Headers) => {
  const entries = Object.entries(described).map(([name, header]) => [name.toLowerCase(), resolve(header)] as const)
  const properties = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]))
  const required = entries.flatMap(([name, header]) => (header.required ? [name] : []))
  const sent = [...headers].filter(([name, value]) => name in properties || !isUndescribed(name, value))
  const schema = { type: 'object', properties, required, additionalProperties: false }
  return validateHeaders(schema, Object.fromEntries(sent))?.map((problem) => `header ${problem}`)
}

/** The forms of links other than JSON, which the document describes in words. */
const IN_WORDS = /^(?:text\/html|application\/(?:feed\+json|atom\+xml)|text\/calendar|image\/svg\+xml)$/
const isInWords = (path: string, status: number, headers: Headers) =>
  path.startsWith('/l/') && status === 200 && IN_WORDS.test(headers.get('Content-Type')?.split(';')[0] ?? '')

const checkBody = ({ content }: Response, headers: Headers, body: unknown, isHead: boolean) => {
  const type = headers.get('Content-Type')?.split(';')[0]
  const media = content?.[type ?? '']
  if ((type || content) && !media) return [`content type ${type} is not described`]
  const code = headers.get('X-Error-Code')
  if (code && !media?.examples?.[code]) return [`error code ${code} is not described`]
  if ((body === null) !== (isHead || !media)) return [body === null ? 'without a body' : 'with a body']
  if (!media?.schema || isHead) return undefined
  return validateBody(media.schema, body instanceof Uint8Array ? toText(body) : body)
}

const COMMON_HEADERS = ['X-Request-Id', 'Access-Control-Allow-Origin', 'X-Error-Code']

/** An error that belongs to no operation. The introduction of the document describes it. */
const errorWithoutOperation = (code: ErrorCode, headers?: Record<string, Header>): Response => ({
  headers: {
    ...Object.fromEntries(COMMON_HEADERS.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...headers,
  },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' }, examples: { [code]: {} } } },
})
const WITHOUT_OPERATION: Record<number, Response> = {
  404: errorWithoutOperation('NOT_FOUND'),
  405: errorWithoutOperation('METHOD_NOT_ALLOWED', { Allow: { required: true, schema: { type: 'string' } } }),
}

/** Whether a path is of a protocol of devices, which the document leaves out. */
export const isOfDevices = (path: string) =>
  Object.values(PROTOCOLS).some((prefix) => `${path}/`.startsWith(`${prefix}/`))

type Answer = { status: number; headers: Headers; body: unknown }

/** @throws Error if the document does not describe this answer */
export const checkAgainstDocument = (method: string, path: string, { status, headers, body }: Answer) => {
  if (isOfDevices(path)) return
  const operation = findOperation(method, path)
  const response = operation ? operation.responses[status] : WITHOUT_OPERATION[status]
  const problems = response
    ? (checkHeaders(response, headers) ??
      (isInWords(path, status, headers) ? undefined : checkBody(response, headers, body, method === 'HEAD')))
    : [`the document has no such ${operation ? 'status' : 'operation'}`]
  if (!problems) return
  const text = JSON.stringify(body)?.slice(0, 500)
  throw new Error(`${method} ${path} answered ${status}: ${problems.join(', ')}: ${text}`)
}
