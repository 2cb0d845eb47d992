import { exports } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import snapshot from '../../docs/openapi.json'
import { app } from '../../src/app'
import { docs } from '../../src/docs/routes'
import type { ErrorBody } from '../../src/errors'
import { EXAMPLE_TIME, EXAMPLES, type Example } from '../../src/openapi/examples'
import { type Answer, BASE, send } from '../support/api'
import { document } from '../support/document'
import { png } from '../support/pictures'

type Media = { example?: unknown; examples?: Record<string, { value: ErrorBody }> }
type Operation = {
  operationId: string
  security: object[]
  parameters: { name: string; in: string; example?: unknown }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ method, path, ...operation })),
)

describe('the document', () => {
  const text = `${JSON.stringify(document, null, 2)}\n`

  it('is the one in docs/openapi.json', () => {
    expect(document, 'The API has changed: run `npm run openapi` and review the difference').toEqual(snapshot)
  })

  it('is served to any origin, answers HEAD, and 304 once it is known', async () => {
    const headers = { Origin: 'https://editor.example' }
    const answer = await exports.default.fetch(`${BASE}/openapi.json`, { headers })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(text)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, no-cache',
      'access-control-allow-origin': 'https://editor.example',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    const etag = answer.headers.get('ETag') ?? ''
    const again = await exports.default.fetch(`${BASE}/openapi.json`, { headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
    const head = await exports.default.fetch(`${BASE}/openapi.json`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('has a unique name, a summary, a description and an example for each operation', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const operation of operations) {
      expect(operation).toMatchObject({ summary: expect.any(String), description: expect.any(String) })
      expect(operation.operationId).toMatch(/^[a-z]+([A-Z][a-z]+)*$/)
    }
    expect(Object.keys(EXAMPLES).sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
  })
})

/** The page at /docs and its files. */
const UNDESCRIBED = docs.routes.map(({ path }) => path)
/** The routes of the app that answer requests, as the document writes them. */
const routes = () => {
  const paths = app.routes.filter(({ method, path }) => method !== 'ALL' && !UNDESCRIBED.includes(path))
  return [...new Set(paths.map(({ method, path }) => `${method} ${path.replace(/:([\w-]+)(\{.+?\})?/g, '{$1}')}`))]
}

it('describes every route of the app and no other', () => {
  const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(described.sort()).toEqual(routes().sort())
})

describe('the examples', () => {
  let token = ''
  const image = { url: '', name: '' }
  beforeAll(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${EXAMPLE_TIME}Z`) }))
  afterAll(() => vi.useRealTimers())

  const sendExample = (operation: (typeof operations)[number], values: Record<string, unknown>, sent: unknown) => {
    const parameters = Object.entries(values).map(([name, value]) => [name, String(value)] as const)
    const query = new URLSearchParams()
    let path = operation.path
    for (const [name, value] of parameters) {
      if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(value))
      else query.set(name, value)
    }
    const [type = ''] = Object.keys(operation.requestBody?.content ?? {})
    const headers = operation.security.length > 0 ? { Authorization: token } : undefined
    const changed = { PUBLIC_URL: 'https://library.example.com', MAIL_FROM: 'library@library.test' }
    const body = type === 'application/json' ? { body: sent } : { raw: sent as BodyInit | undefined }
    const typed = type === 'text/plain' ? { ...headers, 'Content-Type': type } : headers
    return send(operation.method.toUpperCase(), `${path}?${query}`, { ...body, headers: typed, changed })
  }

  const exampleOf = (operation: Operation, status: number) =>
    Object.values(operation.responses[status]?.content ?? {})[0]

  const form = (file?: Uint8Array<ArrayBuffer>) => {
    const data = new FormData()
    if (file) data.append('file', new Blob([file]), 'page.png')
    else data.append('note', 'none')
    return data
  }

  /** Sends the example's request with the one value that an example of an error rejects. */
  const sendInvalid = (operation: (typeof operations)[number], { parameters, body }: Example, rejection: ErrorBody) => {
    const [field] = rejection.fieldErrors ?? []
    const [violation] = rejection.violationErrors ?? []
    if (violation)
      return sendExample(operation, { ...parameters, [violation.propertyPath]: violation.rejectedValue }, body)
    if (operation.operationId === 'uploadMemoImage') return sendExample(operation, {}, form())
    const sent =
      typeof body === 'string'
        ? field?.rejectedValue
        : { ...(body as object), [field?.field ?? '']: field?.rejectedValue }
    return sendExample(operation, parameters ?? {}, sent)
  }

  const remember = (operationId: string, answer: Answer) => {
    if (operationId === 'logIn') token = answer.headers.get('Authorization') ?? ''
    if (operationId === 'uploadMemoImage') {
      image.url = answer.body
      image.name = answer.body.split('/').at(-1)
    }
  }

  it.each(Object.entries(EXAMPLES))('of %s are what the service answers', async (operationId, example) => {
    const operation = operations.find((each) => each.operationId === operationId)
    if (!operation) throw new Error(`The document has no operation ${operationId}`)
    const rejections = Object.values(exampleOf(operation, 400)?.examples ?? {}).flatMap(({ value }) => value ?? [])
    for (const rejection of rejections) {
      expect((await sendInvalid(operation, example, rejection)).body).toEqual(rejection)
    }

    const parameters = operationId === 'loadImage' ? { ...example.parameters, name: image.name } : example.parameters
    const body = operationId === 'uploadMemoImage' ? form(png()) : example.body
    const answer = await sendExample(operation, parameters ?? {}, body)
    remember(operationId, answer)
    const [success] = Object.keys(operation.responses)
    expect(String(answer.status)).toBe(success)
    const expected = exampleOf(operation, answer.status)?.example
    if (operationId === 'loadImage') expect(answer.body).toBeInstanceOf(Uint8Array)
    else if (operationId === 'uploadMemoImage') expect(String(expected).replace(/[^/]+$/, image.name)).toBe(answer.body)
    else expect(answer.body).toEqual(expected ?? null)
  })
})
