import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { send } from '../support/api'

type Asked = { host: string; path: string; headers: Record<string, string> }

const stage = (scenario: string) => fetch(`https://control.test/?scenario=${scenario}`)
const asked = async () => (await fetch('https://control.test/')).json<Asked[]>()

const YES24 = { CATALOGUE_PROVIDER: 'yes24', YES24_API_KEY: 'a-key' }
const OPEN_LIBRARY = { CATALOGUE_PROVIDER: 'open-library', CATALOGUE_CONTACT: 'library@library.test' }
const get = (path: string, changed?: object, headers?: Record<string, string>) =>
  send('GET', `/ext-lib/${path}`, { changed, headers })

let months = 0
/** Each test has a month of its own, so that no provider is still being left alone. */
const nextMonth = () => vi.useFakeTimers({ now: Date.now() + ++months * 30 * 86_400_000, toFake: ['Date'] })

let warn: ReturnType<typeof vi.spyOn>
beforeEach(async () => {
  vi.useRealTimers()
  nextMonth()
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  await stage('success')
})
afterEach(async () => {
  warn.mockRestore()
  vi.useRealTimers()
  const { keys } = await env.CATALOGUE.list()
  for (const { name } of keys) await env.CATALOGUE.delete(name)
})

describe('the sample catalogue', () => {
  it('answers ten best sellers and ten new books, without a key or a network', async () => {
    for (const list of ['best-seller', 'item-new-special']) {
      const answer = await get(list)
      expect(answer.status).toBe(200)
      expect(answer.body).toHaveLength(10)
      expect(answer.headers.get('Cache-Control')).toMatch(/^public, max-age=\d{2,4}$/)
    }
    expect(await asked()).toEqual([])
  })

  it.each([
    ['part of a title', '소년', '소년이 온다'],
    ['an author', '한강', '소년이 온다'],
    ['Hangul as a Mac types it', '소년이'.normalize('NFD'), '소년이 온다'],
    ['another case', 'CIEN', 'Cien años de soledad'],
    ['no accents', 'anos de soledad', 'Cien años de soledad'],
    ['accents where there are none', 'Garcìa Marqúez', 'Cien años de soledad'],
    ['spaces around', '  petit prince ', 'Le Petit Prince'],
  ])('is searched by %s', async (_, query, title) => {
    const { body } = await get(encodeURIComponent(query))
    expect(body.map((entry: { title: string }) => entry.title)).toContain(title)
    expect(Object.keys(body[0]).sort()).toEqual(['author', 'cover', 'itemPage', 'publisher', 'title'])
  })

  it('finds nothing as an empty array, and ten at most', async () => {
    expect(await get('nobody-wrote-this')).toMatchObject({ status: 200, body: [] })
    expect((await get('e')).body).toHaveLength(10)
    expect((await get('%25')).body).toEqual([])
    // An accent alone is nothing to look for.
    expect((await get('%CC%81')).body).toEqual([])
  })

  it('is public: a token is ignored, good or bad', async () => {
    expect((await get('best-seller', {}, { Authorization: 'Bearer nonsense' })).status).toBe(200)
  })

  it.each([
    ['white space', '%20%20'],
    ['101 characters', 'x'.repeat(101)],
    ['a NUL', 'a%00b'],
  ])('refuses %s', async (_, query) => {
    const answer = await get(query)
    expect(answer).toMatchObject({ status: 400, body: { violationErrors: [{ propertyPath: 'title-or-author' }] } })
  })

  it('takes 100 characters, and slashes', async () => {
    expect((await get('x'.repeat(100))).status).toBe(200)
    expect((await get(encodeURIComponent('📚'.repeat(100)))).status).toBe(200)
    expect((await get('a%2Fb%3F')).status).toBe(200)
  })
})

describe('YES24', () => {
  it('is asked with the key, at its own host, with what was typed encoded', async () => {
    await get(encodeURIComponent('한강 & 나/../?page=9#x'), YES24)
    await get('best-seller', YES24)
    await get('item-new-special', YES24)
    const [search, bestSeller, newSpecial] = await asked()
    expect(search?.host).toBe('apis.yes24.com')
    expect(search?.headers).toMatchObject({ 'x-api-key': 'a-key' })
    const url = new URL(search?.path ?? '', 'https://apis.yes24.com')
    expect(url.pathname).toBe('/v1/goods/itemList')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      query: '한강 & 나/../?page=9#x',
      category: 'BOOK',
      sort: 'RELATION',
      page: '1',
      pageSize: '10',
      detail: 'Y',
    })
    expect(bestSeller?.path).toBe('/v1/category/bestseller?categoryId=001&page=1&pageSize=10&detail=Y')
    expect(newSpecial?.path).toBe('/v1/category/newproductAttention?categoryId=001&page=1&pageSize=10&detail=Y')
  })

  it('answers at most ten entries', async () => {
    const { body } = await get('x', YES24)
    expect(body).toHaveLength(10)
    expect(body[0]).toEqual({
      title: '책 1',
      author: '한강',
      cover: 'https://image.yes24.com/goods/1/XL',
      publisher: '창비',
      itemPage: 216,
    })
  })

  it('has entities decoded, untitled entries dropped, and covers by https only', async () => {
    await stage('odd')
    expect((await get('x', YES24)).body).toEqual([
      {
        title: "<나>는 '나' & 너 …",
        author: '한강',
        cover: 'https://image.yes24.com/goods/1/XL',
        publisher: '창비',
        itemPage: null,
      },
      { title: '책 4', author: null, cover: null, publisher: null, itemPage: null },
      { title: '책 5', author: '한강', cover: null, publisher: '창비', itemPage: null },
    ])
  })
})

