import { beforeAll, describe, expect, it } from 'vitest'
import document from '../../../docs/openapi.json'
import { login, ofType, PASSWORD, type Reader, send, sharedReader } from '../../support/api'
import { fieldError, invalidCases, NOT_TIMESTAMP } from '../../support/inputs/invalid-values'
import { getBook, snapshot } from '../../support/library'

let reader: Reader
let bookId: number
let memoId: number
beforeAll(async () => {
  reader = await sharedReader()
  bookId = (await reader.createBook()).bookId
  memoId = (await reader.createMemo(bookId)).memoId
})

const MEMBER_ENDPOINTS = () => [
  ['PATCH', '/members/me'],
  ['POST', '/books'],
  ['PATCH', `/books/${bookId}`],
  ['PATCH', `/books/created-date/${bookId}`],
  ['POST', `/memos?bookId=${bookId}`],
  ['PATCH', `/memos/${memoId}`],
]
const PUBLIC_ENDPOINTS = () => ['/join', '/login'].map((path) => ['POST', path])

const JSON_TYPE = 'application/json'
const TOO_LARGE = `{"title":"${'x'.repeat(2_097_152)}"}`
const MISSING = 'Required request body is missing'
/** Goes on with what is wrong. */
const MALFORMED: string = expect.stringMatching(/^Malformed JSON request: \w/)
const BODY_TOO_LARGE = 'Request body too large'
const UNSUPPORTED = 'Unsupported media type: send Content-Type: application/json'

/** An object with arrays nested in it, and strings that must not end early. */
const nested = (levels: number) =>
  `{"title":"a \\"[","${'\\\\'}":${'['.repeat(levels - 1)}"]"${']'.repeat(levels - 1)}}`

