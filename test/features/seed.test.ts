import { beforeAll, expect, it } from 'vitest'
import { DEMO, type Fetch, seed } from '../../scripts/seed/demo.ts'
import { BASE, handle, logInAs } from '../support/api'
import { disagreements, select } from '../support/database'
import { checkAgainstDocument } from '../support/document'

/** The service; its answers are checked against the OpenAPI document. */
const service: Fetch = async (request) => {
  const response = await handle(request)
  const text = await response.clone().text()
  const { pathname } = new URL(request.url)
  const { status, headers } = response
  checkAgainstDocument(request.method, pathname, { status, headers, body: text === '' ? null : JSON.parse(text) })
  return response
}

const demoMember = () =>
  select(`
    select memberId, (select count(*) from books) as books, (select count(*) from memos) as memos
    from members where email = '${DEMO.email}'
  `)

let first: Awaited<ReturnType<typeof seed>>
let before: Record<string, unknown>[]
beforeAll(async () => {
  first = await seed(service, BASE)
  before = await demoMember()
})

it('fills every view', async () => {
  expect(first.isNew).toBe(true)
  expect(first.views).toHaveLength(15)
  expect(first.views.filter(({ shown }) => shown === 0)).toEqual([])
  expect(before).toEqual([{ memberId: expect.any(Number), books: 40, memos: expect.any(Number) }])
  expect(await disagreements()).toEqual([])
})

it('writes memos of every type and authority, dated over two years', async () => {
  expect(await select('select distinct memoType, memoAuthority from memos')).toHaveLength(8)
  const [span] = await select(`
    select julianday(max(createdAt)) - julianday(min(createdAt)) as registered,
      julianday(max(readEndDate)) - julianday(min(readEndDate)) as finished, max(readEndDate) as latest from books
  `)
  expect(span?.registered).toBeGreaterThan(730)
  expect(span?.finished).toBeGreaterThan(600)
  expect(String(span?.latest) < new Date().toISOString()).toBe(true)
})

it('uploads covers and photographs that load', async () => {
  const reader = await logInAs(DEMO.email, DEMO.password)
  const { item } = (await reader.get('/books/library?page=1&size=40&bookStatus=DONE')).body
  const covers = item.map(({ cover }: { cover: string | null }) => cover).filter(Boolean)
  const memos = await select(`select memoContent from memos where memoContent like '%<img%'`)
  const photographs = memos.map(({ memoContent }) => /src="([^"]+)"/.exec(String(memoContent))?.[1] ?? '')
  expect([covers.length > 3, photographs.length > 3]).toEqual([true, true])
  for (const url of [...covers, ...photographs]) {
    const image = await handle(new Request(url))
    expect([image.status, image.headers.get('Content-Type')], url).toEqual([200, 'image/png'])
    await image.arrayBuffer()
  }
})

it('leaves an existing demo member unchanged', async () => {
  expect(await seed(service, BASE)).toEqual({ isNew: false, views: first.views })
  expect(await demoMember()).toEqual(before)
})

it('recreates the demo member if asked to', async () => {
  expect((await seed(service, BASE, { renew: true })).isNew).toBe(true)
  const [after] = await demoMember()
  expect(after).toEqual({ ...before[0], memberId: expect.any(Number) })
  expect(after?.memberId).not.toBe(before[0]?.memberId)
})

it.each<[why: string, fetch: Fetch, said: RegExp]>([
  ['answers', () => Promise.reject(new TypeError('fetch failed')), /Nothing answers .* `npm run dev`/],
  ['is configured', (request) => handle(request, { JWT_SECRET: '' }), /not ready \(500\)/],
  ['is this service', async () => new Response('<html>'), /is not the Reading Library/],
])('says what to do if nothing %s', async (_, fetch, said) => {
  await expect(seed(fetch, BASE)).rejects.toThrow(said)
})

it('says what to do if codes are mailed or the demo member has another password', async () => {
  const strict: Fetch = (request) => handle(request, { EMAIL_VERIFICATION: 'required' })
  const reader = await logInAs(DEMO.email, DEMO.password)
  expect((await reader.patch('/members/me', { password: 'another-one-1' })).status).toBe(200)
  await expect(seed(service, BASE)).rejects.toThrow(/another password/)
  await reader.delete('/members/me')
  await expect(seed(strict, BASE)).rejects.toThrow(/EMAIL_VERIFICATION=off/)
  expect(await demoMember()).toEqual([])
})
