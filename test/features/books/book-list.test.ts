import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { toCursor } from '../../../src/values/cursor'
import { toSortKey } from '../../../src/values/text/fold'
import { type Reader, signUp } from '../../support/api'
import { measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

type Listed = Record<string, string | number | null> & { bookId: number }
type Query = Record<string, string | number | undefined>

const toPath = (path: string, query: Query) => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  return `${path}?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')}`
}
const list = async (reader: Reader, query: Query = {}, path = '/books') => {
  const answer = await reader.get(toPath(path, query))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body as { item: Listed[]; next: string | null }
}

/** All items, page by page, and the number of pages. */
const walk = async (reader: Reader, query: Query, path?: string) => {
  const items: Listed[] = []
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const { item, next } = await list(reader, { ...query, cursor }, path)
    expect(item.length).toBeLessThanOrEqual(Number(query.size ?? 20))
    items.push(...item)
    if (next === null) return { items, pages }
    cursor = next
  }
}
const idsOf = (items: Listed[]) => items.map(({ bookId }) => bookId)

const FIELDS = { created: 'bookId', title: 'title', author: 'author', finished: 'readEndDate', rating: 'star' } as const
const SORTS = Object.keys(FIELDS).flatMap((field) => [field, `-${field}`])

const encoder = new TextEncoder()
/** Compares as SQLite does: texts by their bytes in UTF-8. */
const compare = (one: string | number, other: string | number) => {
  if (typeof one === 'number') return one - Number(other)
  const [a, b] = [one, String(other)].map((text) => encoder.encode(text))
  const at = a?.findIndex((byte, n) => byte !== b?.[n]) ?? -1
  return at === -1 ? (a?.length ?? 0) - (b?.length ?? 0) : (a?.[at] ?? 0) - (b?.[at] ?? -1)
}

/** What the list must be, from all books. */
const expected = (books: Listed[], sort: string) => {
  const field = FIELDS[sort.replace('-', '') as keyof typeof FIELDS]
  const keyOf = (book: Listed) => {
    const value = book[field]
    if (field === 'readEndDate') return book.bookStatus === 'DONE' ? value : null
    if (field === 'star') return value || null
    return typeof value === 'string' ? toSortKey(value) : value
  }
  const sign = sort.startsWith('-') ? -1 : 1
  return books.toSorted((one, other) => {
    const [a, b] = [keyOf(one) ?? null, keyOf(other) ?? null]
    if (a === null || b === null) return a === b ? other.bookId - one.bookId : a === null ? 1 : -1
    return sign * (compare(a, b) || one.bookId - other.bookId)
  })
}

const TITLES = [
  '데미안',
  '데미안',
  'Émile',
  'émile',
  'Zorba',
  'apple',
  'Über',
  '車輪の下',
  '車輪の下'.normalize('NFD'),
  '😀',
  '1Q84',
]
const AUTHORS = ['한강', 'Hermann Hesse', 'HERMANN HESSE', 'Ödön', 'ödön'.normalize('NFD'), ' ', null, null]

const BOOKS = 30

