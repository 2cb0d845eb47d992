import { exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { LibraryExport } from '../../src/export/responses'
import { parseTable } from '../../src/reader/csv'
import { BASE, type Reader, signUp } from '../support/api'
import { fillShelf, measure, memberDatabase, select } from '../support/database'
import { memberIdOf } from '../support/images'

const BOOKS = 2500

const fillMemos = async (reader: Reader, bookId: number, count: number, content: string) =>
  select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select (select coalesce(max(memoId), 0) from memos) + i, ?1, ?2,
      (select coalesce(max(position), 0) from memos where memberId = ?2) + i, 'SUMMARY', i || ?4, 1, 'PRIVATE',
      '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`,
    bookId,
    await memberIdOf(reader),
    count,
    content,
  )

const load = (reader: Reader, path: string) =>
  exports.default.fetch(BASE + path, { headers: { Authorization: `Bearer ${reader.token}` } })

const linksOf = (headers: Headers) =>
  Object.fromEntries(
    [...(headers.get('Link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, to, name]) => [name, to]),
  )

describe('a library of many books', () => {
  let reader: Reader
  let ids: number[]
  beforeAll(async () => {
    reader = await signUp()
    await fillShelf(await memberIdOf(reader), BOOKS)
    const rows = await select('select bookId from books where memberId = ? order by bookId', await memberIdOf(reader))
    ids = rows.map(({ bookId }) => Number(bookId))
  })

  it('is exported in pages of 200 books, one call each', async () => {
    let books: LibraryExport['books'] = []
    const { calls, read } = await measure(async () => {
      books = (await reader.get('/export')).body.books
    })
    expect(books.map(({ bookId }) => bookId)).toEqual(ids)
    expect(books.filter(({ memos }) => memos.length === 1)).toHaveLength(ids.filter((id) => id % 10 === 0).length)
    // One for the plan, and one for the images.
    expect(calls).toBe(Math.ceil(BOOKS / 200) + 2)
    expect(read).toBeLessThan(25 * BOOKS)
  })

  it('is exported as CSV and Markdown in as few calls', async () => {
    let files: string[] = []
    const { calls } = await measure(async () => {
      files = [(await reader.get('/export.csv')).body, (await reader.get('/export/memos.md')).body]
    })
    expect(parseTable(files[0] ?? '')).toHaveLength(BOOKS + 1)
    expect(files[1]?.match(/^> A memo$/gm)).toHaveLength(ids.filter((id) => id % 10 === 0).length)
    expect(calls).toBe(1 + Math.ceil(BOOKS / 200) + 1 + Math.ceil(BOOKS / 10 / 200))
  })

  it('sends the first books before it loads the last ones', async () => {
    const { calls } = await measure(async () => {
      const response = await load(reader, '/export.csv')
      const body = response.body?.getReader()
      await body?.read()
      await body?.read()
      await body?.cancel()
    })
    expect(calls).toBeLessThan(5)
  })

  it('costs the same for each page, wherever it is', async () => {
    const plan = (last: number) =>
      btoa(JSON.stringify({ exportedAt: 0, cuts: [last - 200, last].filter((cut) => cut > 0) }))
    const costs = []
    for (const at of [400, 1200, 2400]) {
      const path = `/export.csv?part=2&plan=${plan(ids[at] ?? 0).replace(/=+$/, '')}`
      costs.push(await measure(async () => expect(parseTable((await reader.get(path)).body)).toHaveLength(201)))
    }
    expect(new Set(costs.map(({ calls }) => calls)).size).toBe(1)
    const reads = costs.map(({ read }) => read)
    expect(Math.max(...reads) - Math.min(...reads)).toBeLessThan(50)
  })

  it('releases everything if clients disconnect', async () => {
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const member = n % 2 ? reader : await signUp()
          const response = await load(member, '/export')
          await response.body?.cancel()
        }),
      )
    }
    const member = await signUp()
    await fillShelf(await memberIdOf(member), 10)
    expect((await member.get('/export')).body.books).toHaveLength(10)
  })
})

