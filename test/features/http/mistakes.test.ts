// The likeliest mistakes of client developers: each answer says what is wrong, and what to do.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAccessToken, hashToken } from '../../../src/auth/access-token'
import { ofType, type Reader, send, sharedReader, signUp } from '../../support/api'
import { memberDatabase, memberSlot } from '../../support/database'
import { addressOf, bodyOf, operations } from '../../support/document/operations'
import { memberIdOf } from '../../support/images/images'
import { png } from '../../support/images/pictures'
import { claimsOf, insertAccessToken, signClaims } from '../../support/tokens'

let reader: Reader
beforeAll(async () => {
  reader = await sharedReader()
})

describe('a token', () => {
  const getProfile = (authorization?: string) =>
    send('GET', '/books/1/tags', { headers: { ...(authorization !== undefined && { Authorization: authorization }) } })
  const expired = () => signClaims({ ...claimsOf(reader.token), exp: 1_700_000_000 }, env.JWT_SECRET ?? '')
  const forged = () =>
    signClaims({ ...claimsOf(reader.token), exp: 1_700_000_000 }, 'another secret of 32 bytes or more')
  const ended = () => signClaims({ ...claimsOf(reader.token), sid: crypto.randomUUID() }, env.JWT_SECRET ?? '')
  const unknownMember = () => signClaims({ ...claimsOf(reader.token), sub: '987654321' }, env.JWT_SECRET ?? '')
  const revoked = async () => {
    const token = await insertAccessToken(memberDatabase(), await memberIdOf(reader), ['library:read'], memberSlot())
    await memberDatabase()
      .prepare('delete from accessTokens where tokenHash = ?')
      .bind(await hashToken(token))
      .run()
    return token
  }

  it.each<[what: string, authorization: () => string | undefined | Promise<string>, message: string]>([
    ['is missing', () => undefined, 'A token is required: send the header Authorization'],
    ['is empty', () => 'Bearer', 'A token is required: send the header Authorization'],
    ['has another scheme', () => 'Basic bWU6bWU=', 'A token is required: send the header Authorization'],
    ['has no scheme', () => reader.token, 'only the token: send Bearer and a space before it'],
    ['is an access token without a scheme', () => createAccessToken(0), 'send Bearer and a space before it'],
    ['has its scheme twice', () => `Bearer Bearer ${reader.token}`, 'twice: login returns the token with Bearer'],
    ['is undefined', () => 'Bearer undefined', 'malformed, or not from this service: send it exactly'],
    ['is cut off', () => `Bearer ${reader.token.slice(0, -1)}`, 'malformed, or not from this service'],
    ['is an access token with a typo', () => `Bearer ${createAccessToken(0).slice(0, -1)}`, 'malformed, or not from'],
    ['has expired', async () => `Bearer ${await expired()}`, 'The token has expired: log in again'],
    ['belongs to a session that ended', async () => `Bearer ${await ended()}`, 'The session has ended'],
    ['was deleted', async () => `Token ${await revoked()}`, 'the access token was deleted or has expired'],
  ])('that %s gets a message of its own', async (_, authorization, message) => {
    const header = await authorization()
    const answer = await getProfile(header)
    expect(answer).toMatchObject({ status: 401, body: { status: 401, message: expect.stringContaining(message) } })
    expect(answer.headers.get('X-Error-Code')).toBe('UNAUTHORIZED')
    const challenge = message.startsWith('A token is required') ? 'Bearer' : 'Bearer error="invalid_token"'
    expect(answer.headers.get('WWW-Authenticate')).toBe(challenge)
  })

  it('that is forged, or names what never existed, gets the message of any other like it', async () => {
    const messageOf = async (token: string) => (await getProfile(`Bearer ${token}`)).body.message
    expect(await messageOf(await forged())).toBe(await messageOf('x.y.z'))
    const never = [await ended(), await unknownMember(), createAccessToken(0), createAccessToken(61)]
    expect(new Set(await Promise.all(never.map(messageOf))).size).toBe(1)
  })
})

type Sent = Parameters<typeof send>[2]
type Mistake = [what: string, request: () => [method: string, path: string, sent?: Sent], status: number, text: string]

