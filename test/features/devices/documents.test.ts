import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_DOCUMENTS } from '../../../src/values/prices'
import { type Reader, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { addDevice, DOCUMENT } from '../../support/devices/device'
import { memberIdOf } from '../../support/images/images'
import { ABSENT, itRejects, values } from '../../support/inputs/invalid-values'

let reader: Reader
let device: Awaited<ReturnType<typeof addDevice>>
beforeEach(async () => {
  // The clock of the triggers does not stop: it must be behind.
  vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] })
  reader = await signUp()
  device = await addDevice(reader)
})
afterEach(() => vi.useRealTimers())

const later = (ms = 60_000) => vi.setSystemTime(Date.now() + ms)
const DEMIAN = { title: 'Demian', author: 'Hermann Hesse', itemPage: 200, bookStatus: 'ING' }
const metadata = { title: 'Demian', authors: 'Hermann Hesse' }
const push = (percentage: number, more: object = {}, by = device) => {
  later()
  return by.push({ percentage, metadata, ...more })
}
const link = (bookId: number | null, document = DOCUMENT) =>
  reader.send('PUT', `/documents/${document}/book`, { body: { bookId } })
const listed = async (query = '') => (await reader.get(`/documents?${query}`)).body.item
const book = async (bookId: number) => (await reader.get(`/books/${bookId}?memoAuthority=ALL`)).body
const events = async (bookId: number) =>
  (await reader.get(`/books/${bookId}/progress`)).body.item.map(
    ({ page, kind, source }: Record<string, unknown>) => `${kind} ${page}${source ? ` by ${source}` : ''}`,
  )

