import { env } from 'cloudflare:workers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { getCached, LISTS } from '../../../src/catalogue/cache'
import { sample } from '../../../src/catalogue/providers/sample'
import { BOOKS } from '../../../src/catalogue/providers/sample-books'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { send, signUp } from '../../support/api'
import { eventually, holdClock } from '../../support/runtime/clock'
import { settle } from '../../support/runtime/concurrent'

const setScenario = (scenario: string) => fetch(`https://control.test/?group=lists&scenario=${scenario}`)
const providerRequests = async () =>
  (await fetch('https://control.test/?group=lists')).json<
    { host: string; path: string; headers: Record<string, string> }[]
  >()

const YES24 = { CATALOGUE_PROVIDER: 'yes24', YES24_API_KEY: 'group=lists' }
const OPEN_LIBRARY = { CATALOGUE_PROVIDER: 'open-library', CATALOGUE_CONTACT: 'group=lists' }
const get = (path: string, changed?: object, headers?: Record<string, string>) =>
  send('GET', `/ext-lib/${path}`, { changed, headers })

const SECOND = 1000
const DAY = 86_400 * SECOND
const advance = holdClock

/** Lets requests that the provider does not answer reach their deadline. */
const timeOut = async (requests: number) => {
  await eventually(async () => expect(await providerRequests()).toHaveLength(requests))
  await vi.advanceTimersByTimeAsync(DEADLINES.provider)
}

let warn: MockInstance<typeof console.warn>
beforeAll(() => {
  warn = vi.spyOn(console, 'warn')
})
beforeEach(async () => {
  // Each test runs in another month, so that no provider is still backing off from the test before.
  advance(30 * DAY)
  warn.mockReset().mockImplementation(() => {})
  await setScenario('success')
})
afterAll(() => vi.useRealTimers())
afterEach(async () => {
  const { keys } = await env.CATALOGUE.list()
  for (const { name } of keys) await env.CATALOGUE.delete(name)
})

describe('the sample provider', () => {
  it('answers ten best sellers and ten new books without a key or network', async () => {
    for (const list of ['best-seller', 'item-new-special']) {
      const answer = await get(list)
      expect(answer.status).toBe(200)
      expect(answer.body).toHaveLength(10)
      expect(answer.headers.get('Cache-Control')).toMatch(/^public, max-age=\d{2,4}$/)
    }
    expect(await providerRequests()).toEqual([])
  })

  it.each([
    ['a part of the title', '소년', '소년이 온다'],
    ['an author', '한강', '소년이 온다'],
    ['decomposed Hangul, as macOS sends it', '소년이'.normalize('NFD'), '소년이 온다'],
    ['another case', 'CIEN', 'Cien años de soledad'],
    ['a name without its accents', 'anos de soledad', 'Cien años de soledad'],
    ['a name with wrong accents', 'Garcìa Marqúez', 'Cien años de soledad'],
    ['text within spaces', '  petit prince ', 'Le Petit Prince'],
  ])('is searched by %s', async (_, query, title) => {
    const { body } = await get(encodeURIComponent(query))
    expect(body.map((entry: { title: string }) => entry.title)).toContain(title)
    expect(Object.keys(body[0]).sort()).toEqual(['author', 'cover', 'itemPage', 'publisher', 'title'])
  })

  it('answers at most ten entries, and none if nothing is found', async () => {
    expect((await get('e')).body).toHaveLength(10)
    expect((await get('%25')).body).toEqual([])
    // An accent alone is no search term.
    expect((await get('%CC%81')).body).toEqual([])
  })
})

describe('YES24', () => {
  const FIRST = { author: '한강', cover: 'https://image.yes24.com/goods/1/XL', publisher: '창비' }

  it('is called at its own host with the key and the encoded search', async () => {
    await get(encodeURIComponent('한강 & 나/../?page=9#x'), YES24)
    await get('best-seller', YES24)
    await get('item-new-special', YES24)
    const [search, bestSeller, newSpecial] = await providerRequests()
    expect(search?.host).toBe('apis.yes24.com')
    expect(search?.headers).toMatchObject({ 'x-api-key': YES24.YES24_API_KEY })
    const url = new URL(search?.path ?? '', 'https://apis.yes24.com')
    expect(url.pathname).toBe('/v1/goods/itemList')
    const fixed = { category: 'BOOK', sort: 'RELATION', page: '1', pageSize: '10', detail: 'Y' }
    expect(Object.fromEntries(url.searchParams)).toEqual({ query: '한강 & 나/../?page=9#x', ...fixed })
    expect(bestSeller?.path).toBe('/v1/category/bestseller?categoryId=001&page=1&pageSize=10&detail=Y')
    expect(newSpecial?.path).toBe('/v1/category/newproductAttention?categoryId=001&page=1&pageSize=10&detail=Y')
  })

  it.each([
    ['광장/구운몽', '광장/구운몽'],
    [encodeURIComponent('광장/구운몽'), '광장/구운몽'],
    ['AC%2FDC/', 'AC/DC/'],
    ['//x', '//x'],
    ['..%2Fx', '../x'],
    ['best-seller/1', 'best-seller/1'],
    ['100%25%2', '100%%2'],
  ])('is searched for the rest of the path: %s', async (path, query) => {
    await get(path, YES24)
    const [request] = await providerRequests()
    expect(new URL(request?.path ?? '', 'https://apis.yes24.com').searchParams.get('query')).toBe(query)
  })

  it('answers at most ten entries', async () => {
    const { body } = await get('x', YES24)
    expect(body).toHaveLength(10)
    expect(body[0]).toEqual({ ...FIRST, title: '책 1', itemPage: 216 })
  })

  it('decodes entities, drops untitled entries and keeps https covers only', async () => {
    await setScenario('odd')
    expect((await get('x', YES24)).body).toEqual([
      { ...FIRST, title: "<나>는 '나' & 너 …", itemPage: null },
      { title: '책 4', author: null, cover: null, publisher: null, itemPage: null },
      { title: '책 5', author: '한강', cover: null, publisher: '창비', itemPage: null },
    ])
  })
})