describe('GET /books', () => {
  let reader: Reader
  let books: Listed[]
  const tagsOf = new Map<number, string[]>()
  beforeAll(async () => {
    reader = await signUp()
    // Not the first member's books only: others must not appear.
    await (await signUp()).createBook({ author: '한강', bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' })
    const bookIds: number[] = []
    for (let n = 0; n < BOOKS; n++) {
      const { bookId } = await reader.createBook({
        title: TITLES[n % TITLES.length],
        author: AUTHORS[n % AUTHORS.length],
        publisher: '민음사',
        bookStatus: n % 3,
        readStartDate: '2026-01-01T00:00:00',
        readEndDate: n % 4 === 0 ? null : `2026-0${1 + (n % 5)}-01T00:00:00`,
      })
      bookIds.push(bookId)
    }
    const rateAndTag = async (bookId: number, n: number) => {
      const tags = ['Novel', '소설'].filter((_, at) => n % (at + 2) === 0)
      tagsOf.set(bookId, tags)
      await reader.patch(`/books/${bookId}`, { star: Math.max(0, (n % 7) - 1) })
      await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
    }
    await Promise.all(bookIds.map(rateAndTag))
    books = (await list(reader, { size: 100 })).item
  })

  it('has all fields of a book, newest registration first', async () => {
    expect(books).toHaveLength(BOOKS)
    for (const [at, { bookId, ...book }] of books.entries()) {
      expect(bookId).toBeGreaterThan(books[at + 1]?.bookId ?? 0)
      if (at > 2) continue
      const { memosList, ...detail } = (await reader.get(`/books/${bookId}?memoAuthority=ALL`)).body
      expect({ bookId, ...book }).toEqual(detail)
    }
    expect((await list(reader, {})).item).toEqual(books.slice(0, 20))
  })

  const filters: [string, Query, (book: Listed) => boolean][] = [
    ['all books', {}, () => true],
    ['a status', { status: 'DONE' }, ({ bookStatus }) => bookStatus === 'DONE'],
    ['a code', { status: 0 }, ({ bookStatus }) => bookStatus === 'YET'],
    ['a tag', { tag: 'novel' }, ({ bookId }) => tagsOf.get(bookId)?.includes('Novel') ?? false],
    ['an author', { author: 'hermann Hesse' }, ({ author }) => /^hermann hesse$/i.test(String(author))],
    ['a decomposed author', { author: 'ÖDÖN'.normalize('NFD') }, ({ author }) => toSortKey(String(author)) === 'odon'],
    ['a blank author', { author: ' ' }, ({ author }) => author === ' '],
    ['an unknown tag', { tag: 'none' }, () => false],
    ['an unknown author', { author: 'none' }, () => false],
    [
      'a tag and a status',
      { tag: '소설'.normalize('NFD'), status: 'ING' },
      ({ bookId, bookStatus }) => bookStatus === 'ING' && (tagsOf.get(bookId)?.includes('소설') ?? false),
    ],
    [
      'an author and a status',
      { author: '한강', status: 2 },
      (book) => book.author === '한강' && book.bookStatus === 'DONE',
    ],
    [
      'all filters',
      { author: '한강', status: 'DONE', tag: 'NOVEL' },
      (book) =>
        book.author === '한강' && book.bookStatus === 'DONE' && (tagsOf.get(book.bookId)?.includes('Novel') ?? false),
    ],
  ]
  const cases = filters.flatMap(([name, query, matches]) => SORTS.map((sort) => ({ name, sort, query, matches })))
  it.each(cases)('sorts $name by $sort, in pages of any size', { tags: ['slow'] }, async ({ sort, query, matches }) => {
    const whole = expected(books.filter(matches), sort)
    for (const size of [1, 100]) expect((await walk(reader, { ...query, sort, size })).items, `${size}`).toEqual(whole)
    // The first page is full.
    expect((await list(reader, { ...query, sort, size: 7 })).item).toEqual(whole.slice(0, 7))
  })

  it.each<[Query, string, string?]>([
    [{ sort: 'lastRead' }, 'sort'],
    [{ sort: '' }, 'sort'],
    [{ sort: '--title' }, 'sort'],
    [{ status: 'READ' }, 'status'],
    [{ status: 3 }, 'status'],
    [{ tag: ' ' }, 'tag'],
    [{ tag: 'x'.repeat(101) }, 'tag'],
    [{ author: '' }, 'author'],
    [{ author: 'x'.repeat(501) }, 'author'],
    [{ size: 0 }, 'size'],
    [{ size: 101 }, 'size'],
    [{ cursor: '' }, 'cursor'],
    [{ cursor: 'x' }, 'cursor'],
    [{ cursor: toCursor(null) }, 'cursor'],
    [{ cursor: toCursor({ sort: 'title', segment: 2, sortKey: '', bookId: 1 }), sort: 'title' }, 'cursor'],
    [{ cursor: toCursor({ sort: 'title', segment: 0, sortKey: [], bookId: 1 }), sort: 'title' }, 'cursor'],
  ])('refuses %j', async (query, propertyPath) => {
    expect(await reader.get(toPath('/books', query))).toMatchObject({
      status: 400,
      body: { violationErrors: [{ propertyPath }] },
    })
  })

  it('rejects the cursor of another sort', async () => {
    const { next } = await list(reader, { sort: 'title', size: 1 })
    for (const sort of SORTS.filter((each) => each !== 'title')) {
      const answer = await reader.get(toPath('/books', { sort, cursor: next ?? '' }))
      const violationErrors = [{ propertyPath: 'cursor', reason: 'must be next of the previous page of the same list' }]
      expect(answer, sort).toMatchObject({ status: 400, body: { violationErrors } })
    }
  })

  it.each(SORTS)(
    'accepts any valid cursor of %s, even if made up or from other filters',
    { tags: ['slow'] },
    async (sort) => {
      for (const segment of [0, 1]) {
        for (const sortKey of [null, 0, -1e300, 'x', '\u0000\ud800']) {
          for (const query of [{}, { status: 'YET' }, { author: '한강' }, { tag: 'Novel' }]) {
            const cursor = toCursor({ sort, segment, sortKey, bookId: 9_007_199_254_740_991 })
            const { item } = await list(reader, { ...query, sort, cursor })
            expect(idsOf(books)).toEqual(expect.arrayContaining(idsOf(item)))
          }
        }
      }
    },
  )

  it('continues after a book that was deleted or moved, without repeating or skipping others', async () => {
    const member = await signUp()
    for (const title of ['A', 'B', 'C', 'D', 'E']) await member.createBook({ title, author: title })
    const { item, next } = await list(member, { sort: 'author', size: 2 })
    await member.delete(`/books/${item[1]?.bookId}`)
    await member.patch(`/books/${item[0]?.bookId}`, { author: 'Z' })
    const rest = await list(member, { sort: 'author', cursor: next ?? '' })
    expect(rest.item.map(({ author }) => author)).toEqual(['C', 'D', 'E', 'Z'])
  })

  it('pages through titles of maximum length', async () => {
    const member = await signUp()
    const titles = ['\u{1D160}', '한', '\u0001'].flatMap((unit) => [unit.repeat(499), unit.repeat(500)])
    for (const title of titles) await member.createBook({ title, author: title })
    for (const sort of ['title', '-author']) expect((await walk(member, { sort, size: 1 })).items).toHaveLength(6)
    expect((await walk(member, { size: 1 }, '/authors')).items).toHaveLength(6)
  })
})

describe('GET /authors', () => {
  it('lists authors by key, with the number of their books', async () => {
    const reader = await signUp()
    for (const author of ['한강', 'Ödön', 'ÖDÖN', 'Zola', 'hesse', 'HESSE', 'Hesse', null, ' '])
      await reader.createBook({ author })
    const whole = [
      { author: ' ', bookCount: 1 },
      { author: 'hesse', bookCount: 3 },
      { author: 'Ödön', bookCount: 2 },
      { author: 'Zola', bookCount: 1 },
      { author: '한강', bookCount: 1 },
    ]
    expect(await list(reader, {}, '/authors')).toEqual({ item: whole, next: null })
    for (const size of [1, 2, 5]) expect((await walk(reader, { size }, '/authors')).items).toEqual(whole)
    for (const { author, bookCount } of whole) expect((await list(reader, { author })).item).toHaveLength(bookCount)
    const [book] = (await list(reader, { author: 'zola' })).item
    await reader.patch(`/books/${book?.bookId}`, { author: 'Émile Zola' })
    expect((await list(reader, {}, '/authors')).item[1]).toEqual({ author: 'Émile Zola', bookCount: 1 })
    await reader.patch(`/books/${book?.bookId}`, { author: 'ÉMILE Zola' })
    expect((await list(reader, {}, '/authors')).item[1]).toEqual({ author: 'ÉMILE Zola', bookCount: 1 })
    const [odon] = (await list(reader, { author: 'ödön' })).item
    await reader.patch(`/books/${odon?.bookId}`, { author: 'ödön' })
    expect((await list(reader, {}, '/authors')).item[3]).toEqual({ author: 'Ödön', bookCount: 2 })
    expect(await list(await signUp(), {}, '/authors')).toEqual({ item: [], next: null })
    const violation = { status: 400, body: { violationErrors: [{ propertyPath: 'cursor' }] } }
    for (const cursor of ['x', toCursor(1), '%00'])
      expect(await reader.get(`/authors?cursor=${cursor}`)).toMatchObject(violation)
  })
})

/** A tenth of the books is tagged, rated or finished on a day of its own, and every second has an author. */
const createLibrary = async (books: number) => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  const { bookId } = await reader.createBook({ title: 'Book 0', author: 'Author 0' })
  await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Tag'] } })
  await memberDatabase().batch([
    memberDatabase()
      .prepare(`
        with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
        insert into books (bookId, memberId, title, author, createdAt, bookStatus, readEndDate, star)
        select ?3 + i, ?1, 'Book ' || i, iif(i % 2, 'Author ' || (i % 7), null), '2020-01-01T00:00:00',
          iif(i % 3, iif(i % 3 = 1, 'YET', 'DONE'), 'ING'),
          iif(i % 3 = 2, strftime('%Y-%m-%dT%H:%M:%S', 1577836800 + i * 3600, 'unixepoch'), null), iif(i % 10, 0, 1 + i % 4)
        from n`)
      .bind(memberId, books, bookId),
    memberDatabase()
      .prepare(
        'insert into bookTags select ?1, 1, bookId from books where memberId = ?1 and bookId > ?2 and bookId % 10 = 0',
      )
      .bind(memberId, bookId),
  ])
  return reader
}

describe('one database call, at a cost independent of the size of the library', () => {
  let small: Reader
  let large: Reader
  beforeAll(async () => {
    small = await createLibrary(200)
    large = await createLibrary(2500)
  })

  const flat: Query[] = [
    ...SORTS.map((sort) => ({ sort })),
    ...['created', '-created'].flatMap((sort) => [
      { sort, status: 'ING' },
      { sort, tag: 'tag' },
      { sort, author: 'author 1' },
    ]),
    ...['author', '-author'].map((sort) => ({ sort, author: 'author 1' })),
    { sort: 'finished', status: 'YET' },
  ]
  it.each(flat)('first and later pages of %j', { tags: ['slow'] }, async (query) => {
    const costOf = async (reader: Reader, page: number) => {
      let cursor: string | undefined
      for (let n = 1; n < page; n++) cursor = (await list(reader, { ...query, cursor, size: 5 })).next ?? undefined
      const { calls, read, written } = await measure(async () => {
        expect((await list(reader, { ...query, cursor, size: 5 })).item).toHaveLength(5)
      })
      expect([calls, written]).toEqual([1, 0])
      return read
    }
    expect(await costOf(large, 1)).toBeLessThanOrEqual((await costOf(small, 1)) * 1.1)
    const inSmall = await costOf(small, 2)
    for (const page of [2, 7]) expect(await costOf(large, page)).toBeLessThanOrEqual(inSmall * 1.1)
    expect(inSmall).toBeLessThan(30)
  })

  it('a page deep in books of the same author', async () => {
    let cursor: string | undefined
    for (let n = 0; n < 3; n++) {
      cursor = (await list(large, { author: 'author 1', sort: 'author', cursor, size: 60 })).next ?? undefined
      const { read } = await measure(() => list(large, { author: 'author 1', sort: 'author', cursor, size: 5 }))
      expect(read).toBeLessThan(20)
    }
  })

  it('authors', async () => {
    const inSmall = await measure(() => list(small, { size: 5 }, '/authors'))
    const inLarge = await measure(() => list(large, { size: 5 }, '/authors'))
    expect(inLarge).toEqual({ ...inSmall, calls: 1, written: 0 })
  })

  it.each<Query>([
    { sort: 'title', tag: 'unknown' },
    { sort: '-title', author: 'author 3', status: 'DONE' },
    { sort: 'rating', status: 'ING', tag: 'tag' },
    { sort: 'author', tag: 'tag', status: 'YET' },
    { sort: '-finished', author: 'author 5', tag: 'tag' },
    { sort: '-created', author: 'author 1', status: 'DONE', tag: 'tag' },
  ])(
    'with the filters %j, at most 1,000 books are examined, and the cursor continues',
    { tags: ['slow'] },
    async (query) => {
      const whole = expected((await walk(large, { size: 100 })).items, query.sort as string)
      const tagged = new Set(idsOf((await walk(large, { tag: query.tag ?? 'tag', size: 100 })).items))
      const matching = whole.filter(
        ({ bookId, author, bookStatus }) =>
          (!query.author || String(author).toLowerCase() === query.author) &&
          (!query.status || bookStatus === query.status) &&
          (!query.tag || tagged.has(bookId)),
      )
      let cursor: string | undefined
      const found: number[] = []
      let pages = 0
      do {
        const { calls, read } = await measure(async () => {
          const { item, next } = await list(large, { ...query, cursor, size: 100 })
          found.push(...idsOf(item))
          cursor = next ?? undefined
        })
        expect(calls).toBe(1)
        // Of 500 books with and 500 without a value: the index, the book and its tag.
        expect(read).toBeLessThanOrEqual(3000 + 20)
        expect(++pages).toBeLessThan(20)
      } while (cursor)
      expect(found).toEqual(idsOf(matching))
    },
  )

  const plans: [sort: string, index: string, query?: Query][] = [
    ['created', 'books_by_status'],
    ['-created', 'books_by_status', { status: 'DONE' }],
    ['-created', 'books_by_author', { author: 'a' }],
    ['created', 'bookTags', { tag: 'a', author: 'a' }],
    ['title', 'books_by_title'],
    ['-title', 'books_by_title', { tag: 'a' }],
    ['author', 'books_by_author'],
    ['-author', 'books_by_author', { author: 'a' }],
    ['-author', 'books_by_author', { status: 'YET' }],
    ['finished', 'books_finished'],
    ['-finished', 'books_finished', { status: 'DONE', author: 'a' }],
    ['rating', 'books_by_star'],
    ['-rating', 'books_by_star', { tag: 'a', status: 'YET' }],
  ]
  it.each(plans)('%s reads %s, without sorting (%j)', async (sort, index, query = {}) => {
    for (const cursor of [undefined, toCursor({ sort, segment: 0, sortKey: 'x', bookId: 1 })]) {
      const prepare = vi.spyOn(Object.getPrototypeOf(env.DB.withSession()), 'prepare')
      await list(small, { ...query, sort, cursor })
      const statement = prepare.mock.calls.map(([text]) => String(text)).find((text) => text.includes('sortKey')) ?? ''
      prepare.mockRestore()
      const nulls = Array.from(statement.matchAll(/\?/g), () => null)
      const plan = (await select(`explain query plan ${statement}`, ...nulls)).map(({ detail }) => String(detail))
      expect(
        plan.filter((step) => step.includes(index) && step.includes('(memberId=?')),
        plan.join('\n'),
      ).not.toEqual([])
      // The rows of the index, on which filters are tested, are a co-routine named like the table.
      const [scans, coroutines] = ['SCAN books', 'CO-ROUTINE books'].map((name) => plan.filter((step) => step === name))
      expect(scans, plan.join('\n')).toHaveLength(coroutines?.length ?? 0)
      expect(
        plan.filter((step) => /TEMP B-TREE|SCAN (?:books .|bookTags)/.test(step)),
        plan.join('\n'),
      ).toEqual([])
    }
  })
})
