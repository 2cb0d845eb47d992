import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, login, PASSWORD, type Reader, send, sharedReader } from '../support/api'
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
const BODY_TOO_LARGE = 'Request body too large'
const UNSUPPORTED = 'Unsupported media type'

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

it('keeps the password through every rejected body', async () => {
  expect((await login(reader.email, PASSWORD)).status).toBe(200)
})