describe('a large book', () => {
  let reader: Reader
  let bookId: number
  const content = '\u0001'.repeat(60_000)
  beforeAll(async () => {
    reader = await signUp()
    await reader.createBook({ title: 'Before' })
    bookId = (await reader.createBook({ title: 'Large' })).bookId
    await reader.createBook({ title: 'After' })
    await fillMemos(reader, bookId, 20, content)
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 9999)
      insert into progress (memberId, bookId, at, page, kind, total) select ?1, ?2, 1577836800000 + i * 1000, i, 'PROGRESS', i from n`,
      await memberIdOf(reader),
      bookId,
    )
    for (let n = 1; n <= 5; n++) {
      await reader.post(`/books/${bookId}/readings`, { finishedAt: `${2000 + n}`, note: `${n}${'가'.repeat(60_000)}` })
    }
  })

  it('is loaded in parts, and complete', async () => {
    let books: LibraryExport['books'] = []
    const { calls } = await measure(async () => {
      books = (await reader.get('/export')).body.books
    })
    expect(books.map(({ title }) => title)).toEqual(['Before', 'Large', 'After'])
    const large = books[1]
    expect(large?.memos.map(({ memoContent }) => memoContent)).toEqual(
      Array.from({ length: 20 }, (_, n) => `${n + 1}${content}`),
    )
    expect(large?.progress.map(({ page }) => page)).toEqual(Array.from({ length: 9999 }, (_, n) => n + 1))
    expect(large?.readings.map(({ note }) => note?.[0])).toEqual(['1', '2', '3', '4', '5'])
    // Plan, images, three pages; sizes and parts of readings and memos, and events.
    expect(calls).toBe(1 + 1 + 3 + (1 + 5) + (1 + 5) + 6)
  })

  it('is complete in the other formats', async () => {
    const { body } = await reader.get('/export/memos.md')
    expect(body.match(/^### Summary, page 1, 2026-01-01$/gm)).toHaveLength(20)
    const [, , row] = parseTable((await reader.get('/export.csv')).body)
    expect(row?.cells.at(-1)).toBe('2001;2002;2003;2004;2005')
    expect(row?.cells.find((cell) => cell.length > 60_000)?.[0]).toBe('5')
  })

  it('holds nothing after HEAD requests and disconnects', async () => {
    const member = await signUp()
    const other = await member.createBook({ title: 'Large' })
    await fillMemos(member, other.bookId, 20, content)
    for (let n = 0; n < 8; n++) expect((await member.send('HEAD', '/export')).status).toBe(200)
    for (let n = 0; n < 8; n++) {
      const body = (await load(member, '/export')).body?.getReader()
      await body?.read()
      await body?.cancel()
    }
    expect((await member.get('/export')).body.books[0].memos).toHaveLength(20)
  })
})

describe('a library beyond the size of a part', () => {
  let reader: Reader
  const bookIds: number[] = []
  beforeAll(async () => {
    reader = await signUp()
    for (let n = 0; n < 5; n++) {
      const { bookId } = await reader.createBook({ title: `Book ${n}` })
      bookIds.push(bookId)
      await fillMemos(reader, bookId, 4, 'x'.repeat(60_000))
      // As if there were more memos.
      await memberDatabase().prepare('update books set memoBytes = 5 * 1024 * 1024 where bookId = ?').bind(bookId).run()
    }
  })

  it('is in several parts, each complete, which link to each other', async () => {
    const parts: LibraryExport[] = []
    const relations: string[][] = []
    let path: string | undefined = '/export'
    while (path) {
      const { status, headers, body } = await reader.get(path)
      expect(status).toBe(200)
      parts.push(body)
      const links = linksOf(headers)
      relations.push(Object.keys(links))
      expect(headers.get('Content-Disposition')).toMatch(new RegExp(`-part-${parts.length}-of-4\\.json"$`))
      expect(headers.get('RateLimit')).toMatch(parts.length === 1 ? /^"export";r=19;/ : /^"export-part";r=39\d;/)
      path = links.next
      // A book that is registered meanwhile is in no part, and one that is deleted does not move the others.
      if (parts.length === 1) await reader.createBook({ title: 'Later' })
    }
    expect(parts.map(({ part, parts: all }) => [part, all])).toEqual([1, 2, 3, 4].map((part) => [part, 4]))
    const titles = parts.map(({ books }) => books.map(({ title }) => title))
    expect(titles).toEqual([['Book 0'], ['Book 1', 'Book 2'], ['Book 3'], ['Book 4']])
    expect(new Set(parts.map(({ exportedAt }) => exportedAt)).size).toBe(1)
    const [first, prev, next, last] = ['first', 'prev', 'next', 'last']
    const inside = [first, prev, next, last]
    expect(relations).toEqual([[first, next, last], inside, inside, [first, prev, last]])
  })

  it('can be requested by number', async () => {
    const { body } = await reader.get('/export?part=2')
    expect(body.books.map(({ title }: { title: string }) => title)).toEqual(['Book 1', 'Book 2'])
    const answer = await reader.get('/export?part=5')
    expect(answer).toMatchObject({
      status: 400,
      body: { violationErrors: [{ propertyPath: 'part', rejectedValue: '5' }] },
    })
  })

  it.each(['x', 'e30', btoa('{"exportedAt":0,"cuts":[0]}'), btoa('{"exportedAt":9e15,"cuts":[1]}')])(
    'refuses the plan %s',
    async (plan) => {
      expect(await reader.get(`/export?plan=${encodeURIComponent(plan)}`)).toMatchObject({
        status: 400,
        body: { violationErrors: [{ propertyPath: 'plan', reason: 'must be from the Link header of the first part' }] },
      })
    },
  )
})