it('Open Library is called with a contact and the needed fields', async () => {
  const search = await get('soledad', OPEN_LIBRARY)
  expect(search.body).toEqual([
    {
      title: 'Cien años de soledad',
      author: 'Gabriel García Márquez',
      cover: 'https://covers.openlibrary.org/b/id/12627383-L.jpg',
      publisher: 'Sudamericana',
      itemPage: 351,
    },
    { title: 'Untold', author: null, cover: null, publisher: null, itemPage: null },
  ])
  expect((await get('best-seller', OPEN_LIBRARY)).body).toHaveLength(1)
  expect((await get('item-new-special', OPEN_LIBRARY)).body).toHaveLength(2)
  const requests = await providerRequests()
  expect(requests.map(({ host }) => host)).toEqual(Array(3).fill('openlibrary.org'))
  const paths = requests.map(({ path }) => path.split('?')[0])
  expect(paths).toEqual(['/search.json', '/trending/weekly.json', '/search.json'])
  for (const { path, headers } of requests) {
    expect(path).toContain('fields=key%2Ctitle%2Cauthor_name%2Cpublisher%2Cnumber_of_pages_median%2Ccover_i')
    expect(headers['user-agent']).toContain(OPEN_LIBRARY.CATALOGUE_CONTACT)
  }
})

it.each(Object.entries({ YES24, 'Open Library': OPEN_LIBRARY }))(
  'the fields of an entry of %s can be sent to register the book',
  async (_, provider) => {
    const reader = await signUp()
    await setScenario('long')
    const { body } = await get('x', provider)
    expect(await reader.post('/books', body[0])).toMatchObject({ status: 201 })
  },
)

describe.each(Object.entries({ YES24, 'Open Library': OPEN_LIBRARY }))('failures of %s', (_, provider) => {
  it('answers an empty array if nothing is found', async () => {
    await setScenario('empty')
    for (const path of ['x', 'best-seller', 'item-new-special']) {
      expect(await get(path, provider)).toMatchObject({ status: 200, body: [] })
    }
  })

  const FAILURES = {
    502: 'lost unauthorized broken unavailable truncated html shapeless huge redirect',
    503: 'quota quota-without-time',
    504: 'silent stalled',
  }
  it.each(
    Object.entries(FAILURES).flatMap(([status, scenarios]) =>
      scenarios.split(' ').map((scenario) => ({ scenario, status: Number(status) })),
    ),
  )('answers $scenario with $status', async ({ scenario, status }) => {
    await setScenario(scenario)
    const answers = ['x', 'best-seller'].map((path) => get(path, provider))
    if (status === 504) await timeOut(2)
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ status, body: { status, fieldErrors: null, violationErrors: null } })
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
      if (status === 503) expect(answer.headers.get('Retry-After')).toBe(scenario === 'quota' ? '17' : '60')
    }
    // Redirects are not followed, and nothing is retried.
    expect((await providerRequests()).map(({ host }) => host)).not.toContain('169.254.169.254')
    expect(await providerRequests()).toHaveLength(2)
    expect(warn).toHaveBeenCalled()
  })

  it('caches a list for an hour, then answers the stale list and refreshes it in the background', async () => {
    await get('best-seller', provider)
    const { body } = await get('best-seller', provider)
    expect(await providerRequests()).toHaveLength(1)

    await setScenario('empty')
    advance(3601 * SECOND)
    expect((await get('best-seller', provider)).body).toEqual(body)
    expect(await providerRequests()).toHaveLength(1)
    expect((await get('best-seller', provider)).body).toEqual([])
  })

  it('answers the stale list while the provider is down, and backs off', async () => {
    const { body } = await get('best-seller', provider)
    for (const scenario of ['silent', 'quota', 'broken']) {
      await setScenario(scenario)
      advance(4 * DAY)
      for (let n = 0; n < 3; n++) {
        const answer = get('best-seller', provider)
        if (scenario === 'silent' && n === 0) await timeOut(1)
        expect((await answer).body).toEqual(body)
      }
      expect(await providerRequests(), scenario).toHaveLength(1)
    }
  })

  it('does not call the provider again before its Retry-After', async () => {
    await setScenario('quota')
    expect((await get('x', provider)).headers.get('Retry-After')).toBe('17')
    advance(10 * SECOND)
    for (const path of ['y', 'best-seller']) {
      expect((await get(path, provider)).headers.get('Retry-After')).toBe('7')
    }
    expect(await providerRequests()).toHaveLength(1)
    advance(8 * SECOND)
    await get('x', provider)
    expect(await providerRequests()).toHaveLength(2)
  })
})

