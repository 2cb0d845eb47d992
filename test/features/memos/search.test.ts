import { describe, expect, it } from 'vitest'
import { fieldsOf } from '../../../src/values/book-fields'
import { toFoldedMemo } from '../../../src/values/quotas'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { unlimited } from '../../support/rate-limits'

const find = async (
  reader: Reader,
  kind: 'books' | 'memos',
  q: string,
  query: Record<string, string | number> = {},
) => {
  const parameters = new URLSearchParams({
    q,
    ...Object.fromEntries(Object.entries(query).map(([k, v]) => [k, `${v}`])),
  })
  const changed = { SEARCH_LIMIT: unlimited }
  const answer = await reader.send('GET', `/${kind}/search?${parameters}`, { changed })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const findContents = async (reader: Reader, q: string, query = {}) =>
  (await find(reader, 'memos', q, query)).item.map(({ excerpt }: { excerpt: string }) => excerpt)

/** Loads all pages of a list. */
const walk = async (reader: Reader, kind: 'books' | 'memos', q: string, query = {}, between = async () => {}) => {
  const [items, pages]: [Record<string, number>[], number[]] = [[], []]
  let next: string | null = null
  do {
    const page = await find(reader, kind, q, { ...query, ...(next && { cursor: next }) })
    items.push(...page.item)
    pages.push(page.item.length)
    next = page.next
    await between()
  } while (next)
  return { items, pages }
}

/** Inserts memos with these texts, the first one oldest. Returns their identifiers. */
const insertMemos = async (reader: Reader, bookId: number, contents: string[]) => {
  const memberId = await memberIdOf(reader)
  const rows = contents.map((content, n) => ({ n, content, folded: toFoldedMemo(content) }))
  const { results } = await memberDatabase()
    .prepare(
      `insert into memos (
        memoId, bookId, memberId, position, memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt, updatedAt
      )
      select (select max(memoId) from (select max(memoId) as memoId from memos union all select id from retiredIds where tableName = 'memos' union all select ?1))
          + 1 + (value ->> 'n'), ?1, ?2,
        (select coalesce(max(position), 0) from memos where memberId = ?2) + 1 + (value ->> 'n'),
        iif(value ->> 'n' & 1, 'SUMMARY', 'THOUGHT'), value ->> 'content', value ->> 'folded', 1, 'PRIVATE', '2020-01-01T00:00:00', '2020-01-01T00:00:00'
      from json_each(?3) returning memoId`,
    )
    .bind(bookId, memberId, JSON.stringify(rows))
    .all<{ memoId: number }>()
  return results.map(({ memoId }) => memoId)
}

const TEXTS: [stored: string, q: string][] = [
  ['역사란 무엇인가', '역사'],
  ['소년이 온다'.normalize('NFD'), '소년'],
  ['소년이 온다', '년이'.normalize('NFD')],
  ['ВОЙНА И МИР', 'война'],
  ['Преступление и наказание', 'НАКАЗ'],
  ['Die Straße', 'STRASSE'],
  ['Die STRASSE', 'straße'],
  ['Ünder', 'üNDER'],
  ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
  ['İstanbul Hatırası', 'istanbul'],
  ['ISTANBUL', 'ıstanbul'],
  ['Café', 'CAFÉ'.normalize('NFD')],
  ['吾輩は猫である', '輩は'],
  ['I ❤️ books 👩‍👩‍👧 a lot', '👩‍👩‍👧'],
  ['100% of _nothing_', '0%'],
  ['100% of _nothing_', '_n'],
  ["it's “quoted”; drop", "t's"],
  ['say "hello"', '"he'],
  ['back\\slash', 'k\\s'],
  ['x'.repeat(50) + '😀'.repeat(100), '😀'.repeat(100)],
]

describe('GET /memos/search', () => {
  it.each(TEXTS)('finds in %s: %s', async (stored, q) => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId, { memoContent: stored })
    await reader.createMemo(bookId, { memoContent: 'Something else' })
    const { item, next } = await find(reader, 'memos', ` ${q} `)
    expect(item).toEqual([
      {
        memoId,
        bookId,
        title: 'Demian',
        memoType: 'BOOK_CONTENT',
        memoBookPage: 1,
        memoAuthority: 'PRIVATE',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        excerpt: stored.normalize('NFC'),
      },
    ])
    expect(next).toBeNull()
  })

  it('finds the new text of an updated memo', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId, { memoContent: 'ПЕРВЫЙ' })
    await reader.patch(`/memos/${memoId}`, { memoContent: 'ВТОРОЙ' })
    expect(await findContents(reader, 'второй')).toEqual(['ВТОРОЙ'])
    expect(await findContents(reader, 'первый')).toEqual([])
  })

  it('lists memos newest first, optionally of one type or one book', async () => {
    const reader = await signUp()
    const [one, other] = [await reader.createBook(), await reader.createBook({ title: '데미안' })]
    await reader.createMemo(one.bookId, { memoContent: 'needle 1', memoType: 'THOUGHT' })
    await reader.createMemo(other.bookId, { memoContent: 'needle 2', memoType: 'QUESTION' })
    await reader.createMemo(one.bookId, { memoContent: 'needle 3', memoType: 'QUESTION' })
    await reader.createMemo(one.bookId, { memoContent: 'needle 4', memoType: 'SUMMARY' })
    const contents = (query = {}) => findContents(reader, 'needle', query)
    expect(await contents()).toEqual(['needle 4', 'needle 3', 'needle 2', 'needle 1'])
    expect(await contents({ memoType: 3 })).toEqual(['needle 3', 'needle 2'])
    expect(await contents({ bookId: one.bookId })).toEqual(['needle 4', 'needle 3', 'needle 1'])
    expect(await contents({ bookId: one.bookId, memoType: 'THOUGHT' })).toEqual(['needle 1'])
    expect(await contents({ bookId: other.bookId, memoType: 'THOUGHT' })).toEqual([])
    const first = await find(reader, 'memos', 'needle', { bookId: one.bookId, size: 2 })
    expect(first.item).toHaveLength(2)
    expect(await contents({ bookId: one.bookId, size: 2, cursor: first.next })).toEqual(['needle 1'])
  })

  it.each<[{ memoType?: string }, boolean]>([
    [{}, false],
    [{ memoType: 'SUMMARY' }, false],
    [{}, true],
    [{ memoType: 'SUMMARY' }, true],
  ])('walks all memos while others are added and deleted: %j, in one book: %j', async (query, isInBook) => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const contents = Array.from({ length: 2300 }, (_, n) => (n % 70 < 2 ? `needle ${n}` : `hay ${n}`))
    const ids = await insertMemos(reader, bookId, contents)
    const expected = ids.filter((_, n) => n % 70 < 2 && (!query.memoType || n % 2)).reverse()
    const deleted: number[] = []
    const search = { ...query, ...(isInBook && { bookId }), size: 7 }
    const { items, pages } = await walk(reader, 'memos', 'NEEDLE', search, async () => {
      await reader.createMemo(bookId, { memoContent: 'needle added', memoType: 'SUMMARY' })
      // The first one has been found, the last one not.
      for (const memoId of [expected[deleted.length], expected.at(-1 - deleted.length)]) {
        if (memoId) deleted.push(memoId)
        await reader.delete(`/memos/${memoId}`)
      }
    })
    const found = items.map(({ memoId }) => memoId)
    expect(found).toEqual(expected.filter((id) => found.includes(id) || !deleted.includes(id)))
    expect(found.length).toBeLessThan(expected.length)
    expect(Math.max(...pages)).toBe(7)
  })

  it('searches at most 1,000 memos or 4 MiB per call', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    await insertMemos(reader, bookId, ['needle', ...Array.from({ length: 2500 }, () => 'hay')])
    for (const query of [{}, { bookId }]) {
      const { pages } = await walk(reader, 'memos', 'needle', query)
      expect(pages).toEqual([0, 0, 1])
    }
    const large = await signUp()
    const { bookId: largeBook } = await large.createBook()
    const text = '가'.repeat(65_000)
    for (let n = 0; n < 5; n++)
      await insertMemos(large, largeBook, [n === 0 ? 'needle' : 'hay', text, text, text, text, text])
    // 22 memos of 195,000 bytes exceed 4 MiB.
    for (const query of [{}, { bookId: largeBook }]) {
      const { pages } = await walk(large, 'memos', 'needle', query)
      expect(pages).toEqual([0, 1])
    }
  })

  it('ends with null after the oldest memo', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    await insertMemos(reader, bookId, ['needle', 'needle'])
    for (const query of [{}, { bookId }]) {
      const { pages } = await walk(reader, 'memos', 'needle', { ...query, size: 1 })
      expect(pages).toEqual([1, 1])
    }
    const { bookId: empty } = await reader.createBook()
    expect(await find(reader, 'memos', 'needle', { bookId: empty })).toEqual({ item: [], next: null })
  })

  it('finds nothing of other members, and returns 404 for their books', async () => {
    const [reader, other] = [await signUp(), await signUp()]
    const { bookId } = await other.createBook({ title: 'needle' })
    await other.createMemo(bookId, { memoContent: 'needle' })
    expect(await find(reader, 'memos', 'needle')).toEqual({ item: [], next: null })
    expect(await find(reader, 'books', 'needle')).toEqual({ item: [], next: null })
    for (const id of [bookId, 9007199254740991]) {
      const answer = await reader.get(`/memos/search?q=needle&bookId=${id}`)
      expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([404, 'BOOK_NOT_FOUND'])
    }
  })
})

