import type { Scope } from '../../../src/values/contract'
import { SOME_EDITION } from '../model/library'
import { document, type Response, resolve } from './document'

// The operations of the OpenAPI document, in the form the attack suites use. A new route is covered automatically.

export type Schema = {
  $ref?: string
  properties?: Record<string, Schema>
  type?: string | string[]
  pattern?: string
  maxLength?: number
  maxItems?: number
  items?: Schema
  format?: string
  enum?: unknown[]
  required?: string[]
  anyOf?: Schema[]
  allOf?: Schema[]
  oneOf?: Schema[]
}
type OperationObject = {
  parameters?: { $ref?: string; in: string; name: string; example?: unknown; schema?: Schema }[]
  security?: Record<string, Scope[]>[]
  requestBody?: { content: Record<string, { schema?: Schema; example?: unknown }> }
  responses: Record<string, Response>
}

export type Operation = ReturnType<typeof toOperation>

const propertiesOf = (schema: Schema = {}): Record<string, Schema> => {
  const { properties, anyOf = [], allOf = [], oneOf = [] } = resolve(schema)
  return Object.assign({}, properties, ...[...anyOf, ...allOf, ...oneOf].map(propertiesOf))
}

/** The status and code of each documented error. The examples of an error response are named by its codes. */
const errorsOf = (responses: Record<string, Response>) =>
  Object.entries(responses)
    .filter(([status]) => !/^[23]/.test(status))
    .flatMap(([status, response]) => {
      const codes = Object.keys(response.content?.['application/json']?.examples ?? {})
      if (codes.length === 0) throw new Error(`The document names no error code of ${status}`)
      return codes.map((code) => ({ status: Number(status), code }))
    })

/** Of these fields, a body has at most one, and may need it. The document says so only in words: some generators would lose the types. */
const ALTERNATIVES = [['page', 'percent', 'seconds']]
/** Fields that links of some kinds must not have. */
const OF_OTHER_KINDS = ['tag', 'year']

