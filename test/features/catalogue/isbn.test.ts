import { env } from 'cloudflare:workers'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EditionList } from '../../../src/catalogue/schema'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { type Reader, signUp } from '../../support/api'
import { measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { refusing } from '../../support/rate-limits'
import { eventually, holdClock } from '../../support/runtime/clock'
import { insertAccessToken } from '../../support/tokens'

const setScenario = (scenario: string) => fetch(`https://control.test/?group=isbn&scenario=${scenario}`)
const providerRequests = async () =>
  (await fetch('https://control.test/?group=isbn')).json<{ host: string; path: string }[]>()

const YES24 = { CATALOGUE_PROVIDER: 'yes24', YES24_API_KEY: 'group=isbn' }
const OPEN_LIBRARY = { CATALOGUE_PROVIDER: 'open-library', CATALOGUE_CONTACT: 'group=isbn' }
const PROVIDERS = Object.entries({ YES24, 'Open Library': OPEN_LIBRARY })

/** Known to Open Library; to it with authors of the work only; to YES24 and the sample; to none. */
const ISBN = { slow: '9780980200447', work: '9780486280615', human: '9788936434120', none: '9791190090018' }
const SLOW_READING = {
  title: 'Slow reading',
  subtitle: null,
  author: 'John Miedema',
  publisher: 'Litwin Books',
  cover: 'https://covers.openlibrary.org/b/id/5546156-L.jpg',
  itemPage: 92,
  isbn: ISBN.slow,
  language: 'en',
  publishedYear: 2009,
  sourceIds: ['openlibrary:OL22853304M', 'goodreads:6383507'],
}
const HUMAN_ACTS = {
  title: '소년이 온다',
  subtitle: '한강 장편소설',
  author: '한강',
  publisher: '창비',
  cover: 'https://image.yes24.com/goods/13137546/XL',
  itemPage: 216,
  isbn: ISBN.human,
  language: null,
  publishedYear: 2014,
  sourceIds: ['yes24:13137546'],
}

const MONTH = 30 * 86_400_000
let reader: Reader
beforeEach(async () => {
  // Each test runs in another month, so that no provider is still backing off from the test before.
  holdClock(MONTH)
  vi.spyOn(console, 'warn')
    .mockReset()
    .mockImplementation(() => {})
  await setScenario('success')
  reader = await signUp()
})
afterAll(() => vi.useRealTimers())
afterEach(async () => {
  const { keys } = await env.CATALOGUE.list()
  for (const { name } of keys) await env.CATALOGUE.delete(name)
})

const lookUp = (isbn: string, changed: object = OPEN_LIBRARY, as = reader) =>
  as.send('GET', `/catalogue/isbn/${isbn}`, { changed })
const register = (body: object, changed: object = OPEN_LIBRARY, headers: Record<string, string> = {}) =>
  reader.send('POST', '/books', { body, changed, headers })
const countBooks = async () => (await reader.get('/books')).body.item.length

const rejection = (field: string, rejectedValue: unknown, reason: string) => {
  return { status: 400, body: { fieldErrors: [{ field, rejectedValue, reason }] } }
}

/** What is stored of a book, without what is not of its edition. */
const storedBook = async (bookId: number) => {
  const [book] = await select('select * from books where bookId = ?', bookId)
  return { ...book, sourceIds: JSON.parse(String(book?.sourceIds)) ?? [] }
}

/** The answer of a request whose provider does not answer in time. */
const timeOut = async <T>(answer: Promise<T>) => {
  await eventually(async () => expect(await providerRequests()).toHaveLength(1))
  await vi.advanceTimersByTimeAsync(DEADLINES.provider)
  return answer
}

describe('GET /catalogue/isbn/{isbn}', () => {
  it('answers what Open Library has of an ISBN-10 or ISBN-13', async () => {
    const answer = await lookUp('0-9802004-4-X')
    expect(answer).toMatchObject({
      status: 200,
      body: { isbn: ISBN.slow, bookCount: 0, books: [], edition: SLOW_READING },
    })
    const [request] = await providerRequests()
    const url = new URL(request?.path ?? '', 'https://openlibrary.org')
    expect([request?.host, url.pathname, Object.fromEntries(url.searchParams)]).toEqual([
      'openlibrary.org',
      '/api/books',
      { bibkeys: `ISBN:${ISBN.slow},ISBN:098020044X`, jscmd: 'details', format: 'json' },
    ])
  })

  it('asks Open Library for the authors of the work if the edition has none', async () => {
    expect((await lookUp(ISBN.work)).body.edition).toMatchObject({ title: 'foo', author: 'Mark Twain', itemPage: 100 })
    const paths = (await providerRequests()).map(({ path }) => new URL(path, 'https://x').searchParams.get('jscmd'))
    expect(paths).toEqual(['details', 'data'])
  })

  it('answers what YES24 has of an ISBN', async () => {
    expect((await lookUp(ISBN.human, YES24)).body.edition).toEqual(HUMAN_ACTS)
    expect(await providerRequests()).toMatchObject([
      { host: 'apis.yes24.com', path: `/v1/goods/itemDetail?searchType=ISBN13&query=${ISBN.human}&detail=Y` },
    ])
  })

  it('finds the books of the sample by ISBN, without a network', async () => {
    expect((await lookUp(ISBN.human, {})).body.edition).toMatchObject({ title: '소년이 온다', isbn: ISBN.human })
    expect(await providerRequests()).toEqual([])
  })

  it('lists only the books of the caller', async () => {
    await (await signUp()).createBook({ isbn: ISBN.slow })
    const { bookId } = await reader.createBook({ title: 'Mine', isbn: ISBN.slow })
    const { body } = await lookUp(ISBN.slow)
    expect(body).toMatchObject({ bookCount: 1, books: [{ bookId, title: 'Mine' }], edition: SLOW_READING })
    expect((await reader.get(`/books/by-isbn/${ISBN.slow}`)).body).toEqual(body.books)
  })

  it.each(PROVIDERS)('has no edition if %s does not know the ISBN', async (_, provider) => {
    expect(await lookUp(ISBN.none, provider)).toMatchObject({ status: 200, body: { books: [], edition: null } })
  })

  it('makes one database call if the edition is cached or the catalogue is the sample, else two', async () => {
    const calls = async (changed: object) => (await measure(() => lookUp(ISBN.human, changed))).calls
    expect([await calls({}), await calls(YES24), await calls(YES24)]).toEqual([1, 2, 1])
  })

  it('needs the scope library:read, and does not ask the provider without it', async () => {
    const token = await insertAccessToken(memberDatabase(), await memberIdOf(reader), ['library:write'], memberSlot())
    const headers = { Authorization: `Bearer ${token}` }
    const path = `/catalogue/isbn/${ISBN.slow}`
    expect(await reader.send('GET', path, { headers, changed: OPEN_LIBRARY })).toMatchObject({ status: 403 })
    const ended = { Authorization: `Bearer ${token.slice(0, -1)}` }
    expect(await reader.send('GET', path, { headers: ended, changed: OPEN_LIBRARY })).toMatchObject({ status: 401 })
    expect(await providerRequests()).toEqual([])
  })
})

describe('the cache of editions', () => {
  it('serves other members for a day, and stores nothing about the member', async () => {
    const { body } = await lookUp(ISBN.slow)
    expect((await lookUp(ISBN.slow, OPEN_LIBRARY, await signUp())).body).toEqual(body)
    expect(await providerRequests()).toHaveLength(1)
    const { keys } = await env.CATALOGUE.list()
    expect(keys.map(({ name }) => name)).toEqual([`catalogue:open-library:isbn:${ISBN.slow}`])
    const stored = await env.CATALOGUE.get(`catalogue:open-library:isbn:${ISBN.slow}`, 'json')
    expect(stored).toEqual({ form: 2, storedAt: expect.any(Number), entries: [SLOW_READING] })
  })

  it('expires after a day', async () => {
    const put = vi.fn(async () => {})
    await lookUp(ISBN.slow, { ...OPEN_LIBRARY, CATALOGUE: { get: async () => null, put } })
    expect(put).toHaveBeenCalledWith(expect.any(String), expect.any(String), { expirationTtl: 86_400 })
  })

  it('does not store unknown ISBNs', async () => {
    await lookUp(ISBN.none)
    expect((await env.CATALOGUE.list()).keys).toEqual([])
  })

  const WRONG = [
    { title: '' },
    { cover: 'javascript:alert(1)' },
    { sourceIds: ['x'] },
    { itemPage: 0 },
    { language: 5 },
  ]
  it.each(WRONG)('treats a stored edition with %j as a miss', async (wrong) => {
    const entries = [{ ...SLOW_READING, title: 'Stored', ...wrong }]
    const stored = { form: 2, storedAt: Date.now(), entries }
    await env.CATALOGUE.put(`catalogue:open-library:isbn:${ISBN.slow}`, JSON.stringify(stored))
    expect((await lookUp(ISBN.slow)).body.edition).toEqual(SLOW_READING)
  })

  it('is a miss while KV fails', async () => {
    const fail = () => Promise.reject(new Error('KV is down'))
    const answer = await lookUp(ISBN.slow, { ...OPEN_LIBRARY, CATALOGUE: { get: fail, put: fail } })
    expect(answer).toMatchObject({ status: 200, body: { edition: SLOW_READING } })
  })
})

describe('GET /catalogue/search', () => {
  const search = (q: string, changed: object = OPEN_LIBRARY) =>
    reader.send('GET', `/catalogue/search?q=${encodeURIComponent(q)}`, { changed })

  it('answers of each book of Open Library the edition that matches best', async () => {
    expect((await search('petit')).body).toEqual([
      {
        title: 'Der kleine Prinz',
        subtitle: 'Mit Zeichnungen',
        author: 'Antoine de Saint-Exupéry',
        publisher: 'Karl Rauch',
        // Not that of the work, which may be of another edition.
        cover: null,
        itemPage: 96,
        isbn: '9783792000021',
        language: 'de',
        publishedYear: 1998,
        sourceIds: ['openlibrary:OL8839071M'],
      },
      expect.objectContaining({ title: 'Untold', isbn: null, sourceIds: [] }),
    ])
  })

  it('answers the books of YES24 and of the sample with the same fields', async () => {
    const { body } = await search('책', YES24)
    expect(body).toHaveLength(10)
    expect(body[0]).toMatchObject({ title: '책 1', isbn: ISBN.human, publishedYear: 2014, sourceIds: ['yes24:1001'] })
    expect((await search('petit', {})).body).toMatchObject([{ title: 'Le Petit Prince', isbn: '9782070612758' }])
  })

  it.each(['', ' ', 'x'.repeat(101)])('rejects %j', async (q) => {
    expect(await search(q)).toMatchObject({ status: 400, body: { violationErrors: [{ propertyPath: 'q' }] } })
    expect(await providerRequests()).toEqual([])
  })
})

describe('POST /books with an ISBN and no title', () => {
  it.each<[string, object, object]>([
    ['Open Library', OPEN_LIBRARY, SLOW_READING],
    ['YES24', YES24, HUMAN_ACTS],
  ])('registers the edition that %s knows', async (_, provider, edition) => {
    const { isbn, title, author, cover } = edition as typeof SLOW_READING
    const answer = await register({ isbn }, provider)
    const bookId = Number(answer.body.bookId)
    expect(answer).toMatchObject({ status: 201, body: { bookId, title, author, cover, bookStatus: 'YET' } })
    expect(answer.headers.get('Location')).toBe(`/books/${bookId}?memoAuthority=ALL`)
    expect(await storedBook(bookId)).toMatchObject(edition)
  })

  it('counts all its texts towards the quota', async () => {
    await register({ isbn: ISBN.slow })
    const [member] = await select('select textBytes from members where memberId = ?', await memberIdOf(reader))
    reader = await signUp()
    const registerWith = async (room: number) =>
      (await register({ isbn: ISBN.slow }, { ...OPEN_LIBRARY, MAX_MEMBER_TEXT_BYTES: String(room) })).status
    const needed = Number(member?.textBytes)
    expect([await registerWith(needed - 1), await registerWith(needed)]).toEqual([409, 201])
  })

  it('stores the values that the client sent, null included, instead of those of the catalogue', async () => {
    const sent = { author: 'Miedema, J.', publisher: null, itemPage: 100, cover: '', bookStatus: 'ING', currentPage: 7 }
    const { body } = await register({ isbn: '0-9802004-4-X', ...sent })
    expect(await storedBook(body.bookId)).toMatchObject({ ...SLOW_READING, ...sent, cover: null })
  })

  it('does not ask the catalogue if there is a title', async () => {
    const { calls } = await measure(() => register({ isbn: ISBN.slow, title: 'Demian' }))
    expect([calls, await providerRequests()]).toEqual([1, []])
  })

  it('makes a call for the guard, one that counts the request to the provider, and one that writes', async () => {
    const calls = async (changed: object) => (await measure(() => register({ isbn: ISBN.human }, changed))).calls
    expect([await calls({}), await calls(YES24), await calls(YES24)]).toEqual([2, 3, 2])
  })

  it.each(PROVIDERS)('refuses an ISBN that %s does not know', async (_, provider) => {
    const { status, headers } = await register({ isbn: ISBN.none }, provider)
    expect([status, headers.get('X-Error-Code'), await countBooks()]).toEqual([422, 'ISBN_NOT_FOUND', 0])
  })

  it.each([
    ['123', 'must be an ISBN of 10 or 13 digits'],
    ['9780980200448', 'must have a valid check digit: at least one digit is wrong'],
    ['1234567890128', 'must start with 978 or 979 if it has 13 digits'],
    [9780980200447, 'must be an ISBN of 10 or 13 digits, as a string'],
    ['', 'must be an ISBN of 10 or 13 digits'],
  ])('refuses the ISBN %j, and says what is wrong', async (isbn, reason) => {
    const refused = await register({ isbn, shelf: 'A' })
    expect(refused).toMatchObject(rejection('isbn', isbn, reason))
    expect(refused.headers.get('X-Ignored')).toBe('shelf')
    expect(await providerRequests()).toEqual([])
  })

  it.each([{}, { isbn: null }, { author: 'A' }])('requires a title in %j', async (body) => {
    expect(await register(body)).toMatchObject(rejection('title', null, 'is required'))
  })

  it('answers a repetition with the same key as before, without the provider', async () => {
    const headers = { 'Idempotency-Key': 'scanned' }
    const first = await register({ isbn: ISBN.slow }, OPEN_LIBRARY, headers)
    await setScenario('broken')
    await env.CATALOGUE.delete(`catalogue:open-library:isbn:${ISBN.slow}`)
    const again = await register({ isbn: ISBN.slow }, OPEN_LIBRARY, headers)
    expect([again.status, again.body, again.headers.get('Idempotency-Replayed')]).toEqual([201, first.body, 'true'])
    const other = await register({ isbn: ISBN.human }, OPEN_LIBRARY, headers)
    expect(other.headers.get('X-Error-Code')).toBe('IDEMPOTENCY_KEY_REUSED')
    expect([await providerRequests(), await countBooks()]).toEqual([[], 1])
  })

  it('does not use up the key if the provider fails', async () => {
    const headers = { 'Idempotency-Key': 'scanned' }
    await setScenario('broken')
    expect((await register({ isbn: ISBN.slow }, OPEN_LIBRARY, headers)).status).toBe(502)
    await setScenario('success')
    const { status, headers: received } = await register({ isbn: ISBN.slow }, OPEN_LIBRARY, headers)
    expect([status, received.get('Idempotency-Replayed'), await countBooks()]).toEqual([201, null, 1])
  })

  it('registers one book if the same request comes twice at once', async () => {
    const headers = { 'Idempotency-Key': 'scanned' }
    const answers = await Promise.all([1, 2, 3].map(() => register({ isbn: ISBN.slow }, OPEN_LIBRARY, headers)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.bookId}`)).size).toBe(1)
    expect(await countBooks()).toBe(1)
  })

  it('refuses a caller above the limit of writes before it asks the provider', async () => {
    const { status } = await register({ isbn: ISBN.slow }, { ...OPEN_LIBRARY, WRITE_LIMIT: refusing })
    expect([status, await providerRequests(), await countBooks()]).toEqual([429, [], 0])
  })
})

describe.each(PROVIDERS)('failures of %s', (_, provider) => {
  const FAILURES = {
    502: 'lost unauthorized broken unavailable truncated html shapeless huge redirect',
    503: 'quota',
    504: 'silent stalled',
  }
  it.each(
    Object.entries(FAILURES).flatMap(([status, scenarios]) =>
      scenarios.split(' ').map((scenario) => ({ scenario, status: Number(status) })),
    ),
  )('are answered with $status, and nothing is written: $scenario', async ({ scenario, status }) => {
    const requests = [() => lookUp(ISBN.slow, provider), () => register({ isbn: ISBN.slow }, provider)]
    for (const request of requests) {
      await setScenario(scenario)
      const answer = await (status === 504 ? timeOut(request()) : request())
      expect(answer).toMatchObject({ status, body: { status } })
      // No redirect is followed.
      expect((await providerRequests()).map(({ host }) => host)).not.toContain('169.254.169.254')
    }
    expect(await countBooks()).toBe(0)
    expect((await env.CATALOGUE.list()).keys).toEqual([])
  })

  it('do not follow from hostile values: what a book cannot have becomes null', async () => {
    await setScenario('hostile')
    const { status, body } = await lookUp(ISBN.slow, provider)
    expect(status).toBe(200)
    expect(EditionList.parse([body.edition])).toEqual([body.edition])
    expect(body.edition).toMatchObject({ cover: null, itemPage: null, language: null, publishedYear: null })
    const registered = await register({ isbn: ISBN.slow }, provider)
    expect(registered.status).toBe(201)
    // What is stored is valid in an update, too.
    const edition = (await reader.get(`/books/${registered.body.bookId}/edition`)).body
    expect((await reader.patch(`/books/${registered.body.bookId}/edition`, edition)).body).toEqual(edition)
  })
})

describe('the requests of a member to the provider', () => {
  const HOUR = 3_600_000
  /** Requests that were counted before. */
  const insertAttempts = async (times: number) => {
    await lookUp(ISBN.none)
    await select(
      `insert into attempts (subject, at) with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
       select subject, at from n, (select subject, at from attempts order by attemptId desc limit 1)`,
      times - 1,
    )
  }

  it('are at most 200 an hour, also from a network that others share', async () => {
    const network = { 'CF-Connecting-IP': '192.0.2.9' }
    const ask = (as: Reader, isbn: string) =>
      as.send('GET', `/catalogue/isbn/${isbn}`, { changed: OPEN_LIBRARY, headers: network })
    await ask(reader, ISBN.none)
    await insertAttempts(199)
    const refused = await ask(reader, ISBN.slow)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '3600'])
    expect((await ask(await signUp(), ISBN.slow)).status).toBe(200)
    // From the cache.
    expect((await ask(reader, ISBN.slow)).status).toBe(200)
    const search = '/catalogue/search?q=x'
    expect((await reader.send('GET', search, { changed: OPEN_LIBRARY })).status).toBe(429)
    expect((await reader.send('GET', search)).status).toBe(200)
    expect((await register({ isbn: ISBN.work })).status).toBe(429)
    holdClock(HOUR)
    expect((await register({ isbn: ISBN.work })).status).toBe(201)
  })

  it('are at most 600 a day', async () => {
    for (let hour = 0; hour < 3; hour++) {
      await insertAttempts(200)
      holdClock(HOUR)
    }
    const { status, headers } = await lookUp(ISBN.slow)
    expect([status, headers.get('Retry-After')]).toEqual([429, String(21 * 3600)])
  })
})