describe('a pushed position', () => {
  it('moves the page of the book, which is shown with its source', async () => {
    const { bookId } = await reader.createBook(DEMIAN)
    await push(0.25)
    expect(await book(bookId)).toMatchObject({ currentPage: 50, bookStatus: 'ING' })
    expect(await events(bookId)).toEqual(['PROGRESS 50 by DEVICE'])
    const [included] = (await reader.get('/books?include=progress')).body.item
    expect(included.progress.source).toBe('DEVICE')
  })

  it('moves the second of an audiobook without pages, back only by the device that moved it last', async () => {
    const other = await addDevice(reader, { name: 'Phone' })
    const own = await addDevice(reader, { startsBooks: true })
    const { bookId } = await reader.createBook({ title: 'Demian', author: 'Hermann Hesse', currentPage: 3 })
    await push(0.5, {}, own)
    expect(await events(bookId)).toEqual([])
    await reader.patch(`/books/${bookId}/edition`, { seconds: 36_000 })
    await push(0, {}, own)
    expect(await book(bookId)).toMatchObject({ bookStatus: 'YET' })
    await push(0.25, {}, own)
    await push(0.25, {}, own)
    await push(0.1, {}, other)
    await push(0.2, {}, own)
    const { item } = (await reader.get(`/books/${bookId}/progress`)).body
    expect(item).toMatchObject([
      { kind: 'CORRECTION', page: 3, seconds: 7200, percent: 20, source: 'DEVICE' },
      { kind: 'PROGRESS', page: 3, seconds: 9000, percent: 25, source: 'DEVICE' },
    ])
    expect(await book(bookId)).toMatchObject({ bookStatus: 'ING', currentPage: 3 })
    const [active] = await select('select activityAt as at from books where bookId = ?', bookId)
    expect(Math.floor(Number(active?.at) / 1000)).toBe(Date.parse(item[0].at) / 1000)
  })

  it('never makes a book DONE, and leaves a finished one as it is', async () => {
    const { bookId } = await reader.createBook(DEMIAN)
    await push(1)
    expect(await book(bookId)).toMatchObject({ currentPage: 200, bookStatus: 'ING' })
    await reader.patch(`/books/${bookId}`, { bookStatus: 'DONE', readEndDate: '2026-01-02T00:00:00' })
    const before = await book(bookId)
    await push(0.1)
    expect(await book(bookId)).toEqual(before)
  })

  it.each([
    [false, 'YET', 0],
    [true, 'ING', 50],
  ])('begins an unread book only if the token says so: %s', async (startsBooks, bookStatus, currentPage) => {
    const own = await addDevice(reader, { startsBooks })
    const { bookId } = await reader.createBook({ ...DEMIAN, bookStatus: 'YET' })
    await push(0.25, {}, own)
    expect(await book(bookId)).toMatchObject({ bookStatus, currentPage })
    expect((await listed())[0]).toMatchObject({ state: 'LINKED', percentage: 0.25 })
  })

  it('goes back only by the device that moved the book last', async () => {
    const other = await addDevice(reader, { name: 'Phone' })
    const { bookId } = await reader.createBook(DEMIAN)
    await push(0.5)
    await push(0.25, {}, other)
    expect(await book(bookId)).toMatchObject({ currentPage: 100 })
    await push(0.25)
    expect(await events(bookId)).toEqual(['CORRECTION 50 by DEVICE', 'PROGRESS 100 by DEVICE'])
  })

  it('goes back in a new reading', async () => {
    const { bookId } = await reader.createBook({ ...DEMIAN, bookStatus: 'DONE', currentPage: 200 })
    await reader.post(`/books/${bookId}/progress`, { page: 200 })
    later()
    await reader.post(`/books/${bookId}/readings`, {})
    await push(0.05)
    expect(await events(bookId)).toEqual(['PROGRESS 10 by DEVICE', 'PROGRESS 200'])
  })

  it('has no day if it was replayed, and counts in no statistics', async () => {
    const { bookId } = await reader.createBook(DEMIAN)
    const year = new Date().getUTCFullYear()
    for (const percentage of [0.1, 0.2, 0.3]) {
      later(500)
      await device.push({ percentage, metadata })
    }
    expect(await events(bookId)).toEqual(['UNDATED 60 by DEVICE', 'UNDATED 40 by DEVICE', 'UNDATED 20 by DEVICE'])
    expect((await reader.get(`/stats?year=${year}`)).body).toMatchObject({ pagesRead: 0, daysRead: 0 })
    await push(0.4)
    expect((await reader.get(`/stats?year=${year}`)).body).toMatchObject({ pagesRead: 20, daysRead: 1 })
  })

  it('changes nothing if it is sent again', async () => {
    const { bookId } = await reader.createBook(DEMIAN)
    await push(0.25)
    const before = [await listed(), await events(bookId)]
    later(500)
    await device.push({ percentage: 0.25, metadata })
    expect([await listed(), await events(bookId)]).toEqual(before)
  })

  it('returns with its book from the trash, source and kind included', async () => {
    const { bookId } = await reader.createBook(DEMIAN)
    await push(0.1)
    later(500)
    await device.push({ percentage: 0.2, metadata })
    const before = await events(bookId)
    await reader.delete(`/books/${bookId}`)
    expect((await listed())[0]).toMatchObject({ state: 'WAITING', book: null })
    await reader.createBook(DEMIAN)
    await push(0.3)
    expect((await listed())[0]).toMatchObject({ book: null })
    await reader.post(`/trash/book-${bookId}/restore`, {})
    expect(await events(bookId)).toEqual(before)
    expect((await listed())[0]).toMatchObject({ state: 'LINKED', book: { bookId } })
    await push(0.4)
    expect((await book(bookId)).currentPage).toBe(80)
  })

  it('moves with its document to the book that the other one is merged into, and back', async () => {
    const [source, target] = [
      await reader.createBook(DEMIAN),
      await reader.createBook({ title: 'Demian (2nd ed.)', itemPage: 100, bookStatus: 'ING' }),
    ]
    await push(0.25)
    await reader.post(`/books/${target.bookId}/merge`, { from: source.bookId })
    expect((await listed())[0].book.bookId).toBe(target.bookId)
    await push(0.9)
    expect((await book(target.bookId)).currentPage).toBe(90)
    await reader.post(`/trash/book-${source.bookId}/restore`, {})
    expect((await listed())[0].book.bookId).toBe(source.bookId)
    expect(await events(source.bookId)).toEqual(['PROGRESS 50 by DEVICE'])
  })
})