type InvalidBody = [what: string, BodyInit | undefined | (() => BodyInit), type: string | undefined, number, string]
const INVALID_BODIES: InvalidBody[] = [
  ['no body', undefined, JSON_TYPE, 400, MISSING],
  ['no body and no content type', undefined, undefined, 400, MISSING],
  ['no body of another content type', '', 'text/html', 400, MISSING],
  ...[
    ...['[]', '[{"title":"x"}]', 'null', 'true', '"word"', 'word', '1.5', '2147483648', '9007199254740993'],
    ...['{"title": "De', '{"title":"x"}{}', ' \n'],
  ].map((text): InvalidBody => [JSON.stringify(text), text, JSON_TYPE, 400, MALFORMED]),
  ['unclosed deep nesting', '['.repeat(100_000), JSON_TYPE, 400, MALFORMED],
  ...[65, 20_000].map((levels): InvalidBody => [`${levels} levels`, nested(levels), JSON_TYPE, 400, MALFORMED]),
  ['invalid UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), JSON_TYPE, 400, MALFORMED],
  ['2 MiB', TOO_LARGE, JSON_TYPE, 413, BODY_TOO_LARGE],
  ['2 MiB of unknown length', () => new Blob([TOO_LARGE]).stream(), JSON_TYPE, 413, BODY_TOO_LARGE],
  ['a form', 'title=Demian', 'application/x-www-form-urlencoded', 415, UNSUPPORTED],
  ['a multipart form', '--x--', 'multipart/form-data; boundary=x', 415, UNSUPPORTED],
  ['an HTML page', '{"title":"x"}', 'text/html', 415, UNSUPPORTED],
  ['plain text', '{"title":"Demian"}', 'text/plain', 415, UNSUPPORTED],
  ['a content type like JSON', '{"title":"Demian"}', 'application/jsonp', 415, UNSUPPORTED],
  ['an incomplete content type', '{"title":"x"}', 'json', 415, UNSUPPORTED],
]

describe.each([
  ['POST /join and POST /login', PUBLIC_ENDPOINTS, () => send],
  ['the endpoints of members', MEMBER_ENDPOINTS, () => reader.send],
] as const)('the bodies of %s', (_, endpoints, sender) => {
  it.each(INVALID_BODIES)('must not be %s', async (_, body, type, status, message) => {
    const before = await snapshot(reader, bookId)
    for (const [method = '', path = ''] of endpoints()) {
      const answer = await sender()(method, path, ofType(type, typeof body === 'function' ? body() : body))
      // There, bare text that is not a date is a field error.
      const takesText = path.includes('created-date') && (message === MALFORMED || type === 'text/plain')
      const error = { status, body: { status, message, fieldErrors: null, violationErrors: null } }
      expect(answer, `${method} ${path}`).toMatchObject(takesText ? { status: 400 } : error)
    }
    expect(await snapshot(reader, bookId)).toEqual(before)
  })
})

it.each([
  ['/join', ['email', 'name', 'password', 'authenticationCode']],
  ['/login', ['email', 'password']],
  ['/books', ['title']],
  ['/memos', ['memoBookPage', 'memoContent']],
])('POST %s reports each required field that is missing', async (path, fields) => {
  const isPublic = path === '/join' || path === '/login'
  const answer = await (isPublic ? send : reader.send)('POST', `${path}?bookId=${bookId}`, { body: {} })
  expect(answer.body.fieldErrors.map(({ field }: { field: string }) => field)).toEqual(fields)
})

describe('a JSON body', () => {
  it.each([
    undefined,
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'APPLICATION/JSON',
    'application/ld+json',
    'application/vnd.a!b+c+json',
  ])('may have the content type %s', async (type) => {
    const book = '{"title":"Demian","__proto__":{"star":5},"constructor":1}'
    expect((await reader.send('POST', '/books', ofType(type, book))).status).toBe(201)
  })

  it.each([
    ['64 levels', nested(64)],
    ['more brackets in strings or side by side', `{"title":"${'[{\\"'.repeat(50)}","x":[${'[],'.repeat(100)}{}]}`],
  ])('may have %s', async (_, body) => {
    expect((await reader.send('POST', '/books', ofType(JSON_TYPE, body))).status).toBe(201)
  })

  it('may have 1 MiB and not a byte more', async () => {
    const patch = (length: number) => reader.send('PATCH', '/members/me', ofType(JSON_TYPE, '{}'.padEnd(length)))
    expect((await patch(1_048_576)).status).toBe(200)
    expect((await patch(1_048_577)).status).toBe(413)
  })
})

describe('PATCH /books/created-date/{book-id}', () => {
  const overwrite = (text: string, type?: string) =>
    reader.send('PATCH', `/books/created-date/${bookId}`, ofType(type, text))
  const DATE = '2020-05-06T07:08:09'

  it.each([
    ['bare text', DATE, 'text/plain'],
    ['bare text with a charset', DATE, 'text/plain;charset=UTF-8'],
    ['bare text without a content type', DATE, undefined],
    ['bare text declared as JSON', DATE, JSON_TYPE],
    ['bare text with a fraction declared as JSON', `${DATE}.5`, JSON_TYPE],
    ['a JSON string', `"${DATE}"`, JSON_TYPE],
    ['a JSON string within white space', ` "${DATE}"\n`, JSON_TYPE],
    ['a fraction of a second', `${DATE}.999`, 'text/plain'],
    ['a long fraction', `${DATE}.0123456789`, 'text/plain'],
  ])('accepts %s', async (_, text, type) => {
    await overwrite('2001-01-01T00:00:00', 'text/plain')
    const answer = await overwrite(text, type)
    expect(answer).toMatchObject({ status: 200, body: { bookId, createdAt: DATE } })
    expect((await getBook(reader, bookId)).createdAt).toBe(DATE)
  })

  const notDates = invalidCases({ createdAt: NOT_TIMESTAMP }).filter(({ json }) => json.startsWith('"'))
  it.each(notDates)('rejects $what, bare or as a JSON string', async ({ json }) => {
    expect(await overwrite(json, JSON_TYPE)).toMatchObject(fieldError('createdAt', json))
    const bare = JSON.parse(json)
    if (bare) expect(await overwrite(bare, 'text/plain')).toMatchObject(fieldError('createdAt', json))
  })

  const notStrings = ['{}', '[]', 'null', '2020', `{"createdAt":"${DATE}"}`, `["${DATE}"]`, "'); drop table books"]
  it.each(notStrings)('rejects %s as text and as JSON', async (text) => {
    expect((await overwrite(text, JSON_TYPE)).status).toBe(400)
    const asText = await overwrite(text, 'text/plain')
    expect(asText).toMatchObject({ status: 400, body: { status: 0, fieldErrors: [{ field: 'createdAt' }] } })
  })

  it('rejects half a JSON string, an empty body and another content type', async () => {
    expect((await overwrite('"2020', JSON_TYPE)).body.message).toBe(
      'Malformed JSON request: string without its closing quote at line 1, column 1',
    )
    expect((await overwrite('"2020', 'text/plain')).status).toBe(400)
    expect((await overwrite('', 'text/plain')).body.message).toBe('Required request body is missing')
    expect((await overwrite(DATE, 'text/html')).status).toBe(415)
  })
})

it('ignores an unknown field, however many entries it has', async () => {
  const item = { a: 1, b: 2 }
  for (const more of [Array(201).fill(item), Object.fromEntries(Array(201).fill(item).entries())]) {
    expect((await reader.post('/books', { title: 'Demian', more })).status).toBe(201)
  }
  const tags = Array(201).fill('x')
  expect(await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })).toMatchObject({
    status: 400,
    body: { fieldErrors: [{ field: 'tags', reason: 'must have at most 200 entries' }] },
  })
})