describe('the cache of lists', () => {
  const key = 'catalogue:yes24:bestSellers'

  const invalid = ['', 'null', '[]', '{"form":1}', '{"form":2,"storedAt":0,"entries":[{"title":1}]}', '{broken']
  it.each(invalid)('treats the cached value %s as a miss', async (value) => {
    await env.CATALOGUE.put(key, value)
    expect((await get('best-seller', YES24)).body).toHaveLength(10)
    expect(await env.CATALOGUE.get(key, 'json')).toMatchObject({ form: 2 })
  })

  it('is filled by one provider call for twenty concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('best-seller', YES24)))
    expect(answers.every(({ status, body }) => status === 200 && body.length === 10)).toBe(true)
    expect(await providerRequests()).toHaveLength(1)
  })

  it('is filled by a waiting request if the first one is cancelled', async () => {
    const entries = await sample(async () => BOOKS).search('Petit')
    const never = new Promise<never>(() => {})
    const request = (load: () => Promise<typeof entries>) =>
      getCached({ ...LISTS, kv: env.CATALOGUE, key: 'catalogue:cancelled', load, waitUntil: () => {} })
    const started = Promise.withResolvers<void>()
    void request(() => {
      started.resolve()
      return never
    })
    await started.promise
    const waiting = [request(async () => entries), request(async () => entries)]
    await settle()
    advance(DEADLINES.refresh)
    expect(await Promise.all(waiting)).toEqual([entries, entries])
  })

  it('is refreshed once while KV still returns the old list', async () => {
    await get('best-seller', YES24)
    const old = await env.CATALOGUE.get(key, 'json')
    const put = vi.fn(async () => {})
    const CATALOGUE = { get: async () => old, put } as unknown as KVNamespace
    advance(3601 * SECOND)
    for (let n = 0; n < 5; n++) await get('best-seller', { ...YES24, CATALOGUE })
    expect([(await providerRequests()).length, put.mock.calls.length]).toEqual([2, 1])
    advance(61 * SECOND)
    await get('best-seller', { ...YES24, CATALOGUE })
    expect(await providerRequests()).toHaveLength(3)
  })

  it('is optional: lists are answered while KV fails', async () => {
    const fail = () => Promise.reject(new Error('KV is down'))
    const broken = { get: fail, put: fail } as unknown as KVNamespace
    expect((await get('best-seller', { ...YES24, CATALOGUE: broken })).body).toHaveLength(10)
  })

  it('does not hold searches', async () => {
    await get('soledad', YES24)
    expect((await env.CATALOGUE.list()).keys).toEqual([])
  })
})

describe('the searches of a network', () => {
  const HOUR = 3600 * SECOND
  const search = (network: string, changed: object = OPEN_LIBRARY) => get('x', changed, { 'CF-Connecting-IP': network })
  const searchTimes = async (times: number, network: string) => {
    for (let n = 0; n < times; n++) expect((await search(network)).status).toBe(200)
  }
  const expectRefused = async (network: string, seconds: number) => {
    const { status, headers } = await search(network)
    expect([status, headers.get('Retry-After'), headers.get('RateLimit')]).toEqual([429, String(seconds), null])
  }

  it('reach the provider at most 100 times an hour and 300 times a day', { tags: ['slow'] }, async () => {
    const network = '192.0.2.201'
    await searchTimes(100, network)
    await expectRefused(network, 3600)
    expect(await providerRequests()).toHaveLength(100)
    for (let hour = 1; hour < 3; hour++) {
      advance(HOUR)
      await searchTimes(100, network)
    }
    advance(HOUR)
    await expectRefused(network, 21 * 3600)
    expect((await search('192.0.2.202')).status).toBe(200)
    expect((await get('best-seller', OPEN_LIBRARY, { 'CF-Connecting-IP': network })).status).toBe(200)
    expect((await search(network, {})).status).toBe(200)
  })

  it('reach the provider at most 300 times an hour from an IPv6 /48', { tags: ['slow'] }, async () => {
    for (const subnet of [1, 2, 3]) await searchTimes(100, `2001:db8:77:${subnet}::1`)
    await expectRefused('2001:db8:77:4::1', 3600)
    expect((await search('2001:db8:78:1::1')).status).toBe(200)
  })

  it('are not counted when they are invalid, and have no bookmark, as their responses may be cached', async () => {
    const network = '192.0.2.203'
    for (let n = 0; n < 101; n++) {
      expect((await get('%20', OPEN_LIBRARY, { 'CF-Connecting-IP': network })).status).toBe(400)
    }
    const { status, headers } = await search(network)
    expect([status, headers.get('X-D1-Bookmark')]).toEqual([200, null])
  })
})
