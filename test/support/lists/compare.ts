// Compares random lists of a random library with the model, also while the library changes between pages.
import assert from 'node:assert/strict'
import { BOOK_FORMATS, BOOK_STATUSES } from '../../../src/values/contract.ts'
import type { Send } from '../model/run.ts'
import { createDraw, type Draw } from '../sync/draw.ts'
import { type Load, type ModelQuery, modelList, SORTS } from './model.ts'
import { createChanges, createPick, createShelf, ISBNS, SERIES, TAGS, TERMS, TIMES } from './random-shelf.ts'

type Query = ModelQuery & { q?: string }
const AUTHORS = ['한강', 'ÖDÖN', 'hermann hesse', 'толстой', ' ', 'nobody']

/** Mostly few filters, since few books match several. */
const drawQuery = (draw: Draw, start: number): Query => {
  const pick = createPick(draw)
  const query: Query = { sort: pick(SORTS) }
  const FILTERS: (() => unknown)[] = [
    () => (query.status = pick(BOOK_STATUSES)),
    () => (query.tag = Array.from({ length: 1 + draw(5) }, () => pick([...TAGS, ...TAGS, 'nowhere']).toUpperCase())),
    () => (query.tag = [pick(TAGS)]),
    () => (query.author = pick(AUTHORS)),
    () => (query.series = pick([...SERIES, 'nowhere'])),
    () => (query.format = pick(BOOK_FORMATS)),
    () => (query.isbn = pick(ISBNS)),
    () => (query.q = pick(TERMS)),
    () => (query.since = pick([...TIMES, ...TIMES.map((time) => time + 1000), start])),
  ]
  for (let n = pick([0, 1, 1, 1, 2, 2, 3, 4]); n > 0; n--) pick(FILTERS)()
  return query
}

const toPath = ({ since, tag = [], ...query }: Query, more: Record<string, string>) => {
  const parameters = new URLSearchParams({ ...query, ...more })
  for (const each of tag) parameters.append('tag', each)
  if (since !== undefined) parameters.set('since', new Date(since).toISOString())
  return `/books?${parameters}`
}

/** The books that a search finds, for the filter `q`. */
const search = async (load: Load, q: string) => {
  const found = new Set<number>()
  for (let cursor = ''; ; ) {
    const { item, next } = await load('GET', `/books/search?q=${encodeURIComponent(q)}&size=100${cursor}`)
    for (const { bookId } of item) found.add(bookId)
    if (next === null) return found
    cursor = `&cursor=${next}`
  }
}

/** Keeps a comparison short: a large library gets larger pages. */
const MAX_PAGES = 20

/** How often each sort and filter was compared, and each kind of page was seen. */
export type Reached = Map<string, number>

/**
 * Compares `queries` random lists of a random library of `size` books. In every third, the library changes between
 * pages: then each book that was there all the time, unchanged, must be listed exactly once, in order.
 * @param send as a new member
 */
export const compareLists = async (send: Send, seed: number, size: number, queries: number, reached: Reached) => {
  const draw = createDraw(seed)
  const load: Load = async (method, path, body) => {
    const answer = await send({ method, path, body } as Parameters<Send>[0])
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const count = (name: string) => reached.set(name, (reached.get(name) ?? 0) + 1)
  const books = await createShelf(load, draw, size)
  const start = Date.now() - 1
  const change = createChanges(load, draw, books)
  const walk = async (query: Query, pageSize: number, between: () => Promise<unknown>) => {
    const ids: number[] = []
    for (let cursor: string | undefined; ; ) {
      const path = toPath(query, { size: String(pageSize), ...(cursor && { cursor }) })
      const { item, next } = await load('GET', path)
      ids.push(...item.map(({ bookId }: { bookId: number }) => bookId))
      if (next === null) return ids
      if (item.length < pageSize) count(item.length > 0 ? 'short pages' : 'empty pages before the end')
      count('pages that were not the last')
      await between()
      cursor = next
    }
  }
  for (let n = 0; n < queries; n++) {
    const query = drawQuery(draw, start)
    for (const name of Object.keys(query)) count(name === 'sort' ? `sort ${query.sort}` : `filter ${name}`)
    const found = query.q === undefined ? undefined : await search(load, query.q)
    const expected = modelList(books, query, found)
    if (expected.length > 0) count('lists with books')
    const pageSize = createPick(draw)([1, 3, 7, 20, 100].filter((each) => each * MAX_PAGES >= expected.length))
    const context = `library ${seed}, list ${n}, pages of ${pageSize}: ${JSON.stringify(query)}`
    if (n % 3 > 0) {
      const listed = await walk(query, pageSize, async () => {})
      assert.deepEqual(listed, expected, context)
      continue
    }
    const changed = new Set<number>()
    const listed = await walk(query, pageSize, async () => {
      if (changed.size < 30) changed.add(await change())
    })
    if (changed.size > 0) count('lists of a changing library')
    const present = new Set(books.map(({ bookId }) => bookId))
    const isUnchanged = (bookId: number) => !changed.has(bookId) && present.has(bookId)
    const known = new Set(expected)
    assert.deepEqual(
      listed.filter((bookId) => isUnchanged(bookId) && known.has(bookId)),
      expected.filter(isUnchanged),
      `while the library changes, ${context}`,
    )
    await change()
  }
}
