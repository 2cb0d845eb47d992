import { env, exports } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import snapshot from '../../../docs/openapi.json'
import { app } from '../../../src/app'
import { CATALOGUE_SEARCHES } from '../../../src/db/limits/attempts'
import { ERRORS, type ErrorBody } from '../../../src/errors'
import { buildDocument } from '../../../src/openapi/document'
import { EXAMPLE_TIME, EXAMPLE_VERSION, EXAMPLES, EXPORT, type Example } from '../../../src/openapi/examples'
import { DESCRIPTIONS, describeProperty, OPERATIONS } from '../../../src/openapi/features'
import introduction from '../../../src/openapi/introduction.md?raw'
import { recordSweep } from '../../../src/reference/health/store'
import { docs } from '../../../src/reference/routes'
import { ALL_SCOPES } from '../../../src/values/contract'
import config from '../../../wrangler.toml?raw'
import { EMAIL, mails } from '../../support/accounts/mailed-codes'
import { BASE, send } from '../../support/api'
import { isOfDevices } from '../../support/document/document'
import { createPlaceholders } from '../../support/document/placeholders'
import { pushExample } from '../../support/document/push-example'
import { png } from '../../support/images/pictures'

type Media = { example?: unknown; examples?: Record<string, { summary?: string; value?: ErrorBody }> }
type Properties = { properties?: Record<string, { anyOf?: { type?: string }[] }> }
type Operation = {
  operationId: string
  security: object[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const document = buildDocument(introduction)
const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ method, path, ...operation })),
)

type Described = (typeof operations)[number]

