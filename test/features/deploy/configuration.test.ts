import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import { BASE, handle, newEmail, ORIGIN, type Reader, send, signUp } from '../../support/api'
import { brokenDatabase, changeDatabase, memberDatabase } from '../../support/database'
import { refusing } from '../../support/rate-limits'
import { wrapDatabase } from '../../support/wrap-database'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.createBook()).bookId
})

it('answers 503 on /health while the database fails', async () => {
  using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect((await send('GET', '/health', { changed: { DB: brokenDatabase('overloaded') } })).status).toBe(503)
})

it('allows the origins in CORS_ORIGINS only', async () => {
  const changed = { CORS_ORIGINS: 'https://a.example, https://b.example' }
  const from = (Origin: string) => send('GET', '/health', { changed, headers: { Origin } })
  expect((await from('https://b.example')).headers.get('Access-Control-Allow-Origin')).toBe('https://b.example')
  expect((await from('https://c.example')).headers.get('Access-Control-Allow-Origin')).toBeNull()
})

describe('a request without a token from a page', () => {
  const changed = { CORS_ORIGINS: 'https://a.example' }
  const PATHS = [
    ...['/join', '/login', '/email/join', '/email/password-reset', '/email/password-change', '/password-reset'],
    '/email/change/undo',
  ]
  // Without a content type, so that browsers send it from any page.
  const raw = new TextEncoder().encode('{}')
  const codeOf = async (path: string, headers: Record<string, string>, variables = changed) =>
    (await send('POST', path, { changed: variables, headers, raw })).headers.get('X-Error-Code')

  it.each(PATHS)('of another origin than those in CORS_ORIGINS cannot POST %s', async (path) => {
    for (const Origin of ['https://c.example', 'null'])
      expect(await codeOf(path, { Origin, 'Sec-Fetch-Site': 'cross-site' })).toBe('ORIGIN_NOT_ALLOWED')
  })

  it('of an allowed origin or of the service itself can send requests, and so can other clients', async () => {
    const all = { CORS_ORIGINS: '' }
    expect(await codeOf('/login', { Origin: 'https://c.example' }, all)).toBe('INVALID_FIELDS')
    const allowed: Record<string, string>[] = [
      { Origin: 'https://a.example' },
      { Origin: BASE },
      // Behind a proxy, with another origin.
      { Origin: 'https://proxy.example', 'Sec-Fetch-Site': 'same-origin' },
      {},
    ]
    for (const headers of allowed)
      expect(await codeOf('/login', headers), JSON.stringify(headers)).toBe('INVALID_FIELDS')
  })
})

it('cuts off an endless body while reading it', async () => {
  const raw = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
  const answer = await reader.send('POST', '/books', { raw, headers: { 'Content-Type': 'application/json' } })
  expect(answer.status).toBe(413)
})

afterEach(() => vi.useRealTimers())

describe('X-D1-Bookmark', () => {
  const sessionsOf = async (headers: Record<string, string>) => {
    using sessions = vi.spyOn(Object.getPrototypeOf(env.DB), 'withSession')
    expect((await reader.send('GET', '/members/me', { headers })).status).toBe(200)
    return [...sessions.mock.calls]
  }

  it('starts the database session of the next request where the last one ended', async () => {
    const bookmark = (await reader.get('/members/me')).headers.get('X-D1-Bookmark') ?? ''
    expect(bookmark).toMatch(/^[\da-f-]{59}$/)
    expect(await sessionsOf({ 'X-D1-Bookmark': bookmark })).toEqual([[bookmark]])
  })

  const FUTURE = [8, 8, 8, 32].map((digits) => 'f'.repeat(digits)).join('-')

  it.each([undefined, 'yesterday', 'first-unconstrained', '', FUTURE])(
    'reads from the primary if it is %o',
    async (value) => {
      const headers: Record<string, string> = value === undefined ? {} : { 'X-D1-Bookmark': value }
      expect(await sessionsOf(headers)).toEqual([['first-primary']])
    },
  )

  it('is replaced by the current one if it is from the future', async () => {
    const { headers } = await reader.send('GET', '/members/me', { headers: { 'X-D1-Bookmark': FUTURE } })
    expect(headers.get('X-D1-Bookmark')?.localeCompare(FUTURE)).toBe(-1)
  })
})

