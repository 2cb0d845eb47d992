import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { connect } from '../../../src/db/client'
import { deleteExpired } from '../../../src/sweep'
import { SCOPES, type Scope } from '../../../src/values/contract'
import { TRASH_PRICE } from '../../../src/values/prices'
import { DAY_MS } from '../../../src/values/time'
import { type Reader, readerWith, signUp } from '../../support/api'
import { fillTags, listChanges, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { holdClock } from '../../support/runtime/clock'
import { compareCopy, createCopy } from '../../support/sync/copy'
import { insertAccessToken } from '../../support/tokens'

let reader: Reader
let memberId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
})
afterEach(vi.useRealTimers)

const expectConsistent = async () => expect(await findMismatches(memberDatabase())).toEqual([])
type Options = Parameters<Reader['send']>[2]
const list = async (query = '') => (await reader.get(`/trash?size=100${query}`)).body.item
const restore = (trashId: string, options?: Options) => reader.send('POST', `/trash/${trashId}/restore`, options)
const remove = async (path: string, options?: Options) =>
  expect((await reader.send('DELETE', path, options)).status).toBe(204)
const usedBytes = async () =>
  Number((await select('select textBytes from members where memberId = ?', memberId))[0]?.textBytes)

const ROWS = {
  ...{ books: 'bookId', memos: 'memoId', readings: 'readingId', progress: 'bookId, at', authors: 'authorKey' },
  ...{ members: 'memberId', trash: 'trashId', trashParts: 'partId', images: 'imageId' },
}
/** All rows of the member. The identifiers of tags may change. */
const rowsOf = async () => {
  const selectAll = (table: string, order: string) =>
    select(`select * from ${table} where memberId = ? order by ${order}`, memberId)
  const entries = Object.entries(ROWS).map(async ([table, order]) => [table, await selectAll(table, order)])
  const tags = await select(
    `select bookId, tag, tagKey, bookCount, blocks from tags join bookTags using (memberId, tagId)
    where memberId = ? order by bookId, tagKey`,
    memberId,
  )
  return { ...Object.fromEntries(await Promise.all(entries)), tags }
}

/** A book with something in every table. */
const createFullBook = async () => {
  const { bookId } = await reader.createBook({ title: 'Straße', author: 'Ünsal', itemPage: 300, bookStatus: 'ING' })
  const edition = {
    subtitle: 'A "Brief"\n\\History',
    seriesNumber: 0.1 + 0.2,
    sourceIds: ['goodreads:1', 'isbn:2'],
    seconds: 41,
  }
  expect((await reader.patch(`/books/${bookId}/edition`, { ...edition, series: '대하 소설' })).status).toBe(200)
  for (const finishedAt of ['2020', '2021-03', '2022-05-06'])
    await reader.post(`/books/${bookId}/readings`, { finishedAt, rating: 4.25, note: `Read in ${finishedAt}` })
  for (let page = 1; page <= 41; page++)
    await reader.post(`/books/${bookId}/progress`, {
      ...(page % 2 ? { page } : { seconds: page, minutes: page }),
      at: new Date(page * DAY_MS).toISOString(),
    })
  await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Novel', '소설'] } })
  await reader.createMemo(bookId, { memoContent: 'İstanbul', memoType: 'QUESTION', memoAuthority: 'PUBLIC' })
  await reader.createMemo(bookId, { memoContent: '"quoted"\n\\ \u0001 한' })
  await reader.patch(`/books/${bookId}`, { bookStatus: 'DONE', readEndDate: '2024-02-03T04:05:06', star: 3 })
  return bookId
}

