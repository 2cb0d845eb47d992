import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { toCursor } from '../../../src/values/cursor'
import { toInstant } from '../../../src/values/fields'
import { localTime } from '../../../src/values/time'
import { type Reader, signUp } from '../../support/api'
import { changeDatabase, fillShelf, measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import * as invalid from '../../support/inputs/invalid-values'
import { fieldError, itRejects, values, violation } from '../../support/inputs/invalid-values'
import { getBook } from '../../support/library'
import { holdClock } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
})
beforeEach(async () => {
  bookId = (await reader.createBook({ itemPage: 300 })).bookId
})
afterEach(async () => {
  vi.useRealTimers()
  expect(await findMismatches(memberDatabase())).toEqual([])
})

type Event = { at: string; page: number; kind: string }
const add = (progress: object, id = bookId) => reader.post(`/books/${id}/progress`, progress)
const patch = (body: object) => reader.patch(`/books/${bookId}`, body)
const list = async (query = '', id = bookId) => (await reader.get(`/books/${id}/progress${query}`)).body
const events = async (): Promise<Event[]> => (await list('?size=100')).item
/** The events as `kind page`, the oldest first. */
const history = async () => (await events()).map(({ kind, page }) => `${kind} ${page}`).reverse()
const currentPage = async () => (await getBook(reader, bookId)).currentPage
const stored = (): Promise<{ at: number; page: number }[]> =>
  select('select at, page from progress where bookId = ? order by at', bookId) as never