const toOperation = (template: string, method: string, operation: OperationObject) => {
  const parameters = (operation.parameters ?? []).map(resolve)
  const content = operation.requestBody?.content ?? {}
  const { required = [], ...schema } = resolve(Object.values(content)[0]?.schema ?? {})
  const properties = propertiesOf(schema)
  const fields = Object.keys(properties)
  const alternatives = ALTERNATIVES.filter((names) => names.every((name) => fields.includes(name)))
  return {
    method: method.toUpperCase(),
    /** The path with its parameters in braces. */
    template,
    needsToken: (operation.security ?? []).length > 0,
    /** The scopes that an access token needs. Empty: only sessions are accepted, or no token is needed. */
    scopes: Object.values(operation.security?.[0] ?? {}).flat(),
    path: [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    headers: parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
    /** The schemas of parameters, and of the fields of the body. */
    schemas: { ...Object.fromEntries(parameters.map(({ name, schema = {} }) => [name, schema])), ...properties },
    /** Media types of the body; empty if there is none. */
    types: Object.keys(content),
    /** Field names of the body; empty unless it is an object. */
    fields,
    /** Names of the fields that the body must have, the first of alternatives among them. */
    required: [...required, ...alternatives.map(([first]) => first)],
    /** Names of the fields that a body with the required ones must not have. */
    excluded: [...alternatives.flatMap(([, ...others]) => others), ...(fields.includes('kind') ? OF_OTHER_KINDS : [])],
    errors: errorsOf(operation.responses),
    /** The values of parameters and fields in the examples of the document. */
    examples: {
      ...Object.fromEntries(parameters.map(({ name, example }) => [name, example])),
      ...(Object.values(content)[0]?.example as object | undefined),
    } as Record<string, unknown>,
  }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export const operations = Object.entries(document.paths ?? {}).flatMap(([template, item]) =>
  Object.entries(item as Record<string, OperationObject>)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => toOperation(template, method, operation)),
)

const PARAMETERS: Record<string, string> = {
  'book-id': '1',
  'memo-id': '1',
  bookId: '1',
  'member-id': '1',
  name: 'AAAAAAAAAAAAAAAAAAAAAA.png',
  'reading-id': '1',
  'session-id': '00000000-0000-4000-8000-000000000001',
  'token-id': '00000000-0000-4000-8000-000000000002',
  'link-id': '00000000-0000-4000-8000-000000000003',
  theme: 'dark',
  picture: 'page',
  isbn: '9788936434120',
  'title-or-author': 'petit',
  page: '1',
  size: '10',
  bookStatus: 'YET',
  status: 'YET',
  tag: 'Essay',
  author: 'Hermann Hesse',
  series: 'Dune',
  since: '2026-01-02T03:04:05Z',
  // The last memo needs a scope that the operation does not name: list-parts.test.ts.
  include: 'edition,tags,readings,progress',
  sort: 'title',
  memoAuthority: 'ALL',
  memoType: 'ALL',
  q: 'demian',
  'import-id': '1',
  dryRun: 'false',
  keepVisibility: 'false',
  format: 'goodreads',
  merge: 'fill',
  encoding: 'utf-8',
  outcome: 'ALL',
  part: '2',
  // {"part":2,"exportedAt":0,"after":1,"last":9007199254740991}
  plan: 'eyJwYXJ0IjoyLCJleHBvcnRlZEF0IjowLCJhZnRlciI6MSwibGFzdCI6OTAwNzE5OTI1NDc0MDk5MX0',
  for: 'spreadsheet',
}

const FIELDS: Record<string, unknown> = {
  email: 'stranger@library.test',
  joinAuthCodeEmail: 'stranger@library.test',
  name: 'Stranger',
  password: 'a-good-password-1',
  authenticationCode: '000000',
  tempPasswordEmail: 'stranger@library.test',
  currentPassword: 'correct-horse-1',
  deleteAccessTokens: false,
  timeZone: 'Asia/Seoul',
  title: 'Demian',
  author: 'Hermann Hesse',
  publisher: 'S. Fischer',
  cover: 'https://covers.library.test/1.jpg',
  itemPage: 216,
  currentPage: 12,
  star: 4,
  bookStatus: 'ING',
  readStartDate: '2026-01-02T03:04:05',
  readStratDate: '2026-01-02T03:04:05',
  readEndDate: '2026-02-03T04:05:06',
  ...SOME_EDITION,
  isbn: '978-89-364-3412-0',
  page: 95,
  percent: 43.9,
  minutes: 25,
  at: '2026-01-02T03:04:05+09:00',
  finish: true,
  date: '2026-02-03',
  memoBookPage: 95,
  memoContent: 'Read this page again.',
  memoType: 'THOUGHT',
  memoAuthority: 'PUBLIC',
  startedAt: '2025-12',
  finishedAt: '2026-01-02',
  outcome: 'FINISHED',
  rating: 4.25,
  note: 'Again.',
  paused: false,
  tags: ['Novel', '소설'],
  to: 'Essays',
  scopes: ['library:read'],
  kind: 'SHELF',
  startsBooks: false,
  expiresAt: '2999-12-31T23:59:59Z',
  shelfMap: '{}',
  columns: '{}',
}

/** That of the tables above, or else of the example. */
const validValue = (values: Record<string, unknown>, name: string, { examples }: Operation) => {
  const value = values[name] ?? examples[name]
  if (value === undefined)
    throw new Error(`The example of the operation has no value for ${name}, nor has operations.ts`)
  return value
}

/** The path and query of an operation, with valid values except those that are passed. */
export const addressOf = (operation: Operation, values: Record<string, string> = {}) => {
  const { template, query, examples } = operation
  // In other operations, they are the size of a page, and the format of a file.
  const own = {
    ...(template === '/memos' && { include: 'book' }),
    ...(typeof examples.size === 'string' && { size: examples.size }),
    ...(template === '/books' && { format: 'PAPER' }),
  }
  const given: typeof values = { ...values, ...own }
  const encodedValue = (name: string) =>
    encodeURIComponent(given[name] ?? String(validValue(PARAMETERS, name, operation)))
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) => encodedValue(name))
  // A cursor comes from a response, and belongs to one list.
  const sent = query.filter((name) => name !== 'cursor' || values.cursor !== undefined)
  return sent.length === 0 ? path : `${path}?${sent.map((name) => `${name}=${encodedValue(name)}`).join('&')}`
}

/**
 * A valid body: an object with every field, or a bare timestamp. Fields have valid values except those that are passed.
 * Undefined for uploads and operations without a body.
 */
export const bodyOf = (operation: Operation, values: Record<string, unknown> = {}): unknown => {
  const { types, fields, excluded } = operation
  if (types.length === 0 || types.includes('multipart/form-data')) return undefined
  if (fields.length === 0) return '2026-01-02T03:04:05'
  const sent = fields.filter((field) => !excluded.includes(field))
  return Object.fromEntries(sent.map((field) => [field, values[field] ?? validValue(FIELDS, field, operation)]))
}

/** What `from` in a body names: a book if the path names another one, otherwise a tag. */
export const fromOf = ({ path }: Operation, bookId: string | undefined, tag: string | undefined) =>
  path.includes('book-id') && bookId ? Number(bookId) : tag

/** Whether a path serves the API documentation or a well-known file, which are not operations themselves. */
export const isPage = (path: string) =>
  /^\/(?:openapi\.json|docs(?:\/[^/]*)?|\.well-known\/(?:security\.txt|api-catalog))?$/.test(path)

/** The parameters that name something of a member. */
const ID_PARAMETERS =
  'book-id memo-id reading-id bookId tag year member-id name session-id token-id link-id import-id trash-id document-id'.split(
    ' ',
  )
/** The fields of a body that name one. */
const ID_FIELDS = ['from']

/** The operations that need a token and respond 404 if the caller has no such thing. */
export const idOperations = operations.filter(
  ({ path, query, fields, needsToken, errors }) =>
    needsToken &&
    errors.some(({ status }) => status === 404) &&
    ([...path, ...query].some((name) => ID_PARAMETERS.includes(name)) ||
      fields.some((name) => ID_FIELDS.includes(name))),
)
