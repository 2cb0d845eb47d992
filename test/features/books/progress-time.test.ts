// Minutes of sittings, and seconds of audiobooks.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { toInstant } from '../../../src/values/fields'
import { type Reader, signUp } from '../../support/api'
import { changeDatabase, memberDatabase, select } from '../../support/database'
import { fieldError, itRejects, values } from '../../support/inputs/invalid-values'
import { getBook } from '../../support/library'
import { holdClock } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'

const HOURS = 36_000
let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
})
afterEach(async () => {
  vi.useRealTimers()
  expect(await findMismatches(memberDatabase())).toEqual([])
})

type Event = Record<'at' | 'kind', string> & Record<'page' | 'minutes' | 'seconds' | 'percent', number>
/** Registers a book with these lengths, and an event of page 10 if it has pages. */
const createBook = async (itemPage: number | null, seconds: number | null = null) => {
  bookId = (await reader.createBook({ itemPage })).bookId
  if (seconds) await reader.patch(`/books/${bookId}/edition`, { seconds })
}
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T20:00:00Z`
const add = (progress: object) => reader.post(`/books/${bookId}/progress`, progress)
const events = async (): Promise<Event[]> => (await reader.get(`/books/${bookId}/progress?size=100`)).body.item
const currentPage = async () => (await getBook(reader, bookId)).currentPage
const stored = () => select('select at, page, minutes, seconds from progress where bookId = ? order by at', bookId)
/** The events as `kind page minutes seconds percent`, the oldest first. */
const history = async () =>
  (await events())
    .map(({ kind, page, minutes, seconds, percent }) => `${kind} ${page} ${minutes} ${seconds} ${percent}`)
    .reverse()

describe('what was reached', () => {
  const NEITHER = ['page', '', 'is required unless percent, seconds or minutes is sent'] as const
  const without = 'must not be sent for a book without '
  const tooFar = 'update that first if the book is longer'

  it.each<[string, [pages: number | null, seconds: number | null], object, unknown]>([
    ['a page', [300, null], { page: 30 }, { page: 30, seconds: null, percent: 10 }],
    ['a percentage of pages', [300, null], { percent: 50 }, { page: 150, seconds: null, percent: 50 }],
    ['a percentage of pages, if both are known', [300, HOURS], { percent: 50 }, { page: 150, seconds: null }],
    ['a percentage of seconds', [null, HOURS], { percent: 33.3 }, { page: 0, seconds: 11_988, percent: 33.3 }],
    ['seconds', [null, HOURS], { seconds: 1000 }, { page: 0, seconds: 1000, percent: 2.8 }],
    ['seconds, which set the page', [300, HOURS], { seconds: 18_060 }, { page: 151, seconds: 18_060, percent: 50.2 }],
    ['the last second', [300, HOURS], { seconds: HOURS }, { page: 300, seconds: HOURS, percent: 100 }],
    ['second 0', [null, HOURS], { seconds: 0 }, { page: 0, seconds: 0, percent: 0 }],
    ['minutes of a page', [300, null], { page: 30, minutes: 1440 }, { page: 30, minutes: 1440 }],
    ['only minutes', [null, null], { minutes: 1 }, { page: 0, minutes: 1, seconds: null, percent: null }],
    ['a page of a book without a length', [null, null], { page: 30 }, { page: 30, percent: null }],
    ['a page of a book without pages', [null, HOURS], { page: 30 }, { page: 30, seconds: null, percent: null }],
    ['a page of none', [0, null], { page: 0 }, { page: 0, percent: null }],
  ])('can be %s', async (_, lengths, progress, expected) => {
    await createBook(...lengths)
    expect(await add(progress)).toMatchObject({ status: 201, body: expected as object })
    expect((await events())[0]).toMatchObject(expected as object)
  })

  it.each<[object, [pages: number | null, seconds: number | null], readonly [string, string, string]]>([
    [{}, [300, HOURS], NEITHER],
    [{ at: day(1), finish: true }, [300, HOURS], NEITHER],
    [{ page: 1, percent: 1 }, [300, HOURS], ['percent', '1', 'must not be sent together with page']],
    [{ page: 1, seconds: 1, minutes: 1 }, [300, HOURS], ['seconds', '1', 'must not be sent together with page']],
    [{ percent: 1, seconds: 1 }, [300, HOURS], ['seconds', '1', 'must not be sent together with percent']],
    [
      { percent: 1 },
      [null, null],
      ['percent', '1', 'must not be sent for a book with neither itemPage nor edition.seconds: send page'],
    ],
    [{ seconds: 0 }, [300, null], ['seconds', '0', `${without}edition.seconds: update that first`]],
    [{ seconds: 1 }, [null, null], ['seconds', '1', `${without}edition.seconds: update that first`]],
    [
      { seconds: HOURS + 1, finish: true },
      [null, HOURS],
      ['seconds', `${HOURS + 1}`, `must be at most the edition.seconds of the book, ${HOURS}: ${tooFar}`],
    ],
    [
      { page: 301, minutes: 5 },
      [300, HOURS],
      ['page', '301', `must be at most the itemPage of the book, 300: ${tooFar}`],
    ],
  ])('cannot be %j', async (progress, lengths, [field, value, reason]) => {
    await createBook(...lengths)
    expect(await add(progress)).toMatchObject(fieldError(field, value, reason as never))
    expect([await stored(), await getBook(reader, bookId)]).toMatchObject([[], { bookStatus: 'YET', currentPage: 0 }])
  })

  describe('with an invalid number', () => {
    beforeEach(() => createBook(300, HOURS))
    const not = ['1.5', '"30"', '""', 'null', 'true', '[]', '{}', '1e999'] as const
    const send = (body: object) => reader.send('POST', `/books/${bookId}/progress`, body)
    itRejects({ minutes: values(...not, '0', '-1', '1441') }, { page: 5 }, send, stored)
    itRejects({ seconds: values(...not, '-1', '3600001') }, {}, send, stored)
  })
})

describe('a sitting without a page', () => {
  beforeEach(() => createBook(300))

  it('has the page of the event before it, and adds none', async () => {
    const before = (await reader.get('/stats?year=2026')).body.pagesRead
    await add({ page: 30, at: day(1) })
    await add({ page: 60, at: day(5) })
    const { body } = await add({ minutes: 25, at: day(3) })
    expect(body).toMatchObject({ at: day(3), kind: 'PROGRESS', page: 30, minutes: 25, percent: 10, bookStatus: 'ING' })
    await add({ minutes: 5, at: day(7) })
    await add({ minutes: 15, at: '2025-12-31T00:00:00Z' })
    expect(await history()).toEqual([
      'PROGRESS 0 15 null 0',
      'PROGRESS 30 null null 10',
      'PROGRESS 30 25 null 10',
      'PROGRESS 60 null null 20',
      'PROGRESS 60 5 null 20',
    ])
    expect(await currentPage()).toBe(60)
    expect((await reader.get('/stats?year=2026')).body.pagesRead).toBe(before + 60)
  })

  it('adds no pages of a book that had its page when it was registered', async () => {
    bookId = (await reader.createBook({ itemPage: 300, currentPage: 90, bookStatus: 'ING' })).bookId
    const before = (await reader.get('/stats?year=2026')).body.pagesRead
    expect((await add({ minutes: 20, at: day(2) })).body).toMatchObject({ kind: 'CORRECTION', page: 90 })
    expect((await add({ page: 100, at: day(3) })).body).toMatchObject({ kind: 'PROGRESS' })
    expect((await reader.get('/stats?year=2026')).body.pagesRead).toBe(before + 10)
    expect(await currentPage()).toBe(100)
  })

  it('begins an unread book if it is the latest event', async () => {
    await add({ page: 0, at: day(5) })
    expect((await add({ minutes: 20, at: day(4) })).body).toMatchObject({ bookStatus: 'YET' })
    expect((await add({ minutes: 20, at: day(6) })).body).toMatchObject({ page: 0, bookStatus: 'ING' })
  })

  it('has page 0 if it begins another reading, whose pages then are no corrections', async () => {
    await add({ page: 300, finish: true, date: '2026-01-02' })
    await reader.post(`/books/${bookId}/readings`, {})
    expect((await add({ minutes: 20 })).body).toMatchObject({ kind: 'PROGRESS', page: 0, minutes: 20 })
    expect(await currentPage()).toBe(0)
    expect((await add({ page: 15 })).body.kind).toBe('PROGRESS')
    expect((await add({ page: 14 })).body.kind).toBe('CORRECTION')
  })

  it('can finish a book', async () => {
    await add({ page: 290, at: day(1) })
    const { body } = await add({ minutes: 30, at: day(2), finish: true, date: '2026-01-02' })
    expect(body).toMatchObject({ page: 290, minutes: 30, bookStatus: 'DONE', readEndDate: '2026-01-02T00:00:00' })
    expect((await history()).at(-1)).toBe('FINISHED 290 null null 96.7')
  })
})

describe('the same event', () => {
  beforeEach(() => createBook(300, HOURS))

  it.each([{ page: 30 }, { percent: 10 }, { seconds: 3600 }])(
    '%j is found again, and gets minutes',
    async (reached) => {
      await add({ ...reached, at: day(1) })
      const [before] = await events()
      for (const minutes of [undefined, 40, 40, undefined]) await add({ ...reached, minutes, at: day(1) })
      expect(await events()).toEqual([{ ...before, minutes: 40 }])
      expect((await add({ ...reached, minutes: 50, at: day(1) })).body).toMatchObject({ minutes: 50 })
      expect(await events()).toHaveLength(1)
    },
  )

  it('gets minutes that are sent without a page', async () => {
    await add({ page: 30, at: day(1) })
    await add({ page: 40, at: day(1) })
    for (let n = 0; n < 2; n++) await add({ minutes: 15, at: day(1) })
    expect(await history()).toEqual(['PROGRESS 30 null null 10', 'PROGRESS 40 15 null 13.3'])
  })

  it('is a sitting without a page that is sent again', async () => {
    await add({ page: 30, at: day(1) })
    for (const minutes of [15, 15, 20]) await add({ minutes, at: day(2) })
    expect(await history()).toEqual(['PROGRESS 30 null null 10', 'PROGRESS 30 20 null 10'])
  })

  it('is not the end of the book, which may be in the same second', async () => {
    await add({ page: 290, at: day(1) })
    const sitting = { minutes: 30, at: toInstant(Date.now()) }
    for (let n = 0; n < 2; n++) await add({ ...sitting, finish: true })
    await add({ ...sitting, minutes: 20 })
    expect((await events()).map(({ kind, minutes }) => [kind, minutes])).toEqual([
      ['FINISHED', null],
      ['PROGRESS', 20],
      ['PROGRESS', null],
    ])
  })

  it('is not the end of the book if D1 loses the connection after it took effect', async () => {
    holdClock(60_000)
    let calls = 0
    const database = wrapDatabase(memberDatabase(), async (call) => {
      const result = await call()
      calls += 1
      if (calls === 1) throw new Error('Network connection lost')
      return result
    })
    const options = { body: { minutes: 30, finish: true }, changed: changeDatabase(database) }
    expect((await reader.send('POST', `/books/${bookId}/progress`, options)).status).toBe(201)
    expect((await events()).map(({ kind, minutes }) => [kind, minutes])).toEqual([
      ['FINISHED', null],
      ['PROGRESS', 30],
    ])
  })

  it('loses its minutes', async () => {
    await add({ page: 30, at: day(1) })
    await add({ page: 40, minutes: 15, at: day(1) })
    await add({ minutes: 20, at: day(2) })
    const cleared = ['PROGRESS 30 null null 10', 'PROGRESS 40 null null 13.3', 'PROGRESS 40 null null 13.3']
    for (let n = 0; n < 2; n++) {
      expect((await add({ minutes: null, at: day(1) })).body).toMatchObject({ minutes: null })
      expect((await add({ page: 40, minutes: null, at: day(2) })).body).toMatchObject({ minutes: null })
      expect(await history()).toEqual(cleared)
    }
    expect((await reader.get(`/books/${bookId}/sittings`)).body).toMatchObject({ item: [], eventMinutes: 0 })
    // Another event has no minutes.
    await add({ page: 50, minutes: null, at: day(3) })
    expect(await history()).toEqual([...cleared, 'PROGRESS 50 null null 16.7'])
  })

  it('must exist to lose minutes', async () => {
    await add({ minutes: 20, at: day(2) })
    const before = await stored()
    expect(await add({ minutes: null, at: day(1) })).toMatchObject(
      fieldError('minutes', 'null', 'must not be null if there is no event at this time'),
    )
    for (const other of [{}, { at: day(2), finish: true }])
      expect(await add({ minutes: null, ...other })).toMatchObject(
        fieldError('minutes', 'null', 'must not be null without at, or with finish'),
      )
    expect(await stored()).toEqual(before)
  })

  it('is found by its second, of several on a page', async () => {
    for (const seconds of [3600, 3601, 3600, 3601]) await add({ seconds, at: day(1) })
    expect(await history()).toEqual(['PROGRESS 30 null 3600 10', 'PROGRESS 30 null 3601 10'])
  })

  it('is not that of a sitting at another time without at', async () => {
    holdClock()
    for (let n = 0; n < 2; n++) await add({ minutes: 15 })
    expect(await stored()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    await add({ minutes: 15 })
    expect(await stored()).toHaveLength(2)
  })
})

describe('an audiobook without pages', () => {
  beforeEach(() => createBook(null, HOURS))

  it('is begun by the first second above 0', async () => {
    expect((await add({ seconds: 0, at: day(1) })).body).toMatchObject({ bookStatus: 'YET' })
    expect((await add({ seconds: 1, at: day(2) })).body).toMatchObject({ kind: 'PROGRESS', bookStatus: 'ING' })
    expect((await reader.patch(`/books/${bookId}`, { bookStatus: 'YET' })).status).toBe(200)
    expect((await add({ seconds: 9, at: day(1) })).body).toMatchObject({ bookStatus: 'YET' })
  })

  it('has corrections by seconds, whatever their page', async () => {
    for (const seconds of [3600, 7200, 7199, 7200]) await add({ seconds })
    await add({ minutes: 5 })
    await add({ seconds: 7000 })
    expect(await history()).toEqual([
      'PROGRESS 0 null 3600 10',
      'PROGRESS 0 null 7200 20',
      'CORRECTION 0 null 7199 20',
      'PROGRESS 0 null 7200 20',
      'PROGRESS 0 5 7200 20',
      'CORRECTION 0 null 7000 19.4',
    ])
  })

  it('keeps its page, and its second when it is finished', async () => {
    await reader.patch(`/books/${bookId}`, { currentPage: 7 })
    await add({ seconds: HOURS, finish: true, date: '2026-01-02' })
    expect((await history()).slice(1)).toEqual([`PROGRESS 7 null ${HOURS} 100`, `FINISHED 7 null ${HOURS} 100`])
    expect(await currentPage()).toBe(7)
  })

  it('has its progress in the list of books, the page of a book, and the feed', async () => {
    const { body } = await add({ seconds: 9000, minutes: 30 })
    const { bookStatus: _, readEndDate: __, ...event } = body
    const { item } = (await reader.get('/books?include=progress&size=100&sort=-activity')).body
    expect(item.find((book: { bookId: number }) => book.bookId === bookId).progress).toEqual(event)
    expect((await reader.get(`/books/${bookId}/whole`)).body.progress).toEqual(event)
    const changes: { kind: string; id: number; value: object }[] = []
    for (let cursor = '', hasMore = true; hasMore; ) {
      const page = (await reader.get(`/changes?size=100${cursor}`)).body
      changes.push(...page.item)
      cursor = `&cursor=${page.next}`
      hasMore = page.hasMore
    }
    expect(changes.find(({ kind, id }) => kind === 'book' && id === bookId)?.value).toMatchObject({
      edition: { seconds: HOURS },
      progress: { count: 1, latestAt: event.at, seconds: 9000, percent: 25 },
    })
  })

  it('is at most at 100 percent, and without its length at the part of its pages', async () => {
    await add({ seconds: HOURS })
    const edit = (seconds: number | null) => reader.patch(`/books/${bookId}/edition`, { seconds })
    await edit(HOURS / 2)
    expect((await events())[0]).toMatchObject({ seconds: HOURS, percent: 100 })
    await edit(null)
    expect((await events())[0]).toMatchObject({ seconds: HOURS, percent: null })
    await reader.patch(`/books/${bookId}`, { itemPage: 200, currentPage: 50 })
    expect((await events())[0]).toMatchObject({ seconds: null, percent: 25 })
  })
})