describe('POST /books/{book-id}/progress', () => {
  it('adds an event at the current time, and sets the current page', async () => {
    holdClock()
    const { status, body } = await add({ page: 12 })
    const reached = { page: 12, percent: 4, minutes: null, seconds: null }
    const added = { at: expect.any(String), ...reached, kind: 'PROGRESS', source: null }
    expect([status, body]).toEqual([201, { ...added, bookStatus: 'ING', readEndDate: null }])
    const [event] = await stored()
    expect(event?.at).toBe(Date.now())
    expect(body.at).toBe(toInstant(event?.at ?? 0))
    expect(await list()).toEqual({ item: [{ ...added, at: body.at }], next: null })
    expect(await currentPage()).toBe(12)
  })

  it('changes nothing else of a book that is being read', async () => {
    await patch({ bookStatus: 'ING' })
    const before = await getBook(reader, bookId)
    await add({ page: 300 })
    expect(await getBook(reader, bookId)).toEqual({ ...before, currentPage: 300 })
  })

  it.each([
    [300, 0, 0],
    [300, 100, 300],
    [300, 33.3, 100],
    [300, 0.1, 0],
    [300, 0.5, 2],
    [1, 50, 1],
    [1, 49.99, 0],
    [0, 50, 0],
    [2 ** 31 - 1, 100, 2 ** 31 - 1],
  ])('of %s pages, %s percent are page %s', async (itemPage, percent, page) => {
    await patch({ itemPage })
    expect((await add({ percent })).body).toMatchObject({ page, kind: 'PROGRESS' })
    expect(await currentPage()).toBe(page)
  })

  it('rejects a percentage if the book has no number of pages', async () => {
    await patch({ itemPage: null })
    const reason = 'must not be sent for a book with neither itemPage nor edition.seconds: send page'
    expect(await add({ percent: 50 })).toMatchObject(fieldError('percent', '50', reason as never))
    expect(await stored()).toEqual([])
    expect((await add({ page: 50 })).status).toBe(201)
  })

  it('rejects a page beyond the last one, and names itemPage', async () => {
    const reason = 'must be at most the itemPage of the book, 300: update that first if the book is longer'
    for (const at of [undefined, '2026-01-02T03:04:05Z']) {
      expect(await add({ page: 301, at })).toMatchObject(fieldError('page', '301', reason as never))
    }
    expect([await stored(), await currentPage()]).toEqual([[], 0])
    expect((await add({ page: 300 })).status).toBe(201)
    await patch({ itemPage: 400, currentPage: 401 })
    expect((await add({ page: 400 })).body).toMatchObject({ page: 400, kind: 'CORRECTION' })
    await patch({ itemPage: 0 })
    expect((await add({ page: 1 })).status).toBe(400)
    expect((await add({ page: 0 })).status).toBe(201)
  })

  it('accepts any page if the book has no number of pages', async () => {
    await patch({ itemPage: null })
    expect((await add({ page: 2 ** 31 - 1 })).status).toBe(201)
    expect(await currentPage()).toBe(2 ** 31 - 1)
  })

  describe('with an invalid field', () => {
    beforeAll(async () => {
      bookId = (await reader.createBook()).bookId
    })
    const { percent, ...fields } = {
      page: { ...invalid.NOT_INT, ...invalid.QUOTED, ...invalid.NULL },
      percent: values('-0.1', '100.1', '"50"', '""', 'null', 'true', '[]', '{}', '1e999'),
      at: values(
        '"2026-01-01T00:00:00"',
        '"2026-01-01"',
        '"2026-02-29T00:00:00Z"',
        '"2026-01-01T24:00:00Z"',
        '"2026-01-01T00:00:00+0900"',
        '"1899-12-31T23:59:59Z"',
        '"1900-01-01T00:00:00+00:01"',
        '"2999-01-01T00:00:00Z"',
        '"now"',
        '""',
        '1700000000',
        'true',
        '{}',
      ),
      finish: values('null', '"true"', '1', '{}'),
      date: values('null', '""', '"2026"', '"2026-02-29"', '"2026-01-02T03:04:05"', '20260102', '{}'),
    }
    const send = (body: object) => reader.send('POST', `/books/${bookId}/progress`, body)
    itRejects(fields, { page: 5 }, send, stored)
    itRejects({ percent }, {}, send, stored)
  })

  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.987654Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05+09:00', '2026-01-01T18:04:05Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z'],
    ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00Z'],
  ])('records %s as %s', async (at, recorded) => {
    expect((await add({ page: 5, at })).body).toMatchObject({ at: recorded, page: 5, kind: 'PROGRESS' })
    expect(await events()).toMatchObject([{ at: recorded, page: 5, kind: 'PROGRESS', source: null }])
  })

  it('treats times up to five minutes ahead as now', async () => {
    holdClock()
    const { status } = await add({ page: 5, at: toInstant(Date.now() + 290_000) })
    expect(status).toBe(201)
    const [event] = await stored()
    expect(event?.at).toBe(Date.now())
    const late = toInstant(Date.now() + 320_000)
    expect(await add({ page: 5, at: late })).toMatchObject(fieldError('at', JSON.stringify(late)))
  })

  it('moves the current page only by an event later than the last one', async () => {
    const at = (day: number) => `2026-01-0${day}T00:00:00Z`
    expect((await add({ page: 50, at: at(5) })).body.kind).toBe('PROGRESS')
    expect((await add({ page: 40, at: at(3) })).body).toMatchObject({ at: at(3), page: 40, kind: 'PROGRESS' })
    expect(await currentPage()).toBe(50)
    expect((await add({ page: 30, at: at(4) })).body.kind).toBe('CORRECTION')
    expect((await add({ page: 90, at: at(7) })).body.kind).toBe('PROGRESS')
    expect((await add({ page: 60, at: at(6) })).body.kind).toBe('PROGRESS')
    expect(await currentPage()).toBe(90)
    expect((await events()).map(({ at, page }) => [Number(at[9]), page])).toEqual([
      [7, 90],
      [6, 60],
      [5, 50],
      [4, 30],
      [3, 40],
    ])
  })

  it('treats a lower page than that of the previous event as a correction, and the same page as progress', async () => {
    for (const page of [100, 100, 40, 41, 0]) await add({ page })
    expect(await history()).toEqual(['PROGRESS 100', 'PROGRESS 100', 'CORRECTION 40', 'PROGRESS 41', 'CORRECTION 0'])
    expect(await currentPage()).toBe(0)
  })

  it('treats a lower page as a correction after events before 1970, too', async () => {
    await add({ page: 120, at: '1950-01-01T00:00:00Z' })
    await add({ page: 110, at: '1960-01-01T00:00:00Z' })
    await patch({ currentPage: 105 })
    expect(await history()).toEqual(['PROGRESS 120', 'CORRECTION 110', 'CORRECTION 105'])
  })

  it('compares the first event with the current page of the book', async () => {
    const registeredAt = async (page: number) =>
      (await reader.createBook({ currentPage: page, bookStatus: 'ING' })).bookId
    expect((await add({ page: 99 }, await registeredAt(100))).body.kind).toBe('CORRECTION')
    expect((await add({ page: 100 }, await registeredAt(100))).body.kind).toBe('PROGRESS')
  })

  describe('within a second', () => {
    const SECOND = '2026-01-02T03:04:05'
    const times = async () => (await stored()).map(({ at, page }) => [at - Date.parse(`${SECOND}Z`), page])

    it.each<[string, [at: string, page: number][], [ms: number, page: number][]]>([
      [
        'keeps both events, by their fractions',
        [
          ['.9Z', 90],
          ['.1239Z', 80],
        ],
        [
          [123, 80],
          [900, 90],
        ],
      ],
      [
        'keeps both events at the same time, the later request last',
        [
          ['.5Z', 90],
          ['.5Z', 80],
          ['.501Z', 70],
          ['.5Z', 60],
        ],
        [
          [500, 90],
          [501, 80],
          [502, 70],
          [503, 60],
        ],
      ],
      [
        'puts an event without a fraction last',
        [
          ['.7Z', 90],
          ['Z', 80],
          ['Z', 70],
        ],
        [
          [700, 90],
          [701, 80],
          [702, 70],
        ],
      ],
      [
        'goes on in the next second',
        [
          ['.999Z', 90],
          ['.999Z', 80],
          ['Z', 70],
        ],
        [
          [999, 90],
          [1000, 80],
          [1001, 70],
        ],
      ],
    ])('%s, and adds nothing for repeated requests', async (_, sent, expected) => {
      const pages = [...new Set(sent.map(([, page]) => page))]
      for (const [fraction, page] of [...sent, ...sent, ...sent.toReversed()]) {
        const { status, body } = await add({ page, at: SECOND + fraction })
        expect([status, body.page, body.at.slice(0, 17)]).toEqual([201, page, SECOND.slice(0, 17)])
      }
      expect(await times()).toEqual(expected)
      expect(await events()).toHaveLength(pages.length)
      expect(await currentPage()).toBe(expected.at(-1)?.[1])
    })

    it('keeps the latest page if an earlier event is added late', async () => {
      await add({ page: 120, at: `${SECOND}.9Z` })
      expect((await add({ page: 95, at: `${SECOND}.2Z` })).body.kind).toBe('PROGRESS')
      expect(await currentPage()).toBe(120)
      expect((await add({ page: 50, at: `${SECOND}Z` })).body.kind).toBe('CORRECTION')
      expect(await currentPage()).toBe(50)
    })

    it('reads no more of a book with many events at other times', async () => {
      const cost = async () => {
        const { bookId } = await reader.createBook()
        const fill = (count: number) =>
          select(
            `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
            insert into progress (memberId, bookId, at, page, kind, total)
            select memberId, bookId, ?3 + i * 60000, i, 'PROGRESS', i from n join books where bookId = ?2`,
            count,
            bookId,
            Date.parse(`${SECOND}Z`),
          )
        return { bookId, fill }
      }
      const [few, many] = [await cost(), await cost()]
      await few.fill(5)
      await many.fill(500)
      const at = toInstant(Date.parse(`${SECOND}Z`) + 120_000)
      const [ofFew, ofMany] = [
        await measure(() => add({ page: 9, at }, few.bookId)),
        await measure(() => add({ page: 9, at }, many.bookId)),
      ]
      expect(ofMany).toEqual(ofFew)
      for (const { bookId } of [few, many]) await reader.delete(`/books/${bookId}`)
    })
  })

  it('keeps the kind of a repeated event, and that of a finish', async () => {
    await patch({ currentPage: 200, bookStatus: 'ING' })
    await select('delete from progress where bookId = ?', bookId)
    const at = '2026-01-02T03:04:05Z'
    for (let n = 0; n < 2; n++) expect((await add({ page: 150, at })).body.kind).toBe('CORRECTION')
    await patch({ bookStatus: 'DONE' })
    await select('update progress set at = (at / 1000 - 60) * 1000 where bookId = ? and kind = ?', bookId, 'FINISHED')
    const finish = (await events())[0]
    expect((await add({ page: 150, at: finish?.at })).body).toMatchObject({ ...finish })
    expect((await add({ page: 140, at: finish?.at })).body).toMatchObject({
      at: finish?.at,
      page: 140,
      kind: 'CORRECTION',
    })
    expect(await history()).toEqual(['CORRECTION 150', 'FINISHED 150', 'CORRECTION 140'])
    expect(await currentPage()).toBe(140)
  })

  it('adds its event after the last one if that is ahead of the clock, and is still safe to repeat', async () => {
    await add({ page: 10 })
    await select('update progress set at = at + 60000 where bookId = ?', bookId)
    const [ahead] = await stored()
    for (const page of [20, 20, 30]) await add({ page })
    expect((await stored()).map(({ at, page }) => [at - (ahead?.at ?? 0), page])).toEqual([
      [0, 10],
      [1, 20],
      [2, 30],
    ])
    expect(await currentPage()).toBe(30)
  })

  it('adds events of the same millisecond one after the other', async () => {
    holdClock()
    for (const page of [90, 20, 20]) await add({ page })
    expect((await stored()).map(({ at, page }) => [at - Date.now(), page])).toEqual([
      [0, 90],
      [1, 20],
    ])
    expect(await history()).toEqual(['PROGRESS 90', 'CORRECTION 20'])
  })

  it('adds one event if D1 loses the connection after it took effect', async () => {
    let calls = 0
    const database = wrapDatabase(memberDatabase(), async (call) => {
      const result = await call()
      calls += 1
      if (calls === 1) throw new Error('Network connection lost')
      return result
    })
    const options = { body: { page: 77 }, changed: changeDatabase(database) }
    expect((await reader.send('POST', `/books/${bookId}/progress`, options)).status).toBe(201)
    expect([calls, await history()]).toEqual([2, ['PROGRESS 77']])
  })
})

