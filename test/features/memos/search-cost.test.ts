import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { changeDatabase, measure, memberDatabase } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { unlimited } from '../../support/rate-limits'
import { wrapDatabase } from '../../support/wrap-database'

const get = (reader: Reader, path: string) => reader.send('GET', path, { changed: { SEARCH_LIMIT: unlimited } })

type Library = { reader: Reader; bookId: number }

/** Every book and every memo, of all statuses and types in turn, contains its number and "hay"; the newest 20, "needle". */
const createLibrary = async (rows: number): Promise<Library> => {
  const reader = await signUp()
  const { bookId } = await reader.createBook({ title: 'Memos' })
  const memberId = await memberIdOf(reader)
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})`
  const text = `iif(i > ${rows - 20}, 'needle ', 'hay ') || i`
  const named = (names: string[]) => `iif(i % 2, '${names.join(`', '`)}')`
  const [last, lastMemo] = ['books', 'memos'].map(
    (table) => `(select coalesce(max(${table.slice(0, -1)}Id), 0) from ${table})`,
  )
  await memberDatabase().batch([
    memberDatabase().prepare(`${numbers} insert into books (bookId, memberId, title, createdAt, bookStatus)
      select ${last} + i, ${memberId}, ${text}, '2020-01-01T00:00:00', ${named(['YET', 'DONE'])} from n`),
    memberDatabase().prepare(`${numbers} insert into memos
      (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select ${lastMemo} + i, ${bookId}, ${memberId}, i, ${named(['SUMMARY', 'QUESTION'])}, ${text}, 1, 'PRIVATE',
        '2020-01-01T00:00:00', '2020-01-01T00:00:00' from n`),
  ])
  return { reader, bookId }
}

let small: Library
let large: Library
beforeAll(async () => {
  small = await createLibrary(100)
  large = await createLibrary(20_000)
})

const SEARCHES: [string, (library: Library, query: string) => string][] = [
  ['books', (_, query) => `/books/search?${query}`],
  ['memos', (_, query) => `/memos/search?${query}`],
  ['memos of a type', (_, query) => `/memos/search?${query}&memoType=SUMMARY`],
  ['memos of a book', ({ bookId }, query) => `/memos/search?${query}&bookId=${bookId}`],
  ['memos of a book and a type', ({ bookId }, query) => `/memos/search?${query}&bookId=${bookId}&memoType=SUMMARY`],
]

describe.each(SEARCHES)('search in %s', (_, toPath) => {
  const search = (library: Library, query: string) => get(library.reader, toPath(library, query))

  it('reads as many rows in a small library as in a large one for equally recent matches', async () => {
    const [inSmall, inLarge] = [
      await measure(() => search(small, 'q=needle&size=10')),
      await measure(() => search(large, 'q=needle&size=10')),
    ]
    expect(inLarge).toEqual({ ...inSmall, calls: 1 })
    expect(inSmall.read).toBeLessThan(150)
  })

  it('reads at most four rows per row searched, of 1,000, at any depth', async () => {
    const first = await measure(() => search(large, 'q=absent'))
    expect(first.read).toBeGreaterThan(1000)
    expect(first.read).toBeLessThan(4050)
    let page = await search(large, 'q=absent')
    for (let calls = 1; calls < 8; calls++) page = await search(large, `q=absent&cursor=${page.body.next}`)
    expect(await measure(() => search(large, `q=absent&cursor=${page.body.next}`))).toEqual(first)
  })

  it('is repeated after a transient error of the database', async () => {
    let calls = 0
    const database = wrapDatabase(memberDatabase(), (call) => {
      calls += 1
      return calls === 1 ? Promise.reject(new Error('D1_ERROR: Network connection lost.')) : call()
    })
    const path = toPath(small, 'q=needle')
    const { status } = await small.reader.send('GET', path, {
      changed: { ...changeDatabase(database), SEARCH_LIMIT: unlimited },
    })
    expect([status, calls]).toEqual([200, 2])
  })

  it('neither sorts nor scans a table', async () => {
    const prepare = vi.spyOn(Object.getPrototypeOf(env.DB.withSession()), 'prepare')
    await search(small, 'q=needle')
    const texts = prepare.mock.calls.map(([text]) => String(text))
    prepare.mockRestore()
    expect(texts).toHaveLength(3)
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

it('reads the tags of books only if one of them has a word', async () => {
  const { reader } = await createLibrary(1000)
  const memberId = await memberIdOf(reader)
  const cost = async (q: string) => (await measure(() => get(reader, `/books/search?q=${q}`))).read
  const before = await cost('absent')
  const tags = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 30)'
  await memberDatabase().batch([
    memberDatabase().prepare(`${tags} insert into tags (memberId, tagId, tag, tagKey)
      select ${memberId}, i, 'tag ' || i, 'tag ' || i from n`),
    memberDatabase().prepare(`insert into bookTags (memberId, tagId, bookId)
      select memberId, tagId, bookId from books cross join tags using (memberId) where memberId = ${memberId}`),
  ])
  expect(await cost('absent')).toBeLessThanOrEqual(before + 30 + 1)
  expect(await cost('tag%20absent')).toBeLessThanOrEqual(before + 1000 * (2 * 30 + 1) + 30 + 60)
})

it('reads as many rows for the book of another member as for a missing one', async () => {
  const cost = (bookId: number) => measure(() => get(small.reader, `/memos/search?q=needle&bookId=${bookId}`))
  expect(await cost(large.bookId)).toEqual(await cost(9007199254740991))
})

it('reads no row of a member whose session has ended', async () => {
  const cost = async (library: Library) => {
    const other = await library.reader.logInAgain()
    await other.post('/logout', {})
    return measure(() => get(other, '/memos/search?q=needle'))
  }
  expect(await cost(large)).toEqual(await cost(small))
})
