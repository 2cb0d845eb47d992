import { ok } from 'node:assert/strict'
import http from 'node:http'
import https from 'node:https'
import { answers, error } from './answer.ts'
import { check, each } from './check.ts'
import { MEBIBYTE, type Member, type Send, type Service } from './client.ts'
import { checkNothingStored, register, write } from './shelf.ts'

const JSON_TYPE = 'application/json'
const TWO_MEBIBYTES = `{"title":"${'x'.repeat(2 * MEBIBYTE)}"}`

/** 2 MiB whose length is not told. */
export const inChunks = () => new Blob([TWO_MEBIBYTES]).stream()

const MISSING = 'Required request body is missing'
const MALFORMED = 'Malformed JSON request'

const BODIES: [what: string, body: unknown, type: string | undefined, status: number, message?: string][] = [
  ['nothing', undefined, JSON_TYPE, 400, MISSING],
  ['nothing, of no type', undefined, undefined, 400, MISSING],
  ['nothing, of another type', undefined, 'text/html', 400, MISSING],
  ['an empty array', '[]', JSON_TYPE, 400, MALFORMED],
  ['an array of objects', '[{"title":"x"}]', JSON_TYPE, 400, MALFORMED],
  ['null', 'null', JSON_TYPE, 400, MALFORMED],
  ['true', 'true', JSON_TYPE, 400, MALFORMED],
  ['a quoted word', '"word"', JSON_TYPE, 400, MALFORMED],
  ['a bare word', 'word', JSON_TYPE, 400, MALFORMED],
  ['a fraction', '1.5', JSON_TYPE, 400, MALFORMED],
  ['2^31', '2147483648', JSON_TYPE, 400, MALFORMED],
  ['2^53+1', '9007199254740993', JSON_TYPE, 400, MALFORMED],
  ['half an object', '{"title":"x', JSON_TYPE, 400, MALFORMED],
  ['two objects', '{"title":"x"}{}', JSON_TYPE, 400, MALFORMED],
  ['white space', ' \n', JSON_TYPE, 400, MALFORMED],
  ['deep nesting', '['.repeat(100_000), JSON_TYPE, 400, MALFORMED],
  ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), JSON_TYPE, 400, MALFORMED],
  ['2 MiB of a told length', TWO_MEBIBYTES, JSON_TYPE, 413],
  ['2 MiB of an untold length', inChunks, JSON_TYPE, 413],
  ['a form', 'title=x', 'application/x-www-form-urlencoded', 415],
  ['a form of parts', '--x--', 'multipart/form-data; boundary=x', 415],
  ['a page', '{"title":"x"}', 'text/html', 415],
  ['plain text', '{"title":"x"}', 'text/plain', 415],
  ['something like JSON', '{"title":"x"}', 'application/jsonp', 415],
  ['a type that is none', '{"title":"x"}', 'json', 415],
]

/** An endpoint that takes a body. */
export type Endpoint = [method: string, path: string]
const TAKES_TEXT = /created-date/

/** Sends every wrong body to the endpoints. */
export const checkBodies = async (of: string, send: Send, endpoints: Endpoint[]) => {
  for (const [what, body, type, status, message] of BODIES) {
    await check(`a body that is ${what}, at ${of}: ${status}${message ? ` ${message}` : ''}`, () =>
      each(endpoints, async ([method, path]) => {
        const answer = await send(method, path, body, { 'Content-Type': type })
        // A bare text that is no date is a field error there.
        if (TAKES_TEXT.test(path) && (message === MALFORMED || type === 'text/plain')) return answers(answer, 400)
        answers(answer, status, error(status, message))
      }),
    )
  }
}

/** Announces more than it sends and then hangs up: the service's answer, or undefined when it gave none. */
const hangUp = (baseUrl: string, { token }: Member, [method, path]: Endpoint, part: string) =>
  new Promise<http.IncomingMessage | undefined>((resolve) => {
    const { request } = baseUrl.startsWith('https:') ? https : http
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': JSON_TYPE,
      'Content-Length': part.length + 100,
    }
    const sent = request(baseUrl + path, { method, headers, agent: false, timeout: 10_000 })
    sent.on('response', (response) => resolve(response.resume()))
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(undefined))
    sent.on('close', () => resolve(undefined))
    sent.write(part, () => setTimeout(() => sent.socket?.end(), 100))
  })

/** What bodies the endpoints that need a token take and refuse. */
export const checkMemberBodies = async ({ baseUrl, signUp, logIn }: Service) => {
  const reader = await signUp()
  const bookId = await register(reader)
  const memoId = await write(reader, bookId)
  const endpoints: Endpoint[] = [
    ['PATCH', '/members/me'],
    ['POST', '/books'],
    ['PATCH', `/books/${bookId}`],
    ['PATCH', `/books/created-date/${bookId}`],
    ['POST', `/memos?bookId=${bookId}`],
    ['PATCH', `/memos/${memoId}`],
  ]
  await checkNothingStored('every endpoint that takes a body', reader, async () => {
    await checkBodies('every endpoint of members, books and memos', reader.send, endpoints)
    await check('a body that is cut off before its told length: a 4xx, or no answer of the service', () =>
      each(endpoints, async (endpoint) => {
        const whole = '{"title":"x","name":"x","star":5,"memoContent":"x","memoBookPage":9}'
        const part = TAKES_TEXT.test(endpoint[1]) ? '2020-01-01T00:00:00' : whole
        const answer = await hangUp(baseUrl, reader, endpoint, part)
        const status = answer?.statusCode ?? 400
        // What stands before the service (`wrangler dev`, an edge) may answer in its place, with a 5xx of its own.
        const isOfService = answer?.headers['x-request-id'] !== undefined
        ok(status >= 400 && (status < 500 || !isOfService), `${endpoint.join(' ')} got ${status}`)
      }),
    )
  })
  await check('PATCH /members/me: the password is still the one it was', () => logIn(reader.email))

  const noChange = (body: string, type: string | undefined = JSON_TYPE) =>
    reader.send('PATCH', '/members/me', body, { 'Content-Type': type })
  await check('a body may be of any JSON type', () =>
    each([JSON_TYPE, 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/ld+json'], async (type) =>
      answers(await noChange('{}', type), 200),
    ),
  )
  await check('a body of no content type is read as JSON', async () =>
    answers(await reader.send('PATCH', '/members/me', '{}', { 'Content-Type': undefined }), 200),
  )
  await check('a body of 1 MiB is taken, one of a byte more is 413', async () => {
    answers(await noChange('{}'.padEnd(MEBIBYTE)), 200)
    answers(await noChange('{}'.padEnd(MEBIBYTE + 1)), 413, error(413))
  })
}