describe('GET /documents', () => {
  it('lists them by their first push, newest first, by pages and states', async () => {
    await reader.createBook(DEMIAN)
    await push(0.1)
    await push(0.2, { document: 'two', metadata: { title: 'Unknown', authors: 'A B\nC D', filename: 'u.epub' } })
    await push(0.3, { document: 'three', metadata: undefined, device: undefined })
    await link(null, 'three')
    const [first, second, third] = await listed()
    expect(first).toMatchObject({
      ...{ documentId: 'three', state: 'NONE', title: null, authors: null, setByMember: true },
      device: null,
    })
    expect(second).toMatchObject({
      ...{ documentId: 'two', state: 'WAITING', title: 'Unknown', authors: ['A B', 'C D'], filename: 'u.epub' },
      ...{ percentage: 0.2, device: 'Kobo', tokenId: device.tokenId, tokenName: 'Kobo' },
    })
    expect(third).toMatchObject({ documentId: DOCUMENT, state: 'LINKED', book: { title: 'Demian' } })
    expect(await listed('state=WAITING')).toEqual([second])
    const { body } = await reader.get('/documents?size=2')
    expect((await reader.get(`/documents?size=2&cursor=${body.next}`)).body).toEqual({ item: [third], next: null })
  })

  it('keeps the positions of the five devices that pushed last', async () => {
    const devices = await Promise.all(Array.from({ length: 6 }, (_, n) => addDevice(reader, { name: `${n}` })))
    for (const [n, each] of devices.entries()) await push(n / 10, {}, each)
    const stored = await select('select percentage from positions where memberId = ?', await memberIdOf(reader))
    expect(stored.map(({ percentage }) => percentage).sort()).toEqual([0.1, 0.2, 0.3, 0.4, 0.5])
  })

  it('keeps the newest, and those that the member has set longer', { tags: ['slow'] }, async () => {
    const memberId = await memberIdOf(reader)
    await push(0.1, { document: 'set' })
    await link(null, 'set')
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
      insert into documents (memberId, document, createdAt) select ?1, 'd' || i, i from n`,
      ...[memberId, MAX_DOCUMENTS - 1],
    )
    const { read } = await measure(() => push(0.5, { document: 'new' }))
    // Counts them, but reads no more to find the oldest.
    expect(read).toBeLessThan(1.1 * MAX_DOCUMENTS)
    const [{ count }] = (await select('select count(*) as count from documents where memberId = ?', memberId)) as [
      { count: number },
    ]
    expect(count).toBe(MAX_DOCUMENTS)
    const kept = await select(
      `select document from documents where memberId = ? and document in ('d1', 'd2', 'set', 'new') order by document`,
      memberId,
    )
    expect(kept.map(({ document }) => document)).toEqual(['d2', 'new', 'set'])
    await select('update documents set isByHand = 1, bookId = null where memberId = ?', memberId)
    await push(0.5, { document: 'newer' })
    expect(await select("select document from documents where memberId = ? and document = 'd2'", memberId)).toEqual([])
  })
})

describe('PUT /documents/{document-id}/book', () => {
  itRejects({ bookId: { ...ABSENT, ...values('0', '1.5', 'true', '{}') } }, {}, (body) =>
    reader.send('PUT', `/documents/${DOCUMENT}/book`, body),
  )

  it('applies the newest position at once, on the day of its push', async () => {
    await push(0.25, { metadata: undefined })
    const pushedAt = (await listed())[0].pushedAt
    const { bookId } = await reader.createBook(DEMIAN)
    later()
    expect((await link(bookId)).body).toMatchObject({ state: 'LINKED', book: { bookId }, setByMember: true })
    expect(await book(bookId)).toMatchObject({ currentPage: 50 })
    expect((await reader.get(`/books/${bookId}/progress`)).body.item[0].at).toBe(pushedAt)
  })

  it('is not changed by pushes, also if the document is none of the books', async () => {
    const [{ bookId }, other] = [
      await reader.createBook(DEMIAN),
      await reader.createBook({ title: 'Other', itemPage: 100, bookStatus: 'ING' }),
    ]
    await push(0.25)
    await link(other.bookId)
    await push(0.5)
    expect([(await book(bookId)).currentPage, (await book(other.bookId)).currentPage]).toEqual([50, 50])
    await link(null)
    await push(0.75)
    expect((await listed())[0]).toMatchObject({ state: 'NONE', book: null })
    expect([(await book(bookId)).currentPage, (await book(other.bookId)).currentPage]).toEqual([50, 50])
  })

  it('finds only own documents and books', async () => {
    await push(0.25)
    const stranger = await signUp()
    const theirs = await stranger.createBook()
    expect(await link(theirs.bookId)).toMatchObject({ status: 404, headers: expect.anything() })
    expect((await listed())[0].setByMember).toBe(false)
    expect(
      (await stranger.send('PUT', `/documents/${DOCUMENT}/book`, { body: { bookId: theirs.bookId } })).status,
    ).toBe(404)
  })

  it('is one database call', async () => {
    await push(0.25)
    const { bookId } = await reader.createBook(DEMIAN)
    expect((await measure(() => link(bookId))).calls).toBe(1)
    expect((await measure(() => listed())).calls).toBe(1)
  })
})
