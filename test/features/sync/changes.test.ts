import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { toCursor } from '../../../src/values/cursor'
import { type Reader, readerWith, signUp } from '../../support/api'
import { changeDatabase, fillShelf, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'
import { ofCopy } from '../../support/sync/comparable'
import { type Copy, compareCopy, createCopy } from '../../support/sync/copy'
import { insertAccessToken } from '../../support/tokens'
import { importFile } from '../../support/transfer/imports'

/** A copy of the reader's library. */
const copyOf = ({ get }: Reader) => createCopy(get)
const expectCopy = async () => {
  const { copy: found, library } = await compareCopy(reader.get, copy)
  expect(found).toEqual(library)
}

let reader: Reader
let memberId: number
let copy: Copy
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  copy = copyOf(reader)
})

const logOf = () => select('select seq, kind, id from changes where memberId = ? order by seq', memberId)
const MEMO = { memoBookPage: 1, memoContent: 'A thought' }

/** A small generator of numbers that SEED repeats. */
const createDraws = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state >>> 8) ^ (state >>> 17)) % below
  }
}

const GOODREADS = 'Book Id,Title,Author,My Rating,Exclusive Shelf,Bookshelves,Date Read,My Review'
const TAGS = ['Sea', 'Lamp', 'Salt', 'Tide']
const DATES = ['2024-01-02T10:00:00', '2025-03-04T00:00:00', null]

/** Every kind of write that changes a library. */
const WRITES: ((
  draw: (below: number) => number,
  ids: Record<'book' | 'memo' | 'reading', number>,
) => Promise<unknown>)[] = [
  (draw) =>
    reader.createBook({
      title: `Book ${draw(1000)}`,
      bookStatus: draw(3),
      readStartDate: DATES[draw(3)],
      readEndDate: DATES[draw(3)],
      currentPage: draw(50),
    }),
  (draw, { book }) => reader.patch(`/books/${book}`, { bookStatus: draw(3), readEndDate: DATES[draw(3)] }),
  (draw, { book }) => reader.patch(`/books/${book}`, { bookStatus: draw(3), readStartDate: DATES[draw(3)] }),
  (draw, { book }) => reader.patch(`/books/${book}`, { star: draw(6) }),
  (draw, { book }) =>
    reader.patch(`/books/${book}`, { currentPage: draw(300), author: `Author ${draw(9)}`, itemPage: 300 }),
  (_, { book }) => reader.send('PATCH', `/books/created-date/${book}`, { raw: '2020-01-01T00:00:00' }),
  (draw, { book }) =>
    reader.patch(`/books/${book}/edition`, { seriesNumber: draw(9) / 10 + 0.1, sourceIds: [`a:${draw(9)}`] }),
  (draw, { book }) => reader.post(`/books/${book}/progress`, { page: draw(300) }),
  (draw, { book }) =>
    reader.post(`/books/${book}/progress`, { page: draw(300), at: `2026-01-0${1 + draw(9)}T00:00:00Z` }),
  (draw, { book }) => reader.send('PUT', `/books/${book}/tags`, { body: { tags: TAGS.slice(draw(4), draw(5)) } }),
  (draw) => reader.patch('/tags', { from: TAGS[draw(4)], to: [...TAGS, 'sEA'][draw(5)] }),
  (draw) => reader.delete(`/tags?tag=${TAGS[draw(4)]}`),
  (_, { book }) => reader.post(`/memos?bookId=${book}`, MEMO),
  (draw, { memo }) => reader.patch(`/memos/${memo}`, { memoContent: `Edited ${draw(1000)}` }),
  (_, { memo }) => reader.delete(`/memos/${memo}`),
  (draw, { book }) =>
    reader.post(`/books/${book}/readings`, { finishedAt: `20${10 + draw(16)}`, rating: (1 + draw(20)) / 4 }),
  (_, { book }) => reader.post(`/books/${book}/readings`, { startedAt: '2026-01' }),
  (draw, { reading }) =>
    reader.patch(`/readings/${reading}`, { note: `Note ${draw(9)}`, outcome: ['STOPPED', null][draw(2)] }),
  (_, { reading }) => reader.delete(`/readings/${reading}`),
  (draw, { book }) => (draw(3) === 0 ? reader.delete(`/books/${book}`) : Promise.resolve()),
  async (_, { book }) => {
    const [other] = await select('select bookId from books where memberId = ? and bookId <> ?', memberId, book)
    await reader.post(`/books/${book}/merge`, { from: other?.bookId ?? 1 })
  },
  async (draw) => {
    if (draw(3) > 0) return
    const row = (n: number) => `${n},Imported ${n},Mina Oh,${draw(6)},read,sea,2026/01/02,A review`
    const { importId } = await importFile(reader, [GOODREADS, row(draw(9)), row(10 + draw(9))].join('\n'))
    if (draw(2) === 0) await reader.delete(`/imports/${importId}`)
  },
]