describe('the status after POST /books/{book-id}/progress', () => {
  const readings = async () => (await reader.get(`/books/${bookId}/readings`)).body
  const today = () => localTime('Asia/Seoul').slice(0, 10)

  it('is ING from the first page above 0, without a date', async () => {
    expect((await add({ page: 0 })).body).toMatchObject({ bookStatus: 'YET' })
    expect((await add({ page: 1 })).body).toMatchObject({ kind: 'PROGRESS', bookStatus: 'ING', readEndDate: null })
    expect(await readings()).toMatchObject([{ startedAt: null, outcome: null }])
  })

  it('stays YET for a page that is refused, or is not the latest', async () => {
    await patch({ currentPage: 50 })
    expect((await add({ page: 301 })).status).toBe(400)
    expect((await add({ page: 20, at: '2020-01-01T00:00:00Z' })).body).toMatchObject({ bookStatus: 'YET' })
    expect((await add({ page: 20 })).body).toMatchObject({ kind: 'PROGRESS', bookStatus: 'ING' })
  })

  it('stays YET for a page that is refused, and that the book is at', async () => {
    await patch({ currentPage: 50, itemPage: 40 })
    expect((await add({ page: 50 })).status).toBe(400)
    expect((await add({ page: 50, finish: true })).status).toBe(400)
    expect(await getBook(reader, bookId)).toMatchObject({ bookStatus: 'YET', readEndDate: null })
  })

  it('is ING with the reading that was stopped on an unknown date', async () => {
    await patch({ bookStatus: 'ING', currentPage: 10 })
    await reader.patch(`/readings/${bookId}`, { outcome: 'STOPPED', note: 'Too long.' })
    await patch({ bookStatus: 'YET' })
    await add({ page: 20 })
    expect(await readings()).toMatchObject([{ readingId: bookId, outcome: null, note: 'Too long.' }])
  })

  it.each(['YET', 'ING'])('is DONE with finish, of a book that was %s, on a date or today', async (bookStatus) => {
    await patch({ bookStatus })
    const { body } = await add({ page: 300, finish: true, date: '2026-01-02' })
    expect(body).toMatchObject({ kind: 'PROGRESS', bookStatus: 'DONE', readEndDate: '2026-01-02T00:00:00' })
    expect(await history()).toEqual(['PROGRESS 300', 'FINISHED 300'])
    expect(await readings()).toMatchObject([{ finishedAt: '2026-01-02', outcome: 'FINISHED' }])
    const { bookId: other } = await reader.createBook({ bookStatus })
    const options = { body: { page: 1, finish: true }, changed: { TIME_ZONE: 'Asia/Seoul' } }
    const days = [today(), (await reader.send('POST', `/books/${other}/progress`, options)).body.readEndDate, today()]
    expect([`${days[0]}T00:00:00`, `${days[2]}T00:00:00`]).toContain(days[1])
  })

  it('stays DONE for a finished book, and X-Ignored names another date', async () => {
    const finish = { page: 300, finish: true, date: '2026-01-02' }
    await patch({ bookStatus: 'DONE', readEndDate: '2026-01-02T20:00:00' })
    const answers = [
      await add(finish),
      await add(finish),
      await add({ ...finish, date: undefined }),
      await add({ ...finish, date: '2026-01-03' }),
    ]
    for (const { status, body } of answers)
      expect([status, body.bookStatus, body.readEndDate]).toEqual([201, 'DONE', '2026-01-02T20:00:00'])
    expect(answers.map(({ headers }) => headers.get('X-Ignored'))).toEqual([null, null, null, 'date'])
    expect((await history()).filter((event) => event.startsWith('FINISHED'))).toHaveLength(1)
    expect(await readings()).toHaveLength(1)
  })

  it('is the finished reading again if the date is that of it, whatever date the book shows', async () => {
    const dates = { readStartDate: '2024-01-02T03:04:05', readEndDate: '2024-02-29T00:00:00' }
    bookId = (await reader.createBook({ bookStatus: 'DONE', ...dates })).bookId
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING', readEndDate: '2025-03-01T12:00:00' })
    const { body } = await add({ page: 10, finish: true, date: '2024-02-29' })
    expect(body).toMatchObject({ bookStatus: 'DONE', readEndDate: '2024-02-29T00:00:00' })
    expect(await readings()).toMatchObject([{ readingId: bookId, finishedAt: '2024-02-29', outcome: 'FINISHED' }])
  })

  it('is finished if the reading was stopped or paused', async () => {
    await patch({ bookStatus: 'ING', currentPage: 10 })
    await reader.patch(`/readings/${bookId}`, { outcome: 'STOPPED', finishedAt: '2025-12-31' })
    await add({ page: 300, finish: true, date: '2026-01-02' })
    expect(await readings()).toMatchObject([{ readingId: bookId, finishedAt: '2026-01-02', outcome: 'FINISHED' }])
    await reader.post(`/books/${bookId}/readings`, { paused: true })
    expect((await add({ page: 20 })).body).toMatchObject({ bookStatus: 'ING' })
    expect((await readings())[0]).toMatchObject({ paused: true })
    await add({ page: 300, finish: true, date: '2026-02-03' })
    expect((await readings()).map(({ finishedAt }: { finishedAt: string }) => finishedAt)).toEqual([
      '2026-02-03',
      '2026-01-02',
    ])
  })

  it('undoes a mistake without a second reading, and keeps the date of a reading with the dates of the last', async () => {
    await patch({ bookStatus: 'DONE', readEndDate: '2026-01-02T20:00:00' })
    await patch({ bookStatus: 'ING' })
    await add({ page: 300, finish: true, date: '2026-01-02' })
    expect(await readings()).toMatchObject([{ readingId: bookId, finishedAt: '2026-01-02' }])
    await patch({ bookStatus: 'ING' })
    await reader.patch(`/readings/${(await readings())[0].readingId}`, { note: 'Again.' })
    await add({ page: 300, finish: true, date: '2026-01-02' })
    expect((await readings()).map(({ finishedAt }: { finishedAt: string }) => finishedAt)).toEqual([
      '2026-01-02',
      '2026-01-02',
    ])
  })

  it('does not change with a date alone, which X-Ignored names', async () => {
    for (const more of [{}, { finish: false }]) {
      const { body, headers } = await add({ page: 5, date: '2026-01-02', ...more })
      expect([body.bookStatus, headers.get('X-Ignored')]).toEqual(['ING', 'date'])
    }
  })
})

