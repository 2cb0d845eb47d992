import { exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, BASE, login, newEmail, ORIGIN, PASSWORD, type Reader, send, sharedReader } from '../support/api'
import { snapshot } from '../support/library'

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
const PUBLIC_ENDPOINTS = () => [
  ['POST', '/join'],
  ['POST', '/login'],
]

const JSON_TYPE = 'application/json'
const TOO_LARGE = `{"title":"${'x'.repeat(2_097_152)}"}`
const MISSING = 'Required request body is missing'
const MALFORMED = 'Malformed JSON request'
const BODY_TOO_LARGE = 'The request body is too large'
const UNSUPPORTED = 'The content type is not supported here'

const INVALID_BODIES: [string, BodyInit | undefined | (() => BodyInit), string | undefined, number, string][] = [
  ['no body', undefined, JSON_TYPE, 400, MISSING],
  ['no body and no content type', undefined, undefined, 400, MISSING],
  ['no body of another content type', '', 'text/html', 400, MISSING],
  ['an empty array', '[]', JSON_TYPE, 400, MALFORMED],
  ['an array of objects', '[{"title":"x"}]', JSON_TYPE, 400, MALFORMED],
  ['null', 'null', JSON_TYPE, 400, MALFORMED],
  ['true', 'true', JSON_TYPE, 400, MALFORMED],
  ['a string', '"word"', JSON_TYPE, 400, MALFORMED],
  ['a bare word', 'word', JSON_TYPE, 400, MALFORMED],
  ['a fraction', '1.5', JSON_TYPE, 400, MALFORMED],
  ['2^31', '2147483648', JSON_TYPE, 400, MALFORMED],
  ['2^53+1', '9007199254740993', JSON_TYPE, 400, MALFORMED],
  ['half an object', '{"title": "De', JSON_TYPE, 400, MALFORMED],
  ['two objects', '{"title":"x"}{}', JSON_TYPE, 400, MALFORMED],
  ['white space', ' \n', JSON_TYPE, 400, MALFORMED],
  ['deep nesting', '['.repeat(100_000), JSON_TYPE, 400, MALFORMED],
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
      const raw = typeof body === 'function' ? body() : typeof body === 'string' ? new TextEncoder().encode(body) : body
      const answer = await sender()(method, path, { raw, headers: { ...(type && { 'Content-Type': type }) } })
      // There, bare text that is not a date is a field error.
      const takesText = path.includes('created-date') && (message === MALFORMED || type === 'text/plain')
      const error = { status, body: { status, message, fieldErrors: null, violationErrors: null } }
      expect(answer, `${method} ${path}`).toMatchObject(takesText ? { status: 400 } : error)
    }
    expect(await snapshot(reader, bookId)).toEqual(before)
  })
})

describe('a JSON body', () => {
  it('is a field error for each required field that is missing', async () => {
    const fieldsOf = ({ body }: Answer) => body.fieldErrors.map(({ field }: { field: string }) => field)
    expect(fieldsOf(await send('POST', '/join', { body: {} }))).toEqual([
      'email',
      'name',
      'password',
      'authenticationCode',
    ])
    expect(fieldsOf(await send('POST', '/login', { body: {} }))).toEqual(['email', 'password'])
    expect(fieldsOf(await reader.post('/books', {}))).toEqual(['title'])
    expect(fieldsOf(await reader.post(`/memos?bookId=${bookId}`, {}))).toEqual(['memoBookPage', 'memoContent'])
  })

  it.each([
    undefined,
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'APPLICATION/JSON',
    'application/ld+json',
    'application/vnd.a!b+c+json',
  ])('may have the content type %s', async (type) => {
    const raw = new TextEncoder().encode('{"title":"Demian","__proto__":{"star":5},"constructor":1}')
    const headers = { ...(type && { 'Content-Type': type }) }
    expect((await reader.send('POST', '/books', { raw, headers })).status).toBe(201)
  })

  it('may have 1 MiB and not a byte more', async () => {
    const patch = (length: number) =>
      reader.send('PATCH', '/members/me', { raw: '{}'.padEnd(length), headers: { 'Content-Type': JSON_TYPE } })
    expect((await patch(1_048_576)).status).toBe(200)
    expect((await patch(1_048_577)).status).toBe(413)
  })
})

