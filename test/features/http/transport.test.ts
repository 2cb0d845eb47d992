import { exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { BASE, newEmail, ORIGIN, type Reader, send, sharedReader } from '../../support/api'
import { violation } from '../../support/inputs/invalid-values'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await sharedReader()
  bookId = (await reader.createBook()).bookId
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
  ['GET', '/memos/1'],
  ['PATCH', '/memos/1', { memoBookPage: 1 }],
  ['DELETE', '/memos/1'],
  ['GET', '/members/me'],
  ['PATCH', '/members/me', { name: 'x' }],
  ['DELETE', '/members/me'],
  ['POST', '/memos/image-memo'],
]
const UNSIGNED = ['{"typ":"JWT","alg":"none"}', '{"sub":"1","exp":4000000000}']
  .map((json) => btoa(json).replaceAll('=', ''))
  .join('.')
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
    const isJwt = Authorization?.startsWith('Bearer ')
    expect(answer.headers.get('WWW-Authenticate')).toBe(isJwt ? 'Bearer error="invalid_token"' : 'Bearer')
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

  it.each(
    [
      ['GET, HEAD, POST, PATCH', 'PUT /books', 'DELETE /books'],
      ['GET, HEAD', 'POST /books/tagged', 'DELETE /books/tagged', 'POST /authors'],
      ['GET, HEAD, PUT, PATCH', 'POST /books/5/tags'],
      ['GET, HEAD, PATCH, DELETE', 'POST /tags'],
      ['GET, HEAD, POST', 'PATCH /memos'],
      ['POST', 'GET /join', 'GET /login', 'DELETE /login'],
      ['PATCH', 'DELETE /books/created-date/1'],
      ['GET, HEAD', 'POST /books/library', 'PATCH /books/library', 'DELETE /books/calender', 'PATCH /books/abandon'],
      ['GET, HEAD', 'PATCH /books/memo-books', 'DELETE /books/memo-books', 'PATCH /memos/random'],
      ['GET, HEAD', 'DELETE /memos/random', 'POST /books/5/memos', 'POST /health'],
      ['GET, HEAD, PATCH, DELETE', 'PUT /members/me', 'POST /members/me', 'POST /books/5', 'PUT /books/1'],
      ['GET, HEAD, PATCH, DELETE', 'POST /memos/5', 'PUT /memos/1'],
    ].flatMap(([allow = '', ...requests]) => requests.map((request) => [request, allow] as const)),
  )('answers 405 for %s', async (request, allow) => {
    const [method = '', path = ''] = request.split(' ')
    const answer = await send(method, path)
    expect(answer).toMatchObject({ status: 405, body: { status: 405 } })
    expect(answer.headers.get('Allow')).toBe(allow)
  })

  it.each(['library.json', 'calender%00', 'abandon;a=1', 'my-memo-books'])('reads %s as a book-id', async (word) => {
    const answer = await reader.get(`/books/${word}?memoAuthority=ALL`)
    expect(answer).toMatchObject(violation('book-id', decodeURIComponent(word)))
  })

  it.each(MEMBER_REQUESTS.filter(([method]) => method === 'GET'))('answers HEAD like %s %s', async (_, path) => {
    for (const id of [`${bookId}`, 'x']) {
      for (const sender of [reader.send, send]) {
        const address = path.replace('/books/1', `/books/${id}`)
        const [head, get] = [await sender('HEAD', address), await sender('GET', address)]
        expect(head).toMatchObject({ status: get.status, body: null })
        expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'))
      }
    }
  })

  it('answers HEAD of an unknown path without a body', async () => {
    expect(await send('HEAD', '/nothing')).toMatchObject({ status: 404, body: null })
  })

  it('reports its health', async () => {
    expect(await send('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

it('gives every answer a unique request id', async () => {
  const [one, other] = [await send('GET', '/members/me'), await send('GET', '/members/me')]
  expect(one.headers.get('X-Request-Id')).toBeTruthy()
  expect(one.headers.get('X-Request-Id')).not.toBe(other.headers.get('X-Request-Id'))
})

it('forbids caching and sniffing of personal answers', async () => {
  for (const { headers } of [await reader.get('/members/me'), await send('GET', '/nothing')]) {
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'strict-transport-security': expect.stringMatching(/max-age=\d{7,}/),
    })
  }
})

describe('CORS', () => {
  const READABLE = {
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers':
      'Authorization,Content-Disposition,Content-Range,ETag,Idempotency-Replayed,Link,Location,RateLimit,RateLimit-Policy,Retry-After,' +
      'WWW-Authenticate,X-D1-Bookmark,X-Error-Code,X-Ignored,X-Request-Id',
    vary: expect.stringContaining('Origin'),
  }

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
      'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
      'access-control-allow-headers':
        'Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match,If-Unchanged-Since,Range,X-Auth-Key,X-Auth-User,X-D1-Bookmark',
      'access-control-max-age': '86400',
    })
  })

  it.each<
    [what: string, status: number, code: string, method: string, path: string, body?: unknown, raw?: () => BodyInit]
  >([
    ['without a token', 401, 'UNAUTHORIZED', 'GET', '/members/me'],
    ['to a failed login', 401, 'LOGIN_FAILED', 'POST', '/login', { email: newEmail(), password: 'x' }],
    ['to invalid fields', 400, 'INVALID_FIELDS', 'POST', '/login', {}],
    ['to an unknown path', 404, 'NOT_FOUND', 'GET', '/nothing'],
    ['to a method that is not allowed', 405, 'METHOD_NOT_ALLOWED', 'PUT', '/books'],
    [
      'to a large body',
      413,
      'BODY_TOO_LARGE',
      'POST',
      '/login',
      undefined,
      () => new Blob(['x'.repeat(2_097_152)]).stream(),
    ],
  ])('lets a browser read the answer %s and its error code', async (_, status, code, method, path, body, raw) => {
    const headers = { Origin: ORIGIN, ...(raw && { 'Content-Type': 'application/json' }) }
    const answer = await send(method, path, { body, raw: raw?.(), headers })
    expect(answer.status).toBe(status)
    expect(Object.fromEntries(answer.headers)).toMatchObject({ ...READABLE, 'x-error-code': code })
  })

  it.each(['/books/0?memoAuthority=ALL', '/members/me'])('lets the browser of a member read %s', async (path) => {
    const { headers } = await reader.send('GET', path, { headers: { Origin: ORIGIN } })
    expect(Object.fromEntries(headers)).toMatchObject(READABLE)
  })
})
