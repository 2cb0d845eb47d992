// Filters, activity and the parts that GET /books can include. All orders and combinations: test/attacks/data/lists.test.ts.
import { beforeAll, describe, expect, it } from 'vitest'
import { INCLUDES, MAX_EXCERPT } from '../../../src/library/books/schema'
import { type Reader, readerWith, signUp } from '../../support/api'
import { measure } from '../../support/database'
import { violation } from '../../support/inputs/invalid-values'
import { refusing } from '../../support/rate-limits'
import { libraryFile } from '../../support/transfer/import-files'
import { importFile } from '../../support/transfer/imports'

const ALL = INCLUDES.join()
const list = async (reader: Reader, query: string) => {
  const answer = await reader.get(`/books?${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const idsOf = async (reader: Reader, query: string) =>
  (await list(reader, query)).item.map(({ bookId }: { bookId: number }) => bookId)

it('counts a list with a term towards the limit of searches, and no other list', async () => {
  const reader = await signUp()
  const changed = { SEARCH_LIMIT: refusing }
  const statusOf = async (path: string) => (await reader.send('GET', path, { changed })).status
  await statusOf('/books?q=demian')
  const paths = ['/books?q=demian', '/books', '/books/search?q=demian']
  expect(await Promise.all(paths.map(statusOf))).toEqual([429, 200, 429])
})

describe('include', () => {
  let reader: Reader
  let bookId: number
  beforeAll(async () => {
    reader = await signUp()
    bookId = (await reader.createBook({ title: 'Demian', bookStatus: 'ING', isbn: '9788936434120' })).bookId
    await reader.patch(`/books/${bookId}/edition`, { series: 'Novels', sourceIds: ['goodreads:1'] })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Zen', '소설', 'été', '😀', '\ufb01n'] } })
    await reader.post(`/books/${bookId}/progress`, { page: 7, at: '2025-01-01T00:00:00Z' })
    await reader.post(`/books/${bookId}/progress`, { page: 9, at: '2025-01-02T00:00:00Z' })
    await reader.createMemo(bookId, { memoType: 'QUESTION' })
    await reader.createMemo(bookId, { memoType: 'SUMMARY', memoContent: '한'.repeat(MAX_EXCERPT + 1) })
  })

  it('adds what the operations of the book return', async () => {
    const [{ edition, tags, readings, progress, lastMemo, ...book }] = (await list(reader, `include=${ALL}`)).item
    const get = async (path: string) => (await reader.get(`/books/${bookId}${path}`)).body
    const { memosList, ...detail } = await get('?memoAuthority=ALL')
    expect(book).toEqual(detail)
    expect(edition).toEqual(await get('/edition'))
    expect({ tags }).toEqual(await get('/tags'))
    expect(readings).toEqual(await get('/readings'))
    expect(progress).toEqual((await get('/progress')).item[0])
    expect(lastMemo).toEqual({ ...memosList[0], memoContent: '한'.repeat(MAX_EXCERPT) })
  })

  it('adds only the named parts, in any order, also if one is repeated', async () => {
    const [plain] = (await list(reader, '')).item
    for (const include of ['tags', 'tags,edition', 'lastMemo,progress,lastMemo']) {
      const [{ ...book }] = (await list(reader, `include=${include}`)).item
      expect(Object.keys(book).sort()).toEqual([...Object.keys(plain), ...new Set(include.split(','))].sort())
    }
  })

  it('is empty or null for a book that has nothing', async () => {
    const other = await signUp()
    await other.createBook()
    const [book] = (await list(other, `include=${ALL}`)).item
    expect(book).toMatchObject({ tags: [], readings: [], progress: null, lastMemo: null })
    expect(book.edition).toMatchObject({ isbn: null, sourceIds: [] })
  })

  it('shows the past reading that was added last, with the beginning of its note, if the book is YET', async () => {
    const other = await signUp()
    const { bookId } = await other.createBook()
    for (const [finishedAt, note] of [
      ['2020', 'first'],
      ['2010', 'n'.repeat(MAX_EXCERPT + 1)],
    ])
      await other.post(`/books/${bookId}/readings`, { finishedAt, note })
    await other.patch(`/books/${bookId}`, { bookStatus: 'YET' })
    const readings = (await other.get(`/books/${bookId}/readings`)).body
    const added = readings.toSorted(
      (one: { readingId: number }, { readingId }: { readingId: number }) => readingId - one.readingId,
    )
    const [book] = (await list(other, 'include=readings')).item
    expect(book.readings).toEqual([{ ...added[0], note: added[0].note.slice(0, MAX_EXCERPT) }])
  })

  it('shows the newest memo that is left, also after merges and restores', async () => {
    const other = await signUp()
    const [one, two] = [(await other.createBook()).bookId, (await other.createBook()).bookId]
    const memoIds = []
    for (const bookId of [one, two, one]) memoIds.push((await other.createMemo(bookId)).memoId)
    const newest = async () =>
      (await list(other, 'include=lastMemo&sort=created')).item.map(
        ({ lastMemo }: { lastMemo: { memoId: number } | null }) => lastMemo?.memoId,
      )
    expect(await newest()).toEqual([memoIds[2], memoIds[1]])
    await other.delete(`/memos/${memoIds[2]}`)
    expect(await newest()).toEqual([memoIds[0], memoIds[1]])
    await other.post(`/books/${one}/merge`, { from: two })
    expect(await newest()).toEqual([memoIds[1]])
    expect((await other.post(`/trash/book-${two}/restore`, undefined)).status).toBe(200)
    expect(await newest()).toEqual([memoIds[0], memoIds[1]])
    await other.post(`/trash/memo-${memoIds[2]}/restore`, undefined)
    expect(await newest()).toEqual([memoIds[2], memoIds[1]])
  })

  it('needs memos:read for the last memo only', async () => {
    const { token } = (await reader.post('/tokens', { name: 'x', scopes: ['library:read'] })).body
    const app = readerWith(reader.email, token)
    expect((await app.get('/books?include=edition,tags,readings,progress&q=demian')).status).toBe(200)
    expect(await app.get(`/books?include=${ALL}`)).toMatchObject({ status: 403 })
    const all = (await reader.post('/tokens', { name: 'y', scopes: ['library:read', 'memos:read'] })).body.token
    expect((await readerWith(reader.email, all).get(`/books?include=${ALL}`)).status).toBe(200)
  })

  it('reads at most 200 rows for 20 books with two tags, progress and memos of all types', {
    tags: ['slow'],
  }, async () => {
    const other = await signUp()
    for (let n = 0; n < 21; n++) {
      const { bookId } = await other.createBook({ bookStatus: n % 3 })
      await other.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['one', 'two'] } })
      await other.post(`/books/${bookId}/progress`, { page: 1 })
      for (const memoType of [0, 1, 2, 3]) await other.createMemo(bookId, { memoType })
    }
    for (const query of ['', '&sort=-activity', '&sort=title', '&status=ING&sort=-activity']) {
      const { calls, read } = await measure(() => list(other, `include=${ALL}&size=20${query}`))
      expect(calls).toBe(1)
      expect(read, query).toBeLessThanOrEqual(200)
    }
  })
})

describe('activity', () => {
  /** Activities in the same millisecond would be a tie. */
  const pause = () => new Promise((done) => setTimeout(done, 2))

  it('is progress, a new memo or a change of status', async () => {
    const reader = await signUp()
    const ids: number[] = []
    for (let n = 0; n < 7; n++) ids.push((await reader.createBook()).bookId)
    const [memo, page, event, status, finished, old, reading] = ids as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const ACTIVITIES: [number, () => Promise<unknown>][] = [
      [old, () => reader.post(`/books/${old}/progress`, { page: 0, at: '2020-01-01T00:00:00Z' })],
      [status, () => reader.patch(`/books/${status}`, { bookStatus: 'ING' })],
      [finished, () => reader.patch(`/books/${finished}`, { bookStatus: 'DONE' })],
      [memo, () => reader.createMemo(memo)],
      [reading, () => reader.post(`/books/${reading}/readings`, { startedAt: '2024' })],
      [event, () => reader.post(`/books/${event}/progress`, { page: 1 })],
      [page, () => reader.patch(`/books/${page}`, { currentPage: 1 })],
      [memo, () => reader.createMemo(memo)],
      [status, () => reader.patch(`/books/${status}`, { bookStatus: 'YET' })],
    ]
    const active: number[] = []
    for (const [bookId, act] of ACTIVITIES) {
      await pause()
      await act()
      if (active.includes(bookId)) active.splice(active.indexOf(bookId), 1)
      active.unshift(bookId)
      const others = ids.filter((id) => !active.includes(id)).reverse()
      expect(await idsOf(reader, 'sort=-activity')).toEqual([...active, ...others])
      expect(await idsOf(reader, 'sort=activity')).toEqual([...active.toReversed(), ...others])
    }
    expect(await idsOf(reader, 'sort=-activity&since=2020-01-01T00:00:00.001Z')).toEqual(
      active.filter((id) => id !== old),
    )
  })

  it('is neither a change of anything else nor the same page again', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ currentPage: 5 })
    const { memoId } = await reader.createMemo(bookId)
    await pause()
    const { bookId: later } = await reader.createBook({ bookStatus: 'ING' })
    await pause()
    await reader.patch(`/books/${bookId}`, { star: 3, currentPage: 5, bookStatus: 'YET' })
    await reader.patch(`/books/${bookId}/edition`, { series: 'x' })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['x'] } })
    await reader.patch(`/memos/${memoId}`, { memoContent: 'x' })
    await reader.delete(`/memos/${memoId}`)
    await reader.post(`/trash/memo-${memoId}/restore`, undefined)
    expect(await idsOf(reader, 'sort=-activity')).toEqual([later, bookId])
  })

  it('is the latest progress of an import, but not its memos and statuses', async () => {
    const reader = await signUp()
    const memo = { memoType: 'THOUGHT', memoContent: 'x', memoBookPage: 1, memoAuthority: 'PRIVATE' }
    const at = (day: string) => ({ at: `${day}T00:00:00.000Z`, page: 1, kind: 'PROGRESS' })
    const book = (title: string, bookStatus: string, progress: object[] = []) => ({
      title,
      bookStatus,
      progress,
      memos: [memo],
    })
    await importFile(
      reader,
      libraryFile(
        book('A', 'ING', [at('2024-01-01'), at('2024-01-03')]),
        book('B', 'ING', [at('2024-01-02')]),
        book('C', 'DONE'),
      ),
    )
    const titles = async (query: string) =>
      (await list(reader, query)).item.map(({ title }: { title: string }) => title)
    expect(await titles('sort=-activity')).toEqual(['A', 'B', 'C'])
    expect(await titles('since=2024-01-03T00:00:00Z')).toEqual(['A'])
    await importFile(reader, libraryFile(book('B', 'ING', [at('2024-01-02'), at('2024-01-04')])))
    expect(await titles('sort=-activity')).toEqual(['B', 'A', 'C'])
  })
})

describe('filters', () => {
  it.each([
    ['include', 'include=', ''],
    ['include', 'include=memos', 'memos'],
    ['include', 'include=tags,', 'tags,'],
    ['include', 'include=tags&include=edition', ['tags', 'edition']],
    ['tag', `tag=${'&tag='.repeat(5)}`, Array(6).fill('')],
    ['format', 'format=paper', 'paper'],
    ['isbn', 'isbn=9788936434121', '9788936434121'],
    ['series', 'series=', ''],
    ['q', 'q=', ''],
    ['since', 'since=2026-01-01', '2026-01-01'],
    ['since', 'since=2999-01-01T00:00:00Z', '2999-01-01T00:00:00Z'],
    ['author', 'author=a&author=b', ['a', 'b']],
  ])('names %s in the error about %s', async (name, query, value) => {
    expect(await (await signUp()).get(`/books?${query}`)).toMatchObject(violation(name, value))
  })

  it('finds books with all tags, by an ISBN in either form, and by what the search finds', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Demian', isbn: '89-364-3412-8' })
    const { bookId: other } = await reader.createBook({ title: 'Siddhartha' })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Novel', 'Zen'] } })
    await reader.send('PUT', `/books/${other}/tags`, { body: { tags: ['Novel'] } })
    for (const query of ['tag=novel&tag=ZEN', 'tag=zen&tag=Zen', 'isbn=9788936434120', 'isbn=8936434128', 'q=EMI']) {
      expect(await idsOf(reader, query), query).toEqual([bookId])
      expect(await idsOf(reader, `${query}&sort=title&status=YET`), query).toEqual([bookId])
    }
    expect(await idsOf(reader, 'tag=novel')).toEqual([other, bookId])
    expect(await idsOf(reader, 'tag=novel&tag=nowhere')).toEqual([])
  })
})
