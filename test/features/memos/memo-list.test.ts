import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { measure, memberDatabase } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { refusing, unlimited } from '../../support/rate-limits'

type Query = Record<string, string | number>
type Memo = Record<string, string | number> & { memoId: number; book?: Record<string, string | null> }

const toPath = (query: Query) =>
  `/memos?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, `${value}`]))}`
const list = async (reader: Reader, query: Query = {}) => {
  const answer = await reader.send('GET', toPath(query), { changed: { SEARCH_LIMIT: unlimited } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body as { item: Memo[]; next: string | null }
}

/** All memos, page by page. */
const walk = async (reader: Reader, query: Query, between = async () => {}) => {
  const items: Memo[] = []
  for (let page = await list(reader, query); ; page = await list(reader, { ...query, cursor: page.next ?? '' })) {
    items.push(...page.item)
    if (page.next === null) return items
    await between()
  }
}
const idsOf = (memos: Memo[]) => memos.map(({ memoId }) => memoId)

/** Inserts memos in books by turns. `at`: `createdAt` of the nth one. */
const insertMemos = async (
  reader: Reader,
  bookIds: number[],
  count: number,
  { at = `'2020-01-01T00:00:00'`, text = `'hay ' || i` } = {},
) => {
  await memberDatabase()
    .prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select (select max(coalesce((select max(memoId) from memos), 0), ?2)) + i, json_extract(?1, '$[' || (i % ${bookIds.length}) || ']'), ?2,
        (select coalesce(max(position), 0) from memos where memberId = ?2) + i,
        iif(i % 2, 'SUMMARY', 'THOUGHT'), ${text}, 1, iif(i % 3, 'PRIVATE', 'PUBLIC'), ${at}, '2026-01-01T00:00:00' from n`,
    )
    .bind(JSON.stringify(bookIds), await memberIdOf(reader))
    .run()
}

let reader: Reader
let all: Memo[]
beforeAll(async () => {
  reader = await signUp()
  const books = [
    await reader.createBook({ title: '데미안', author: 'Hermann Hesse', cover: 'https://covers.example.com/1.jpg' }),
    await reader.createBook({ title: 'Untitled' }),
  ]
  // Four memos of each second, in an order of times that is not that of identifiers.
  const at = `strftime('%Y-%m-%dT%H:%M:%S', 1577836800 + (i * 7 % 15), 'unixepoch')`
  await insertMemos(
    reader,
    books.map(({ bookId }) => bookId),
    60,
    { at, text: `iif(i % 4, 'ÉTÉ ', 'hiver ') || i` },
  )
  all = await walk(reader, { size: 100 })
})

describe('the memos of all books', () => {
  it('are listed latest first, those of one second by identifier', () => {
    const order = all.toSorted((one, other) =>
      one.createdAt === other.createdAt
        ? other.memoId - one.memoId
        : `${one.createdAt}` < `${other.createdAt}`
          ? 1
          : -1,
    )
    expect(all).toHaveLength(60)
    expect(all).toEqual(order)
  })

  const FILTERS: [Query, (memo: Memo) => boolean][] = [
    [{ memoType: 'SUMMARY' }, ({ memoType }) => memoType === 'SUMMARY'],
    [{ memoAuthority: 'PUBLIC' }, ({ memoAuthority }) => memoAuthority === 'PUBLIC'],
    [{ q: 'hiver' }, ({ memoContent }) => `${memoContent}`.includes('hiver')],
    [{ q: '1 HIVER' }, ({ memoContent }) => /hiver.*1/.test(`${memoContent}`)],
    [{ since: '2020-01-01T09:00:07+09:00' }, ({ createdAt = '' }) => createdAt >= '2020-01-01T00:00:07'],
    [
      { memoType: 'THOUGHT', memoAuthority: 'PRIVATE', q: 'hiver', since: '2020-01-01T00:00:03Z' },
      ({ memoType, memoAuthority, memoContent, createdAt = '' }) =>
        memoType === 'THOUGHT' &&
        memoAuthority === 'PRIVATE' &&
        `${memoContent}`.includes('hiver') &&
        createdAt >= '2020-01-01T00:00:03',
    ],
  ]
  it.each(FILTERS)('are those that match %j, on pages of any size', async (query, isMatch) => {
    const expected = all.filter(isMatch)
    expect(expected.length).toBeGreaterThan(0)
    for (const size of [1, 7, 100]) expect(await walk(reader, { ...query, size })).toEqual(expected)
  })

  it('are found by a code of the type, and all without a filter', async () => {
    expect(await walk(reader, { memoType: 1, size: 100 })).toEqual(all.filter(({ memoType }) => memoType === 'SUMMARY'))
    expect(await walk(reader, { memoType: 'ALL', memoAuthority: 'ALL', size: 100 })).toEqual(all)
  })

  it('stay in place while others are added and deleted', async () => {
    const other = await signUp()
    const { bookId } = await other.createBook()
    await insertMemos(other, [bookId], 20)
    const before = idsOf(await walk(other, {}))
    const deleted = before[4] ?? 0
    let pages = 0
    const seen = await walk(other, { size: 5 }, async () => {
      pages += 1
      await other.createMemo(bookId)
      if (pages === 1) await other.delete(`/memos/${deleted}`)
    })
    expect(idsOf(seen)).toEqual(before)
  })

  it('have their book with include=book, and otherwise only its identifier', async () => {
    const { item } = await list(reader, { include: 'book', size: 2 })
    const plain = all.slice(0, 2)
    expect(item.map(({ book: _, ...memo }) => memo)).toEqual(plain)
    expect(plain.every((memo) => memo.bookId && !('book' in memo))).toBe(true)
    expect(item.map(({ book }) => book)).toContainEqual({
      ...{ title: '데미안', author: 'Hermann Hesse', cover: 'https://covers.example.com/1.jpg' },
    })
  })

  it.each([
    'memoType=POEM',
    'memoAuthority=FRIENDS',
    'q=x',
    'since=yesterday',
    'since=2020-01-01T00:00:00',
    'include=tags',
    'cursor=x',
    'size=101',
  ])('are refused for %s, with a reason', async (query) => {
    const { status, body } = await reader.get(`/memos?${query}`)
    expect([status, body.violationErrors.map(({ propertyPath }: { propertyPath: string }) => propertyPath)]).toEqual([
      ...[400, [query.split('=')[0]]],
    ])
  })

  it('count a search towards the limit of searches, and no other request', async () => {
    const other = await signUp()
    const changed = { SEARCH_LIMIT: refusing }
    const statusOf = async (query: string) => (await other.send('GET', `/memos${query}`, { changed })).status
    await statusOf('?q=hay')
    expect([await statusOf('?q=hay'), await statusOf(''), await statusOf('/search?q=hay')]).toEqual([429, 200, 429])
  })
})

describe('a call', () => {
  let small: Reader
  let large: Reader
  const fill = async (count: number) => {
    const member = await signUp()
    const { bookId } = await member.createBook()
    await insertMemos(member, [bookId], count)
    return member
  }
  beforeAll(async () => {
    small = await fill(50)
    large = await fill(5000)
  })

  it.each<Query>([{}, { include: 'book' }, { q: 'hay' }, { since: '2019-01-01T00:00:00Z' }])(
    'reads as many rows in a small library as in a large one, with %j',
    async (query) => {
      const [inSmall, inLarge] = [
        await measure(() => list(small, { ...query, size: 10 })),
        await measure(() => list(large, { ...query, size: 10 })),
      ]
      expect(inLarge).toEqual({ ...inSmall, calls: 1 })
      expect(inSmall.read).toBeLessThan(60)
    },
  )

  it('examines at most 1,000 memos, at any depth, even of one second', async () => {
    const first = await measure(() => list(large, { q: 'absent' }))
    let page = await list(large, { q: 'absent' })
    for (let calls = 1; calls < 3; calls++) page = await list(large, { q: 'absent', cursor: page.next ?? '' })
    const deep = await measure(() => list(large, { q: 'absent', cursor: page.next ?? '' }))
    expect(first.read).toBeGreaterThan(1000)
    expect(Math.max(first.read, deep.read)).toBeLessThan(4050)
    expect(page.item).toEqual([])
  })

  it('ends with the memo that reaches 512 KiB of text', async () => {
    const member = await signUp()
    const { bookId } = await member.createBook()
    await insertMemos(member, [bookId], 30, { text: `printf('%.*c', 60000, 'x')` })
    const { item, next } = await list(member, { size: 100 })
    expect([item.length, next === null]).toEqual([9, false])
    expect(await walk(member, { size: 100 })).toHaveLength(30)
  })

  it('neither sorts nor scans a table', async () => {
    const prepare = vi.spyOn(Object.getPrototypeOf(env.DB.withSession()), 'prepare')
    const { next } = await list(small, { size: 10 })
    await list(small, { size: 10, include: 'book', q: 'hay', cursor: next ?? '' })
    const texts = prepare.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('newest'))
    prepare.mockRestore()
    expect(texts).toHaveLength(2)
    for (const text of texts) {
      const values = [...text.matchAll(/\?/g)].map(() => null)
      const plan = await memberDatabase()
        .prepare(`explain query plan ${text}`)
        .bind(...values)
        .all<{ detail: string }>()
      const details = plan.results.map(({ detail }) => detail)
      expect(details.filter((detail) => /TEMP B-TREE|SCAN (?:books|memos)\b/.test(detail))).toEqual([])
    }
  })
})