const MEMBER_REQUESTS: [method: string, path: string, body?: unknown][] = [
  ['GET', '/books/library?page=1&size=1&bookStatus=YET'],
  ['GET', '/books/calender?page=1&size=1'],
  ['GET', '/books/abandon?page=1&size=1'],
  ['GET', '/books/memo-books?page=1&size=1'],
  ['GET', '/books/1?memoAuthority=ALL'],
  ['GET', '/books/1/memos?page=1&size=1&memoType=ALL'],
  ['POST', '/books', { title: 'x' }],
  ['PATCH', '/books/1', { star: 1 }],
  ['DELETE', '/books/1'],
  ['PATCH', '/books/created-date/1', '2020-01-01T00:00:00'],
  ['GET', '/memos/random'],
  ['POST', '/memos?bookId=1', { memoBookPage: 1, memoContent: 'x' }],
  ['PATCH', '/memos/1', { memoBookPage: 1 }],
  ['DELETE', '/memos/1'],
  ['GET', '/members/me'],
  ['PATCH', '/members/me', { name: 'x' }],
  ['DELETE', '/members/me'],
  ['POST', '/memos/image-memo'],
]
const base64url = (json: string) => btoa(json).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const UNSIGNED = `${base64url('{"typ":"JWT","alg":"none"}')}.${base64url('{"sub":"1","exp":4000000000}')}`
const INVALID_TOKENS = [
  'Bearer',
  'Bearer x',
  `Bearer ${UNSIGNED}.`,
  `Bearer ${UNSIGNED}.${'A'.repeat(43)}`,
  'Basic bWU6bWU=',
]

it.each(MEMBER_REQUESTS)('%s %s needs a valid token', async (method, path, body) => {
  for (const Authorization of [undefined, ...INVALID_TOKENS]) {
    const answer = await send(method, path, { body, headers: { ...(Authorization && { Authorization }) } })
    expect(answer, Authorization).toMatchObject({ status: 401, body: { status: 401, fieldErrors: null } })
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
  }
})

