import { env, exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { BASE, newEmail, type Reader, send, signUp } from '../support/api'
import { brokenDatabase } from '../support/database'

let reader: Reader
let bookId: number
let memoId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.registers()).bookId
  memoId = (await reader.writes(bookId)).memoId
})

/** Each endpoint that takes a JSON object. */
const bodies = () =>
  [
    ['POST', '/join'],
    ['POST', '/login'],
    ['PATCH', '/members/me'],
    ['POST', '/books'],
    ['PATCH', `/books/${bookId}`],
    ['POST', `/memos?bookId=${bookId}`],
    ['PATCH', `/memos/${memoId}`],
  ] as const

const sendBody = (method: string, path: string, raw: BodyInit | undefined, type?: string) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
  const isPublic = path === '/join' || path === '/login'
  return isPublic ? send(method, path, { raw, headers }) : reader.send(method, path, { raw, headers })
}

const everyTable = async () => {
  const tables = ['members', 'books', 'memos', 'retiredIds']
  const rows = await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`)))
  return rows.map(({ results }) => results)
}

describe('a body that is not what is due', () => {
  const json = 'application/json'
  const cases: [string, BodyInit | undefined, string | undefined, number, string][] = [
    ['nothing', undefined, json, 400, 'Required request body is missing'],
    ['nothing, of no type', undefined, undefined, 400, 'Required request body is missing'],
    ['nothing, of another type', '', 'text/html', 400, 'Required request body is missing'],
    ['an array', '[]', json, 400, 'Malformed JSON request'],
    ['null', 'null', json, 400, 'Malformed JSON request'],
    ['a word', '"word"', json, 400, 'Malformed JSON request'],
    ['a number', '1.5', json, 400, 'Malformed JSON request'],
    ['half an object', '{"title": "De', json, 400, 'Malformed JSON request'],
    ['two objects', '{}{}', json, 400, 'Malformed JSON request'],
    ['bytes that are no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), json, 400, 'Malformed JSON request'],
    ['deep nesting', '['.repeat(100_000), json, 400, 'Malformed JSON request'],
    ['2 MiB', `{"title":"${'x'.repeat(2_097_152)}"}`, json, 413, 'The request body is too large'],
    ['a form', 'title=Demian', 'application/x-www-form-urlencoded', 415, 'The content type is not supported here'],
    ['plain text', '{"title":"Demian"}', 'text/plain', 415, 'The content type is not supported here'],
    ['something like JSON', '{"title":"Demian"}', 'application/jsonp', 415, 'The content type is not supported here'],
  ]

  it.each(cases)('%s', async (_, raw, type, status, message) => {
    const before = await everyTable()
    for (const [method, path] of bodies()) {
      const answer = await sendBody(method, path, raw, type)
      expect(answer, `${method} ${path}`).toMatchObject({
        status,
        body: { status, message, fieldErrors: null, violationErrors: null },
      })
    }
    expect(await everyTable()).toEqual(before)
  })

  it('is cut off while reading when its length is not told', async () => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
    const answer = await reader.send('POST', '/books', {
      raw: endless,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(answer.status).toBe(413)
  })

  it('is a field error for each required field of an empty object', async () => {
    const fields = async (method: string, path: string) =>
      (await sendBody(method, path, '{}', 'application/json')).body.fieldErrors.map(
        (error: { field: string }) => error.field,
      )
    expect(await fields('POST', '/join')).toEqual(['email', 'name', 'password', 'authenticationCode'])
    expect(await fields('POST', '/login')).toEqual(['email', 'password'])
    expect(await fields('POST', '/books')).toEqual(['title'])
    expect(await fields('POST', `/memos?bookId=${bookId}`)).toEqual(['memoBookPage', 'memoContent'])
  })

  it('may say so in any JSON type, or in none', async () => {
    for (const type of [
      undefined,
      'application/json;charset=utf-8',
      'APPLICATION/JSON',
      'application/vnd.a!b+c+json',
    ]) {
      const raw = new TextEncoder().encode('{"title":"Demian","__proto__":{"star":5},"constructor":1}')
      expect((await sendBody('POST', '/books', raw, type)).status, type).toBe(201)
    }
  })
})

describe('addresses and methods', () => {
  it('answers an unknown address with 404', async () => {
    for (const path of ['/nothing', '/docs/nothing', '/books/1/pages', '/join/', '/memos/random/1']) {
      expect((await reader.get(path)).body).toMatchObject({ status: 404, fieldErrors: null, violationErrors: null })
    }
  })

  it.each([
    ['PUT', '/books', 'POST'],
    ['POST', '/books/library', 'GET, HEAD'],
    ['DELETE', '/books/calender', 'GET, HEAD'],
    ['PATCH', '/books/abandon', 'GET, HEAD'],
    ['PATCH', '/books/memo-books', 'GET, HEAD'],
    ['DELETE', '/memos/random', 'GET, HEAD'],
    ['GET', '/memos/5', 'PATCH, DELETE'],
    ['GET', '/login', 'POST'],
    ['PUT', '/members/me', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/books/5', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/books/5/memos', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    const answer = await send(method, path)
    expect(answer).toMatchObject({ status: 405, body: { status: 405 } })
    expect(answer.headers.get('Allow')).toBe(allow)
  })

  it('takes what only begins or ends like a fixed word for an identifier that is none', async () => {
    for (const word of ['library.json', 'calender%00', 'abandon;a=1', 'my-memo-books']) {
      const answer = await reader.get(`/books/${word}?memoAuthority=ALL`)
      expect(answer, word).toMatchObject({ status: 400, body: { violationErrors: [{ propertyPath: 'book-id' }] } })
    }
  })

  it('answers HEAD wherever it answers GET, without a body', async () => {
    for (const path of ['/members/me', '/memos/random', `/books/${bookId}?memoAuthority=ALL`]) {
      expect(await reader.send('HEAD', path)).toMatchObject({ status: 200, body: null })
    }
    expect((await send('HEAD', '/members/me')).status).toBe(401)
  })

  it('tells its health', async () => {
    expect(await send('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
    const DB = brokenDatabase('overloaded')
    vi.spyOn(console, 'error').mockImplementationOnce(() => {})
    const ill = await send('GET', '/health', { changed: { DB } })
    expect(ill.status).toBe(503)
  })
})

describe('browsers', () => {
  const origin = 'https://app.example'

  it('get a preflight answered, for a day and with credentials', async () => {
    const headers = {
      Origin: origin,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,content-type',
    }
    const answer = await exports.default.fetch(`${BASE}/books/1`, { method: 'OPTIONS', headers })
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,HEAD,POST,PATCH,DELETE',
      'access-control-allow-headers': 'Authorization,Content-Type',
      'access-control-max-age': '86400',
    })
  })

  it('may read every answer, errors too, and the headers that matter', async () => {
    for (const path of ['/members/me', '/nothing', '/books/0?memoAuthority=ALL']) {
      const { headers } = await send('GET', path, { headers: { Origin: origin } })
      expect(headers.get('Access-Control-Allow-Origin'), path).toBe(origin)
      expect(headers.get('Access-Control-Allow-Credentials'), path).toBe('true')
      expect(headers.get('Access-Control-Expose-Headers'), path).toBe(
        'Authorization,Location,ETag,Retry-After,X-Request-Id',
      )
      expect(headers.get('Vary'), path).toContain('Origin')
    }
  })

  it('are let in from the origins listed only', async () => {
    const changed = { CORS_ORIGINS: 'https://a.example, https://b.example' }
    const from = (Origin: string) => send('GET', '/health', { changed, headers: { Origin } })
    expect((await from('https://b.example')).headers.get('Access-Control-Allow-Origin')).toBe('https://b.example')
    expect((await from('https://c.example')).headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it('keep nothing personal, and sniff nothing', async () => {
    for (const { headers } of [await reader.get('/members/me'), await send('GET', '/nothing')]) {
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'")
      expect(headers.get('Strict-Transport-Security')).toMatch(/max-age=\d{7,}/)
    }
  })
})

describe('a bookmark of the database', () => {
  it('comes with an answer, and is where the next one begins when it is sent back', async () => {
    const bookmark = (await reader.get('/members/me')).headers.get('X-D1-Bookmark') ?? ''
    expect(bookmark).toMatch(/^[\da-f-]{59}$/)
    const sessions = vi.spyOn(Object.getPrototypeOf(env.DB), 'withSession')
    expect((await reader.send('GET', '/members/me', { headers: { 'X-D1-Bookmark': bookmark } })).status).toBe(200)
    expect(sessions.mock.calls).toEqual([[bookmark]])
    sessions.mockRestore()
  })

  it.each([undefined, 'yesterday', 'first-unconstrained', ''])('%o asks the primary', async (bookmark) => {
    const sessions = vi.spyOn(Object.getPrototypeOf(env.DB), 'withSession')
    const headers: Record<string, string> = bookmark === undefined ? {} : { 'X-D1-Bookmark': bookmark }
    expect((await reader.send('GET', '/members/me', { headers })).status).toBe(200)
    expect(sessions.mock.calls).toEqual([['first-primary']])
    sessions.mockRestore()
  })
})

describe('the log', () => {
  it('has one line a request, under the identifier that the answer bears, and no person in it', async () => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => {})
    const email = newEmail()
    const answer = await send('POST', '/login', { body: { email, password: 'secret-password' } })
    const found = await reader.get(`/books/${bookId}?memoAuthority=ALL`)
    const lines = info.mock.calls.map(([line]) => String(line))
    info.mockRestore()
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      message: 'request',
      requestId: answer.headers.get('X-Request-Id'),
      method: 'POST',
      route: '/login',
      status: 401,
      ms: expect.any(Number),
    })
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      requestId: found.headers.get('X-Request-Id'),
      route: '/books/:book-id',
      status: 200,
      memberId: expect.any(Number),
    })
    expect(lines.join()).not.toContain(email)
    expect(lines.join()).not.toContain('secret-password')
  })

  it('has what went wrong, where the answer has one fixed message', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = brokenDatabase('D1_ERROR: disk of host 10.0.0.1 is full')
    const answer = await reader.send('GET', '/members/me', { changed: { DB } })
    expect(answer.status).toBe(500)
    expect(answer.body).toEqual({
      status: 500,
      message: 'Something went wrong on our side',
      fieldErrors: null,
      violationErrors: null,
    })
    const line = JSON.parse(String(error.mock.calls[0]?.[0]))
    expect(line).toMatchObject({
      requestId: answer.headers.get('X-Request-Id'),
      message: expect.stringContaining('full'),
    })
    error.mockRestore()
  })
})

describe('the configuration', () => {
  it.each([
    ['no secret', { JWT_SECRET: undefined }, 'wrangler secret put JWT_SECRET'],
    ['a secret of 31 bytes', { JWT_SECRET: 'x'.repeat(31) }, '32 random bytes'],
    ['a weak previous secret', { JWT_SECRET_PREVIOUS: 'short' }, 'JWT_SECRET_PREVIOUS is too short'],
    ['a time zone that there is not', { TIME_ZONE: 'Mars/Olympus' }, 'IANA'],
    ['a lifetime that is no number', { TOKEN_TTL_SECONDS: 'a week' }, 'TOKEN_TTL_SECONDS'],
    ['a misspelled switch', { EMAIL_VERIFICATION: 'of' }, 'EMAIL_VERIFICATION'],
  ])('fails closed on %s, and the log says what to do', async (_, changed, hint) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await send('GET', '/health', { changed, headers: { Origin: 'https://app.example' } })
    expect(answer).toMatchObject({ status: 500, body: { status: 500, message: 'Something went wrong on our side' } })
    expect(error.mock.calls.join()).toContain(hint)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
    error.mockRestore()
  })

  it('sets the clock of the service', async () => {
    const shown = async (TIME_ZONE: string) => {
      const answer = await reader.send('PATCH', '/members/me', { changed: { TIME_ZONE }, body: { name: 'Reader' } })
      const { updatedAt } = answer.body
      return Date.parse(`${updatedAt}Z`) - Date.now()
    }
    expect(await shown('UTC')).toBeCloseTo(0, -4)
    expect(await shown('Asia/Seoul')).toBeCloseTo(9 * 3_600_000, -4)
    expect(await shown('America/Sao_Paulo')).toBeCloseTo(-3 * 3_600_000, -4)
  })
})