describe('events of PATCH /books/{book-id}', () => {
  it('are added for each change of the current page, forwards or backwards', async () => {
    for (const page of [10, 10, 20, 5, 6]) expect((await patch({ currentPage: page })).status).toBe(200)
    expect(await history()).toEqual(['PROGRESS 10', 'PROGRESS 20', 'CORRECTION 5', 'PROGRESS 6'])
  })

  it('are not added by a registration, other fields or a repeated update', async () => {
    expect(await events()).toEqual([])
    for (let n = 0; n < 2; n++) await patch({ star: 3, itemPage: 400, author: '한강', bookStatus: 'ING' })
    expect(await events()).toEqual([])
    for (let n = 0; n < 2; n++) await patch({ bookStatus: 'DONE', currentPage: 300, star: 5 })
    expect(await history()).toEqual(['FINISHED 300'])
  })

  it('are FINISHED when the book becomes DONE, with or without a page', async () => {
    await patch({ currentPage: 120 })
    await patch({ bookStatus: 'DONE' })
    expect(await history()).toEqual(['PROGRESS 120', 'FINISHED 120'])
    await patch({ bookStatus: 'YET' })
    await patch({ bookStatus: 'DONE', currentPage: 0, readEndDate: '2026-01-01T00:00:00' })
    expect(await history()).toEqual(['PROGRESS 120', 'FINISHED 120', 'FINISHED 0'])
    // The earlier reading is restored, not finished again.
    await patch({ bookStatus: 'YET' })
    await patch({ bookStatus: 'DONE' })
    expect(await history()).toEqual(['PROGRESS 120', 'FINISHED 120', 'FINISHED 0'])
  })

  it('are FINISHED when the open reading is finished, but not when it is stopped or another one is recorded', async () => {
    await patch({ bookStatus: 'ING', currentPage: 120, readStartDate: '2026-01-01T00:00:00' })
    await reader.patch(`/readings/${bookId}`, { outcome: 'STOPPED' })
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2009' })
    expect(await history()).toEqual(['PROGRESS 120'])
    await reader.patch(`/readings/${bookId}`, { outcome: null })
    await reader.patch(`/readings/${bookId}`, { finishedAt: '2026-11-05' })
    expect(await history()).toEqual(['PROGRESS 120', 'FINISHED 120'])
  })

  it('are corrections when a finished page is lowered without reading again', async () => {
    await patch({ bookStatus: 'DONE', currentPage: 300 })
    await patch({ currentPage: 299 })
    expect(await history()).toEqual(['FINISHED 300', 'CORRECTION 299'])
  })

  it.each([
    ['PATCH', async (page: number) => void (await patch({ currentPage: page }))],
    ['POST', async (page: number) => void (await add({ page }))],
  ])('and of progress by %s: reading again from a lower page is no correction', async (_, reach) => {
    await patch({ bookStatus: 'DONE', currentPage: 300 })
    await patch({ bookStatus: 'ING' })
    await reach(20)
    await reach(15)
    expect(await history()).toEqual(['FINISHED 300', 'PROGRESS 20', 'CORRECTION 15'])
    await patch({ bookStatus: 'DONE', currentPage: 300, readEndDate: '2026-01-01T00:00:00' })
    await patch({ bookStatus: 'ING', currentPage: 0 })
    await reach(30)
    expect((await history()).slice(3)).toEqual(['FINISHED 300', 'PROGRESS 0', 'PROGRESS 30'])
  })

  it('do not repeat those of POST /books/{book-id}/progress', async () => {
    await add({ page: 30 })
    await patch({ currentPage: 30 })
    await patch({ currentPage: 31 })
    await add({ page: 32 })
    expect(await history()).toEqual(['PROGRESS 30', 'PROGRESS 31', 'PROGRESS 32'])
  })

  it('all have different times, even within a millisecond', async () => {
    const update = memberDatabase().prepare('update books set currentPage = ? where bookId = ?')
    await memberDatabase().batch([1, 2, 3, 2, 4].map((page) => update.bind(page, bookId)))
    const times = (await stored()).map(({ at }) => at)
    expect(new Set(times).size).toBe(5)
    expect(await history()).toEqual(['PROGRESS 1', 'PROGRESS 2', 'PROGRESS 3', 'CORRECTION 2', 'PROGRESS 4'])
    await add({ page: 5 })
    expect((await history()).at(-1)).toBe('PROGRESS 5')
    expect(await currentPage()).toBe(5)
  })
})

