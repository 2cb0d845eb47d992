// A fake of the catalogue providers: answers in their recorded shapes, and failures. It runs in Node and receives all
// outgoing requests of the Worker.
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

type Scenario = (response: ServerResponse, host: string, path: string) => void

const SCENARIOS: Record<string, Scenario> = {
  success: (response, host, path) => {
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
  odd: (response) => json(response, 200, yes24(ODD)),
  empty: (response, host, path) => {
    if (host !== 'apis.yes24.com') return json(response, 200, { numFound: 0, docs: [], works: [] })
    const code = path.includes('bestseller') ? 'BEST_001' : path.includes('Attention') ? 'ATTN_001' : 'SEARCH_001'
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
  let scenario = 'success'
  // The requests received since the scenario was set.
  let requests: object[] = []
  const server = createServer((request, response) => {
    const host = String(request.headers['x-asked-host'])
    const url = new URL(request.url ?? '/', `https://${host}`)
    if (host === 'control.test') {
      if (url.searchParams.has('scenario')) {
        scenario = url.searchParams.get('scenario') ?? ''
        requests = []
      }
      return json(response, 200, requests)
    }
    // For tests that run while those of another file set the scenario.
    const { 'x-api-key': key = '', 'user-agent': agent } = request.headers
    const [, ownScenario] = /scenario=([\w-]+)/.exec(`${key} ${agent}`) ?? []
    if (!ownScenario) requests.push({ host, path: url.pathname + url.search, headers: request.headers })
    SCENARIOS[ownScenario ?? scenario]?.(response, host, url.pathname)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  project.provide('providerPort', (server.address() as AddressInfo).port)
  return () => {
    server.closeAllConnections()
    server.close()
  }
}