describe('a deleted book', () => {
  it('is restored as it was, in every column and counter', async () => {
    const other = await reader.createBook({ author: 'Ünsal' })
    await reader.createMemo(other.bookId)
    await reader.send('PUT', `/books/${other.bookId}/tags`, { body: { tags: ['novel'] } })
    const bookId = await createFullBook()
    const before = await rowsOf()
    await remove(`/books/${bookId}`)
    await expectConsistent()
    expect(await list()).toEqual([
      {
        ...{ trashId: `book-${bookId}`, kind: 'book', bookId, memoId: null, title: 'Straße', excerpt: null },
        ...{ memoCount: 2, deletedAt: expect.any(String), expiresAt: expect.any(String) },
      },
    ])
    const book = { bookId, title: 'Straße', author: 'Ünsal', bookStatus: 'DONE', star: 3, memoCount: 2 }
    expect(await restore(`book-${bookId}`)).toMatchObject({ status: 200, body: { book, memo: null } })
    expect(await rowsOf()).toEqual(before)
    expect(await list()).toEqual([])
    await expectConsistent()
  })

  it('is stored in parts if it has many memos or long notes, and restored from them', { tags: ['slow'] }, async () => {
    const { bookId } = await reader.createBook()
    for (let n = 0; n < 8; n++) await reader.createMemo(bookId, { memoContent: `${n}`.repeat(20_000) })
    for (let n = 0; n < 4; n++)
      await reader.post(`/books/${bookId}/readings`, { finishedAt: '2020', note: `${n}`.repeat(40_000) })
    const before = await rowsOf()
    await remove(`/books/${bookId}`)
    expect(await select('select parts from trash where memberId = ?', memberId)).toEqual([{ parts: 5 }])
    await expectConsistent()
    expect((await restore(`book-${bookId}`)).status).toBe(200)
    expect(await rowsOf()).toEqual(before)
    await expectConsistent()
  })

  it('does not come back twice, and the request can be repeated', async () => {
    const { bookId } = await reader.createBook()
    await remove(`/books/${bookId}`)
    expect((await reader.delete(`/books/${bookId}`)).status).toBe(404)
    const answers = await Promise.all([restore(`book-${bookId}`), restore(`book-${bookId}`)])
    expect(answers.map(({ status, body }) => [status, body.book.bookId])).toEqual([
      [200, bookId],
      [200, bookId],
    ])
    await expectConsistent()
  })

  it('keeps its identifier from being used again, also when it is back', async () => {
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId)
    const { readingId } = (await reader.post(`/books/${bookId}/readings`, {})).body
    await remove(`/books/${bookId}`)
    const second = await reader.createBook()
    expect(second.bookId).toBeGreaterThan(bookId)
    await remove(`/books/${second.bookId}`)
    await restore(`book-${bookId}`)
    await restore(`book-${second.bookId}`)
    await expectConsistent()
    const third = await reader.createBook()
    expect(third.bookId).toBeGreaterThan(second.bookId)
    expect((await reader.createMemo(third.bookId)).memoId).toBeGreaterThan(memoId)
    expect((await reader.post(`/books/${third.bookId}/readings`, {})).body.readingId).toBeGreaterThan(readingId)
  })

  it('takes the spelling of a tag that exists', async () => {
    const { bookId } = await reader.createBook()
    const setTags = (id: number, tags: string[]) => reader.send('PUT', `/books/${id}/tags`, { body: { tags } })
    await setTags(bookId, ['Novel', 'Sea'])
    await remove(`/books/${bookId}`)
    await setTags((await reader.createBook()).bookId, ['NOVEL'])
    await restore(`book-${bookId}`)
    expect((await reader.get(`/books/${bookId}/tags`)).body).toEqual({ tags: ['NOVEL', 'Sea'] })
    await expectConsistent()
  })

  it('answers 410 to its idempotency key while it is in the trash, and 201 once it is back', async () => {
    const create = () =>
      reader.send('POST', '/books', { body: { title: 'Demian' }, headers: { 'Idempotency-Key': 'key' } })
    const { bookId } = (await create()).body
    await remove(`/books/${bookId}`)
    expect((await create()).status).toBe(410)
    await restore(`book-${bookId}`)
    expect(await create()).toMatchObject({ status: 201, body: { bookId } })
  })

  it('comes back to a synced client as a change', async () => {
    const bookId = await createFullBook()
    const copy = createCopy(reader.get)
    const expectCopy = async () => {
      await copy.pull()
      const { copy: found, library } = await compareCopy(reader.get, copy)
      expect(found).toEqual(library)
    }
    await expectCopy()
    await remove(`/books/${bookId}`)
    await expectCopy()
    await restore(`book-${bookId}`)
    await expectCopy()
  })
})

