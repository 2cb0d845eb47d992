import { beforeEach, describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { insertReadings, measure, memberDatabase, select } from '../../support/database'
import { getBook, type ValidCase } from '../../support/library'

let reader: Reader
beforeEach(async () => {
  reader = await signUp()
})

const EMPTY = {
  startedAt: null,
  finishedAt: null,
  outcome: null,
  rating: null,
  format: null,
  note: null,
  paused: false,
}
const DONE = {
  bookStatus: 'DONE',
  readStartDate: '2020-01-01T10:00:00',
  readEndDate: '2020-02-02T20:00:00',
}
const FINISHED = { ...EMPTY, startedAt: '2020-01-01', finishedAt: '2020-02-02', outcome: 'FINISHED' }

const createBook = async (book: object = {}) => (await reader.createBook(book)).bookId
const list = async (bookId: number) => (await reader.get(`/books/${bookId}/readings`)).body
const add = async (bookId: number, reading: object = {}) =>
  (await reader.post(`/books/${bookId}/readings`, reading)).body
const change = (readingId: number, patch: object) => reader.patch(`/readings/${readingId}`, patch)
const changeBook = (bookId: number, patch: object) => reader.patch(`/books/${bookId}`, patch)
const stateOf = async (bookId: number) => {
  const { bookStatus, readStartDate, readEndDate, star } = await getBook(reader, bookId)
  return { bookStatus, readStartDate, readEndDate, star }
}

describe('a book without rows in readings', () => {
  it('has no readings while it is YET', async () => {
    const bookId = await createBook()
    expect(await list(bookId)).toEqual([])
    expect((await change(bookId, { note: 'x' })).status).toBe(404)
    expect((await reader.delete(`/readings/${bookId}`)).status).toBe(404)
  })

  it('has its own status and dates as its only reading otherwise', async () => {
    const bookId = await createBook(DONE)
    expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED }])
    await changeBook(bookId, { star: 4 })
    expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED, rating: 4 }])
    expect((await change(bookId, {})).body).toEqual({ readingId: bookId, ...FINISHED, rating: 4 })
    expect(await select('select 1 from readings where bookId = ?', bookId)).toEqual([])
    const open = await createBook({ ...DONE, bookStatus: 'ING' })
    expect(await list(open)).toEqual([{ readingId: open, ...EMPTY, startedAt: '2020-01-01' }])
  })

  it('stores that reading when details are added, without changing the book', async () => {
    const bookId = await createBook({ ...DONE, bookStatus: 'ING' })
    const before = await stateOf(bookId)
    const changed = { note: '두 번째로 읽었다.', format: 'AUDIO', paused: true }
    const expected = { readingId: bookId, ...EMPTY, startedAt: '2020-01-01', ...changed }
    expect(await change(bookId, changed)).toMatchObject({ status: 200, body: expected })
    expect(await list(bookId)).toEqual([expected])
    expect(await stateOf(bookId)).toEqual(before)
  })

  it('becomes unread, without dates, when that reading is deleted', async () => {
    const bookId = await createBook(DONE)
    await changeBook(bookId, { star: 3 })
    expect((await reader.delete(`/readings/${bookId}`)).status).toBe(204)
    expect(await stateOf(bookId)).toEqual({ bookStatus: 'YET', readStartDate: null, readEndDate: null, star: 3 })
    expect(await list(bookId)).toEqual([])
    expect((await reader.delete(`/readings/${bookId}`)).status).toBe(404)
    await changeBook(bookId, { bookStatus: 'ING' })
    const [next] = await list(bookId)
    expect(next).toMatchObject({ ...EMPTY, rating: 3 })
    expect(next.readingId).not.toBe(bookId)
  })
})

