import { beforeAll, describe, expect, it } from 'vitest'
import { fold } from '../../../src/values/text/fold'
import { type Reader, readerWith, signUp } from '../../support/api'
import { measure, memberDatabase, memberSlot } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { refusing } from '../../support/rate-limits'
import { insertAccessToken } from '../../support/tokens'

type Book = { bookId: number; seriesNumber: number | null }
type Page = { series: string; missing: number[]; item: Book[]; next: string | null }

const toPath = (series: string, query: Record<string, string> = {}) =>
  `/series/${encodeURIComponent(series)}?${new URLSearchParams(query)}`
const load = async (reader: Reader, series: string, query: Record<string, string> = {}): Promise<Page> => {
  const answer = await reader.get(toPath(series, query))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const walk = async (reader: Reader, series: string, size: number) => {
  const books: Book[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await load(reader, series, { size: `${size}`, ...(cursor && { cursor }) })
    books.push(...page.item)
    cursor = page.next
  }
  return books
}

type Edition = { series?: string; seriesNumber?: number | null; format?: string }
const createBook = async (reader: Reader, { star = 0, bookStatus = 'YET', tags = [] as string[], ...edition }) => {
  const { bookId } = await reader.createBook({ bookStatus })
  if (star) expect((await reader.patch(`/books/${bookId}`, { star })).status).toBe(200)
  expect((await reader.patch(`/books/${bookId}/edition`, edition as Edition)).status).toBe(200)
  if (tags.length) await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
  return bookId
}

/** Inserts books of a series without asking for each. `number`: that of the ith one. */
const insertBooks = async (reader: Reader, count: number, { series = `'Series'`, number = 'i' } = {}) =>
  memberDatabase()
    .prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into books (bookId, memberId, title, createdAt, star, format, series, seriesNumber)
      select (select coalesce(max(bookId), 0) from books) + i, ?, 'Book', '2020-01-01T00:00:00', 5, 'PAPER', ${series}, ${number} from n`,
    )
    .bind(await memberIdOf(reader))
    .run()

describe('the numbers of books', () => {
  const BOOKS = [
    {
      bookStatus: 'ING',
      star: 4,
      format: 'PAPER',
      series: 'Earthsea',
      seriesNumber: 1,
      tags: ['Wizards', 'Read aloud'],
    },
    { bookStatus: 'DONE', star: 5, format: 'EBOOK', series: 'Earthsea', seriesNumber: 3, tags: ['Wizards'] },
    { bookStatus: 'DONE', star: 5, format: 'PAPER', series: '해리 포터', seriesNumber: null },
    { bookStatus: 'DONE', tags: ['Ünread'] },
    {},
  ]

  it('are those of each status, format, rating, tag and series', async () => {
    const reader = await signUp()
    for (const book of BOOKS) await createBook(reader, book)
    expect((await reader.get('/books/counts')).body).toEqual({
      statuses: { YET: 1, ING: 1, DONE: 3 },
      formats: [
        { format: 'EBOOK', bookCount: 1 },
        { format: 'PAPER', bookCount: 2 },
      ],
      ratings: [
        { star: 4, bookCount: 1 },
        { star: 5, bookCount: 2 },
      ],
      tags: ['Read aloud', 'Ünread', 'Wizards']
        .sort((one, other) => (fold(one) < fold(other) ? -1 : 1))
        .map((tag) => ({ tag, bookCount: tag === 'Wizards' ? 2 : 1 })),
      series: [
        { series: 'Earthsea', bookCount: 2 },
        { series: '해리 포터', bookCount: 1 },
      ],
      seriesCount: 2,
    })
  })

  it('of a member without books are empty', async () => {
    expect((await (await signUp()).get('/books/counts')).body).toEqual({
      ...{ statuses: { YET: 0, ING: 0, DONE: 0 }, formats: [], ratings: [], tags: [], series: [], seriesCount: 0 },
    })
  })

  it('list the 500 series with the most books, and say how many there are', async () => {
    const reader = await signUp()
    await insertBooks(reader, 600, { series: `'Series ' || (i % 599)` })
    const { series, seriesCount } = (await reader.get('/books/counts')).body
    expect([series.length, seriesCount, series[0]]).toEqual([500, 599, { series: 'Series 1', bookCount: 2 }])
  })

  it('read an entry of an index for each book with a format, rating or series, and count as statistics', async () => {
    const reader = await signUp()
    const before = await measure(() => reader.get('/books/counts'))
    await insertBooks(reader, 300)
    const after = await measure(() => reader.get('/books/counts'))
    expect([after.calls, after.read - before.read]).toEqual([1, expect.any(Number)])
    expect(after.read - before.read).toBeLessThan(3 * 300 + 10)
    const changed = { MEMBER_LIMIT: refusing }
    await reader.send('GET', '/books/counts', { changed })
    expect((await reader.send('GET', '/stats', { changed })).status).toBe(429)
  })
})

describe('a series', () => {
  let reader: Reader
  const NUMBERS = [3, null, 1, 2.5, 7, 7, null, 0, 10, 7]
  let books: Book[]
  beforeAll(async () => {
    reader = await signUp()
    books = []
    for (const seriesNumber of NUMBERS)
      books.push({ bookId: await createBook(reader, { series: 'Earthsea', seriesNumber }), seriesNumber })
    await createBook(reader, { series: 'earthsea', seriesNumber: 2 })
    await createBook(reader, { series: 'AC/DC: 100%?', seriesNumber: 4 })
    await createBook(await signUp(), { series: 'Earthsea', seriesNumber: 2 })
  })

  it.each([1, 2, 3, 20])('has its books by number, then those without one, on pages of %i', async (size) => {
    const order = books.toSorted(
      (one, other) =>
        (one.seriesNumber ?? Number.POSITIVE_INFINITY) - (other.seriesNumber ?? Number.POSITIVE_INFINITY) ||
        one.bookId - other.bookId,
    )
    const seen = await walk(reader, 'Earthsea', size)
    expect(seen.map(({ bookId, seriesNumber }) => ({ bookId, seriesNumber }))).toEqual(order)
    expect(seen[0]).toMatchObject({ title: expect.any(String), cover: null, bookStatus: 'YET', currentPage: 0 })
  })

  it('says which whole numbers are missing, on each page', async () => {
    const page = await load(reader, 'Earthsea', { size: '2' })
    expect(page.missing).toEqual([2, 4, 5, 6, 8, 9])
    expect((await load(reader, 'Earthsea', { size: '2', cursor: page.next ?? '' })).missing).toEqual(page.missing)
    expect((await load(reader, 'earthsea')).missing).toEqual([1])
  })

  it('can have a slash and a percent sign in its name', async () => {
    expect(await load(reader, 'AC/DC: 100%?')).toMatchObject({ series: 'AC/DC: 100%?', missing: [1, 2, 3] })
  })

  it('is empty if no book has exactly this name', async () => {
    expect(await load(reader, 'Earth')).toEqual({ series: 'Earth', missing: [], item: [], next: null })
  })

  it('refuses a cursor of another list', async () => {
    const { next } = (await reader.get('/books?size=1')).body
    expect((await reader.get(toPath('Earthsea', { cursor: next }))).status).toBe(400)
  })

  it('of any size costs the same, and lists at most 100 missing numbers', async () => {
    const [small, large, same] = [await signUp(), await signUp(), await signUp()]
    await insertBooks(small, 1100, { number: '1000 + i' })
    await insertBooks(large, 5000, { number: '1000 + i' })
    await insertBooks(same, 5000, { number: '1' })
    const cost = (member: Reader, query = {}) => measure(() => load(member, 'Series', { size: '20', ...query }))
    expect(await cost(large)).toEqual(await cost(small))
    expect((await load(large, 'Series')).missing).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
    const { next } = await load(same, 'Series', { size: '100' })
    expect((await cost(same, { cursor: next })).read).toBeLessThan(1100)
    expect((await cost(large)).read).toBeLessThan(1100)
  })
})

describe('the page of a book', () => {
  const read = async (reader: Reader, path: string) => {
    const answer = await reader.get(path)
    expect(answer.status, path).toBe(200)
    return answer.body
  }

  it('has in one call what five have', async () => {
    const reader = await signUp()
    const bookId = await createBook(reader, {
      ...{
        bookStatus: 'ING',
        star: 4,
        format: 'PAPER',
        series: 'Earthsea',
        seriesNumber: 1,
        tags: ['Wizards', 'aloud'],
      },
    })
    await reader.post(`/books/${bookId}/progress`, { page: 12 })
    await reader.post(`/books/${bookId}/progress`, { page: 30 })
    for (let n = 0; n < 25; n++)
      await reader.createMemo(bookId, { memoType: n % 4, memoContent: n === 24 ? '가'.repeat(600) : `Memo ${n}` })
    const { memosList: _, ...detail } = await read(reader, `/books/${bookId}?memoAuthority=ALL`)
    const { item: memos } = await read(reader, `/books/${bookId}/memos?memoType=ALL&page=1&size=20`)
    let body: unknown
    const { calls } = await measure(async () => {
      body = await read(reader, `/books/${bookId}/whole`)
    })
    expect(body).toEqual({
      ...detail,
      edition: await read(reader, `/books/${bookId}/edition`),
      ...(await read(reader, `/books/${bookId}/tags`)),
      readings: await read(reader, `/books/${bookId}/readings`),
      progress: (await read(reader, `/books/${bookId}/progress?size=1`)).item[0],
      memos: [{ ...memos[0], memoContent: '가'.repeat(500) }, ...memos.slice(1)],
    })
    expect([calls, memos.length]).toEqual([1, 20])
  })

  it('of a book without anything has empty lists and nulls', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const book = await read(reader, `/books/${bookId}/whole`)
    expect(book).toMatchObject({ bookId, tags: [], readings: [], progress: null, memos: [] })
    expect(book.edition).toMatchObject({ bookId, isbn: null, sourceIds: [] })
  })

  it('has no memos for a token without memos:read, for which it reads none', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const memberId = await memberIdOf(reader)
    const readWith = async (...scopes: Parameters<typeof insertAccessToken>[2]) => {
      const token = await insertAccessToken(memberDatabase(), memberId, scopes, memberSlot())
      const script = readerWith(reader.email, token)
      await script.get('/books/counts')
      let memos: unknown
      const { read: rows } = await measure(async () => {
        memos = (await read(script, `/books/${bookId}/whole`)).memos
      })
      return { memos, rows }
    }
    const before = await readWith('library:read')
    for (let n = 0; n < 5; n++) await reader.createMemo(bookId)
    expect(before.memos).toBeNull()
    expect(await readWith('library:read')).toEqual(before)
    const { memos } = await readWith('library:read', 'memos:read')
    expect(memos).toHaveLength(5)
  })

  it('reads as many rows of a book with 1,000 long memos as of one with 40', async () => {
    const reader = await signUp()
    const fill = async (memos: number) => {
      const { bookId } = await reader.createBook({ bookStatus: 'ING' })
      await memberDatabase()
        .prepare(
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${memos})
          insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
          select (select coalesce(max(memoId), 0) from memos) + i, ?1, ?2, ?1 * 10000 + i, iif(i % 2, 'SUMMARY', 'THOUGHT'),
            printf('%.*c', 60000, 'x'), 1, 'PRIVATE', '2020-01-01T00:00:00', '2020-01-01T00:00:00' from n`,
        )
        .bind(bookId, await memberIdOf(reader))
        .run()
      return measure(() => read(reader, `/books/${bookId}/whole`))
    }
    const few = await fill(40)
    expect(await fill(1000)).toEqual(few)
    expect([few.calls, few.read < 80]).toEqual([1, true])
  })

  it('of another member or a missing book is not found, at the same cost', async () => {
    const [reader, other] = [await signUp(), await signUp()]
    const { bookId } = await other.createBook()
    const cost = (id: number) =>
      measure(async () => {
        expect((await reader.get(`/books/${id}/whole`)).status).toBe(404)
      })
    expect(await cost(bookId)).toEqual(await cost(9007199254740991))
  })
})