describe('paths and methods', () => {
  it.each([
    ...['/nothing', '/v1/books', '/docs/nothing', '/books/1/pages', '/join/', '/memos/random/1', '/memos/1/likes'],
    ...['/members', '/members/you', '/%00', '/%ff'],
  ])('answers 404 for the unknown path %s', async (path) => {
    const error = { status: 404, body: { status: 404, fieldErrors: null, violationErrors: null } }
    expect(await send('GET', path)).toMatchObject(error)
  })

  it.each([
    ['PUT', '/books', 'POST'],
    ['GET', '/books', 'POST'],
    ['POST', '/books/library', 'GET, HEAD'],
    ['PATCH', '/books/library', 'GET, HEAD'],
    ['DELETE', '/books/calender', 'GET, HEAD'],
    ['PATCH', '/books/abandon', 'GET, HEAD'],
    ['PATCH', '/books/memo-books', 'GET, HEAD'],
    ['DELETE', '/books/memo-books', 'GET, HEAD'],
    ['PATCH', '/memos/random', 'GET, HEAD'],
    ['DELETE', '/memos/random', 'GET, HEAD'],
    ['GET', '/memos/5', 'PATCH, DELETE'],
    ['PUT', '/memos/1', 'PATCH, DELETE'],
    ['PATCH', '/memos', 'POST'],
    ['GET', '/join', 'POST'],
    ['GET', '/login', 'POST'],
    ['DELETE', '/login', 'POST'],
    ['PUT', '/members/me', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/members/me', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/books/5', 'GET, HEAD, PATCH, DELETE'],
    ['PUT', '/books/1', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/books/5/memos', 'GET, HEAD'],
    ['DELETE', '/books/created-date/1', 'PATCH'],
    ['POST', '/health', 'GET, HEAD'],
  ])('answers 405 for %s %s', async (method, path, allow) => {
    const answer = await send(method, path)
    expect(answer).toMatchObject({ status: 405, body: { status: 405 } })
    expect(answer.headers.get('Allow')).toBe(allow)
  })

  it.each(['library.json', 'calender%00', 'abandon;a=1', 'my-memo-books'])(
    'takes %s for an invalid identifier of a book',
    async (word) => {
      const answer = await reader.get(`/books/${word}?memoAuthority=ALL`)
      expect(answer).toMatchObject({ status: 400, body: { violationErrors: [{ propertyPath: 'book-id' }] } })
    },
  )

  it.each(MEMBER_REQUESTS.filter(([method]) => method === 'GET'))(
    'answers HEAD as GET without a body: %s %s',
    async (_, path) => {
      for (const address of [path.replace('/books/1', `/books/${bookId}`), path.replace('/books/1', '/books/x')]) {
        for (const sender of [reader.send, send]) {
          const [head, get] = [await sender('HEAD', address), await sender('GET', address)]
          expect(head).toMatchObject({ status: get.status, body: null })
          expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'))
        }
      }
    },
  )

  it('answers HEAD of an unknown path without a body', async () => {
    expect(await send('HEAD', '/nothing')).toMatchObject({ status: 404, body: null })
  })

  it('reports its health', async () => {
    expect(await send('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

describe('every answer', () => {
  it('has a request id of its own', async () => {
    const ids = [await send('GET', '/members/me'), await send('GET', '/members/me')].map(({ headers }) =>
      headers.get('X-Request-Id'),
    )
    expect(ids[0]).toBeTruthy()
    expect(ids[0]).not.toBe(ids[1])
  })

  it('is not cached and not sniffed if it is personal', async () => {
    for (const { headers } of [await reader.get('/members/me'), await send('GET', '/nothing')]) {
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'")
      expect(headers.get('Strict-Transport-Security')).toMatch(/max-age=\d{7,}/)
    }
  })
})

describe('CORS', () => {
  it.each(MEMBER_REQUESTS)('answers the preflight of %s %s for a day, with credentials', async (method, path) => {
    const headers = {
      Origin: ORIGIN,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization,content-type',
    }
    const answer = await exports.default.fetch(BASE + path, { method: 'OPTIONS', headers })
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,HEAD,POST,PATCH,DELETE',
      'access-control-allow-headers': 'Authorization,Content-Type',
      'access-control-max-age': '86400',
    })
  })

  it.each<[what: string, status: number, method: string, path: string, body?: unknown, raw?: () => BodyInit]>([
    ['without a token', 401, 'GET', '/members/me'],
    ['to a failed login', 401, 'POST', '/login', { email: newEmail(), password: 'x' }],
    ['to invalid fields', 400, 'POST', '/login', {}],
    ['to an unknown path', 404, 'GET', '/nothing'],
    ['to a method that is not allowed', 405, 'PUT', '/books'],
    ['to a large body', 413, 'POST', '/login', undefined, () => new Blob([TOO_LARGE]).stream()],
  ])('lets a browser read the answer %s', async (_, status, method, path, body, raw) => {
    const headers = { Origin: ORIGIN, ...(raw && { 'Content-Type': JSON_TYPE }) }
    const answer = await send(method, path, { body, raw: raw?.(), headers })
    expect(answer.status).toBe(status)
    expectReadable(answer)
  })

  it('lets a browser read the answers to a member', async () => {
    const headers = { Origin: ORIGIN }
    expectReadable(await reader.send('GET', '/books/0?memoAuthority=ALL', { headers }))
    expectReadable(await reader.send('GET', '/members/me', { headers }))
  })

  const expectReadable = ({ headers }: Answer) => {
    expect(headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
    expect(headers.get('Access-Control-Allow-Credentials')).toBe('true')
    const exposed = headers.get('Access-Control-Expose-Headers')
    expect(exposed).toBe('Authorization,Location,ETag,Retry-After,X-Request-Id')
    expect(headers.get('Vary')).toContain('Origin')
  }
})

it('keeps the password through every rejected body', async () => {
  expect((await login(reader.email, PASSWORD)).status).toBe(200)
})