describe('input', () => {
  const VALID: ValidCase[] = [
    [{}, EMPTY],
    [EMPTY],
    [{ startedAt: '2020', finishedAt: '2020-02-29' }, { outcome: 'FINISHED' }],
    [{ startedAt: '2020-03-05', finishedAt: '2020-03', outcome: 'STOPPED' }],
    [{ outcome: 'STOPPED' }, { finishedAt: null }],
    [{ rating: 0.25 }],
    [{ rating: 4.75 }],
    [{ rating: 5 }],
    [{ paused: true }],
    [{ note: '새는 알에서 나오려고 투쟁한다.\n' }],
    [{ note: '' }, { note: null }],
    [{ note: '한'.repeat(65_535) }],
    [{ readingId: 1, bookId: 1, memberId: 1, createdAt: 0 }, EMPTY],
    [{ outcome: 'FINISHED' }],
    [{ format: 'PAPER' }],
    [{ format: 'AUDIO' }],
  ]
  it.each(VALID)('accepts %#', async (sent, stored = {}) => {
    const bookId = await createBook()
    const { readingId: _, bookId: __, memberId: ___, createdAt: ____, ...fields } = sent as Record<string, unknown>
    const created = await reader.post(`/books/${bookId}/readings`, sent)
    expect(created).toMatchObject({ status: 201, body: { ...fields, ...stored } })
    const other = await createBook({ bookStatus: 'ING' })
    expect(await change(other, sent)).toMatchObject({ status: 200, body: { readingId: other, ...fields, ...stored } })
    expect((await list(other))[0]).toMatchObject({ ...fields, ...stored })
  })

  const DATE = 'must be in the format yyyy, yyyy-MM or yyyy-MM-dd, or null'
  const RATING = 'must be a multiple of 0.25 between 0.25 and 5, or null'
  it.each([
    [{ startedAt: '2021-02-29' }, 'startedAt', 'must be a valid calendar date'],
    [{ startedAt: '2021-13' }, 'startedAt', 'must be a valid calendar date'],
    [{ finishedAt: '2021-1' }, 'finishedAt', DATE],
    [{ finishedAt: '2021-01-01T00:00:00' }, 'finishedAt', DATE],
    [{ finishedAt: '' }, 'finishedAt', DATE],
    [{ startedAt: 2021 }, 'startedAt', DATE],
    [{ startedAt: '2021-02', finishedAt: '2021-01-31' }, 'finishedAt', 'must not be before startedAt'],
    [{ startedAt: '2021-02-02', finishedAt: '2020' }, 'finishedAt', 'must not be before startedAt'],
    [{ finishedAt: '2021', outcome: null }, 'finishedAt', 'must be null if outcome is null'],
    [{ outcome: 'FINISHED', paused: true }, 'paused', 'must be false if the reading has an outcome'],
    [{ finishedAt: '2021', paused: true }, 'paused', 'must be false if the reading has an outcome'],
    [{ outcome: 'DONE' }, 'outcome', 'must be one of FINISHED, STOPPED, or null'],
    [{ format: 3 }, 'format', 'must be one of PAPER, EBOOK, AUDIO, or null'],
    [{ rating: 0 }, 'rating', RATING],
    [{ rating: 5.25 }, 'rating', RATING],
    [{ rating: 1.1 }, 'rating', RATING],
    [{ rating: 2.2500000000000004 }, 'rating', RATING],
    [{ rating: '4' }, 'rating', `${RATING} (not a string)`],
    [{ paused: null }, 'paused', 'must be true or false'],
    [{ note: 'a'.repeat(65_536) }, 'note', 'must be at most 65535 characters'],
    [{ note: 'a\0' }, 'note', 'must not contain a NUL character'],
  ])('refuses %#', async (body, field, reason) => {
    const bookId = await createBook({ bookStatus: 'ING' })
    const refused = { status: 400, body: { fieldErrors: [{ field, reason }] } }
    expect(await reader.post(`/books/${bookId}/readings`, body)).toMatchObject(refused)
    expect(await change(bookId, body)).toMatchObject(refused)
    expect(await select('select 1 from readings where bookId = ?', bookId)).toEqual([])
  })

  it.each([
    [{ paused: true }, 'paused', 'must be false if the reading has an outcome'],
    [{ startedAt: '2020-03' }, 'startedAt', 'must not be after finishedAt'],
    [{ finishedAt: '2019-12-31' }, 'finishedAt', 'must not be before startedAt'],
  ])('refuses %j for what is stored', async (patch, field, reason) => {
    const bookId = await createBook(DONE)
    const refused = { status: 400, body: { fieldErrors: [{ field, rejectedValue: Object.values(patch)[0], reason }] } }
    expect(await change(bookId, patch)).toMatchObject(refused)
    expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED }])
    expect(await stateOf(bookId)).toMatchObject(DONE)
  })

  it('is not paused when it is reopened after the status of the book ended it', async () => {
    const bookId = await createBook({ bookStatus: 'ING', readStartDate: '2020-01-01T10:00:00' })
    await change(bookId, { paused: true })
    await changeBook(bookId, { bookStatus: 'DONE', readEndDate: '2020-02-02T20:00:00' })
    expect((await change(bookId, { outcome: null })).body).toMatchObject({ outcome: null, paused: false })
    expect((await change(bookId, { outcome: null, paused: true })).body).toMatchObject({ paused: true })
    expect((await change(bookId, { outcome: null })).body).toMatchObject({ paused: true })
  })

  it('ends a reading by a date, and reopens it', async () => {
    const bookId = await createBook({ bookStatus: 'ING' })
    await change(bookId, { paused: true })
    expect((await change(bookId, { finishedAt: '2024-05' })).body).toMatchObject({
      outcome: 'FINISHED',
      finishedAt: '2024-05',
      paused: false,
    })
    expect((await change(bookId, { outcome: null })).body).toMatchObject({ outcome: null, finishedAt: null })
    expect(await stateOf(bookId)).toMatchObject({ bookStatus: 'ING', readEndDate: null })
  })
})