const pickIds = async (draw: (below: number) => number) => {
  const pick = async (query: string) => {
    const rows = await select(query, memberId)
    return Number(rows[draw(Math.max(rows.length, 1))]?.id ?? 1)
  }
  return {
    book: await pick('select bookId as id from books where memberId = ?'),
    memo: await pick('select memoId as id from memos where memberId = ?'),
    reading: await pick(
      'select readingId as id from readings where memberId = ?1 union select bookId from books where memberId = ?1',
    ),
  }
}

describe('a copy kept by the feed', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'equals the library after random writes of all kinds (%i)',
    { tags: ['slow'] },
    async (round) => {
      const draw = createDraws(Number(env.SEED) * 10 + round)
      for (let n = 0; n < 8; n++) await WRITES[0]?.(draw, await pickIds(draw))
      // The first sync, of pages of one in some rounds, meets writes too.
      for (let n = 0; n < 120; n++) {
        await WRITES[draw(WRITES.length)]?.(draw, await pickIds(draw))
        if (draw(4) === 0) await copy.pullPage([1, 2, 3, 200][draw(4)])
      }
      expect(await findMismatches(memberDatabase())).toEqual([])
      await copy.pull(1 + draw(5))
      await expectCopy()
      const fresh = copyOf(reader)
      await fresh.pull(1 + draw(50))
      expect(ofCopy(fresh.of)).toEqual(ofCopy(copy.of))
    },
  )

  it.each([1, 2, 100])('moves what a merged book had before it deletes the book, in pages of %i', async (size) => {
    const { bookId } = await reader.createBook({ bookStatus: 'DONE', readEndDate: '2020-01-01T00:00:00' })
    const { bookId: from } = await reader.createBook({ bookStatus: 'ING' })
    const { memoId } = await reader.createMemo(from)
    await reader.post(`/books/${from}/readings`, { finishedAt: '2019', note: 'Aloud.' })
    await reader.post(`/books/${from}/progress`, { page: 12, at: '2026-01-01T00:00:00Z' })
    await reader.send('PUT', `/books/${from}/tags`, { body: { tags: ['Sea'] } })
    await copy.pull(size)
    const before = copy.objects.get(`memo ${memoId}`)
    expect((await reader.post(`/books/${bookId}/merge`, { from })).status).toBe(200)
    expect((await logOf()).at(-1)).toMatchObject({ kind: 1, id: from })
    await copy.pull(size)
    await expectCopy()
    expect(copy.objects.get(`memo ${memoId}`)).toEqual({ ...before, bookId })
    expect(copy.of('reading').map((reading) => reading.bookId)).toEqual([bookId, bookId, bookId])
    expect(copy.of('book')).toMatchObject([{ bookId, currentPage: 12, progress: { count: 1 } }])
  })

  it('has progress from before 1970, and of its first second', async () => {
    const { bookId } = await reader.createBook()
    for (const at of ['1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z']) {
      await reader.post(`/books/${bookId}/progress`, { page: 3, at })
      const { item } = (await reader.get('/changes')).body
      expect(item[0]).toMatchObject({ kind: 'book', value: { progress: { latestAt: at } } })
    }
  })

  it('has progress that a merge adds behind the latest event', async () => {
    const [{ bookId }, { bookId: from }] = [await reader.createBook(), await reader.createBook()]
    await reader.post(`/books/${bookId}/progress`, { page: 30 })
    await reader.post(`/books/${from}/progress`, { page: 12, at: '2026-01-01T00:00:00Z' })
    await copy.pull()
    await reader.post(`/books/${bookId}/merge`, { from })
    await copy.pull()
    expect(copy.of('book')).toMatchObject([{ bookId, currentPage: 30, progress: { count: 2 } }])
  })

  it('has a reading that becomes the current one of its book during a first sync', async () => {
    const { bookId } = await reader.createBook({ bookStatus: 'DONE' })
    const { readingId } = (await reader.post(`/books/${bookId}/readings`, { finishedAt: '2020' })).body
    await copy.pullPage(1)
    await copy.pullPage(1)
    expect(copy.of('reading')).toMatchObject([{ readingId }])
    await reader.delete(`/readings/${readingId}`)
    await copy.pull()
    await expectCopy()
    expect(copy.of('reading')).toHaveLength(1)
  })

  it('has each object of a first sync once, in pages of any size', async () => {
    await fillShelf(memberId, 30)
    const { bookId } = await reader.createBook({ bookStatus: 'ING' })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: TAGS } })
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2020' })
    for (const size of [1, 7, 200]) {
      copy.drop()
      const seen: string[] = []
      for (let hasMore = true; hasMore; ) {
        const page = await copy.pullPage(size)
        seen.push(...page.item.map(({ kind, id }) => `${kind} ${id}`))
        hasMore = page.hasMore
      }
      expect(new Set(seen).size).toBe(seen.length)
      // Of the 30 books, 20 are not YET, and have a reading; three have a memo.
      expect(seen.length).toBe(31 + 20 + 2 + 3 + 4)
      await expectCopy()
    }
  })

  it('takes at most 80 requests for 2,000 books and 5,000 memos', { tags: ['slow'] }, async () => {
    await fillShelf(memberId, 2000)
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 24)
        insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
        select (select max(memoId) from memos) + row_number() over (), bookId, memberId, 200 + row_number() over (),
          memoType, ?2, 1, 'PRIVATE', createdAt, updatedAt
        from memos, n where memberId = ?1`,
      ...[memberId, 'A thought. '.repeat(20)],
    )
    expect(await copy.pull(200)).toBeLessThanOrEqual(80)
    expect([copy.of('book').length, copy.of('memo').length]).toEqual([2000, 5000])
  })

  it('has the version of each memo', async () => {
    const { bookId } = await reader.createBook()
    const created = await reader.post(`/memos?bookId=${bookId}`, MEMO)
    const path = `/memos/${created.body.memoId}`
    const versionOf = async () => {
      const { item } = await copy.pullPage()
      return item.flatMap((change) => (change.kind === 'memo' ? [change.version] : []))
    }
    const etagOf = async () => Number((await reader.get(path)).headers.get('ETag')?.slice(1, -1))
    expect(await versionOf()).toEqual([await etagOf()])
    await reader.patch(path, { memoContent: 'edited' })
    expect(await versionOf()).toEqual([await etagOf()])
    await reader.delete(path)
    expect(await versionOf()).toEqual([null])
  })

  it('takes an upgrade of the text in pages of at most 512 KiB', { tags: ['slow'] }, async () => {
    const { bookId } = await reader.createBook()
    for (let n = 0; n < 12; n++) await reader.createMemo(bookId, { memoContent: '가'.repeat(65_000) })
    const { bookId: other } = await reader.createBook({ bookStatus: 'DONE' })
    for (const first of [true, false]) {
      if (!first) await memberDatabase().prepare('update memos set version = 5 where memberId = ?').bind(memberId).run()
      const sizes: number[] = []
      for (let hasMore = true; hasMore; ) {
        const page = await copy.pullPage(200)
        sizes.push(page.item.filter(({ kind }) => kind === 'memo').length)
        hasMore = page.hasMore
      }
      expect(Math.max(...sizes)).toBeLessThanOrEqual(3)
      expect(sizes.reduce((sum, size) => sum + size)).toBe(12)
    }
    expect(copy.objects.has(`reading ${other}`)).toBe(true)
  })
})

describe('the log', () => {
  it('is empty until the member asks, and costs no row until then', async () => {
    const write = async () => {
      const { bookId } = await reader.createBook({ bookStatus: 'ING' })
      const { memoId } = await reader.createMemo(bookId)
      await reader.patch(`/books/${bookId}`, { author: 'Mina Oh' })
      await reader.delete(`/memos/${memoId}`)
    }
    await write()
    const before = await measure(write)
    expect(await logOf()).toEqual([])
    await copy.pull()
    expect(await logOf()).toEqual([{ seq: 1, kind: 0, id: 0 }])
    const after = await measure(write)
    // The book and its reading, the memo, the book, the memo.
    expect((await logOf()).length).toBe(6)
    expect(after.written).toBe(before.written + 5)
  })

  it.each<[string, (book: number, memo: number, reading: number) => Promise<unknown>, number]>([
    ['a title', (book) => reader.patch(`/books/${book}`, { author: 'Mina Oh' }), 1],
    ['the same values', (book) => reader.patch(`/books/${book}`, { author: null, star: 0 }), 0],
    ['a page', (book) => reader.patch(`/books/${book}`, { currentPage: 9 }), 1],
    ['progress', (book) => reader.post(`/books/${book}/progress`, { page: 8 }), 1],
    ['an edition', (book) => reader.patch(`/books/${book}/edition`, { series: 'Cosmos' }), 1],
    [
      'a status, which is also that of the reading',
      (book) => reader.patch(`/books/${book}`, { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' }),
      3,
    ],
    ['a memo', (book) => reader.createMemo(book), 1],
    ['the text of a memo', (_, memo) => reader.patch(`/memos/${memo}`, { memoContent: 'x' }), 1],
    ['a deleted memo', (_, memo) => reader.delete(`/memos/${memo}`), 1],
    ['a note on a reading with a row', (_, __, reading) => reader.patch(`/readings/${reading}`, { note: 'x' }), 1],
    ['a tag of a book', (book) => reader.send('PUT', `/books/${book}/tags`, { body: { tags: ['Sea'] } }), 2],
    ['a deleted book with its memos and readings', (book) => reader.delete(`/books/${book}`), 1],
  ])('has for %s', async (_, change, entries) => {
    const { bookId } = await reader.createBook({ bookStatus: 'ING' })
    const { memoId } = await reader.createMemo(bookId)
    const rereading = (await reader.post(`/books/${bookId}/readings`, { finishedAt: '2020' })).body.readingId
    await reader.delete(`/readings/${bookId}`)
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING' })
    await copy.pull()
    const before = (await logOf()).length
    await change(bookId, memoId, rereading)
    expect((await logOf()).length - before).toBe(entries)
    await copy.pull()
    await expectCopy()
  })

  it('keeps the newest 20,000 entries, and refuses cursors from before them', async () => {
    const { bookId } = await reader.createBook()
    await copy.pull()
    const late = copyOf(reader)
    await late.pull()
    const database = memberDatabase()
    const grow = (from: number, to: number) =>
      database
        .prepare(`with recursive n(i) as (select ?2 union all select i + 1 from n where i < ?3)
          insert into changes select ?1, i, 1, ?4, i from n`)
        .bind(memberId, from, to, bookId)
        .run()
    await grow(2, 19_999)
    await copy.pull()
    await grow(20_000, 25_099)
    const [log] = await select(
      'select min(seq) as first, max(seq) as last, count(*) as count from changes where memberId = ?',
      memberId,
    )
    expect(log).toEqual({ first: 5001, last: 25_099, count: 20_099 })
    await copy.pull()
    await expectCopy()
    expect(await reader.get(`/changes?cursor=${late.cursor()}`)).toMatchObject({ status: 410 })
  })

  it('is deleted with the member, before what it is about', async () => {
    await reader.createBook()
    await copy.pull()
    await reader.createBook()
    expect((await reader.send('DELETE', '/members/me')).status).toBe(204)
    const rows = () =>
      select('select 1 from books where memberId = ? union all select 1 from changes where memberId = ?1', memberId)
    await eventually(async () => expect(await rows()).toEqual([]))
  })
})

describe('a cursor', () => {
  /** The member's rows at an earlier time, as a restore of the database brings them back. */
  const save = async () => {
    const [books, log] = [
      await select('select bookId, title, author from books where memberId = ?', memberId),
      await select('select seq, kind, id, proof from changes where memberId = ?', memberId),
    ]
    return async () => {
      const database = memberDatabase()
      const updates = books.map(({ bookId, author }) =>
        database.prepare('update books set author = ? where bookId = ?').bind(author, bookId),
      )
      await database.batch([
        ...updates,
        database.prepare('delete from changes where memberId = ?').bind(memberId),
        ...log.map(({ seq, kind, id, proof }) =>
          database.prepare('insert into changes values (?, ?, ?, ?, ?)').bind(memberId, seq, kind, id, proof),
        ),
      ])
    }
  }
  const expectRefused = async (cursor = copy.cursor()) => {
    const answer = await reader.get(`/changes?cursor=${cursor}`)
    expect(answer).toMatchObject({ status: 410, body: { status: 410 } })
    expect(answer.headers.get('X-Error-Code')).toBe('RESYNC_REQUIRED')
  }

  it('is refused after a restore to an earlier state, even if the log has grown as long again', async () => {
    const { bookId } = await reader.createBook()
    await copy.pull()
    const restore = await save()
    await reader.patch(`/books/${bookId}`, { author: 'lost' })
    await copy.pull()
    await restore()
    await expectRefused()
    await reader.patch(`/books/${bookId}`, { publisher: 'another' })
    await expectRefused()
    await reader.patch(`/books/${bookId}`, { publisher: 'more' })
    await expectRefused()
    copy.drop()
    await copy.pull()
    await expectCopy()
  })

  it('is refused if its pages showed values that a restore has lost', async () => {
    const books = [await reader.createBook(), await reader.createBook()]
    await copy.pull()
    for (const { bookId } of books) await reader.patch(`/books/${bookId}`, { author: 'first' })
    const restore = await save()
    await reader.patch(`/books/${books[0]?.bookId}`, { author: 'lost' })
    await reader.patch(`/books/${books[1]?.bookId}`, { author: 'lost' })
    await reader.patch(`/books/${books[1]?.bookId}`, { author: 'lost, too' })
    // The first book, as it is now. Its cursor is that of an entry which the restored log has.
    await copy.pullPage(1)
    await restore()
    await expectRefused()
  })

  it('of the first sync is refused after a restore, too', async () => {
    for (let n = 0; n < 3; n++) await reader.createBook()
    await copy.pullPage(1)
    const restore = await save()
    await reader.createBook()
    await copy.pullPage(1)
    await restore()
    await expectRefused()
  })

  it('is refused if the log has begun again', async () => {
    await reader.createBook()
    await copy.pull()
    await select('delete from changes where memberId = ?', memberId)
    await expectRefused()
    await copyOf(reader).pull()
    await expectRefused()
  })

  it('is shown to the primary if a replica does not have its entry yet', async () => {
    await reader.createBook()
    await copy.pull()
    const { bookId } = await reader.createBook()
    const asked: string[] = []
    const primary = memberDatabase()
    const lagging = {
      prepare: (query: string) => primary.prepare(query),
      withSession: (bookmark: string) => {
        const session = primary.withSession('first-primary')
        asked.push(bookmark)
        return {
          prepare: (query: string) => session.prepare(query),
          getBookmark: () => session.getBookmark(),
          batch: async (statements: D1PreparedStatement[]) => {
            const [log, rows] = await session.batch<Record<string, unknown>>(statements)
            if (bookmark === 'first-primary') return [log, rows]
            return [
              { ...log, results: [{ ...log?.results[0], known: null }] },
              { ...rows, results: [] },
            ]
          },
        }
      },
    } as unknown as D1Database
    const get = (headers = {}) =>
      reader.send('GET', `/changes?cursor=${copy.cursor()}`, { changed: changeDatabase(lagging), headers })
    // Only a bookmark that the isolate has seen lets a replica answer.
    const bookmark = (await get()).headers.get('X-D1-Bookmark') ?? ''
    asked.length = 0
    const answer = await get({ 'X-D1-Bookmark': bookmark })
    expect(answer).toMatchObject({ status: 200, body: { item: [{ kind: 'book', id: bookId }] } })
    const sessions = asked.filter((each) => each !== 'first-primary')
    expect([sessions.length, asked.at(-1)]).toEqual([1, 'first-primary'])
  })

  it('is of one member', async () => {
    await reader.createBook({ title: 'mine' })
    await copy.pull()
    const stranger = copyOf(await signUp())
    await stranger.pull()
    await reader.createBook({ title: 'mine, too' })
    expect(await stranger.pullPage()).toMatchObject({ item: [], hasMore: false })
    expect(stranger.objects.size).toBe(0)
    expect(await (await signUp()).get(`/changes?cursor=${copy.cursor()}`)).toMatchObject({ status: 410 })
  })

  const proof = { p: '0'.repeat(15) }
  it.each([
    'x',
    'e30',
    ...[{ c: 1 }, { c: 1, t: 1, p: '1' }, { c: 0, t: 1, ...proof }, { c: 2, t: 1, ...proof }].map(toCursor),
  ])('is a violation if it is %s', async (cursor) => {
    expect((await reader.get(`/changes?cursor=${cursor}`)).body.violationErrors).toMatchObject([
      { propertyPath: 'cursor' },
    ])
  })

  it('stays the same while nothing changes, in one call that reads at most 8 rows and writes none', async () => {
    await fillShelf(memberId, 50)
    await copy.pull()
    await reader.createBook()
    await copy.pull()
    const cursor = copy.cursor()
    const cost = await measure(() => copy.pullPage())
    expect(cost).toMatchObject({ calls: 1, written: 0 })
    expect(cost.read).toBeLessThanOrEqual(8)
    expect(copy.cursor()).toBe(cursor)
    const token = await insertAccessToken(memberDatabase(), memberId, ['library:read', 'memos:read'], memberSlot())
    const script = readerWith('', token)
    await script.get('/books')
    const byToken = await measure(() => script.get(`/changes?cursor=${cursor}`))
    expect(byToken).toMatchObject({ calls: 1, written: 0 })
    // One more, for the token.
    expect(byToken.read).toBeLessThanOrEqual(9)
  })
})
