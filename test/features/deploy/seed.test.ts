import { beforeAll, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { DEMO, type Fetch, seed } from '../../../scripts/seed/demo.ts'
import { BASE, handle, logInAs } from '../../support/api'
import { memberDatabase, select } from '../../support/database'
import { checkAgainstDocument } from '../../support/document/document'

/** The service, with every response checked against the OpenAPI document. */
const service: Fetch = async (request) => {
  const response = await handle(request)
  const text = await response.clone().text()
  const answer = { status: response.status, headers: response.headers, body: JSON.parse(text || 'null') }
  checkAgainstDocument(request.method, new URL(request.url).pathname, answer)
  return response
}

const logInDemo = () => logInAs(DEMO.email, DEMO.password)

const COUNTS = '(select count(*) from books) as books, (select count(*) from memos) as memos'
const selectDemo = () => select(`select memberId, ${COUNTS} from members where email = ?`, DEMO.email)

let first: Awaited<ReturnType<typeof seed>>
let before: Record<string, unknown>[]
beforeAll(async () => {
  first = await seed(service, BASE)
  before = await selectDemo()
})

it('fills every view', async () => {
  expect(first.isNew).toBe(true)
  expect(first.views).toHaveLength(31)
  expect(first.views.filter(({ count }) => count === 0)).toEqual([])
  expect(before).toEqual([{ memberId: expect.any(Number), books: 40, memos: expect.any(Number) }])
  expect(await findMismatches(memberDatabase())).toEqual([])
})

it('creates memos of every type and authority, and dates over two years', async () => {
  expect(await select('select distinct memoType, memoAuthority from memos')).toHaveLength(8)
  const [span] = await select(`
    select julianday(max(createdAt)) - julianday(min(createdAt)) as registered,
      julianday(max(readEndDate)) - julianday(min(readEndDate)) as finished, max(readEndDate) as latest from books
  `)
  expect(span?.registered).toBeGreaterThan(730)
  expect(span?.finished).toBeGreaterThan(600)
  expect(String(span?.latest) < new Date().toISOString()).toBe(true)
})

it('records editions, several readings of a book, progress and tags', async () => {
  const [counts] = await select(`
    select (select count(*) from books where isbn is not null) as isbns,
      (select count(*) from books where series is not null) as series,
      (select count(distinct format) from books) as formats,
      (select max(n) from (select count(*) as n from allReadings group by bookId)) as readings,
      (select count(distinct kind) from progress) as kinds, (select count(*) from tags) as tags
  `)
  expect(counts).toMatchObject({ series: 1, formats: 3, readings: 3 })
  expect([counts?.isbns, counts?.tags].every((count) => Number(count) > 5)).toBe(true)
})

it('uploads covers and photos that load', async () => {
  const { item } = (await (await logInDemo()).get('/books/library?page=1&size=40&bookStatus=DONE')).body
  const covers = item.map(({ cover }: { cover: string | null }) => cover).filter(Boolean)
  const memos = await select(`select memoContent from memos where memoContent like '%<img%'`)
  const photos = memos.map(({ memoContent }) => /src="([^"]+)"/.exec(String(memoContent))?.[1] ?? '')
  expect([covers.length > 3, photos.length > 3]).toEqual([true, true])
  for (const url of [...covers, ...photos]) {
    const image = await handle(new Request(url))
    expect([image.status, image.headers.get('Content-Type')], url).toEqual([200, 'image/png'])
    await image.arrayBuffer()
  }
})

it('keeps an existing demo member', async () => {
  expect(await seed(service, BASE)).toEqual({ isNew: false, views: first.views })
  expect(await selectDemo()).toEqual(before)
})

it('creates the demo member again on reset', { tags: ['slow'] }, async () => {
  expect((await seed(service, BASE, { reset: true })).isNew).toBe(true)
  const [after] = await selectDemo()
  expect(after).toEqual({ ...before[0], memberId: expect.any(Number) })
  expect(after?.memberId).not.toBe(before[0]?.memberId)
})

it.each<[problem: string, fetch: Fetch, message: RegExp]>([
  ['a service that is not running', () => Promise.reject(new TypeError('fetch failed')), /No service .* `npm run dev`/],
  ['an unconfigured service', (request) => handle(request, { JWT_SECRET: '' }), /not ready \(500\)/],
  ['another service', async () => new Response('<html>'), /is not the Reading Library/],
])('rejects %s and says what to do', async (_, fetch, message) => {
  await expect(seed(fetch, BASE)).rejects.toThrow(message)
})

it('rejects a demo member with another password, and a service that requires mailed codes', async () => {
  const strict: Fetch = (request) => handle(request, { EMAIL_VERIFICATION: 'required' })
  const reader = await logInDemo()
  expect((await reader.patch('/members/me', { password: 'another-one-1' })).status).toBe(200)
  await expect(seed(service, BASE)).rejects.toThrow(/another password/)
  await reader.delete('/members/me')
  await expect(seed(strict, BASE)).rejects.toThrow(/EMAIL_VERIFICATION=off/)
  expect(await selectDemo()).toEqual([])
})