describe('GET /books/{book-id}/progress', () => {
  const fill = (count: number, id = bookId) =>
    select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into progress (memberId, bookId, at, page, kind, total)
      select memberId, bookId, 1700000000000 + i * 1000, i, 'PROGRESS', i from n join books where bookId = ?2`,
      count,
      id,
    ).then(() => select('update books set currentPage = ? where bookId = ?', count, id))

  it('lists the events newest first, in pages', async () => {
    await fill(7)
    const pages: number[] = []
    const sizes: number[] = []
    let query = '?size=3'
    while (query) {
      const { item, next } = await list(query)
      pages.push(...item.map(({ page }: Event) => page))
      sizes.push(item.length)
      query = next ? `?size=3&cursor=${next}` : ''
    }
    expect([pages, sizes]).toEqual([
      [7, 6, 5, 4, 3, 2, 1],
      [3, 3, 1],
    ])
    expect((await list('?size=7')).next).toBe(null)
    expect(await list(`?cursor=${toCursor(0)}`)).toEqual({ item: [], next: null })
  })

  it('does not shift when events are added', async () => {
    await fill(5)
    const { next } = await list('?size=2')
    await add({ page: 6 })
    expect((await list(`?size=2&cursor=${next}`)).item.map(({ page }: Event) => page)).toEqual([3, 2])
  })

  it('returns 20 events by default', async () => {
    await fill(21)
    expect((await list()).item).toHaveLength(20)
  })

  it.each(['', 'x', '!', toCursor('1'), toCursor([1]), toCursor(1.5), toCursor(null), toCursor(1e300), '%00'])(
    'rejects the cursor %j',
    async (cursor) => {
      expect(await reader.get(`/books/${bookId}/progress?cursor=${cursor}`)).toMatchObject(
        violation('cursor', decodeURIComponent(cursor)),
      )
    },
  )
  it.each(['0', '101', '-1', 'x', '1.5', ''])('rejects the size %j', async (size) => {
    expect(await reader.get(`/books/${bookId}/progress?size=${size}`)).toMatchObject(violation('size', size))
  })

  it('reads one row for each event, whatever their number and position', async () => {
    const { bookId: long } = await reader.createBook()
    await fill(100)
    await fill(900, long)
    const read = (id: number, query: string) => measure(() => list(query, id))
    const first = await read(bookId, '?size=20')
    expect(first).toMatchObject({ calls: 1, written: 0 })
    expect(first.read).toBeLessThanOrEqual(20 + 7)
    expect(await read(long, '?size=20')).toEqual(first)
    expect(await read(long, `?size=20&cursor=${toCursor(1_700_000_500_000)}`)).toEqual(first)
    await reader.delete(`/books/${long}`)
  })
})

describe('beyond 1,000 events', () => {
  beforeEach(async () => {
    await patch({ itemPage: null })
  })
  // Otherwise the check after all further tests would take long.
  afterEach(async () => {
    vi.useRealTimers()
    expect(await findMismatches(memberDatabase())).toEqual([])
    await reader.delete(`/books/${bookId}`)
  })

  const DAY_MS = 86_400_000
  const FIRST_DAY = 18_000
  /** Inserts 1,000 events, so many on a day, with a finish as the second event of each tenth day. */
  const fill = async (perDay: number) => {
    await select(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < 999)
      insert into progress (memberId, bookId, at, page, kind, total)
      select memberId, bookId, (${FIRST_DAY} + i / ${perDay}) * ${DAY_MS} + (i % ${perDay}) * 1000, i,
        iif(i % ${10 * perDay} = 1, 'FINISHED', 'PROGRESS'), i + 1
      from n join books where bookId = ?`,
      bookId,
    )
    await select('update books set currentPage = 999 where bookId = ?', bookId)
    expect(await stored()).toHaveLength(1000)
    expect(await findMismatches(memberDatabase())).toEqual([])
  }
  const lastOfDays = async () =>
    select(
      `select at / ${DAY_MS} as day, max(at) as at from progress where bookId = ? group by day order by day`,
      bookId,
    )
  const finishes = () => select(`select at from progress where bookId = ? and kind = 'FINISHED' order by at`, bookId)

  it.each([
    ['POST', () => add({ page: 20_000 })],
    ['PATCH', () => patch({ currentPage: 20_000 })],
    ['a POST in the past', () => add({ page: 5, at: toInstant((FIRST_DAY + 3) * DAY_MS + 7_000_000) })],
    ['a POST before the first event', () => add({ page: 5, at: toInstant(FIRST_DAY * DAY_MS - 1000) })],
  ])('%s merges the oldest of a day into its last one, and keeps finishes', async (_, write) => {
    await fill(5)
    const [days, finished] = [await lastOfDays(), await finishes()]
    expect((await write()).status).toBeLessThan(300)
    const left = await stored()
    // 200 days, 20 of them with a finish.
    expect(left.length).toBeGreaterThan(200)
    expect(left.length).toBeLessThan(230)
    expect(await finishes()).toEqual(finished)
    const remaining = new Set(left.map(({ at }) => at))
    // The late event is the last one of its day.
    const lost = days.filter(({ day, at }) => day !== FIRST_DAY + 3 && !remaining.has(Number(at)))
    expect(lost).toEqual([])
    // The total is exact, so that the next event deletes nothing.
    await add({ page: 20_001 })
    expect(await stored()).toHaveLength(left.length + 1)
  })

  it('keeps those with minutes, until there are no others', async () => {
    await fill(5)
    await select('update progress set minutes = 1 where bookId = ? and page % 3 > 0', bookId)
    const minutes = () => select('select count(*) as count from progress where bookId = ? and minutes = 1', bookId)
    const before = await minutes()
    await add({ page: 20_000 })
    expect((await stored()).length).toBeLessThan(900)
    expect(await minutes()).toEqual(before)
  })

  it.each([
    ['POST', () => add({ page: 20_000 })],
    ['PATCH', () => patch({ currentPage: 20_000 })],
  ])('%s deletes the oldest event if no day has two', async (_, write) => {
    await fill(1)
    const [oldest] = await stored()
    const cost = await measure(async () => expect((await write()).status).toBeLessThan(300))
    // Those of the oldest 1,000 that are compared, and a few: a member may write a thousand times a minute.
    expect(cost.read).toBeLessThan(5000)
    const left = await stored()
    expect(left).toHaveLength(1000)
    expect(left).not.toContainEqual(oldest)
    expect(left.at(-1)?.page).toBe(20_000)
  })
})

