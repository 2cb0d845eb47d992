import { type Schema, Validator } from '@cfworker/json-schema'
import { buildDocument } from '../../src/openapi/document'

export const document = buildDocument()

type Response = { headers?: Record<string, unknown>; content?: Record<string, { schema: Schema }> }
type PathItem = Record<string, { responses: Record<string, Response> } | undefined>

// A search is the rest of the path.
const toPattern = (template: string) =>
  new RegExp(`^${template.replace('{title-or-author}', '.*').replace(/\{[^}]+\}/g, '[^/]+')}$`)
const paths = Object.entries(document.paths as unknown as Record<string, PathItem>)
  .map(([template, item]) => ({ template, item, pattern: toPattern(template) }))
  // Literal segments take precedence over parameters.
  .sort((a, b) => a.template.split('{').length - b.template.split('{').length)

/** The documented operation of a request, if there is one. */
const findOperation = (method: string, path: string) => {
  const item = paths.find(({ pattern }) => pattern.test(path))?.item
  return item?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()]
}

const ERROR_SCHEMA: Schema = { $ref: '#/components/schemas/ErrorResponse' }

/** Documented headers that an answer may lack. */
const OPTIONAL = Object.entries(document.components?.headers ?? {})
  .filter(([, header]) => !('required' in header && header.required))
  .map(([name]) => name)

/** @throws Error if the document does not describe this answer */
export const checkAgainstDocument = (
  method: string,
  path: string,
  { status, headers, body }: { status: number; headers: Headers; body: unknown },
) => {
  const fail = (reason: string): never => {
    throw new Error(`${method} ${path} answered ${status}, ${reason}: ${JSON.stringify(body)}`)
  }
  const operation = findOperation(method, path)
  const response = operation?.responses[status]
  if (operation && !response) fail('which the document does not describe')
  if (!operation && status !== 404 && status !== 405) fail('but the document has no such operation')
  for (const name of Object.keys(response?.headers ?? {})) {
    if (!headers.has(name) && !OPTIONAL.includes(name)) fail(`without the header ${name}`)
  }
  if (response?.content && !response.content['application/json']) return true
  const schema = response ? response.content?.['application/json']?.schema : ERROR_SCHEMA
  if (!schema || method === 'HEAD') return body === null || fail('with a body that is not described')
  const rooted = { ...schema, components: document.components } as Schema
  const { errors } = new Validator(rooted, '2020-12', false).validate(body)
  return errors.length === 0 || fail(`which does not match its schema (${errors.map(({ error }) => error).join(' ')})`)
}