describe('a deleted memo', () => {
  it('is restored to its book as it was', async () => {
    const { bookId } = await reader.createBook({ title: 'Demian' })
    const { memoId } = await reader.createMemo(bookId, { memoContent: 'İ'.repeat(300), memoAuthority: 'PUBLIC' })
    const [before] = [await rowsOf()]
    await remove(`/memos/${memoId}`)
    await expectConsistent()
    expect(await list()).toMatchObject([
      {
        ...{ trashId: `memo-${memoId}`, kind: 'memo', bookId, memoId, title: 'Demian', memoCount: 0 },
        excerpt: 'İ'.repeat(200),
      },
    ])
    expect(await restore(`memo-${memoId}`)).toMatchObject({
      status: 200,
      body: { book: null, memo: { memoId, bookId } },
    })
    expect(await rowsOf()).toEqual(before)
    await expectConsistent()
  })

  it('comes back under its identifier, though a later memo has been written', async () => {
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId)
    await remove(`/memos/${memoId}`)
    await reader.createMemo(bookId)
    expect(await restore(`memo-${memoId}`)).toMatchObject({ status: 200, body: { memo: { memoId } } })
    await expectConsistent()
  })

  it('is not put into the trash if it is of another version', async () => {
    const { memoId } = await reader.createMemo((await reader.createBook()).bookId)
    const refused = await reader.send('DELETE', `/memos/${memoId}`, { headers: { 'If-Match': '"1"' } })
    expect(refused.status).toBe(412)
    expect(await list()).toEqual([])
  })

  it('names its book if that is in the trash, and says so if it is gone', async () => {
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId)
    await remove(`/memos/${memoId}`)
    await remove(`/books/${bookId}`)
    const refusal = async () => {
      const { status, headers, body } = await restore(`memo-${memoId}`)
      expect([status, headers.get('X-Error-Code')]).toEqual([409, 'BOOK_NOT_IN_LIBRARY'])
      return body.message
    }
    expect(await refusal()).toContain(`restore book-${bookId} first`)
    await restore(`book-${bookId}`)
    expect((await restore(`memo-${memoId}`)).status).toBe(200)
    await remove(`/memos/${memoId}`)
    await remove(`/books/${bookId}`)
    await remove(`/trash/book-${bookId}`)
    expect(await refusal()).toContain('cannot be restored')
    await expectConsistent()
  })
})

describe('what has no room is not restored, and stays in the trash', () => {
  const RESTORED = {
    book: async (bookId: number) => `book-${bookId}`,
    memo: async (_: number, memoId: number) => `memo-${memoId}`,
  }
  it.each([
    ['MAX_BOOKS', '0', 'book'],
    ['MAX_MEMBER_TEXT_BYTES', '0', 'book'],
    ['MAX_MEMBER_TEXT_BYTES', '0', 'memo'],
    ['MAX_MEMOS_PER_BOOK', '0', 'memo'],
    ['MAX_BOOK_TEXT_BYTES', '0', 'memo'],
  ] as const)('%s = %s: a %s', async (quota, limit, kind) => {
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId)
    await remove(kind === 'book' ? `/books/${bookId}` : `/memos/${memoId}`)
    const before = await rowsOf()
    const answer = await restore(await RESTORED[kind](bookId, memoId), { changed: { [quota]: limit } as object })
    expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([409, quota])
    expect(await rowsOf()).toEqual(before)
  })

  it('can use the room that it took in the trash', async () => {
    const { bookId } = await reader.createBook({ title: 'x'.repeat(100) })
    const used = await usedBytes()
    await remove(`/books/${bookId}`)
    const limitedTo = (limit: number) =>
      restore(`book-${bookId}`, { changed: { MAX_MEMBER_TEXT_BYTES: String(limit) } })
    expect((await limitedTo(used - 1)).status).toBe(409)
    expect((await limitedTo(used)).status).toBe(200)
  })

  it('MAX_TAGS', async () => {
    const { bookId } = await reader.createBook()
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['One', 'Two'] } })
    await remove(`/books/${bookId}`)
    const { bookId: other } = await reader.createBook()
    await fillTags(memberId, other, 1999)
    expect((await restore(`book-${bookId}`)).headers.get('X-Error-Code')).toBe('MAX_TAGS')
    expect(await list()).toHaveLength(1)
    await reader.delete('/tags?tag=Tag%201')
    expect((await restore(`book-${bookId}`)).status).toBe(200)
  })
})