describe('order', () => {
  it('has open readings first, then the latest, those without dates last', async () => {
    const bookId = await createBook(DONE)
    for (const reading of [
      { finishedAt: '2020-02' },
      { outcome: 'FINISHED' },
      { startedAt: '2020-03-01', outcome: 'STOPPED' },
      { finishedAt: '2019' },
      { startedAt: '2018' },
    ]) {
      await add(bookId, reading)
    }
    const dates = (await list(bookId)).map((each: typeof EMPTY) => each.finishedAt ?? each.startedAt)
    expect(dates).toEqual(['2018', '2020-03-01', '2020-02-02', '2020-02', '2019', null])
  })

  it('starts with the current reading, whatever dates are set on the book', async () => {
    const bookId = await createBook(DONE)
    await add(bookId, { finishedAt: '2010' })
    await changeBook(bookId, { readStartDate: null, readEndDate: '2005-05-05T00:00:00' })
    expect(await list(bookId)).toMatchObject([{ readingId: bookId, finishedAt: '2005-05-05' }, { finishedAt: '2010' }])
    expect(await stateOf(bookId)).toMatchObject({ readEndDate: '2005-05-05T00:00:00' })
  })
})

describe('the book is updated', () => {
  it('by a new reading that is the latest', async () => {
    const bookId = await createBook(DONE)
    await changeBook(bookId, { star: 4 })
    const { readingId } = await add(bookId, { startedAt: '2024-03-01' })
    expect(await stateOf(bookId)).toEqual({
      bookStatus: 'ING',
      readStartDate: '2024-03-01T00:00:00',
      readEndDate: null,
      star: 4,
    })
    expect(await list(bookId)).toMatchObject([{ readingId }, { readingId: bookId, ...FINISHED, rating: 4 }])
    await change(readingId, { finishedAt: '2024-04', rating: 2.5 })
    expect(await stateOf(bookId)).toMatchObject({ bookStatus: 'DONE', readEndDate: null, star: 3 })
    await change(readingId, { finishedAt: '2024-04-30', rating: null })
    expect(await stateOf(bookId)).toMatchObject({ readEndDate: '2024-04-30T00:00:00', star: 0 })
  })

  it('not by an older reading', async () => {
    const bookId = await createBook(DONE)
    const before = await stateOf(bookId)
    const { readingId } = await add(bookId, { finishedAt: '2011-11-11', rating: 1 })
    await change(readingId, { rating: 2, startedAt: '2011', note: 'x' })
    expect(await stateOf(bookId)).toEqual(before)
    await change(readingId, { finishedAt: '2022-02-22' })
    expect(await stateOf(bookId)).toMatchObject({ readStartDate: null, readEndDate: '2022-02-22T00:00:00', star: 2 })
    await reader.delete(`/readings/${readingId}`)
    expect(await stateOf(bookId)).toEqual({
      ...before,
      readStartDate: '2020-01-01T00:00:00',
      readEndDate: '2020-02-02T00:00:00',
      star: 2,
    })
  })

  it('by a date, but keeps its time if the day is the same', async () => {
    const bookId = await createBook(DONE)
    await change(bookId, { startedAt: '2020-01-01', finishedAt: '2020-02-02', rating: 4.5 })
    expect(await stateOf(bookId)).toEqual({ ...DONE, star: 5 })
  })

  it('by a stopped reading, to DONE without an end date', async () => {
    const bookId = await createBook(DONE)
    await change(bookId, { outcome: 'STOPPED' })
    expect(await stateOf(bookId)).toMatchObject({ bookStatus: 'DONE', readEndDate: null })
    expect((await list(bookId))[0]).toMatchObject({ outcome: 'STOPPED', finishedAt: '2020-02-02' })
    const calender = await reader.get('/books/calender?page=1&size=10')
    expect(calender.body.pageInfo.totalElements).toBe(0)
    await changeBook(bookId, { star: 2 })
    expect((await list(bookId))[0]).toMatchObject({ outcome: 'STOPPED', finishedAt: '2020-02-02', rating: 2 })
    await changeBook(bookId, { readEndDate: '2020-03-03T00:00:00' })
    expect((await list(bookId))[0]).toMatchObject({ outcome: 'FINISHED', finishedAt: '2020-03-03' })
  })

  it('not by a second open reading, which is refused', async () => {
    const bookId = await createBook({ bookStatus: 'ING' })
    const before = await stateOf(bookId)
    const refused = await reader.post(`/books/${bookId}/readings`, { format: 'AUDIO', startedAt: '2026-01-01' })
    const message = 'The book is being read: end its open reading first'
    expect(refused).toMatchObject({ status: 409, body: { message } })
    expect(refused.headers.get('X-Error-Code')).toBe('READING_OPEN')
    expect(await list(bookId)).toHaveLength(1)
    expect(await stateOf(bookId)).toEqual(before)
  })

  it('only in the fields that are set', async () => {
    const bookId = await createBook({ ...DONE, bookStatus: 'ING' })
    await change(bookId, { rating: 3 })
    expect(await stateOf(bookId)).toEqual({ ...DONE, bookStatus: 'ING', star: 3 })
    await change(bookId, { startedAt: '2020-01-05' })
    expect(await stateOf(bookId)).toMatchObject({ readStartDate: '2020-01-05T00:00:00', readEndDate: DONE.readEndDate })
  })

  it('not by a past reading while it is YET, nor is one reopened', async () => {
    const bookId = await createBook(DONE)
    await changeBook(bookId, { bookStatus: 'YET' })
    const stopped = { outcome: 'STOPPED', finishedAt: '2021-01-01' }
    expect(await change(bookId, { ...stopped, note: 'x' })).toMatchObject({ status: 200, body: stopped })
    expect(await stateOf(bookId)).toMatchObject({ bookStatus: 'YET' })
    expect(await list(bookId)).toMatchObject([{ ...stopped, note: 'x' }])
    const reason = 'must not be null: only the current reading of a book can be reopened'
    for (const patch of [{ outcome: null }, { outcome: null, paused: true, note: 'y' }])
      expect(await change(bookId, patch)).toMatchObject({
        status: 400,
        body: { fieldErrors: [{ field: 'outcome', rejectedValue: null, reason }] },
      })
    expect(await change(bookId, { paused: true })).toMatchObject({ status: 400 })
    expect(await change(bookId, { paused: false })).toMatchObject({ status: 200, body: { ...stopped, note: 'x' } })
  })
})

