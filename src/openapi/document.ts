// The OpenAPI document as it is served: the operations, plus an introduction, tags, examples and code samples.
import { app } from '../app'
import * as attempts from '../db/limits/attempts'
import { ERRORS, invalidFields, toErrorBody } from '../errors'
import { TAGS } from '../http/description/feature-reference'
import { MAX_FILES_PER_DAY, MAX_PER_DAY } from '../transfer/imports/schema'
import { DEEP_OFFSET } from '../values/paging'
import { documentOf } from './build'
import { type SampledOperation, toClient, toCurl, toFetch } from './code-samples'
import { EXAMPLES, type Example } from './examples'

const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000 }

const toWindow = (windowMs: number) => {
  const [unit, ms] = Object.entries(UNITS).find(([, length]) => windowMs % length === 0) ?? ['second', 1000]
  return windowMs === ms ? `a ${unit}`.replace('a hour', 'an hour') : `in ${windowMs / ms} ${unit}s`
}
const describeLimits = (limits: attempts.Limit[]) =>
  limits.map(({ max, windowMs }) => `${max.toLocaleString('en')} ${toWindow(windowMs)}`).join(', ')

/** Limits by name, such as `EXPORTS`, or by name and what they apply to, such as `LOGINS.network`. */
const LIMITS = Object.entries(attempts)
  .filter(([name]) => /^[A-Z_]+$/.test(name))
  .flatMap(([name, value]) =>
    Array.isArray(value)
      ? [[name, describeLimits(value)]]
      : Object.entries(value as Record<string, attempts.Limit[]>).map(([of, limits]) => [
          `${name}.${of}`,
          describeLimits(limits),
        ]),
  )

/** The cells with the status and the message of each error. */
const ERROR_CELLS = Object.entries(ERRORS).map(([code, [status, message]]) => [code, `${status} | ${message ?? ''}`])

const EXAMPLE_ERROR = toErrorBody('INVALID_FIELDS', invalidFields(['name', ' ', 'must not be blank']).details)

/** Fills the placeholders of introduction.md. `commands`: the first steps of a client, for a shell. */
const introduce = (template: string, commands: string[]) => {
  const values: Record<string, string> = {
    ...Object.fromEntries([...ERROR_CELLS, ...LIMITS]),
    'first steps': commands.join('\n\n'),
    'example error': JSON.stringify(EXAMPLE_ERROR, null, 2),
    MAX_PER_DAY: String(MAX_PER_DAY),
    MAX_FILES_PER_DAY: String(MAX_FILES_PER_DAY),
    DEEP_OFFSET: DEEP_OFFSET.toLocaleString('en'),
  }
  return template.trim().replace(/\{\{(.+?)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`introduction.md has the unknown placeholder ${name}`)
    return value
  })
}

/** The operations that the introduction shows. */
const FIRST_STEPS = ['signUp', 'logIn', 'registerBook', 'createMemo', 'getBook']
const BASE = 'https://library.example.com'

type Operation = {
  operationId: string
  security?: object[]
  parameters?: { in: string; name: string; example?: unknown }[]
  requestBody?: { content: Contents }
  responses: Record<string, { headers?: object; content?: Contents }>
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
}
type Contents = Record<string, { example?: unknown }>

const successOf = ({ responses }: Operation) => responses[Object.keys(responses).find((status) => status < '3') ?? '']

const addExample = (operation: Operation, { parameters = {}, body, response }: Example) => {
  for (const parameter of operation.parameters ?? []) {
    if (parameters[parameter.name] !== undefined) parameter.example = parameters[parameter.name]
  }
  const [sent, received] = [operation.requestBody?.content, successOf(operation)?.content]
  if (body !== undefined) for (const media of Object.values(sent ?? {})) media.example = body
  const json = received?.['application/json']
  if (response !== undefined)
    for (const media of json ? [json] : Object.values(received ?? {})) media.example = response
}

/** The examples of an operation's parameters in `place`, as text. */
const examplesIn = ({ parameters = [] }: Operation, place: string) =>
  Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === place && parameter.example !== undefined)
      .map(({ name, example }) => [name, String(example)]),
  )

const returned = ({ headers = {}, content = {} }: { headers?: object; content?: Contents }) => {
  if ('Authorization' in headers) return 'token'
  if (content['application/json']) return 'json'
  if (Object.keys(content).some((type) => type.startsWith('text/'))) return 'text'
  return Object.keys(content).length > 0 ? 'file' : 'nothing'
}

const toSampled = (method: string, path: string, operation: Operation): SampledOperation => {
  const [type] = Object.keys(operation.requestBody?.content ?? {})
  const [pathParameters, query] = [examplesIn(operation, 'path'), examplesIn(operation, 'query')]
  const filled = path.replace(/\{(.+?)\}/g, (_, name) => encodeURIComponent(pathParameters[name] ?? ''))
  const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''
  return {
    method: method.toUpperCase(),
    path,
    pathParameters,
    query,
    url: `${BASE}${filled}${search}`,
    needsToken: Boolean(operation.security?.length),
    body: type ? { type, value: operation.requestBody?.content[type]?.example } : undefined,
    returns: returned(successOf(operation) ?? {}),
    file: EXAMPLES[operation.operationId]?.file,
  }
}

/** Builds the document of the whole API. `introduction`: the text of introduction.md. */
export const buildDocument = (introduction: string) => {
  const document = documentOf(app)
  const curl: Record<string, string> = {}
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
      addExample(operation, EXAMPLES[operation.operationId] ?? {})
      const sampled = toSampled(method, path, operation)
      curl[operation.operationId] = toCurl(sampled)
      operation['x-codeSamples'] = [
        { lang: 'Shell', label: 'curl', source: toCurl(sampled) },
        { lang: 'JavaScript', label: 'fetch', source: toFetch(sampled) },
        { lang: 'TypeScript', label: 'typed client', source: toClient(sampled) },
      ]
    }
  }
  const { openapi, info, ...rest } = document
  return {
    openapi,
    info: {
      ...info,
      summary: 'A personal reading library as a REST API at the edge',
      description: introduce(
        introduction,
        FIRST_STEPS.map((operationId) => curl[operationId] ?? ''),
      ),
      contact: { name: 'The maintainers of Reading Library' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service, in production or local', 'x-internal': false }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    ...rest,
  }
}