describe('the trash', () => {
  it('lists the latest deletion first, in pages', async () => {
    const { bookId } = await reader.createBook()
    const ids: string[] = []
    holdClock()
    for (let n = 0; n < 5; n++) {
      const { memoId } = await reader.createMemo(bookId, { memoContent: `${n}` })
      await remove(`/memos/${memoId}`)
      ids.unshift(`memo-${memoId}`)
      // Two at a time in the same millisecond.
      if (n % 2) await vi.advanceTimersByTimeAsync(1)
    }
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await reader.get(`/trash?size=2${cursor && `&cursor=${cursor}`}`)
      pages.push(body.item.map(({ trashId }: { trashId: string }) => trashId))
      cursor = body.next
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
    expect(new Set(pages.flat())).toEqual(new Set(ids))
  })

  it('reads as many rows for a page, however much it has', async () => {
    const { bookId } = await reader.createBook()
    const addMemos = async (count: number) => {
      for (let n = 0; n < count; n++) await remove(`/memos/${(await reader.createMemo(bookId)).memoId}`)
      return measure(() => reader.get('/trash?size=2'))
    }
    expect(await addMemos(4)).toEqual(await addMemos(8))
  })

  it('can be deleted for good, one by one or as a whole', async () => {
    const { bookId } = await reader.createBook()
    const used = await usedBytes()
    for (let n = 0; n < 3; n++) await remove(`/memos/${(await reader.createMemo(bookId)).memoId}`)
    const [{ trashId }] = await list()
    await remove(`/trash/${trashId}`)
    expect((await reader.delete(`/trash/${trashId}`)).status).toBe(404)
    expect((await restore(trashId)).status).toBe(404)
    await remove(`/books/${bookId}`)
    expect(await list()).toHaveLength(3)
    await remove('/trash')
    expect(await list()).toEqual([])
    expect(await usedBytes()).toBe(0)
    expect(used).toBeGreaterThan(0)
    await remove('/trash')
    await expectConsistent()
  })

  it('counts half of its JSON and the title, and a price for each row: less than in the library', async () => {
    const { bookId } = await reader.createBook({ title: 'x'.repeat(400) })
    const { memoId } = await reader.createMemo(bookId, { memoContent: 'x'.repeat(10_000) })
    await reader.createMemo(bookId)
    const used = await usedBytes()
    await remove(`/memos/${memoId}`)
    const entry = async () =>
      (
        await select(
          'select price, bytes, octet_length(data) as data from trash where memberId = ? order by trashId desc',
          memberId,
        )
      )[0]
    const memo = await entry()
    expect(memo).toMatchObject({ price: 11_300, bytes: TRASH_PRICE + Math.floor((400 + Number(memo?.data)) / 2) })
    expect(await usedBytes()).toBe(used - 11_300 + Number(memo?.bytes))
    await remove(`/books/${bookId}`)
    const [book, [part]] = [
      await entry(),
      await select('select octet_length(data) as data from trashParts where memberId = ?', memberId),
    ]
    const sizes = 400 + Number(book?.data) + Number(part?.data)
    expect(book?.bytes).toBe(2 * TRASH_PRICE + Math.floor(sizes / 2))
    expect(await usedBytes()).toBe(Number(memo?.bytes) + Number(book?.bytes))
    await expectConsistent()
  })

  it('counts at most what it counted in the library, even the shortest', async () => {
    const { bookId } = await reader.createBook({ title: 'A', author: null })
    const { memoId } = await reader.createMemo(bookId, { memoContent: 'x' })
    await reader.createMemo(bookId, { memoContent: 'x' })
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2020' })
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2021' })
    await remove(`/memos/${memoId}`)
    await remove(`/books/${bookId}`)
    const rows = await select('select bytes, price, octet_length(data) as data from trash where memberId = ?', memberId)
    expect(
      rows.map(({ bytes, price }) => Number(bytes) <= Number(price)),
      JSON.stringify(rows),
    ).toEqual([true, true])
  })

  it('deletes the oldest for good if the quota is full: a deletion is never refused', async () => {
    const { bookId } = await reader.createBook()
    const deleteMemo = async (changed = {}) => {
      const { memoId } = await reader.createMemo(bookId, { memoContent: 'x'.repeat(1000) })
      await remove(`/memos/${memoId}`, { changed })
      return `memo-${memoId}`
    }
    const deleted = [await deleteMemo(), await deleteMemo(), await deleteMemo(), await deleteMemo()]
    const used = await usedBytes()
    // The sizes of entries differ by some bytes, as their versions are random.
    deleted.push(await deleteMemo({ MAX_MEMBER_TEXT_BYTES: String(used - 100) }))
    const ids = async () => (await list()).map(({ trashId }: { trashId: string }) => trashId)
    expect(await ids()).toEqual(deleted.slice(2).toReversed())
    // But not for a deletion of nothing, or of what is in the trash already.
    for (const path of [`/books/${bookId + 1000}`, `/memos/${deleted[2]?.replace('memo-', '')}`]) {
      const absent = await reader.send('DELETE', path, { changed: { MAX_MEMBER_TEXT_BYTES: '0' } })
      expect([absent.status, (await list()).length], path).toEqual([404, 3])
    }
    // Even if there is no room at all.
    deleted.push(await deleteMemo({ MAX_MEMBER_TEXT_BYTES: '0' }))
    expect(await ids()).toEqual(deleted.slice(-1))
    await expectConsistent()
  })

  it('keeps what was deleted for 30 days, and the sweep deletes it', async () => {
    const { bookId } = await reader.createBook()
    await reader.createMemo(bookId)
    await remove(`/books/${bookId}`)
    const { bookId: kept } = await reader.createBook()
    await remove(`/books/${kept}`)
    await select('update trash set deletedAt = deletedAt - ? where trashId = ?', 30 * DAY_MS, bookId)
    await select('update trash set deletedAt = deletedAt - ? where trashId = ?', 30 * DAY_MS - 60_000, kept)
    expect(await list()).toMatchObject([{ bookId: kept }])
    expect((await restore(`book-${bookId}`)).status).toBe(404)
    expect((await reader.delete(`/trash/book-${bookId}`)).status).toBe(404)
    const db = connect(memberDatabase(), { slot: memberSlot() })
    for (let round = 0; round < 168; round++) await deleteExpired(db, Date.now(), round)
    expect(await select('select trashId from trash where memberId = ?', memberId)).toEqual([{ trashId: kept }])
    expect(await select('select * from trashParts where memberId = ?', memberId)).toEqual([])
    await expectConsistent()
  })

  it('gets nothing from the undo of an import', async () => {
    const raw = new FormData()
    raw.append(
      'file',
      new Blob(['Book Id,Title,Author,My Rating,Exclusive Shelf\n1,The Salt Archive,Mina Oh,4,read\n']),
      'a.csv',
    )
    const { body } = await reader.send('POST', '/imports', { raw })
    await vi.waitFor(async () => expect((await reader.get(`/imports/${body.importId}`)).body.status).toBe('DONE'))
    expect((await reader.delete(`/imports/${body.importId}`)).body).toMatchObject({ removed: 1 })
    expect(await list()).toEqual([])
  })

  it('is hidden from other members, who cannot restore or empty it', async () => {
    const { bookId } = await reader.createBook()
    await remove(`/books/${bookId}`)
    const other = await signUp()
    expect((await other.get('/trash')).body).toEqual({ item: [], next: null })
    expect((await other.send('POST', `/trash/book-${bookId}/restore`)).status).toBe(404)
    expect((await other.delete(`/trash/book-${bookId}`)).status).toBe(404)
    expect((await other.delete('/trash')).status).toBe(204)
    expect(await list()).toHaveLength(1)
  })

  it('is emptied by a session only; access tokens delete into it', async () => {
    const all = Object.keys(SCOPES) as Scope[]
    const token = readerWith('', await insertAccessToken(memberDatabase(), memberId, all, memberSlot()))
    const { bookId } = await reader.createBook()
    expect((await token.delete(`/books/${bookId}`)).status).toBe(204)
    expect((await token.get('/trash')).body.item).toHaveLength(1)
    for (const path of ['/trash', `/trash/book-${bookId}`])
      expect((await token.delete(path)).headers.get('X-Error-Code')).toBe('SESSION_REQUIRED')
    expect((await token.send('POST', `/trash/book-${bookId}/restore`)).status).toBe(200)
  })

  it.each(['17', 'book-0', 'book-', 'tag-1', 'book-9007199254740992', 'memo--1'])(
    'rejects the identifier %s',
    async (id) => {
      const { status, body } = await reader.send('POST', `/trash/${id}/restore`)
      expect([status, body.violationErrors[0].propertyPath]).toEqual([400, 'trash-id'])
    },
  )
})