describe('a change of the book', () => {
  it('begins another reading when the book is read again, and keeps the earlier one', async () => {
    const bookId = await createBook(DONE)
    await changeBook(bookId, { star: 4 })
    await changeBook(bookId, { bookStatus: 'ING' })
    expect(await list(bookId)).toMatchObject([EMPTY, { readingId: bookId, ...FINISHED, rating: 4 }])
    await changeBook(bookId, { readStartDate: '2024-01-01T00:00:00' })
    await changeBook(bookId, { bookStatus: 'DONE', readEndDate: '2024-02-02T00:00:00', star: 5 })
    expect(await list(bookId)).toMatchObject([
      { startedAt: '2024-01-01', finishedAt: '2024-02-02', outcome: 'FINISHED', rating: 5 },
      { readingId: bookId, ...FINISHED, rating: 4 },
    ])
    await changeBook(bookId, { bookStatus: 'ING', readStartDate: '2025-01-01T00:00:00', readEndDate: null })
    expect(await list(bookId)).toMatchObject([{ ...EMPTY, startedAt: '2025-01-01' }, { rating: 5 }, { rating: 4 }])
  })

  it('does not copy the dates of the earlier reading to the next one', async () => {
    const bookId = await createBook(DONE)
    await changeBook(bookId, { bookStatus: 'ING' })
    await changeBook(bookId, { bookStatus: 'DONE', readEndDate: '2024-02-02T00:00:00' })
    expect(await list(bookId)).toMatchObject([{ ...EMPTY, finishedAt: '2024-02-02', outcome: 'FINISHED' }, FINISHED])
  })

  it.each(['ING', 'YET'])(
    'to %s and back to DONE, with the same dates, begins no other reading',
    async (bookStatus) => {
      const bookId = await createBook(DONE)
      await change(bookId, { note: 'x', rating: 3.75 })
      await changeBook(bookId, { bookStatus })
      await changeBook(bookId, { bookStatus: 'DONE' })
      expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED, note: 'x', rating: 3.75 }])
      expect(await stateOf(bookId)).toMatchObject(DONE)
    },
  )

  it('back to YET keeps the reading, with or without its dates', async () => {
    const bookId = await createBook(DONE)
    await changeBook(bookId, { bookStatus: 'YET', star: 2 })
    expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED }])
    await changeBook(bookId, { bookStatus: 'DONE' })
    expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED, rating: 2 }])
    await changeBook(bookId, { bookStatus: 'YET', readStartDate: null, readEndDate: null })
    expect(await list(bookId)).toEqual([{ readingId: bookId, ...FINISHED, rating: 2 }])
    await changeBook(bookId, { readEndDate: '2024-04-04T00:00:00' })
    await changeBook(bookId, { bookStatus: 'DONE' })
    expect(await list(bookId)).toMatchObject([
      { finishedAt: '2024-04-04', outcome: 'FINISHED' },
      { ...FINISHED, rating: 2 },
    ])
  })

  it.each(['ING', 'YET'])(
    'to %s and then to DONE does not finish a reading that was stopped on a known day',
    async (status) => {
      const bookId = await createBook()
      await add(bookId, { startedAt: '2024-01-01', finishedAt: '2024-02-29', outcome: 'STOPPED' })
      const [stopped] = await list(bookId)
      await changeBook(bookId, { bookStatus: status })
      await changeBook(bookId, { bookStatus: 'DONE' })
      expect(await list(bookId)).toEqual([{ ...EMPTY, readingId: expect.any(Number), outcome: 'FINISHED' }, stopped])
      expect((await reader.get('/stats?year=2024')).body).toMatchObject({ readings: 0, stopped: 1 })
    },
  )
  it('stops an open reading, resumes it, and begins another one', async () => {
    const bookId = await createBook({ bookStatus: 'ING', readStartDate: '2024-01-01T00:00:00' })
    await change(bookId, { paused: true, note: 'x' })
    await changeBook(bookId, { bookStatus: 'YET' })
    expect(await list(bookId)).toMatchObject([{ outcome: 'STOPPED', startedAt: '2024-01-01', paused: false }])
    await changeBook(bookId, { bookStatus: 'ING' })
    expect(await list(bookId)).toMatchObject([{ outcome: null, startedAt: '2024-01-01', note: 'x' }])
    await changeBook(bookId, { bookStatus: 'YET' })
    await changeBook(bookId, { bookStatus: 'DONE', readEndDate: '2024-02-02T00:00:00' })
    expect(await list(bookId)).toMatchObject([
      { outcome: 'FINISHED', finishedAt: '2024-02-02', note: null },
      { outcome: 'STOPPED', startedAt: '2024-01-01', note: 'x' },
    ])
  })

  it('to YET discards an open reading that has no details', async () => {
    const bookId = await createBook({ bookStatus: 'ING', readStartDate: '2024-01-01T00:00:00' })
    await changeBook(bookId, { bookStatus: 'YET' })
    expect(await list(bookId)).toEqual([])
    await changeBook(bookId, { bookStatus: 'ING' })
    const [next] = await list(bookId)
    expect(next).toMatchObject({ ...EMPTY, startedAt: '2024-01-01' })
    expect(next.readingId).not.toBe(bookId)
  })

  it('keeps a partial date and a precise rating that the book cannot express', async () => {
    const bookId = await createBook()
    const { readingId } = await add(bookId, { startedAt: '2009', finishedAt: '2010-05', rating: 3.75 })
    await changeBook(bookId, { star: 4, readStartDate: null, readEndDate: null, currentPage: 3 })
    const reading = { ...EMPTY, readingId, startedAt: '2009', finishedAt: '2010-05', outcome: 'FINISHED', rating: 3.75 }
    expect(await list(bookId)).toEqual([reading])
    await changeBook(bookId, { star: 0 })
    expect(await list(bookId)).toEqual([{ ...reading, rating: null }])
  })
})

