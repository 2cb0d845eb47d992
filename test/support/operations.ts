import { document } from './document'

// The operations of the document, as whoever attacks them needs them: what a new route adds is attacked without a word here.

type Schema = {
  $ref?: string
  properties?: Record<string, unknown>
  anyOf?: Schema[]
  allOf?: Schema[]
  oneOf?: Schema[]
}
type Parameter = { $ref?: string; in: string; name: string }
type Described = {
  parameters?: Parameter[]
  security?: object[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}

export type Operation = {
  method: string
  /** The path with its parameters in braces. */
  template: string
  isMembersOnly: boolean
  path: string[]
  query: string[]
  /** The media types of the body; none where there is no body. */
  types: string[]
  /** The names of the body's fields, where it is an object. */
  fields: string[]
}

const resolve = <T extends { $ref?: string }>(node: T): T => {
  if (!node.$ref) return node
  const at = node.$ref.slice(2).split('/')
  return at.reduce<unknown>((tree, key) => (tree as Record<string, unknown>)[key], document) as T
}

const fieldsOf = (schema: Schema = {}): string[] => {
  const { properties = {}, anyOf = [], allOf = [], oneOf = [] } = resolve(schema)
  return [...new Set([...Object.keys(properties), ...[...anyOf, ...allOf, ...oneOf].flatMap(fieldsOf)])]
}

const toOperation = (template: string, method: string, described: Described): Operation => {
  const parameters = (described.parameters ?? []).map(resolve)
  const content = described.requestBody?.content ?? {}
  return {
    method: method.toUpperCase(),
    template,
    isMembersOnly: (described.security ?? []).length > 0,
    path: [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    types: Object.keys(content),
    fields: fieldsOf(Object.values(content)[0]?.schema),
  }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export const operations: Operation[] = Object.entries(document.paths ?? {}).flatMap(([template, item]) =>
  Object.entries(item as Record<string, Described>)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, described]) => toOperation(template, method, described)),
)

const PARAMETERS: Record<string, string> = {
  'book-id': '1',
  'memo-id': '1',
  bookId: '1',
  'member-id': '1',
  name: 'AAAAAAAAAAAAAAAAAAAAAA.png',
  'title-or-author': 'petit',
  page: '1',
  size: '10',
  bookStatus: 'YET',
  memoAuthority: 'ALL',
  memoType: 'ALL',
}

const FIELDS: Record<string, unknown> = {
  email: 'nobody@library.test',
  joinAuthCodeEmail: 'nobody@library.test',
  name: 'Nobody',
  password: 'a-good-password-1',
  authenticationCode: '000000',
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
  memoBookPage: 95,
  memoContent: 'Read this page again.',
  memoType: 'THOUGHT',
  memoAuthority: 'PUBLIC',
}

const known = <Value>(values: Record<string, Value>, name: string) => {
  const value = values[name]
  if (value === undefined) throw new Error(`${name} is new in the document: give it a good value in operations.ts`)
  return value
}

/** A path and query with good values, but for those that are given. */
export const addressOf = ({ template, query }: Operation, given: Record<string, string> = {}) => {
  const give = (name: string) => encodeURIComponent(given[name] ?? known(PARAMETERS, name))
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) => give(name))
  return query.length === 0 ? path : `${path}?${query.map((name) => `${name}=${give(name)}`).join('&')}`
}

/** A body with a good value in each field; a bare timestamp where the body is no object. */
export const bodyOf = ({ types, fields }: Operation): unknown => {
  if (types.length === 0 || types.includes('multipart/form-data')) return undefined
  if (fields.length === 0) return '2026-01-02T03:04:05'
  return Object.fromEntries(fields.map((field) => [field, known(FIELDS, field)]))
}

/** Whether a path, as the Worker reads it, is for browsers: the document and its pages are no operations of the API. */
export const isPage = (path: string) => /^\/(?:openapi\.json|docs(?:\/[^/]*)?)?$/.test(path)

/** The parameters that name a book or a memo. */
export const ID_PARAMETERS = ['book-id', 'memo-id', 'bookId']

/** The operations that name something of a member. */
export const idOperations = operations.filter(({ path, query }) =>
  [...path, ...query].some((name) => ID_PARAMETERS.includes(name)),
)

const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Every method on an operation's address; its own with bodies good, empty, wrong, broken and missing. */
export const attemptsOn = (operation: Operation) => {
  const good = bodyOf(operation)
  const bodies = good === undefined ? [undefined] : [JSON.stringify(good), '{}', '{"memoContent":""}', '{', undefined]
  return ALL_METHODS.flatMap((method) =>
    (method === operation.method ? bodies : [undefined]).map((body) => ({ method, body })),
  )
}