describe('GET /books/search', () => {
  it.each(TEXTS)('finds in %s: %s', async (stored, q) => {
    const reader = await signUp()
    await reader.createBook({ title: 'Something else' })
    for (const field of fieldsOf('search')) {
      const { bookId } = await reader.createBook(field === 'subtitle' ? {} : { [field]: stored })
      if (field === 'subtitle') await reader.patch(`/books/${bookId}/edition`, { subtitle: stored })
      const { item, next } = await find(reader, 'books', q)
      expect(item, field).toEqual([expect.objectContaining({ bookId })])
      expect(next).toBeNull()
      await reader.delete(`/books/${bookId}`)
    }
  })

  it('returns books as the library lists them, of every status, newest first', async () => {
    const reader = await signUp()
    for (const bookStatus of ['DONE', 'YET', 'ING', 'YET']) await reader.createBook({ title: 'needle', bookStatus })
    const { item } = await find(reader, 'books', 'Needle')
    expect(item.map(({ bookStatus }: { bookStatus: string }) => bookStatus)).toEqual(['YET', 'ING', 'YET', 'DONE'])
    const [library] = (await reader.get('/books/library?bookStatus=ING&page=1&size=10')).body.item
    expect(item[1]).toEqual(library)
  })

  it('pages through the whole library, at most 1,000 books per call', async () => {
    const reader = await signUp()
    const memberId = await memberIdOf(reader)
    await memberDatabase()
      .prepare(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
        insert into books (bookId, memberId, title, createdAt, bookStatus)
        select (select coalesce(max(bookId), 0) from books) + 5000 + i, ?, iif(i % 100 = 1, 'needle ', 'hay ') || i, '2020-01-01T00:00:00',
          iif(i % 3 = 0, 'YET', iif(i % 3 = 1, 'ING', 'DONE')) from n`,
      )
      .bind(memberId)
      .run()
    const { items, pages } = await walk(reader, 'books', 'needle', { size: 9 })
    const numbers = items.map(({ title }) => Number(`${title}`.slice(7)))
    expect(numbers).toEqual(Array.from({ length: 25 }, (_, n) => 2401 - n * 100))
    expect(pages).toEqual([9, 9, 7])
    expect((await walk(reader, 'books', 'absent')).pages).toEqual([0, 0, 0])
  })
})

describe('parameters', () => {
  it.each(['', 'q=', 'q=a', 'q=%20%20a%20', `q=${'x'.repeat(101)}`, 'q=%00a', 'q=%F0%9F%98%80'])(
    'rejects %s',
    async (query) => {
      const reader = await signUp()
      for (const kind of ['books', 'memos']) {
        const answer = await reader.get(`/${kind}/search?${query}`)
        expect(answer.status).toBe(400)
        expect(answer.body.violationErrors).toMatchObject([{ propertyPath: 'q' }])
      }
    },
  )

  it.each(['cursor=x', 'cursor=', 'cursor=eyJhIjoxfQ', 'size=0', 'size=101', 'memoType=9', 'bookId=0'])(
    'rejects %s',
    async (query) => {
      const reader = await signUp()
      const answer = await reader.get(`/memos/search?q=needle&${query}`)
      expect(answer.status).toBe(400)
      expect(answer.body.violationErrors).toMatchObject([{ propertyPath: query.split('=')[0] }])
    },
  )

  it('limits book searches and memo searches per member, separately from each other and from uploads', async () => {
    const reader = await signUp()
    const keys: string[] = []
    const limiter = {
      limit: async ({ key }: RateLimitOptions) => {
        keys.push(key)
        return { success: false }
      },
    } as RateLimit
    const changed = { SEARCH_LIMIT: limiter, MEMBER_LIMIT: limiter }
    // The search that exceeds the limit is answered before it is counted.
    for (const path of ['/books/search?q=ab', '/memos/search?q=ab']) {
      expect((await reader.send('GET', path, { changed })).status).toBe(200)
      const { status, headers } = await reader.get(path)
      expect([status, headers.get('Retry-After')]).toEqual([429, '60'])
    }
    expect((await reader.upload('', { changed })).status).toBe(415)
    expect((await reader.upload('')).status).toBe(429)
    const memberId = await memberIdOf(reader)
    expect(keys).toEqual(['/books/search', '/memos/search', '/memos/image-memo'].map((route) => `${route} ${memberId}`))
  })
})