it('writes at most one row more for each object that is deleted, and reads as many rows in a large library', async () => {
  const { bookId } = await reader.createBook()
  for (let n = 0; n < 50; n++) await reader.createMemo(bookId)
  const { bookId: bare } = await reader.createBook()
  expect(await listChanges(() => remove(`/books/${bare}`))).toHaveLength(1)
  expect((await measure(() => remove(`/books/${bookId}`))).calls).toBe(1)
  expect(await select('select parts from trash where trashId = ?', bookId)).toEqual([{ parts: 1 }])
  expect((await measure(() => restore(`book-${bookId}`))).calls).toBe(1)
})

describe('a book that was merged into another one', () => {
  const merge = async (bookId: number, from: number) =>
    expect((await reader.post(`/books/${bookId}/merge`, { from })).status).toBe(200)
  const setTags = (bookId: number, tags: string[]) => reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
  /** All that is shown of a book, but for times that a merge sets. */
  const show = async (bookId: number) => {
    const paths = ['?memoAuthority=ALL', '/readings', '/tags', '/edition', '/progress']
    return Promise.all(paths.map(async (path) => (await reader.get(`/books/${bookId}${path}`)).body))
  }
  const TARGETS = {
    unread: {},
    read: { bookStatus: 'DONE', readEndDate: '2021-01-01T10:00:00', author: 'Own', publisher: 'Own' },
    'read later': { bookStatus: 'DONE', readEndDate: '2031-01-01T10:00:00' },
    'being read': { bookStatus: 'ING', readStartDate: '2024-05-01T10:00:00' },
  }

  describe.each(Object.entries(TARGETS))('that was %s', (_, target) => {
    it.each(['DONE', 'ING', 'YET'])(
      'leaves both as they were, if nothing has changed since: %s',
      { tags: ['slow'] },
      async (bookStatus) => {
        const { bookId } = await reader.createBook({ title: 'Target', ...target })
        await reader.createMemo(bookId)
        await setTags(bookId, ['Sea', 'Own'])
        await reader.post(`/books/${bookId}/progress`, { page: 50, at: '2019-01-01T00:00:00Z' })
        const from = await createFullBook()
        // One event that both have, another page at the same time, and minutes of a page that both have.
        await reader.post(`/books/${from}/progress`, { page: 50, at: '2019-01-01T00:00:00Z' })
        await reader.post(`/books/${bookId}/progress`, { page: 45, at: '2018-01-01T00:00:00Z' })
        await reader.post(`/books/${from}/progress`, { page: 46, at: '2018-01-01T00:00:00Z' })
        await reader.post(`/books/${bookId}/progress`, { page: 40, at: '2017-01-01T00:00:00Z' })
        await reader.post(`/books/${from}/progress`, { page: 40, minutes: 30, at: '2017-01-01T00:00:00Z' })
        await setTags(from, ['Novel', 'Sea'])
        await reader.patch(`/books/${from}`, { bookStatus, readStartDate: '2024-01-01T10:00:00' })
        const before = [await show(bookId), await show(from)]
        await merge(bookId, from)
        await expectConsistent()
        expect(await list()).toMatchObject([{ trashId: `book-${from}`, memoCount: 2 }])
        expect(await restore(`book-${from}`)).toMatchObject({
          status: 200,
          body: { book: { bookId: from, memoCount: 2 } },
        })
        expect([await show(bookId), await show(from)]).toEqual(before)
        expect(await list()).toEqual([])
        await expectConsistent()
      },
    )
  })

  it('leaves what has changed since', async () => {
    const { bookId } = await reader.createBook({ title: 'Target' })
    const { bookId: from } = await reader.createBook({ author: 'From', publisher: 'From', bookStatus: 'ING' })
    const [kept, changed, deleted] = [
      await reader.createMemo(from),
      await reader.createMemo(from),
      await reader.createMemo(from),
    ]
    const { readingId: past } = (await reader.post(`/books/${from}/readings`, { finishedAt: '2020' })).body
    await merge(bookId, from)
    await reader.patch(`/memos/${changed.memoId}`, { memoContent: 'Changed' })
    await remove(`/memos/${deleted.memoId}`)
    await reader.patch(`/readings/${from}`, { note: 'Changed' })
    await reader.patch(`/books/${bookId}`, { author: 'Changed' })
    expect((await restore(`book-${from}`)).status).toBe(200)
    await expectConsistent()
    const [source, target] = [await show(from), await show(bookId)]
    expect(source[0]).toMatchObject({ author: 'From', memosList: [{ memoId: kept.memoId }], bookStatus: 'DONE' })
    expect(source[1]).toMatchObject([{ readingId: past, finishedAt: '2020' }])
    expect(target[0]).toMatchObject({ author: 'Changed', publisher: null, memosList: [{ memoId: changed.memoId }] })
    expect(target[1]).toMatchObject([{ readingId: from, note: 'Changed' }])
    expect((await restore(`memo-${deleted.memoId}`)).status).toBe(200)
    expect(await show(bookId)).toMatchObject([{ memoCount: 2 }, {}, {}, {}, {}])
  })

  it('leaves an author that was edited only in case to the other one, sorted and found as before', async () => {
    const { bookId } = await reader.createBook({ author: null })
    const { bookId: from } = await reader.createBook({ author: 'ÉMILE' })
    await merge(bookId, from)
    await reader.patch(`/books/${bookId}`, { author: 'Émile' })
    expect((await restore(`book-${from}`)).status).toBe(200)
    await expectConsistent()
    expect((await reader.get('/books?author=emile&sort=created')).body.item).toMatchObject([
      { bookId, author: 'Émile' },
      { bookId: from, author: 'ÉMILE' },
    ])
  })

  it('deletes the oldest entries for good if the quota is full', async () => {
    const { bookId } = await reader.createBook()
    await remove(`/memos/${(await reader.createMemo(bookId, { memoContent: 'x'.repeat(2000) })).memoId}`)
    const { bookId: from } = await reader.createBook()
    const changed = { MAX_MEMBER_TEXT_BYTES: String((await usedBytes()) - 1000) }
    expect((await reader.send('POST', `/books/${bookId}/merge`, { body: { from }, changed })).status).toBe(200)
    expect(await list()).toMatchObject([{ trashId: `book-${from}` }])
    await expectConsistent()
  })

  it('is deleted together with the other one, which has its readings', async () => {
    const { bookId } = await reader.createBook()
    const { bookId: from } = await reader.createBook()
    await reader.post(`/books/${from}/readings`, { finishedAt: '2020' })
    await reader.post(`/books/${from}/readings`, { finishedAt: '2021' })
    await merge(bookId, from)
    await remove(`/books/${bookId}`)
    expect(await list()).toHaveLength(2)
    await expectConsistent()
  })

  it('comes back alone, if the other one is in the trash, too', async () => {
    const { bookId } = await reader.createBook({ title: 'Target' })
    const { bookId: from } = await reader.createBook({ author: 'From', bookStatus: 'ING' })
    const { memoId } = await reader.createMemo(from)
    await merge(bookId, from)
    await remove(`/books/${bookId}`)
    expect(await restore(`book-${from}`)).toMatchObject({
      status: 200,
      body: { book: { author: 'From', memoCount: 0 } },
    })
    await expectConsistent()
    expect((await restore(`book-${bookId}`)).status).toBe(200)
    expect(await show(bookId)).toMatchObject([{ memosList: [{ memoId }] }, {}, {}, {}, {}])
    await expectConsistent()
  })

  it('comes back to a synced client as a change', async () => {
    const { bookId } = await reader.createBook({ title: 'Target' })
    const from = await createFullBook()
    const copy = createCopy(reader.get)
    await copy.pull()
    await merge(bookId, from)
    await copy.pull()
    await restore(`book-${from}`)
    await copy.pull()
    const { copy: found, library } = await compareCopy(reader.get, copy)
    expect(found).toEqual(library)
  })
})
