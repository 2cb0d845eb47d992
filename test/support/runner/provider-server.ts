// A fake of the catalogue providers: answers in their recorded shapes, and failures. It runs in Node and receives all
// outgoing requests of the Worker.
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    providerPort: number
  }
}

const item = (n: number, more: object = {}) => ({
  sortOrder: n,
  itemId: 1000 + n,
  title: `책 ${n}`,
  author: '한강',
  publisher: '창비',
  isbn10: '8936434128',
  isbn13: '9788936434120',
  cover: `https://image.yes24.com/goods/${n}/XL`,
  link: `https://www.yes24.com/Product/Goods/${n}`,
  publishDate: '2014-05-19',
  shopPrice: 15000,
  salePrice: 13500,
  itemStatus: '판매중',
  goodsType: 'BOOK',
  goodsSortNm: '국내도서',
  adultYn: 'N',
  subTitle: null,
  pages: 216,
  ...more,
})

const ODD = [
  item(1, { title: '&lt;나&gt;는 &#39;나&#39; &amp; 너&#160;&hellip;', pages: null }),
  item(2, { title: '' }),
  item(3, { title: null }),
  item(4, { cover: 'http://image.yes24.com/4', author: '', publisher: null, pages: 'many' }),
  item(5, { cover: 'javascript:alert(1)', pages: -3 }),
]
const MANY = Array.from({ length: 12 }, (_, n) => item(n + 1))

const yes24 = (items: object[]) => ({
  success: true,
  message: 'OK',
  errorCode: null,
  data: { meta: {}, items, currentPage: 1, pageSize: 10, totalCount: items.length },
})

const work = {
  key: '/works/OL45804W',
  title: 'Cien años de soledad',
  author_name: ['Gabriel García Márquez'],
  publisher: ['Sudamericana', 'Diana'],
  number_of_pages_median: 351,
  cover_i: 12627383,
  first_publish_year: 1967,
}
const bare = { key: '/works/OL1W', title: 'Untold' }

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}
const text = (response: ServerResponse, body: string, type = 'application/json') => {
  response.writeHead(200, { 'Content-Type': type }).end(body)
}
const fail = (status: number, errorCode: string, headers?: Record<string, string>) => (response: ServerResponse) =>
  json(response, status, { success: false, message: 'error', errorCode, data: null }, headers)

const recorded = (name: string) => JSON.parse(readFileSync(`test/fixtures/catalogue/${name}.json`, 'utf8'))
const SEARCH = recorded('open-library-search')
const ITEM = recorded('yes24-item')
/** What Open Library has of each ISBN, by `jscmd`. */
const RECORDS: Record<string, object> = {
  details: { ...recorded('open-library-details'), ...recorded('open-library-details-of-work') },
  data: recorded('open-library-data'),
}
const pickRecords = (query: URLSearchParams, records = RECORDS[query.get('jscmd') ?? ''] ?? {}) => {
  const keys = query.get('bibkeys')?.split(',') ?? []
  return Object.fromEntries(Object.entries(records).filter(([key]) => keys.includes(key)))
}
const HOSTILE_RECORD = {
  title: `&lt;script&gt;${'x'.repeat(600)}`,
  subtitle: { type: '/type/text' },
  authors: Array.from({ length: 300 }, () => ({ name: '\ud800\0<b>' })),
  publishers: ['\0'],
  number_of_pages: '1e99',
  publish_date: 'n. d. 99999',
  covers: [-1],
  languages: [{ key: 'javascript:alert(1)' }],
  identifiers: { goodreads: ['1\r\nX-Injected: 1'] },
  key: '/books/../../evil',
}
const HOSTILE_ITEM = {
  itemId: { toString: 1 },
  title: '<img src=x onerror=alert(1)>',
  author: 7,
  cover: 'javascript:alert(1)',
  publishDate: [2014],
  pages: -1,
  isbn13: '9780980200447',
  isbn10: ['8936434128'],
}

type Scenario = (response: ServerResponse, host: string, path: string, query: URLSearchParams) => void

