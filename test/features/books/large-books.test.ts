import { beforeAll, expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

const MEMOS = 40
// A control character takes six characters in JSON, so 40 memos of 60,000 take 14 MB.
const CONTENT = '\u0001'.repeat(60_000)

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.createBook()).bookId
  await select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MEMOS})
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select 5000 + i, ?, ?, i, case i % 2 when 0 then 'SUMMARY' else 'THOUGHT' end, i || ?, 1,
      case i % 4 when 0 then 'PUBLIC' else 'PRIVATE' end, '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`,
    bookId,
    await memberIdOf(reader),
    CONTENT,
  )
})

const numbers = (count: number, first: number, step: number) =>
  Array.from({ length: count }, (_, n) => first + n * step)
const detail = (memoAuthority: string) => `/books/${bookId}?memoAuthority=${memoAuthority}`
const list = (memoType: string, page: number, size: number) =>
  `/books/${bookId}/memos?page=${page}&size=${size}&memoType=${memoType}`

it.each([
  ['all memos in the detail', () => detail('ALL'), numbers(40, 40, -1), undefined],
  ['memos of one visibility', () => detail('PUBLIC'), numbers(10, 40, -4), undefined],
  ['all memos in a list', () => list('ALL', 1, 10_000), numbers(40, 40, -1), 40],
  ['a page', () => list('ALL', 2, 15), numbers(15, 25, -1), 40],
  ['a page of one type', () => list('SUMMARY', 2, 12), numbers(8, 16, -2), 20],
  ['a page past the end', () => list('ALL', 9, 15), [], 40],
])('sends %s in parts', async (_, path, expected, total) => {
  let body: Record<string, unknown> & { pageInfo?: { totalElements: number } } = {}
  const { calls } = await measure(async () => {
    body = (await reader.get(path())).body
  })
  const memos = (body.memosList ?? body.item) as { memoId: number; memoContent: string }[]
  expect(memos.map(({ memoId }) => memoId - 5000)).toEqual(expected)
  expect(memos.every(({ memoId, memoContent }) => memoContent === `${memoId - 5000}${CONTENT}`)).toBe(true)
  expect(body.pageInfo?.totalElements).toBe(total)
  // Two calls to find the sizes, and one per four memos.
  expect(calls).toBe(2 + Math.ceil(expected.length / 4))
})

it('links the pages of a list that is sent in parts', async () => {
  const link = (page: number, relation: string) => `<${list('SUMMARY', page, 12)}>; rel="${relation}"`
  const { headers } = await reader.send('HEAD', list('SUMMARY', 1, 12))
  expect(headers.get('Link')).toBe([link(1, 'first'), link(2, 'next'), link(2, 'last')].join(', '))
})

it('holds nothing for HEAD requests', { tags: ['slow'] }, async () => {
  const heads = await Promise.all(Array.from({ length: 24 }, () => reader.send('HEAD', detail('ALL'))))
  expect(new Set(heads.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await reader.get(detail('ALL'))).body.memosList).toHaveLength(MEMOS)
})