const text = (type: string, body: string): Sent => ofType(type, body)
const JSON_TYPE = 'application/json'

describe('a mistake is explained:', () => {
  let bookId: number
  let unknownLength: number
  let memoId: number
  beforeAll(async () => {
    bookId = (await reader.createBook({ itemPage: 216 })).bookId
    unknownLength = (await reader.createBook()).bookId
    memoId = (await reader.createMemo(bookId)).memoId
  })

  it.each<Mistake>([
    [
      'no Content-Type, as curl sends it',
      () => ['POST', '/books', text('application/x-www-form-urlencoded', '{"title":"Demian"}')],
      415,
      'send Content-Type: application/json',
    ],
    ['JSON instead of a form', () => ['POST', '/memos/image-memo', text(JSON_TYPE, '{}')], 415, 'multipart/form-data'],
    [
      'a form without a boundary',
      () => ['POST', '/memos/image-memo', text('multipart/form-data', '--x\r\n')],
      400,
      'Content-Type has no boundary, which your client adds if you do not set the header',
    ],
    ['no body', () => ['POST', '/books', text(JSON_TYPE, '')], 400, 'Required request body is missing'],
    [
      'single quotes',
      () => ['POST', '/books', text(JSON_TYPE, "{'title':'x'}")],
      400,
      'Malformed JSON request: quotes other than straight double ones at line 1, column 2',
    ],
    [
      'a trailing comma',
      () => ['POST', '/books', text(JSON_TYPE, '{\n  "title": "Demian",\n}')],
      400,
      'Malformed JSON request: trailing comma at line 2, column 20',
    ],
    [
      'an array',
      () => ['POST', '/books', { body: [{ title: 'Demian' }] }],
      400,
      'Malformed JSON request: it must be an object, not an array',
    ],
    [
      'JSON in a string',
      () => ['POST', '/books', { body: '{"title":"Demian"}' }],
      400,
      'not a string: it may be encoded twice',
    ],
    [
      'another encoding of JSON',
      () => ['POST', '/books', { raw: new Uint8Array([0xff, 0xfe, 0x7b, 0]) }],
      400,
      'not UTF-8',
    ],
    ['a field of another name', () => ['POST', '/books', { body: { name: 'Demian' } }], 400, '"title"'],
    [
      'an unknown status',
      () => ['PATCH', `/books/${bookId}`, { body: { bookStatus: 'READING' } }],
      400,
      'must be one of YET, ING, DONE',
    ],
    [
      'a rating as text',
      () => ['PATCH', `/books/${bookId}`, { body: { star: '5' } }],
      400,
      'must be an integer between 0 and 5 (not a string)',
    ],
    [
      'a time zone',
      () => ['PATCH', `/books/${bookId}`, { body: { readEndDate: '2026-01-01T00:00:00Z' } }],
      400,
      'must be in the format yyyy-MM-ddTHH:mm:ss, without a time zone',
    ],
    [
      'an impossible date',
      () => ['PATCH', `/books/${bookId}`, { body: { readEndDate: '2026-02-30T00:00:00' } }],
      400,
      'must be a valid calendar date',
    ],
    [
      'null for what cannot be null',
      () => ['PATCH', `/books/${bookId}`, { body: { star: null, publisher: null } }],
      400,
      'must be an integer between 0 and 5',
    ],
    [
      'an object instead of a date',
      () => ['PATCH', `/books/created-date/${bookId}`, { body: { createdAt: '2026-01-01T00:00:00' } }],
      400,
      'must be sent by itself, not in an object or an array',
    ],
    [
      'bookId in the body',
      () => ['POST', '/memos', { body: { bookId, memoBookPage: 1, memoContent: 'x' } }],
      400,
      '"bookId","rejectedValue":null,"reason":"is required in the query, as in /memos?bookId=1, not in the body"',
    ],
    ['the spelling calendar', () => ['GET', '/books/calendar?page=1&size=9'], 400, 'the calendar is spelled calender'],
    ['page 0', () => ['GET', '/books/calender?page=0&size=9'], 400, 'must be an integer between 1 and 2147483647'],
    [
      'no size',
      () => ['GET', '/books/calender?page=1'],
      400,
      '"size","rejectedValue":null,"reason":"is required in the query"',
    ],
    ['a tag in the body', () => ['DELETE', '/tags', { body: { tag: 'Novel' } }], 400, 'is required in the query'],
    ['a parameter twice', () => ['GET', '/books?author=a&author=b'], 400, 'must be sent only once'],
    [
      'an ISBN as a number',
      () => ['PATCH', `/books/${bookId}/edition`, { body: { isbn: 9788936434120 } }],
      400,
      'must be an ISBN of 10 or 13 digits, as a string',
    ],
    [
      'half a star as text',
      () => ['POST', `/books/${bookId}/readings`, { body: { rating: '4.5' } }],
      400,
      'between 0.25 and 5, or null (not a string)',
    ],
    ['a large size', () => ['GET', '/books/calender?page=1&size=5000'], 400, 'must be an integer between 1 and 1000'],
    ['no memoAuthority', () => ['GET', `/books/${bookId}`], 400, 'memoAuthority'],
    ['a bare percent sign', () => ['GET', '/books?tag=100%'], 400, 'must be percent-encoded UTF-8, with %25 for %'],
    ['another encoding', () => ['GET', '/books/search?q=%BC%D2%B3%E2'], 400, 'must be percent-encoded UTF-8'],
    ['a short search term', () => ['GET', '/memos/search?q=x'], 400, 'must be 2 to 100 characters long, or one'],
    ['an unknown order', () => ['GET', '/books?sort=date'], 400, 'must be one of created, -created'],
    ['a cursor of another list', () => ['GET', '/authors?cursor=Mg'], 400, 'must be next of the previous page'],
    ['a slash at the end', () => ['GET', '/books/'], 404, 'remove the slash at its end'],
    ['an unknown path', () => ['GET', '/book'], 404, 'No resource at this path: see /docs'],
    ['the wrong method', () => ['POST', '/books/library'], 405, 'Method not allowed: use GET, HEAD'],
    ['PUT instead of PATCH', () => ['PUT', `/books/${bookId}`, { body: {} }], 405, 'use GET, HEAD, PATCH, DELETE'],
    ['a book that does not exist', () => ['GET', '/books/999999999?memoAuthority=ALL'], 404, 'Book not found'],
    [
      'If-Match for what has no version',
      () => ['PATCH', `/books/${bookId}`, { body: {}, headers: { 'If-Match': '"1"' } }],
      400,
      'If-Match works only with PATCH and DELETE /memos/{memo-id}: send this request without it',
    ],
    [
      'a version without quotes',
      () => ['PATCH', `/memos/${memoId}`, { body: { memoContent: 'y' }, headers: { 'If-Match': '5' } }],
      412,
      'Precondition failed: If-Match must be the ETag of the memo, in quotes',
    ],
    [
      'a version of a memo to delete without quotes',
      () => ['DELETE', `/memos/${memoId}`, { headers: { 'If-Match': '5' } }],
      412,
      'Precondition failed: If-Match must be the ETag of the memo, in quotes',
    ],
    [
      'a key with a space',
      () => ['POST', '/books', { body: { title: 'x' }, headers: { 'Idempotency-Key': 'a b' } }],
      400,
      'must be 1 to 64 visible ASCII characters',
    ],
    [
      'a rating between the steps',
      () => ['POST', `/books/${bookId}/readings`, { body: { rating: 4.3 } }],
      400,
      'must be a multiple of 0.25',
    ],
    [
      'an end before the start',
      () => ['POST', `/books/${bookId}/readings`, { body: { startedAt: '2026-02', finishedAt: '2026-01' } }],
      400,
      'must not be before startedAt',
    ],
    [
      'a percentage of an unknown length',
      () => ['POST', `/books/${unknownLength}/progress`, { body: { percent: 50 } }],
      400,
      'must not be sent for a book with neither itemPage nor edition.seconds: send page',
    ],
    [
      'a login with a token',
      () => ['POST', '/login', { body: { email: 'a@b.example', password: 'x' } }],
      400,
      'The Authorization header must not be sent with this request',
    ],
    ['an unknown scope', () => ['POST', '/tokens', { body: { name: 'x', scopes: ['read'] } }], 400, 'library:read'],
    [
      'a text file as an image',
      () => ['POST', '/memos/image-memo', { raw: form('file', 'not a picture') }],
      415,
      'must be a PNG, JPEG, GIF or WebP image',
    ],
    [
      'a form with another part',
      () => ['POST', '/memos/image-memo', { raw: form('image', 'x') }],
      400,
      '"field":"file","rejectedValue":null,"reason":"is required: the form has image instead"',
    ],
    [
      'an import with another part',
      () => ['POST', '/imports', { raw: form('File', 'x') }],
      400,
      'is required: the form has File instead',
    ],
    [
      'a part that must be JSON',
      () => ['POST', '/imports', { raw: form('file', 'x', 'a.csv', 'columns') }],
      400,
      '"columns","rejectedValue":null,"reason":"must be JSON: word without double quotes',
    ],
    [
      'a form with parts of hostile names',
      () => ['POST', '/memos/image-memo', { raw: form('<첨부>', 'x') }],
      400,
      'is required: the form has +1 instead',
    ],
    [
      'a form whose file is not chosen',
      () => ['POST', '/memos/image-memo', { raw: form('file', '', '') }],
      400,
      '"is required"',
    ],
    [
      'a page beyond the last one',
      () => ['POST', `/books/${bookId}/progress`, { body: { page: 217 } }],
      400,
      '"field":"page","rejectedValue":217,"reason":"must be at most the itemPage of the book, 216: update that first if the book is longer"',
    ],
  ])('%s', async (_, request, status, expected) => {
    const answer = await reader.send(...request())
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.body)).toContain(expected)
  })
})

