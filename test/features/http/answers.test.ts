import { beforeAll, expect, it } from 'vitest'
import { type Answer, sharedReader } from '../../support/api'
import { checkAgainstDocument } from '../../support/document/document'

let valid: Answer
beforeAll(async () => {
  valid = await (await sharedReader()).get('/members/me')
})

type Changes = { path?: string; status?: number; body?: unknown; headers?: Record<string, string | undefined> }

/** Checks an answer to GET /members/me after changing it. A header that is undefined is left out. */
const check = ({ path = '/members/me', headers = {}, ...changed }: Changes) => {
  const merged = { ...Object.fromEntries(valid.headers), ...headers }
  const sent = Object.entries(merged).filter((header): header is [string, string] => header[1] !== undefined)
  checkAgainstDocument('GET', path, { ...valid, ...changed, headers: new Headers(sent) })
}

const errorWith = (status: number, code: string, headers = {}): Changes => ({
  status,
  body: { status, message: 'Refused', fieldErrors: null, violationErrors: null },
  headers: { 'x-d1-bookmark': undefined, 'x-error-code': code, ...headers },
})
const challenge = { 'www-authenticate': 'Bearer' }
const image = {
  memberId: 1,
  name: 'x.png',
  type: 'image/png',
  bytes: 1,
  createdAt: '2026-11-21T09:30:00',
  url: 'x.png',
}
const images = {
  path: '/images',
  body: { item: [image], pageInfo: { page: 1, size: 10, totalElements: 1, totalPages: 1 } },
  headers: { link: '</images?page=1&size=10>; rel="first"' },
}
const email = 'reader@library.test'

it('accepts answers as described, and what servers add to them', () => {
  check({})
  check({ headers: { date: 'today', 'content-type': 'application/json; charset=utf-8' } })
  check(errorWith(401, 'UNAUTHORIZED', challenge))
  check({ path: '/login', ...errorWith(405, 'METHOD_NOT_ALLOWED', { allow: 'POST' }) })
})

it.each<[what: string, problem: string, changes: Changes]>([
  ['another status', 'no such status', { status: 202 }],
  ['another operation', 'no such operation', { path: '/members/you' }],
  ['another header', '"x-powered-by"', { headers: { 'x-powered-by': 'Hono' } }],
  ['another value of a security header', '"cache-control"', { headers: { 'cache-control': 'public' } }],
  ['no request id', "'x-request-id'", { headers: { 'x-request-id': undefined } }],
  ['another format of a header', '/x-request-id must match format', { headers: { 'x-request-id': '1' } }],
  ['another content type', 'content type text/html', { headers: { 'content-type': 'text/html' } }],
  ['no content type', 'content type undefined', { headers: { 'content-type': undefined } }],
  ['no body', 'without a body', { body: null }],
  ['no name', "'name'", { body: { email } }],
  ['another field', '"age"', { body: { email, name: 'Reader', age: 7 } }],
  ['another type of a field', '/name must be string', { body: { email, name: 7 } }],
  ['another format of a field', 'url must match format', images],
  ['another error code', 'error code LOGIN_FAILED', errorWith(401, 'LOGIN_FAILED', challenge)],
  ['a 401 without a challenge', "'www-authenticate'", errorWith(401, 'UNAUTHORIZED')],
  ['a 405 without Allow', "'allow'", { path: '/login', ...errorWith(405, 'METHOD_NOT_ALLOWED') }],
])('refuses %s', (_, problem, changes) => {
  expect(() => check(changes)).toThrow(problem)
})