it('accepts a token after a rotation of the secret only while the previous secret is kept', async () => {
  const statusWith = async (JWT_SECRET_PREVIOUS: string | undefined) => {
    const changed = { JWT_SECRET: 'the next secret, after the rotation of the old', JWT_SECRET_PREVIOUS }
    return (await reader.send('GET', '/members/me', { changed })).status
  }
  expect(await statusWith(env.JWT_SECRET)).toBe(200)
  expect(await statusWith('')).toBe(401)
})

describe('the log', () => {
  it('has one line per request, with the request id of the answer and no personal data', async () => {
    using info = vi.spyOn(console, 'info').mockImplementation(() => {})
    const email = newEmail()
    const answer = await send('POST', '/login', { body: { email, password: 'secret-password' } })
    const found = await reader.get(`/books/${bookId}?memoAuthority=ALL`)
    const lines = info.mock.calls.map(([line]) => String(line))
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      message: 'request',
      requestId: answer.headers.get('X-Request-Id'),
      version: env.VERSION.id,
      method: 'POST',
      route: '/login',
      status: 401,
      code: 'LOGIN_FAILED',
      ms: expect.any(Number),
      sampleRate: 1,
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

  const failing = async () => Promise.reject(new Error('out of order'))

  it.each<[what: string, method: string, path: string, message: string, changed: object]>([
    ['a request that failed', 'GET', '/members/me', 'disk is full', changeDatabase(brokenDatabase('disk is full'))],
    ['a limiter', 'GET', '/ext-lib/best-seller', 'rate limiter NETWORK_LIMIT', { NETWORK_LIMIT: { limit: failing } }],
    ['the catalogue', 'GET', '/ext-lib/best-seller', 'catalogue cache:', { CATALOGUE: { get: failing, put: failing } }],
    ['work after the response', 'DELETE', '/members/me', 'purge:', { IMAGES: { list: failing } }],
  ])('has the request id and the version in the lines of %s', async (_, method, path, message, changed) => {
    const lines: string[] = []
    const keep = (line: unknown) => void lines.push(String(line))
    using _error = vi.spyOn(console, 'error').mockImplementation(keep)
    using _warn = vi.spyOn(console, 'warn').mockImplementation(keep)
    const { headers } = await (await signUp()).send(method, path, { changed })
    const origin = { requestId: headers.get('X-Request-Id'), version: env.VERSION.id }
    const expected = expect.objectContaining({ ...origin, message: expect.stringContaining(message) })
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(expected)
    expect(lines.map((line) => JSON.parse(line).requestId)).toEqual(lines.map(() => origin.requestId))
  })

  describe('of a sample of requests', () => {
    /** The request lines of one request, with a fixed random number. */
    const linesOf = async (random: number, path: string, changed: Partial<Bindings> = {}, body?: object) => {
      using info = vi.spyOn(console, 'info').mockImplementation(() => {})
      using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
      using _random = vi.spyOn(Math, 'random').mockReturnValue(random)
      await reader.send(body ? 'POST' : 'GET', path, { body, changed: { LOG_SAMPLE_RATE: undefined, ...changed } })
      return info.mock.calls.map(([line]) => JSON.parse(String(line)))
    }
    const ME = '/members/me'

    it.each([ME, '/books/999999?memoAuthority=ALL'])('has a tenth of those to %s', async (path) => {
      expect(await linesOf(0.0999, path)).toMatchObject([{ message: 'request', sampleRate: 0.1 }])
      expect(await linesOf(0.1, path)).toEqual([])
    })

    it('has the share that LOG_SAMPLE_RATE sets', async () => {
      expect(await linesOf(0.249, ME, { LOG_SAMPLE_RATE: '0.25' })).toMatchObject([{ sampleRate: 0.25 }])
      expect(await linesOf(0.25, ME, { LOG_SAMPLE_RATE: '0.25' })).toEqual([])
      expect(await linesOf(0, ME, { LOG_SAMPLE_RATE: '0' })).toEqual([])
      expect(await linesOf(0.999, ME, { LOG_SAMPLE_RATE: '1' })).toMatchObject([{ sampleRate: 1 }])
    })

    it.each<[string, number, Partial<Bindings>]>([
      ['failed', 500, changeDatabase(brokenDatabase('D1_ERROR: disk is full'))],
      ['failed temporarily', 503, changeDatabase(brokenDatabase('D1_ERROR: D1 DB is overloaded.'))],
      ['found an invalid configuration', 500, { LOG_SAMPLE_RATE: '2' }],
    ])('has all that %s', async (_, status, changed) => {
      expect(await linesOf(0.999, ME, changed)).toMatchObject([{ status, sampleRate: 1 }])
    })

    it('has the first refusal of a minute by each limit, which it names', async () => {
      const start = Date.now()
      using now = vi.spyOn(Date, 'now').mockReturnValue(start)
      const path = '/ext-lib/best-seller'
      const refuse = () => linesOf(0.999, path, { NETWORK_LIMIT: refusing })
      const line = { status: 429, code: 'TOO_MANY_REQUESTS', limit: `NETWORK_LIMIT ${path}`, sampleRate: 1 }
      expect(await refuse()).toMatchObject([line])
      expect(await linesOf(0.999, '/books', { MAX_BOOKS: '1' }, { title: 'Demian', bookStatus: 'YET' })).toMatchObject([
        { status: 409, code: 'MAX_BOOKS', limit: 'MAX_BOOKS', sampleRate: 1 },
      ])
      now.mockReturnValue(start + 59_999)
      expect(await refuse()).toEqual([])
      expect(await linesOf(0, path, { NETWORK_LIMIT: refusing })).toMatchObject([{ ...line, sampleRate: 0.1 }])
      now.mockReturnValue(start + 60_000)
      expect(await refuse()).toMatchObject([line])
    })

    it.each([
      [999, 0],
      [1000, 1],
    ])('has %i ms of waiting in %i lines', async (waited, count) => {
      const start = Date.now()
      using now = vi.spyOn(Date, 'now').mockReturnValue(start)
      const database = wrapDatabase(memberDatabase(), (call) => {
        now.mockReturnValue(start + waited)
        return call()
      })
      const lines = await linesOf(0.999, ME, changeDatabase(database))
      expect(lines).toEqual(Array(count).fill(expect.objectContaining({ status: 200, ms: waited, sampleRate: 1 })))
    })
  })

  it.each<[what: string, path: string, bytes: number, isDeclared: boolean]>([
    ['no handler reads', '/nowhere', 20_000, true],
    ['is read as it arrives', '/login', 20_000, false],
    ['is read in one piece', '/login', 20, true],
  ])('has no line because of a slow body that %s', async (_, path, bytes, isDeclared) => {
    const start = Date.now()
    using now = vi.spyOn(Date, 'now').mockReturnValue(start)
    // The runtime asks for the first byte before the service does.
    const steps = [() => {}, () => now.mockReturnValue(start + 5000)]
    const raw = new ReadableStream({
      type: 'bytes',
      pull: (controller) => {
        steps.shift()?.()
        controller.enqueue(new TextEncoder().encode(' '.repeat(bytes / 2)))
        if (steps.length === 0) controller.close()
      },
    })
    using info = vi.spyOn(console, 'info').mockImplementation(() => {})
    using _random = vi.spyOn(Math, 'random').mockReturnValue(0.999)
    const headers: Record<string, string> = isDeclared ? { 'Content-Length': String(bytes) } : {}
    const { status } = await send('POST', path, { raw, headers, changed: { LOG_SAMPLE_RATE: '0' } })
    expect([Math.floor(status / 100), Date.now() - start]).toEqual([4, 5000])
    expect(info.mock.calls).toEqual([])
  })

  it('has the details of an error that is answered with a fixed message', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = brokenDatabase('D1_ERROR: disk of host 10.0.0.1 is full')
    const answer = await reader.send('GET', '/members/me', { changed: changeDatabase(DB) })
    const body = { status: 500, message: 'Internal server error', fieldErrors: null, violationErrors: null }
    expect(answer).toEqual({ status: 500, headers: expect.anything(), body })
    const line = JSON.parse(String(error.mock.calls[0]?.[0]))
    const message = expect.stringContaining('full')
    expect(line).toMatchObject({ requestId: answer.headers.get('X-Request-Id'), message })
  })
})

describe('the configuration', () => {
  const load = (method: string, changed: Partial<Bindings>) =>
    handle(new Request(`${BASE}/.well-known/security.txt`, { method }), changed)

  it.each([
    ['a missing secret', { JWT_SECRET: undefined }, 'wrangler secret put JWT_SECRET'],
    ['a blank secret', { JWT_SECRET: ' ' }, 'JWT_SECRET is missing'],
    ['a secret of 31 bytes', { JWT_SECRET: 'x'.repeat(31) }, '32 random bytes'],
    ['a weak previous secret', { JWT_SECRET_PREVIOUS: 'short' }, 'JWT_SECRET_PREVIOUS is too short'],
    ['an unknown time zone', { TIME_ZONE: 'Mars/Olympus' }, 'IANA'],
    ['a lifetime that is not a number', { TOKEN_TTL_SECONDS: 'a week' }, 'is not an integer from 60 to 31536000'],
    ['a public URL with a query', { PUBLIC_URL: 'https://library.test/?v=1' }, 'PUBLIC_URL has a query or fragment'],
    ['an image URL with a fragment', { IMAGE_BASE_URL: 'https://library.test#i' }, 'IMAGE_BASE_URL has a query'],
    ['a mail limit that is not an integer', { MAILS_PER_DAY: '0.5' }, 'MAILS_PER_DAY is not an integer from 0'],
    ['a security contact that is not a URI', { SECURITY_CONTACT: 'me@library.test' }, 'SECURITY_CONTACT is not'],
    ['a security contact of another scheme', { SECURITY_CONTACT: 'http://library.test' }, 'SECURITY_CONTACT is not'],
    ['a security contact of two lines', { SECURITY_CONTACT: 'mailto:a@b.c\nContact: x' }, 'SECURITY_CONTACT is not'],
    ['a share of log lines above 1', { LOG_SAMPLE_RATE: '10' }, 'LOG_SAMPLE_RATE is not a number from 0 to 1'],
    ['a missing rate limit', { NETWORK_LIMIT: undefined } as object, 'NETWORK_LIMIT is missing'],
    ['a misspelled switch', { EMAIL_VERIFICATION: 'of' }, 'EMAIL_VERIFICATION is not one of required, off'],
  ])('with %s fails closed, and the log says what to do', async (_, changed, hint) => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await send('GET', '/health', { changed, headers: { Origin: ORIGIN } })
    expect(answer).toMatchObject({ status: 500, body: { status: 500, message: 'Internal server error' } })
    expect(error.mock.calls.join()).toContain(hint)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
  })

  it('uses defaults for empty values', async () => {
    const changed = { ABANDON_AFTER_DAYS: '', PUBLIC_URL: '', MAIL_FROM: ' ', MAILS_PER_DAY: '', CORS_ORIGINS: ' ' }
    await reader.createBook()
    const answer = await reader.send('GET', '/books/abandon?page=1&size=1', { changed })
    expect(answer).toMatchObject({ status: 200, body: { item: [] } })
  })

  it.each(['mailto:security@library.test', 'https://library.test/security?lang=en'])(
    'publishes the security contact %s, valid for less than a year',
    async (SECURITY_CONTACT) => {
      vi.useFakeTimers({ now: new Date('2026-11-21T09:30:00Z'), toFake: ['Date'] })
      const answer = await load('GET', { SECURITY_CONTACT })
      vi.useRealTimers()
      expect(await answer.text()).toBe(
        `Contact: ${SECURITY_CONTACT}\nExpires: 2027-05-20T00:00:00Z\nPreferred-Languages: en\n` +
          'Canonical: https://library.test/.well-known/security.txt\n',
      )
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'public, max-age=3600',
      })
      const head = await load('HEAD', { SECURITY_CONTACT })
      expect([head.status, await head.text()]).toEqual([200, ''])
    },
  )

  it('names no canonical address that is unknown or not https', async () => {
    for (const PUBLIC_URL of [undefined, 'http://library.test']) {
      const answer = await load('GET', { SECURITY_CONTACT: 'mailto:security@library.test', PUBLIC_URL })
      expect(await answer.text()).not.toContain('Canonical')
    }
  })

  it('publishes no security.txt without a contact', async () => {
    expect(await send('GET', '/.well-known/security.txt')).toMatchObject({ status: 404, body: { status: 404 } })
  })

  it('sets the time zone of the service', async () => {
    vi.useFakeTimers({ now: 1000 * Math.floor(Date.now() / 1000), toFake: ['Date'] })
    const offset = async (TIME_ZONE: string) => {
      const options = { changed: { TIME_ZONE }, body: { name: 'Reader' } }
      const { updatedAt } = (await reader.send('PATCH', '/members/me', options)).body
      return Date.parse(`${updatedAt}Z`) - Date.now()
    }
    expect(await offset('UTC')).toBe(0)
    expect(await offset('Asia/Seoul')).toBe(9 * 3_600_000)
    expect(await offset('America/Sao_Paulo')).toBe(-3 * 3_600_000)
  })
})