const SCENARIOS: Record<string, Scenario> = {
  success: (response, host, path, query) => {
    if (path === '/v1/goods/itemDetail') {
      const isKnown = query.get('query') === ITEM.data.items[0].isbn13
      return isKnown ? json(response, 200, ITEM) : fail(404, 'GOODS_002')(response)
    }
    if (path === '/api/books') return json(response, 200, pickRecords(query))
    if (query.get('fields')?.includes('editions')) return json(response, 200, SEARCH)
    if (host === 'apis.yes24.com') return json(response, 200, yes24(MANY))
    json(response, 200, path.startsWith('/trending/') ? { works: [work] } : { numFound: 2, docs: [work, bare] })
  },
  long: (response, host) => {
    const title = `${'책'.repeat(600)}\0`
    const cover = `https://image.yes24.com/${'x'.repeat(2048)}`
    if (host === 'apis.yes24.com') return json(response, 200, yes24([item(1, { title, cover, author: '\ud800' })]))
    const author_name = Array.from({ length: 80 }, (_, n) => `Author Number ${n}`)
    json(response, 200, { docs: [{ ...work, title, author_name }] })
  },
  hostile: (response, host) => {
    if (host === 'apis.yes24.com') return json(response, 200, yes24([HOSTILE_ITEM]))
    json(response, 200, { 'ISBN:9780980200447': { details: HOSTILE_RECORD } })
  },
  odd: (response) => json(response, 200, yes24(ODD)),
  empty: (response, host, path) => {
    if (path === '/api/books') return json(response, 200, {})
    if (host !== 'apis.yes24.com') return json(response, 200, { numFound: 0, docs: [], works: [] })
    const code = path.includes('bestseller') ? 'BEST_001' : path.includes('Attention') ? 'ATTN_001' : 'SEARCH_001'
    if (path === '/v1/goods/itemDetail') return fail(404, 'GOODS_002')(response)
    fail(404, code)(response)
  },
  lost: fail(404, 'ROUTE_001'),
  unauthorized: fail(401, 'AUTH_001'),
  quota: fail(429, 'RATE_001', { 'Retry-After': '17' }),
  'quota-without-time': fail(429, 'RATE_001'),
  broken: fail(500, 'INTERNAL_ERROR'),
  unavailable: fail(503, 'UPSTREAM_UNAVAILABLE'),
  silent: () => {},
  stalled: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"success": true,')
  },
  truncated: (response) => text(response, '{"success": true, "data": {"items": ['),
  html: (response) => text(response, '<!doctype html><title>Maintenance</title>', 'text/html'),
  shapeless: (response) => json(response, 200, { success: true, data: { items: 'none' }, docs: 1, works: 1 }),
  huge: (response) => json(response, 200, { pad: 'x'.repeat(5 * 1024 * 1024) }),
  redirect: (response) => {
    response.writeHead(302, { Location: 'http://169.254.169.254/latest/meta-data/' }).end()
  },
}

export default async function setup(project: TestProject) {
  // Files run at the same time: each that sets a scenario has a group, which its key or contact names.
  const groups = new Map<string, { scenario: string; requests: object[] }>()
  const server = createServer((request, response) => {
    const host = String(request.headers['x-asked-host'])
    const url = new URL(request.url ?? '/', `https://${host}`)
    if (host === 'control.test') {
      const group = url.searchParams.get('group') ?? ''
      const scenario = url.searchParams.get('scenario')
      // Begins the list of the group's requests anew.
      if (scenario) groups.set(group, { scenario, requests: [] })
      return json(response, 200, groups.get(group)?.requests)
    }
    const { 'x-api-key': key = '', 'user-agent': agent } = request.headers
    const [, group = ''] = /group=(\w+)/.exec(`${key} ${agent}`) ?? []
    const [, scenario = groups.get(group)?.scenario ?? 'success'] = /scenario=([\w-]+)/.exec(`${key} ${agent}`) ?? []
    groups.get(group)?.requests.push({ host, path: url.pathname + url.search, headers: request.headers })
    SCENARIOS[scenario]?.(response, host, url.pathname, url.searchParams)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  project.provide('providerPort', (server.address() as AddressInfo).port)
  return () => {
    server.closeAllConnections()
    server.close()
  }
}