it('keeps the password through every rejected body', async () => {
  const { body } = await reader.get('/members/me')
  expect((await login(body.email, PASSWORD)).status).toBe(200)
})

type Property = { type?: string | string[]; anyOf?: { type?: string }[] }
const acceptsNull = ({ type, anyOf }: Property) =>
  [type].flat().includes('null') || anyOf?.some((choice) => choice.type === 'null') === true

describe('null for every field', () => {
  const patches = Object.entries(document.paths).flatMap(([path, item]) => {
    const { description = '', requestBody } = 'patch' in item ? item.patch : {}
    const content = requestBody?.content['application/json'].schema ?? {}
    const reference = '$ref' in content ? String(content.$ref) : ''
    const name = reference.split('/').at(-1) as keyof typeof document.components.schemas | ''
    return name ? [[path, description, document.components.schemas[name]] as const] : []
  })

  it.each(patches)(
    'of PATCH %s is refused, and the document names those that it clears',
    async (path, text, schema) => {
      const properties = Object.entries('properties' in schema ? (schema.properties as Record<string, Property>) : {})
      const required = properties.filter(([, property]) => !acceptsNull(property)).map(([name]) => name)
      const cleared = properties.filter(([, property]) => acceptsNull(property)).map(([name]) => `\`${name}\``)
      const before = await snapshot(reader, bookId)
      const address = path
        .replace('{book-id}', `${bookId}`)
        .replace('{link-id}', crypto.randomUUID())
        .replace(/\{[\w-]+\}/, `${memoId}`)
      const body = Object.fromEntries(properties.map(([name]) => [name, null]))
      const answer = await reader.patch(address, body)
      expect(answer.status).toBe(400)
      expect(answer.body.fieldErrors.map(({ field }: { field: string }) => field)).toEqual(required)
      expect(await snapshot(reader, bookId)).toEqual(before)
      expect(text).toContain(
        cleared.length > 0 ? `Null clears ${cleared.join(', ')}; no other field may be null.` : 'No field may be null.',
      )
    },
  )

  it('is checked for every operation', () => {
    expect(patches).toHaveLength(10)
  })
})