describe('the document', () => {
  it('is the one in docs/openapi.json', () => {
    expect(document, 'The API has changed: run `npm run openapi` and review the difference').toEqual(snapshot)
  })

  it('is served to any origin, to HEAD without a body, and as 304 if unchanged', async () => {
    const load = (init: RequestInit) => exports.default.fetch(`${BASE}/openapi.json`, init)
    const answer = await load({ headers: { Origin: 'https://editor.example' } })
    expect([answer.status, await answer.text()]).toEqual([200, `${JSON.stringify(document, null, 2)}\n`])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, no-cache',
      'access-control-allow-origin': 'https://editor.example',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    const again = await load({ headers: { 'If-None-Match': answer.headers.get('ETag') ?? '' } })
    expect(again.status).toBe(304)
    const head = await load({ method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('lists every error and every scope in its introduction', () => {
    const missing = Object.keys({ ...ERRORS, ...ALL_SCOPES }).filter(
      (name) => !introduction.includes(`\n| \`${name}\` | `),
    )
    expect(missing, 'src/openapi/introduction.md lacks them').toEqual([])
  })

  it('states the limits per minute of wrangler.toml, and the defaults of parameters', () => {
    const limitOf = (name: string) => {
      const [, limit = ''] = config.match(new RegExp(`name = "${name}"[^]*?limit = (\\d+)`)) ?? []
      return Number(limit).toLocaleString('en')
    }
    const textOf = (operationId: string) => JSON.stringify(operations.find((each) => each.operationId === operationId))
    expect(textOf('logIn')).toContain(`Limit: about ${limitOf('NETWORK_LIMIT')} requests a minute per network.`)
    expect(textOf('uploadMemoImage')).toContain(`about ${limitOf('MEMBER_LIMIT')} requests a minute per member.`)
    expect(textOf('searchBooks')).toContain(`about ${limitOf('SEARCH_LIMIT')} requests a minute per member.`)
    expect(textOf('createMemo')).toContain(`about ${limitOf('WRITE_LIMIT')} writes of any kind a minute per member.`)
    expect(textOf('logOut')).toContain('writes of any kind a minute per session.')
    const [hour, day] = CATALOGUE_SEARCHES.network
    expect(textOf('searchCatalogue')).toContain(`${hour?.max} searches an hour and ${day?.max} a day per network`)
    expect(textOf('getBook')).not.toContain('Limit: ')
    expect(textOf('listBooks')).toContain('Number of items on a page. Default: `20`.')
    expect(textOf('listChanges')).toContain('Number of items on a page. Default: `100`.')
  })

  it('shows one type for each field of a body, which may be null besides', () => {
    const ambiguous = Object.entries(snapshot.components.schemas as Record<string, Properties>).flatMap(
      ([schema, { properties = {} }]) =>
        Object.entries(properties)
          .filter(([, { anyOf = [] }]) => anyOf.filter(({ type }) => type !== 'null').length > 1)
          .map(([name]) => `${schema}.${name}`),
    )
    expect(ambiguous).toEqual([])
  })

  it('titles each error with its message', () => {
    const examples = operations
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap(({ content }) => Object.values(content?.['application/json']?.examples ?? {}))
      .filter(({ value }) => value?.message)
    expect(examples.filter(({ summary, value }) => summary !== value?.message)).toEqual([])
  })

  it('has a unique name, a summary, a description and an example for each operation', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const operation of operations) {
      const operationId = expect.stringMatching(/^[a-z]+([A-Z][a-z]+)*$/)
      expect(operation).toMatchObject({ operationId, summary: expect.any(String), description: expect.any(String) })
    }
    const hint = 'src/openapi/examples.ts needs one example per operation'
    expect(Object.keys(EXAMPLES).sort(), hint).toEqual(operations.map(({ operationId }) => operationId).sort())
  })
})

it('has no description that it does not use', () => {
  const text = JSON.stringify(document).replace(/ Default: `[^`]*`\./g, '')
  const unused = DESCRIPTIONS.flatMap(({ schemas, ownProperties, properties, parameters }) => [
    ...[schemas, ownProperties, properties, parameters],
  ])
    .flatMap((descriptions) => Object.entries(descriptions ?? {}))
    .filter(([, description]) => !text.includes(JSON.stringify(description)))
  expect(unused).toEqual([])
  const used = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect([...OPERATIONS.keys()].sort()).toEqual(used.sort())
})

it('uses the description of another feature only if it is the only one, and meant for others', () => {
  expect(describeProperty('SyncedReading', 'paused')).toBe(describeProperty('Reading', 'paused'))
  expect(describeProperty('SyncedBook', 'bookStatus')).toBe('Reading status.')
  expect(describeProperty('Link', 'bookStatus')).toMatch(/^Shows only books of this status/)
  expect(() => describeProperty('Statistics', 'kind')).toThrow('several features do')
  expect(() => describeProperty('Statistics', 'losses')).toThrow('none does')
})

it('describes every route of the app, except documentation, well-known files and protocols of devices, and no other', () => {
  const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  const page = docs.routes.map(({ path }) => path)
  const routes = app.routes.filter(({ method, path }) => method !== 'ALL' && !page.includes(path) && !isOfDevices(path))
  const written = routes.map(({ method, path }) => `${method} ${path.replace(/:([\w-]+)(\{.+?\})?/g, '{$1}')}`)
  expect(described.sort()).toEqual([...new Set(written)].sort())
})

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1'

describe('the examples', () => {
  let token = ''
  const { learn, learnCode, fill } = createPlaceholders()
  const withActual = (value: unknown) => JSON.parse(fill(JSON.stringify(value ?? null)))
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${EXAMPLE_TIME}Z`) })
    await recordSweep(env.CATALOGUE, Date.now())
  })
  afterAll(() => vi.useRealTimers())

  const sendExample = (operation: Described, values: Record<string, unknown>, sent: unknown) => {
    const query = new URLSearchParams()
    let path = operation.path
    const { 'Idempotency-Key': key, ...others } = values
    for (const [name, value] of Object.entries(others)) {
      if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(String(value)))
      else query.set(name, String(value))
    }
    const [type = ''] = Object.keys(operation.requestBody?.content ?? {})
    const headers = {
      'User-Agent': IPHONE,
      ...(typeof key === 'string' && { 'Idempotency-Key': key }),
      ...(operation.security.length > 0 && { Authorization: token }),
      ...(type === 'text/plain' && { 'Content-Type': type }),
    }
    const changed = {
      PUBLIC_URL: 'https://library.example.com',
      MAIL_FROM: 'library@library.test',
      EMAIL,
      VERSION: { ...env.VERSION, id: EXAMPLE_VERSION },
    }
    const body = type === 'application/json' ? { body: sent } : { raw: sent as BodyInit | undefined }
    return send(operation.method.toUpperCase(), `${path}?${query}`, {
      ...body,
      headers,
      changed,
      cf: { country: 'KR' },
    })
  }

  const exampleOf = (operation: Operation, status: number) =>
    Object.values(operation.responses[status]?.content ?? {})[0]

  const FILES: Record<string, Uint8Array<ArrayBuffer> | string> = {
    'page.png': png(),
    'goodreads_library_export.csv': EXPORT,
  }
  const hasForm = ({ requestBody }: Operation) => Boolean(requestBody?.content['multipart/form-data'])
  const form = (name?: string) => {
    const data = new FormData()
    if (name) data.append('file', new Blob([FILES[name] ?? '']), name)
    else data.append('image', 'none')
    return data
  }

  /** Sends the example's request with the one value that an example of an error rejects. */
  const sendInvalid = (operation: Described, { parameters = {}, body }: Example, rejection: ErrorBody) => {
    const { propertyPath, rejectedValue: violating } = rejection.violationErrors?.[0] ?? {}
    if (propertyPath) return sendExample(operation, { ...parameters, [propertyPath]: violating }, body)
    if (hasForm(operation)) return sendExample(operation, parameters, form())
    const { field = '', rejectedValue } = rejection.fieldErrors?.[0] ?? {}
    const invalid = typeof body === 'string' ? rejectedValue : { ...(body as object), [field]: rejectedValue }
    return sendExample(operation, parameters, invalid)
  }

  const operationOf = (operationId: string) => {
    const operation = operations.find((each) => each.operationId === operationId)
    if (!operation) throw new Error(`The document has no operation ${operationId}`)
    return operation
  }

  const logInAgain = async () => {
    const answer = await sendExample(operationOf('logIn'), {}, EXAMPLES.logIn?.body)
    token = answer.headers.get('Authorization') ?? ''
  }

  it.each(Object.entries(EXAMPLES))('of %s are what the service answers', async (operationId, example) => {
    const operation = operationOf(operationId)
    if (operation.security.length > 0 && !token) await logInAgain()
    const { parameters = {}, body, file, response, mailedCode, endsSession }: Example = withActual(example)
    for (const { value } of Object.values(exampleOf(operation, 400)?.examples ?? {})) {
      if (value) expect((await sendInvalid(operation, { parameters, body }, value)).body).toEqual(value)
    }

    if (operationId === 'listDocuments') {
      const sendAs = async (method: string, path: string, as: string, body: object) =>
        (await send(method, path, { body, headers: { Authorization: as.replace(/^(?!Bearer)/, 'Bearer ') } })).body
      await pushExample(sendAs, token)
    }
    const mailsBefore = mails.length
    const sent = hasForm(operation) ? form(file) : body
    const answer = await sendExample(operation, parameters, sent)
    learn(response, answer.body)
    const texts = mails.slice(mailsBefore).map(({ text }) => text)
    if (mailedCode) learnCode(mailedCode, texts.join('\n'))
    if (operationId === 'logIn') token = answer.headers.get('Authorization') ?? ''
    if (endsSession) token = ''
    expect(String(answer.status)).toBe(Object.keys(operation.responses)[0])
    if (operationId === 'loadImage') expect(answer.body).toBeInstanceOf(Uint8Array)
    else expect(answer.body).toEqual(withActual(exampleOf(operation, answer.status)?.example))
  })
})
