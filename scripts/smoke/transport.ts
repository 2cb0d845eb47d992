import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { answers, error } from './answer.ts'
import { checkBodies, type Endpoint, inChunks } from './bodies.ts'
import { check, each } from './check.ts'
import { newEmail, type Send, type Service } from './client.ts'
import { register } from './shelf.ts'

const UNKNOWN = [
  '/nothing',
  '/v1/books',
  '/books/1/pages',
  '/memos/1/likes',
  '/members',
  '/members/you',
  '/%00',
  '/%ff',
]

const NOT_ALLOWED: [method: string, path: string, allowed: string][] = [
  ['GET', '/join', 'POST'],
  ['DELETE', '/login', 'POST'],
  ['POST', '/members/me', 'DELETE, GET, HEAD, PATCH'],
  ['GET', '/books', 'POST'],
  ['PUT', '/books/1', 'DELETE, GET, HEAD, PATCH'],
  ['POST', '/books/1/memos', 'GET, HEAD'],
  ['DELETE', '/books/created-date/1', 'PATCH'],
  ['PATCH', '/memos', 'POST'],
  ['PUT', '/memos/1', 'DELETE, PATCH'],
  // Fixed words win over {book-id} and {memo-id}.
  ['PATCH', '/books/library', 'GET, HEAD'],
  ['DELETE', '/books/calender', 'GET, HEAD'],
  ['PATCH', '/books/abandon', 'GET, HEAD'],
  ['DELETE', '/books/memo-books', 'GET, HEAD'],
  ['PATCH', '/memos/random', 'GET, HEAD'],
  ['DELETE', '/memos/random', 'GET, HEAD'],
]

const listOf = (header: string | null) => (header ?? '').split(',').map((name) => name.trim())

const FOR_MEMBERS: [method: string, path: string, body?: unknown][] = [
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

const base64url = (json: string) => Buffer.from(json).toString('base64url')
const UNSIGNED = `${base64url('{"typ":"JWT","alg":"none"}')}.${base64url('{"sub":"1","exp":4000000000}')}`
const NO_TOKENS = [
  undefined,
  'Bearer',
  'Bearer x',
  `Bearer ${UNSIGNED}.`,
  `Bearer ${UNSIGNED}.${'A'.repeat(43)}`,
  'Basic bWU6bWU=',
]

const checkOrigins = async ({ send }: Service, origin: string) => {
  await check('OPTIONS: a browser’s preflight is answered, with credentials and for a day', () =>
    each(FOR_MEMBERS, async ([method, path]) => {
      const { request, status, headers } = await send('OPTIONS', path, undefined, {
        Origin: origin,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': 'authorization,content-type',
      })
      ok(status === 204 || status === 200, `${request} got ${status}`)
      equal(headers.get('Access-Control-Allow-Origin'), origin)
      equal(headers.get('Access-Control-Allow-Credentials'), 'true')
      equal(headers.get('Access-Control-Max-Age'), '86400')
      const allowed = listOf(headers.get('Access-Control-Allow-Headers')?.toLowerCase() ?? null)
      for (const name of ['authorization', 'content-type']) ok(allowed.includes(name), `${name} is not in ${allowed}`)
      const methods = listOf(headers.get('Access-Control-Allow-Methods'))
      for (const name of ['GET', 'POST', 'PATCH', 'DELETE']) ok(methods.includes(name), `${name} is not in ${methods}`)
    }),
  )
  const answered: [method: string, path: string, body: unknown, status: number][] = [
    ['GET', '/members/me', undefined, 401],
    ['POST', '/login', {}, 400],
    ['POST', '/login', { email: newEmail(), password: 'x' }, 401],
    ['GET', '/nothing', undefined, 404],
    ['PUT', '/books', undefined, 405],
    ['POST', '/login', inChunks, 413],
  ]
  for (const [method, path, body, status] of answered) {
    await check(`${method} ${path}: a browser may read a ${status} and its headers`, async () => {
      const answer = await send(method, path, body, { Origin: origin })
      answers(answer, status)
      equal(answer.headers.get('Access-Control-Allow-Origin'), origin)
      equal(answer.headers.get('Access-Control-Allow-Credentials'), 'true')
      const exposed = listOf(answer.headers.get('Access-Control-Expose-Headers'))
      deepEqual(exposed.toSorted(), ['Authorization', 'ETag', 'Location', 'Retry-After', 'X-Request-Id'])
      ok(listOf(answer.headers.get('Vary')).includes('Origin'), 'Vary does not name Origin')
    })
  }
}

/** What can be tried without being a member. */
export const checkPublic = async (service: Service, origin: string) => {
  const { send } = service
  await check(`${UNKNOWN.join(' ')}: an unknown address is 404`, () =>
    each(UNKNOWN, async (path) => answers(await send('GET', path), 404, error(404))),
  )
  for (const [method, path, allowed] of NOT_ALLOWED) {
    await check(`${method} ${path}: 405, allowed are ${allowed}`, async () => {
      const answer = await send(method, path)
      answers(answer, 405, error(405))
      equal(listOf(answer.headers.get('Allow')).toSorted().join(', '), allowed)
    })
  }
  for (const [method, path, body] of FOR_MEMBERS) {
    await check(`${method} ${path}: 401 with no token, half a token, an unsigned one and another scheme`, () =>
      each(NO_TOKENS, async (Authorization) =>
        answers(await send(method, path, body, { Authorization }), 401, error(401)),
      ),
    )
  }
  await check('HEAD: as GET, without a body, where there is an error too', () =>
    each(['/members/me', '/books/1', '/memos/random', '/nothing'], (path) => checkHead(send, path)),
  )
  await check('X-Request-Id: of its own for each request', async () => {
    const [one, other] = [await send('GET', '/members/me'), await send('GET', '/members/me')]
    notEqual(one.headers.get('X-Request-Id'), other.headers.get('X-Request-Id'))
  })
  await checkOrigins(service, origin)
  const endpoints: Endpoint[] = [
    ['POST', '/join'],
    ['POST', '/login'],
  ]
  await checkBodies('POST /join and POST /login', send, endpoints)
}

const checkHead = async (send: Send, path: string) => {
  const [head, get] = [await send('HEAD', path), await send('GET', path)]
  const { request, status, headers } = head
  deepEqual([status, headers.get('Content-Type')], [get.status, get.headers.get('Content-Type')], request)
}

/** HEAD wherever GET is. */
export const checkHeads = async ({ signUp }: Service) => {
  const reader = await signUp()
  const bookId = await register(reader)
  const gets = FOR_MEMBERS.filter(([method]) => method === 'GET').map(([, path]) => path)
  for (const path of gets.map((path) => path.replace('/books/1', `/books/${bookId}`))) {
    await check(`HEAD ${path}: 200 as GET, without a body`, async () => {
      answers(await reader.send('HEAD', path), 200)
      await checkHead(reader.send, path)
    })
  }
}