describe('Open Library', () => {
  it('is asked with a contact and the fields that are needed', async () => {
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
    const requests = await asked()
    expect(requests.map(({ host }) => host)).toEqual(Array(3).fill('openlibrary.org'))
    expect(requests.map(({ path }) => path.split('?')[0])).toEqual([
      '/search.json',
      '/trending/weekly.json',
      '/search.json',
    ])
    for (const { path, headers } of requests) {
      expect(path).toContain('fields=key%2Ctitle%2Cauthor_name%2Cpublisher%2Cnumber_of_pages_median%2Ccover_i')
      expect(headers['user-agent']).toContain('library@library.test')
    }
  })
})

describe.each([
  ['YES24', YES24],
  ['Open Library', OPEN_LIBRARY],
])('%s, when it does not answer as it should', (_, provider) => {
  it('finds nothing as an empty array', async () => {
    await stage('empty')
    for (const path of ['x', 'best-seller', 'item-new-special']) {
      expect(await get(path, provider)).toMatchObject({ status: 200, body: [] })
    }
  })

  it.each([
    ['lost', 502],
    ['unauthorized', 502],
    ['broken', 502],
    ['unavailable', 502],
    ['truncated', 502],
    ['html', 502],
    ['shapeless', 502],
    ['huge', 502],
    ['redirect', 502],
    ['quota', 503],
    ['quota-untold', 503],
    ['silent', 504],
    ['stalled', 504],
  ])('%s is %i', async (scenario, status) => {
    await stage(scenario)
    for (const path of ['x', 'best-seller']) {
      vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
      const answer = await get(path, provider)
      expect(answer).toMatchObject({ status, body: { status, fieldErrors: null, violationErrors: null } })
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
      if (status === 503) expect(answer.headers.get('Retry-After')).toBe(scenario === 'quota' ? '17' : '60')
    }
    // A redirect was not followed, nor anything asked twice.
    expect((await asked()).map(({ host }) => host)).not.toContain('169.254.169.254')
    expect(await asked()).toHaveLength(2)
    expect(warn).toHaveBeenCalled()
  })

  it('has what it said before answered for an hour, then stale at once and refreshed behind', async () => {
    await get('best-seller', provider)
    await get('best-seller', provider)
    expect(await asked()).toHaveLength(1)

    const { body } = await get('best-seller', provider)
    await stage('empty')
    const stale = Date.now() + 3_601_000
    vi.useFakeTimers({ now: stale, toFake: ['Date'] })
    expect((await get('best-seller', provider)).body).toEqual(body)
    expect(await asked()).toHaveLength(1)
    expect((await get('best-seller', provider)).body).toEqual([])
  })

  it('has the stale list answered at once while it is down, and is left alone for a while', async () => {
    const { body } = await get('best-seller', provider)
    for (const [days, scenario] of [
      [1, 'silent'],
      [3, 'quota'],
      [6, 'broken'],
    ] as const) {
      await stage(scenario)
      vi.useFakeTimers({ now: Date.now() + days * 86_400_000, toFake: ['Date'] })
      for (let n = 0; n < 3; n++) expect((await get('best-seller', provider)).body).toEqual(body)
      expect(await asked(), scenario).toHaveLength(1)
    }
  })

  it('is not asked again before the time that it wants to be left alone', async () => {
    await stage('quota')
    expect((await get('x', provider)).headers.get('Retry-After')).toBe('17')
    vi.useFakeTimers({ now: Date.now() + 10_000, toFake: ['Date'] })
    for (const path of ['y', 'best-seller']) {
      expect((await get(path, provider)).headers.get('Retry-After')).toBe('7')
    }
    expect(await asked()).toHaveLength(1)
    vi.useFakeTimers({ now: Date.now() + 8000, toFake: ['Date'] })
    await get('x', provider)
    expect(await asked()).toHaveLength(2)
  })
})

describe('the cache of the lists', () => {
  const key = 'catalogue:yes24:bestSellers'

  it.each(['', 'null', '[]', '{"form":0}', '{"form":1,"storedAt":0,"entries":[{"title":1}]}', '{broken'])(
    'takes %s for nothing',
    async (value) => {
      await env.CATALOGUE.put(key, value)
      expect((await get('best-seller', YES24)).body).toHaveLength(10)
      expect(await env.CATALOGUE.get(key, 'json')).toMatchObject({ form: 1 })
    },
  )

  it('is filled by one request, however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('best-seller', YES24)))
    expect(answers.every(({ status, body }) => status === 200 && body.length === 10)).toBe(true)
    expect(await asked()).toHaveLength(1)
  })

  it('is done without when KV fails', async () => {
    const broken = {
      get: () => Promise.reject(new Error('KV is down')),
      put: () => Promise.reject(new Error('KV is down')),
    } as unknown as KVNamespace
    expect((await get('best-seller', { ...YES24, CATALOGUE: broken })).body).toHaveLength(10)
  })

  it('never holds a search', async () => {
    await get('soledad', YES24)
    expect((await env.CATALOGUE.list()).keys).toEqual([])
  })
})