const form = (field: string, content: string, fileName = 'page.png', ...others: string[]) => {
  const data = new FormData()
  data.append(field, new Blob([content]), fileName)
  for (const name of others) data.append(name, 'x')
  return data
}

describe('X-Ignored', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `x${index}`)
  const ignored = async (method: string, path: string, body?: object, headers = {}) => {
    const answer = await reader.send(method, path, { body, headers })
    return [answer.status, answer.headers.get('X-Ignored')]
  }
  let bookId: number
  beforeAll(async () => {
    bookId = (await reader.createBook()).bookId
  })

  it('lists query parameters that the operation does not have', async () => {
    expect(await ignored('GET', '/books?statsu=DONE&limit=5&size=1')).toEqual([200, 'statsu, limit'])
    expect(await ignored('GET', '/books/library?page=1&size=1&status=DONE')).toEqual([400, 'status'])
    expect(await ignored('GET', `/books/${bookId}/tags?page=1`)).toEqual([200, 'page'])
    expect(await ignored('DELETE', '/tags?tag=none&dryRun=true')).toEqual([404, 'dryRun'])
    expect(await ignored('GET', '/books?size=1&size=2')).toEqual([400, null])
    expect(await ignored('GET', '/books?size=1&constructor=1&__proto__=2')).toEqual([200, 'constructor, __proto__'])
  })

  it('lists fields that the operation does not have', async () => {
    const edition = `/books/${bookId}/edition`
    expect(await ignored('PATCH', edition, { publishYear: 2007 })).toEqual([200, 'publishYear'])
    expect(await ignored('PATCH', `${edition}?x=1`, { publishYear: 2007, language: 1 })).toEqual([
      400,
      'x, publishYear',
    ])
    expect(await ignored('PATCH', `/books/${bookId}`, { title: 'Demian', star: 4 })).toEqual([200, 'title'])
    expect(await ignored('POST', '/books', { title: 'Demian', isRead: true, star: 4 })).toEqual([201, 'isRead, star'])
    const memo = { memoBookPage: 1, memoContent: 'x', bookId }
    expect(await ignored('POST', `/memos?bookId=${bookId}`, memo)).toEqual([201, 'bookId'])
    expect(await ignored('PATCH', '/members/me', { email: 'a@b.example' })).toEqual([200, 'email'])
    const prototypes = '{"title":"x","__proto__":{"star":5},"constructor":1,"hasOwnProperty":1}'
    const answer = await reader.send('POST', '/books', ofType(JSON_TYPE, prototypes))
    expect([answer.status, answer.headers.get('X-Ignored')]).toEqual([201, '__proto__, constructor, hasOwnProperty'])
  })

  it.each<[isbn: unknown, stored: string | null, ignored: string | null]>([
    ['978-89-364-3412-0', '9788936434120', null],
    ['8936434128', '9788936434120', null],
    [null, null, null],
    ['978-89-364-3412-1', null, 'isbn'],
    ['not an ISBN', null, 'isbn'],
    ['', null, 'isbn'],
    [9788936434120, null, 'isbn'],
    [{ isbn: '9788936434120' }, null, 'isbn'],
  ])('lists the ISBN %j of a new book if it is invalid', async (isbn, stored, expected) => {
    const { status, headers, body } = await reader.post('/books', { title: 'Demian', isbn })
    expect([status, headers.get('X-Ignored')]).toEqual([201, expected])
    expect((await reader.get(`/books/${body.bookId}/edition`)).body.isbn).toBe(stored)
  })

  it.each<[json: string, author: string | null, ignored: string | null]>([
    ['{"title":"x","author":"A","author":"B"}', 'B', 'author'],
    ['{"title":"x","author":"A","\\u0061uthor":null,"a":1,"a":2}', null, 'a, author'],
    ['{"title":"x","author":"\\"author\\":{\\"author\\":","b":{"a":1,"a":2}}', '"author":{"author":', 'b'],
    ['{"title":"x","author":"A\\\\","__proto__":1,"__proto__":2}', 'A\\', '__proto__'],
    [' { "title" : "x" , "author" :\n"A" } ', 'A', null],
  ])('lists the fields that %s has twice', async (json, author, expected) => {
    const answer = await reader.send('POST', '/books', ofType(JSON_TYPE, json))
    expect([answer.status, answer.body.author, answer.headers.get('X-Ignored')]).toEqual([201, author, expected])
  })

  it('lists a current password that nothing compares', async () => {
    const wrong = { currentPassword: 'not this one' }
    const { send: ask } = await signUp()
    const named = await ask('PATCH', '/members/me', { body: { name: 'Mina', ...wrong } })
    expect([named.status, named.headers.get('X-Ignored')]).toEqual([200, 'currentPassword'])
    const changed = await ask('PATCH', '/members/me', { body: { password: 'another-horse-2', ...wrong } })
    expect([changed.status, changed.headers.get('X-Ignored')]).toEqual([400, null])
  })

  it('lists conditions that a write does not read', async () => {
    const headers = { 'If-None-Match': '*', 'If-Unmodified-Since': 'Thu, 01 Jan 2026 00:00:00 GMT' }
    const path = `/books/${bookId}`
    expect(await ignored('PATCH', path, { star: 3 }, headers)).toEqual([200, 'If-None-Match, If-Unmodified-Since'])
    expect(await ignored('PATCH', path, { star: 3 }, { 'If-Unchanged-Since': 'x' })).toEqual([
      200,
      'If-Unchanged-Since',
    ])
    expect(await ignored('GET', `${path}/tags`, undefined, headers)).toEqual([200, null])
  })

  it('lists a key that the operation does not read', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    expect(await ignored('POST', '/books', { title: 'Demian', x: 1 }, headers)).toEqual([201, 'x'])
    expect(await ignored('POST', `/books/${bookId}/progress`, { page: 5, x: 1 }, headers)).toEqual([
      201,
      'x, Idempotency-Key',
    ])
    expect(await ignored('GET', '/tags', undefined, headers)).toEqual([200, 'Idempotency-Key'])
    expect(await ignored('PATCH', '/books/999999999', {}, headers)).toEqual([404, null])
  })

  it('lists the old spelling of a date if the new one is sent, too', async () => {
    const [readStratDate, readStartDate] = ['2026-01-01T00:00:00', '2026-02-02T00:00:00']
    expect(await ignored('PATCH', `/books/${bookId}`, { readStratDate })).toEqual([200, null])
    expect(await ignored('PATCH', `/books/${bookId}`, { readStratDate, readStartDate })).toEqual([200, 'readStratDate'])
    expect(await ignored('PATCH', `/books/${bookId}`, { readStratDate, readStartDate: null })).toEqual([
      200,
      'readStratDate',
    ])
  })

  it('lists the other parts of a form', async () => {
    const parts = async (path: string, raw: FormData) => {
      const answer = await reader.send('POST', path, { raw })
      return [answer.status, answer.headers.get('X-Ignored')]
    }
    const upload = form('file', '', '', 'bookId', 'bookId', '제목')
    upload.set('file', new Blob([png()]), 'page.png')
    expect(await parts('/memos/image-memo', upload)).toEqual([201, 'bookId, +1'])
    expect(await parts('/memos/image-memo', form('image', 'x'))).toEqual([400, 'image'])
    expect(await parts('/imports?dryRun=true', form('file', 'Title\nDemian', 'a.csv', 'merge'))).toEqual([202, 'merge'])
  })

  it('says that an operation has no body', async () => {
    expect(await ignored('DELETE', `/memos/${(await reader.createMemo(bookId)).memoId}`, { soft: true })).toEqual([
      204,
      'body',
    ])
    expect(await ignored('DELETE', `/memos/${(await reader.createMemo(bookId)).memoId}`, {})).toEqual([204, null])
    expect(await ignored('DELETE', `/memos/${(await reader.createMemo(bookId)).memoId}`)).toEqual([204, null])
    expect(await ignored('DELETE', '/memos/999999999', { soft: true })).toEqual([404, null])
    const chunked = new Blob(['{"all":true}']).stream()
    const answer = await (await signUp()).send('POST', '/logout', { raw: chunked })
    expect([answer.status, answer.headers.get('X-Ignored')]).toEqual([204, 'body'])
  })

  it('lists at most ten names that are safe in a header, and counts the others', async () => {
    const path = `/books/${bookId}/edition`
    const fields = Object.fromEntries(many(12).map((name) => [name, 1]))
    expect(await ignored('PATCH', path, fields)).toEqual([200, `${many(10).join(', ')}, +2`])
    const unsafe = {
      'a\r\nSet-Cookie: b': 1,
      제목: 1,
      '': 1,
      '+1': 1,
      'a, b': 1,
      'a\0': 1,
      'a\n': 1,
      [many(30).join('')]: 1,
    }
    expect(await ignored('PATCH', path, unsafe)).toEqual([200, '+8'])
    expect(await ignored('GET', '/books?size=1&a%0d%0ab=1&%ec%a0%9c=1&ok=1')).toEqual([200, 'ok, +2'])
    expect(await ignored('GET', '/books?size=1&tag[]=a&$filter=b&c%2C+d=1')).toEqual([200, 'tag[], $filter, +1'])
    const longest = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`${at}`.padStart(40, 'x'), at]))
    const [status, header] = await ignored('POST', '/books', { title: 'Demian', ...longest })
    expect([status, String(header).length, String(header).endsWith(', +9990')]).toEqual([201, 10 * 42 + 5, true])
  })

  const withBody = operations.filter(({ types }) => types.length > 0)
  it.each(withBody.map((operation) => [operation.method, operation.template, operation] as const))(
    'lists the unknown field of %s %s',
    async (method, _, operation) => {
      const address = addressOf(operation)
      const { readStratDate, ...fields } = (bodyOf(operation) ?? {}) as Record<string, unknown>
      const isForm = operation.types.includes('multipart/form-data')
      const isText = operation.types.includes('text/plain')
      const options = isForm
        ? { raw: form('file', 'x', 'a.csv', 'notAField') }
        : { body: isText ? '2026-01-02T03:04:05' : { ...fields, notAField: 1 } }
      const { status, headers } = await (operation.needsToken ? (await signUp()).send : send)(
        method,
        `${address}${address.includes('?') ? '&' : '?'}notAParameter=1`,
        options,
      )
      // Some fail for other reasons, after they were read.
      expect(status).not.toBe(401)
      expect(headers.get('X-Ignored')).toBe(isText ? 'notAParameter' : 'notAParameter, notAField')
    },
  )

  it('says nothing of requests that were refused before they were read', async () => {
    const answer = await send('GET', `/books/${bookId}/tags?page=1`)
    expect([answer.status, answer.headers.get('X-Ignored')]).toEqual([401, null])
    expect(await ignored('GET', '/nothing?page=1')).toEqual([404, null])
  })
})