it('deletes the progress with the book', async () => {
  await add({ page: 9 })
  await reader.delete(`/books/${bookId}`)
  expect(await stored()).toEqual([])
})

describe('one database call, at a cost independent of the size of the library', () => {
  const createLibrary = async (books: number, count: number) => {
    const owner = await signUp()
    const memberId = await memberIdOf(owner)
    await fillShelf(memberId, books)
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
      insert into progress (memberId, bookId, at, page, kind, total)
      select memberId, bookId, 1700000000000 + i * 1000, 0, 'PROGRESS', i from n join books where memberId = ?1 and bookId % 3 = 0`,
      memberId,
      count,
    )
    const [book] = await select('select max(bookId) as id from books where memberId = ? and bookId % 3 = 0', memberId)
    // A page of an unread book would also begin it.
    await owner.patch(`/books/${book?.id}`, { bookStatus: 'ING' })
    return { owner, id: Number(book?.id) }
  }
  type Library = Awaited<ReturnType<typeof createLibrary>>
  let small: Library
  let large: Library
  beforeAll(async () => {
    small = await createLibrary(6, 3)
    large = await createLibrary(600, 100)
  })
  const post = (progress: object) => async (library: Library) =>
    expect((await library.owner.post(`/books/${library.id}/progress`, progress)).status).toBe(201)

  it.each<[string, (library: Library) => Promise<unknown>, written: number]>([
    ['the latest event: the event, the book, and an index entry of each', post({ page: 5 }), 4],
    ['the latest event with the same page: the same', post({ page: 5 }), 4],
    [
      'an earlier event: itself, its index entry, and the total in the latest',
      post({ page: 3, at: '2020-01-01T00:00:00Z' }),
      3,
    ],
    ['the same again: itself', post({ page: 3, at: '2020-01-01T00:00:00Z' }), 1],
    [
      'an update of the book: the event, the book, and an index entry of each',
      ({ owner, id }) => owner.patch(`/books/${id}`, { currentPage: 8 }),
      4,
    ],
  ])('writes for %s', async (_, request, written) => {
    const [inSmall, inLarge] = [await measure(() => request(small)), await measure(() => request(large))]
    expect(inLarge).toEqual(inSmall)
    expect(inSmall).toMatchObject({ calls: 1, written })
    expect(inSmall.read).toBeLessThan(50)
  })
})