describe('limits', () => {
  it('rejects the 202nd reading, but lets the book be read again', async () => {
    const bookId = await createBook()
    await insertReadings(bookId, 201)
    for (const reading of [{}, { finishedAt: '2020' }])
      expect(await reader.post(`/books/${bookId}/readings`, reading)).toMatchObject({
        status: 409,
        body: { message: 'Limit reached: 200 past readings per book' },
      })
    expect((await changeBook(bookId, { bookStatus: 'ING' })).body).toMatchObject({ bookStatus: 'ING' })
    expect(await list(bookId)).toHaveLength(201)
    expect((await list(bookId))[0]).toMatchObject({ outcome: null })
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('counts notes towards the text of the member', async () => {
    const bookId = await createBook({ title: 'ABC' })
    // A book counts 1,500, and its title four times. A past reading would count 1,300 beside its note.
    const changed = { MAX_MEMBER_TEXT_BYTES: '2818' }
    const post = (note: string) =>
      reader.send('POST', `/books/${bookId}/readings`, { body: { note, finishedAt: '2020' }, changed })
    const { body } = await post('한글')
    const patch = (patch: object) =>
      reader.send('PATCH', `/readings/${body.readingId}`, { body: patch, changed: { MAX_MEMBER_TEXT_BYTES: '1518' } })
    const refused = (limit: number) => ({
      status: 409,
      body: { message: `Limit reached: ${limit.toLocaleString('en')} bytes of text and rows per member` },
    })
    expect(await post('x')).toMatchObject(refused(2818))
    expect(await patch({ note: '한글x', rating: 5 })).toMatchObject(refused(1518))
    expect(await stateOf(bookId)).toMatchObject({ star: 0 })
    expect(await patch({ note: 'abcdef', rating: 5 })).toMatchObject({ status: 200 })
    await reader.delete(`/readings/${body.readingId}`)
    expect(await post('abcdef')).toMatchObject({ status: 201 })
    expect(await select('select textBytes from members where lower(email) = ?', reader.email)).toEqual([
      { textBytes: 1518 },
    ])
  })

  it('sends many long notes in parts', async () => {
    const bookId = await createBook()
    await insertReadings(bookId, 12)
    for (const table of ['readings', 'books'])
      await select(`update ${table} set note = bookId || ? where bookId = ?`, '\u0001'.repeat(65_000), bookId)
    const cost = await measure(async () => {
      const readings = await list(bookId)
      expect(readings.map(({ finishedAt }: { finishedAt: string }) => Number(finishedAt.slice(8)))).toEqual([
        13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2,
      ])
      expect(readings[11]).toMatchObject({ paused: false, outcome: 'FINISHED' })
      expect(readings[11].note).toHaveLength(65_000 + String(bookId).length)
    })
    expect(cost.calls).toBe(4)
    for (const table of ['readings', 'books']) await select(`update ${table} set note = null where bookId = ?`, bookId)
  })
})

it('gives the dates and stars of a deleted reading to the one that took its place', async () => {
  const bookId = await createBook(DONE)
  await changeBook(bookId, { star: 4 })
  await changeBook(bookId, { bookStatus: 'ING' })
  const [open, past] = await list(bookId)
  expect(open).toEqual({ readingId: open.readingId, ...EMPTY })
  await reader.delete(`/readings/${past.readingId}`)
  expect(await list(bookId)).toEqual([{ ...open, startedAt: '2020-01-01', rating: 4 }])
})

it('never reuses the identifier of a deleted reading', async () => {
  const bookId = await createBook(DONE)
  const first = await add(bookId)
  await reader.delete(`/readings/${first.readingId}`)
  const second = await add(bookId)
  expect(second.readingId).toBe(first.readingId + 1)
  await reader.delete(`/readings/${second.readingId}`)
  await changeBook(bookId, { bookStatus: 'ING' })
  expect((await list(bookId))[0].readingId).toBe(first.readingId + 2)
  await reader.delete(`/books/${bookId}`)
  expect((await add(await createBook(), { finishedAt: '2020' })).readingId).toBe(first.readingId + 3)
  expect(await findMismatches(memberDatabase())).toEqual([])
})

describe('of another member', () => {
  const requests = (bookId: number, readingId: number): [string, string, object?][] => [
    ['GET', `/books/${bookId}/readings`],
    ['POST', `/books/${bookId}/readings`, { note: 'x', finishedAt: '2020-01-01' }],
    ['PATCH', `/readings/${readingId}`, { note: 'x', rating: 5, finishedAt: '2030-01-01', paused: false }],
    ['PATCH', `/readings/${readingId}`, {}],
    ['DELETE', `/readings/${readingId}`],
  ]

  it.each([
    ['a row', true],
    ['without a row', false],
  ])('are not found, at the cost of ones that do not exist: %s', async (_, hasRow) => {
    const bookId = await createBook(DONE)
    const readingId = hasRow ? (await add(bookId, { note: 'x' })).readingId : bookId
    const stranger = await signUp()
    const before = await select('select * from books join readings using (bookId)')
    const absent = requests(bookId + 1, readingId + 1)
    for (const [index, [method, path, body]] of requests(bookId, readingId).entries()) {
      const code = path.startsWith('/books') ? 'BOOK_NOT_FOUND' : 'READING_NOT_FOUND'
      const cost = await measure(async () => {
        const answer = await stranger.send(method, path, { body })
        expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([404, code])
      })
      const [, other = ''] = absent[index] ?? []
      expect(await measure(() => stranger.send(method, other, { body })), path).toEqual(cost)
      expect(cost).toMatchObject({ calls: 1, written: 0 })
    }
    expect(await select('select * from books join readings using (bookId)')).toEqual(before)
  })
})

it('takes one database call, and reads as many rows in a large library as in a small one', async () => {
  const costs = async () => {
    const bookId = await createBook(DONE)
    const { readingId } = await add(bookId, { startedAt: '2024' })
    return {
      list: await measure(() => list(bookId)),
      create: await measure(() => add(bookId, { finishedAt: '2010' })),
      note: await measure(() => change(readingId, { note: 'x' })),
      finish: await measure(() => change(readingId, { finishedAt: '2024-05-05', rating: 4 })),
      remove: await measure(() => reader.delete(`/readings/${readingId}`)),
      update: await measure(() => changeBook(bookId, { currentPage: 5 })),
    }
  }
  const small = await costs()
  for (let n = 0; n < 30; n++) await insertReadings(await createBook(), 30)
  const large = await costs()
  expect(large).toEqual(small)
  expect(Object.values(small).map(({ calls }) => calls)).toEqual([1, 1, 1, 1, 1, 1])
})
