import { exports } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import snapshot from '../../docs/openapi.json'
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
  const written = `${JSON.stringify(document, null, 2)}\n`

  it('is the one in docs/openapi.json: a change of the API shows there', () => {
    expect(document, 'The API has changed: look at how, and keep it by `npm run openapi`').toEqual(snapshot)
  })

  it('is what the service answers, to browsers of any origin and to HEAD, and only once', async () => {
    const headers = { Origin: 'https://editor.example' }
    const answer = await exports.default.fetch(`${BASE}/openapi.json`, { headers })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(written)
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

  it('names each operation once, and leaves none without a summary, a description and an example', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    expect(operations).toHaveLength(26)
    for (const operation of operations) {
      expect(operation).toMatchObject({ summary: expect.any(String), description: expect.any(String) })
      expect(operation.operationId).toMatch(/^[a-z]+([A-Z][a-z]+)*$/)
    }
    expect(Object.keys(EXAMPLES).sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
  })
})

describe('its examples', () => {
  let token = ''
  const image = { url: '', name: '' }
  beforeAll(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${EXAMPLE_TIME}Z`) }))
  afterAll(() => vi.useRealTimers())

  const ask = (operation: (typeof operations)[number], values: Record<string, unknown>, sent: unknown) => {
    const given = Object.entries(values).map(([name, value]) => [name, String(value)] as const)
    const query = new URLSearchParams()
    let path = operation.path
    for (const [name, value] of given) {
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

  /** Sends the story's request with the one value that the refusal's example rejects. */
  const askBadly = (operation: (typeof operations)[number], { parameters, body }: Example, refusal: ErrorBody) => {
    const [field] = refusal.fieldErrors ?? []
    const [violation] = refusal.violationErrors ?? []
    if (violation) return ask(operation, { ...parameters, [violation.propertyPath]: violation.rejectedValue }, body)
    if (operation.operationId === 'uploadMemoImage') return ask(operation, {}, form())
    const sent =
      typeof body === 'string'
        ? field?.rejectedValue
        : { ...(body as object), [field?.field ?? '']: field?.rejectedValue }
    return ask(operation, parameters ?? {}, sent)
  }

  const remember = (operationId: string, answer: Answer) => {
    if (operationId === 'logIn') token = answer.headers.get('Authorization') ?? ''
    if (operationId === 'uploadMemoImage') {
      image.url = answer.body
      image.name = answer.body.split('/').at(-1)
    }
  }

  it.each(Object.entries(EXAMPLES))('%s: the service answers as its examples say', async (operationId, example) => {
    const operation = operations.find((each) => each.operationId === operationId)
    if (!operation) throw new Error('There is no such operation')
    const refusals = Object.values(exampleOf(operation, 400)?.examples ?? {}).flatMap(({ value }) => value ?? [])
    for (const refusal of refusals) {
      expect((await askBadly(operation, example, refusal)).body).toEqual(refusal)
    }

    const parameters = operationId === 'loadImage' ? { ...example.parameters, name: image.name } : example.parameters
    const body = operationId === 'uploadMemoImage' ? form(png()) : example.body
    const answer = await ask(operation, parameters ?? {}, body)
    remember(operationId, answer)
    const [good] = Object.keys(operation.responses)
    expect(String(answer.status)).toBe(good)
    const shown = exampleOf(operation, answer.status)?.example
    if (operationId === 'loadImage') expect(answer.body).toBeInstanceOf(Uint8Array)
    else if (operationId === 'uploadMemoImage') expect(String(shown).replace(/[^/]+$/, image.name)).toBe(answer.body)
    else expect(answer.body).toEqual(shown ?? null)
  })
})
