import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { MAX_READINGS } from '../../../src/library/readings/schema'
import { BOOK_PRICE, MAX_EVENTS } from '../../../src/values/prices'
import { type Answer, type Reader, signUp } from '../../support/api'
import { insertReadings, measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { getBook, snapshot } from '../../support/library'
import { refusing } from '../../support/rate-limits'

const merge = (reader: Reader, bookId: number, from: unknown) => reader.post(`/books/${bookId}/merge`, { from })

/** A member with two books. */
const createPair = async (target: object = {}, source: object = {}) => {
  const reader = await signUp()
  const [{ bookId }, { bookId: from }] = [await reader.createBook(target), await reader.createBook(source)]
  return { reader, bookId, from }
}
const mergePair = async (target: object, source: object) => {
  const pair = await createPair(target, source)
  const answer = await merge(pair.reader, pair.bookId, pair.from)
  expect(answer.status).toBe(200)
  return { ...pair, answer }
}
const expectConsistent = async () => expect(await findMismatches(memberDatabase())).toEqual([])
const readingsOf = async (reader: Reader, bookId: number) => (await reader.get(`/books/${bookId}/readings`)).body
const progressOf = async (reader: Reader, bookId: number) =>
  (await reader.get(`/books/${bookId}/progress?size=100`)).body.item
const setTags = (reader: Reader, bookId: number, tags: string[]) =>
  reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
const membersRow = async (reader: Reader) =>
  (await select('select * from members where memberId = ?', await memberIdOf(reader)))[0]

describe('the merged book', () => {
  it('has the memos of both, with their identifiers, and the counters follow', async () => {
    const { reader, bookId, from } = await createPair()
    const own = await reader.createMemo(bookId, { memoType: 'SUMMARY' })
    const moved = [
      await reader.createMemo(from, { memoContent: '인용' }),
      await reader.createMemo(from, { memoType: 'QUESTION' }),
    ]
    const { textBytes } = (await membersRow(reader)) as { textBytes: number }
    const { title } = await getBook(reader, from)
    const answer = await merge(reader, bookId, from)
    expect(answer).toMatchObject({ status: 200, body: { bookId, memoCount: 3 } })
    const { memosList, ...detail } = await getBook(reader, bookId)
    expect(answer.body).toEqual(detail)
    expect(memosList.map(({ memoId }: { memoId: number }) => memoId)).toEqual(
      [own, ...moved].map(({ memoId }) => memoId).reverse(),
    )
    expect(await reader.get(`/books/${from}?memoAuthority=ALL`)).toMatchObject({ status: 404 })
    const [trash] = await select('select bytes from trash where trashId = ?', from)
    expect(await membersRow(reader)).toMatchObject({
      memoBooks: 1,
      yetBooks: 1,
      textBytes: textBytes - 4 * title.length - BOOK_PRICE + Number(trash?.bytes),
    })
    await expectConsistent()
  })

  it.each([
    ['only the other one', 0, 2],
    ['only itself', 2, 0],
    ['neither', 0, 0],
  ])('counts memos if %s has some', async (_, ofTarget, ofSource) => {
    const { reader, bookId, from } = await createPair()
    for (let n = 0; n < ofTarget; n++) await reader.createMemo(bookId)
    for (let n = 0; n < ofSource; n++) await reader.createMemo(from)
    expect((await merge(reader, bookId, from)).body.memoCount).toBe(ofTarget + ofSource)
    expect(await membersRow(reader)).toMatchObject({ memoBooks: Math.min(1, ofTarget + ofSource) })
    await expectConsistent()
  })

  it('keeps its fields, and takes those that it lacks', async () => {
    const { answer, reader, bookId } = await mergePair(
      { title: 'Demian', author: null, publisher: 'S. Fischer' },
      {
        title: 'Demian: A Novel',
        author: 'Ünsal',
        publisher: 'Other',
        itemPage: 216,
        cover: 'https://covers.library.test/1',
      },
    )
    expect(answer.body).toMatchObject({
      ...{ title: 'Demian', author: 'Ünsal', publisher: 'S. Fischer' },
      ...{ itemPage: 216, cover: 'https://covers.library.test/1' },
    })
    expect((await reader.get('/authors')).body.item).toEqual([{ author: 'Ünsal', bookCount: 1 }])
    expect((await reader.get(`/books?author=%C3%BCnsal`)).body.item).toMatchObject([{ bookId }])
    await expectConsistent()
  })

  it('takes a number in a series only with its series, and keeps the identifiers of both', async () => {
    const { reader, bookId, from } = await createPair()
    const editionOf = async () => (await reader.get(`/books/${bookId}/edition`)).body
    const ofSource = {
      isbn: '9788936434120',
      series: 'B',
      seriesNumber: 2,
      language: 'ko',
      sourceIds: ['goodreads:1', 'x:2'],
    }
    await reader.patch(`/books/${bookId}/edition`, { isbn: '9780000000002', series: 'A', sourceIds: ['x:2', 'x:1'] })
    await reader.patch(`/books/${from}/edition`, ofSource)
    await merge(reader, bookId, from)
    expect(await editionOf()).toMatchObject({
      ...{ isbn: '9780000000002', series: 'A', seriesNumber: null, language: 'ko' },
      sourceIds: ['x:2', 'x:1', 'isbn:9788936434120', 'goodreads:1'],
    })
    await expectConsistent()
  })

  it('has the tags of both', async () => {
    const { reader, bookId, from } = await createPair()
    await setTags(reader, bookId, ['Both', 'Target'])
    await setTags(reader, from, ['both', 'Source'])
    await merge(reader, bookId, from)
    const tags = ['Both', 'Source', 'Target']
    expect((await reader.get(`/books/${bookId}/tags`)).body).toEqual({ tags })
    expect((await reader.get('/tags')).body).toEqual(tags.map((tag) => ({ tag, bookCount: 1 })))
    await expectConsistent()
  })
})

const finished = (year: number) => ({ bookStatus: 'DONE', readEndDate: `${year}-05-01T10:00:00` })

describe('the readings of the merged book', () => {
  it.each([
    ['an unread', 'finished', {}, finished(2020), finished(2020), 1],
    ['a finished', 'unread', finished(2020), {}, finished(2020), 1],
    ['an unread', 'unread', {}, {}, { bookStatus: 'YET', readEndDate: null }, 0],
    ['a finished', 'finished later', finished(2020), finished(2021), finished(2021), 2],
    ['a finished', 'finished before', finished(2020), finished(2019), finished(2020), 2],
    ['a finished', 'being read', finished(2020), { bookStatus: 'ING' }, { bookStatus: 'ING', readEndDate: null }, 2],
    ['a started', 'finished', { bookStatus: 'ING' }, finished(2020), { bookStatus: 'ING', readEndDate: null }, 2],
    ['a finished', 'finished on the same day', finished(2020), finished(2020), finished(2020), 1],
  ])('%s book and one that is %s', async (_, __, target, source, merged, count) => {
    const { reader, bookId, from, answer } = await mergePair(target, source)
    expect(answer.body).toMatchObject(merged)
    expect(await readingsOf(reader, bookId)).toHaveLength(count)
    const { bookStatus } = answer.body
    const { item } = (await reader.get(`/books/library?bookStatus=${bookStatus}&page=1&size=10`)).body
    expect(item.map((book: { bookId: number }) => book.bookId)).toEqual([bookId])
    expect((await reader.get(`/books/${from}/readings`)).status).toBe(404)
    await expectConsistent()
  })

  it('have their ratings, and the stars of the newest', async () => {
    const { reader, bookId, from } = await createPair(finished(2020), finished(2021))
    await reader.patch(`/books/${bookId}`, { star: 2 })
    await reader.post(`/books/${from}/readings`, { finishedAt: '2022', rating: 3.75, note: 'Again.' })
    const before = [...(await readingsOf(reader, from)), ...(await readingsOf(reader, bookId))]
    expect((await merge(reader, bookId, from)).body).toMatchObject({ star: 4, bookStatus: 'DONE' })
    expect(await readingsOf(reader, bookId)).toEqual(before)
    await reader.patch(`/books/${bookId}`, { star: 5 })
    expect((await readingsOf(reader, bookId))[0]).toMatchObject({ rating: 5, finishedAt: '2022' })
    await expectConsistent()
  })

  it('lose one that adds nothing, and keep one with a note', async () => {
    const { reader, bookId, from } = await createPair(finished(2020), finished(2020))
    await reader.patch(`/readings/${bookId}`, { rating: 4.25 })
    await reader.post(`/books/${from}/readings`, { finishedAt: '2020-05-01', note: 'Another.' })
    await merge(reader, bookId, from)
    expect(await readingsOf(reader, bookId)).toMatchObject([{ rating: 4.25, note: null }, { note: 'Another.' }])
    await expectConsistent()
  })

  it('stop the open one of the other book if both are being read, and drop it if it has no details', async () => {
    const { reader, bookId, from } = await createPair({ bookStatus: 'ING' }, { bookStatus: 'ING' })
    await reader.patch(`/readings/${from}`, { note: 'On the train.' })
    await merge(reader, bookId, from)
    expect(await readingsOf(reader, bookId)).toMatchObject([
      { outcome: null },
      { outcome: 'STOPPED', note: 'On the train.' },
    ])
    const other = await reader.createBook({ bookStatus: 'ING' })
    await merge(reader, bookId, other.bookId)
    expect(await readingsOf(reader, bookId)).toHaveLength(2)
    await expectConsistent()
  })

  it('finish an unread book, even if the other one was set back to YET', async () => {
    const { reader, bookId, from } = await createPair({}, finished(2020))
    await reader.patch(`/books/${from}`, { bookStatus: 'YET' })
    expect((await merge(reader, bookId, from)).body).toMatchObject({ bookStatus: 'DONE' })
    expect(await readingsOf(reader, bookId)).toMatchObject([{ outcome: 'FINISHED', finishedAt: '2020-05-01' }])
    await expectConsistent()
  })
})

const addEvents = async (reader: Reader, bookId: number, events: [day: string, page: number][]) => {
  for (const [day, page] of events) await reader.post(`/books/${bookId}/progress`, { at: `${day}T00:00:00Z`, page })
}

describe('the progress of the merged book', () => {
  it('is that of both, the same event once, and the latest event sets the page', async () => {
    const { reader, bookId, from } = await createPair()
    await addEvents(reader, bookId, [
      ['2026-01-01', 10],
      ['2026-01-03', 30],
    ])
    await addEvents(reader, from, [
      ['2026-01-01', 10],
      ['2026-01-02', 20],
      ['2026-01-03', 33],
      ['2026-01-04', 40],
    ])
    expect((await merge(reader, bookId, from)).body).toMatchObject({ currentPage: 40 })
    expect((await progressOf(reader, bookId)).map(({ page }: { page: number }) => page)).toEqual([40, 33, 30, 20, 10])
    await addEvents(reader, bookId, [['2026-01-05', 50]])
    await expectConsistent()
  })

  it('has the minutes and seconds of both', async () => {
    const { reader, bookId, from } = await createPair()
    for (const id of [bookId, from]) await reader.patch(`/books/${id}/edition`, { seconds: 1000 })
    const at = (day: number) => `2026-01-0${day}T00:00:00Z`
    for (const [id, event] of [
      [bookId, { page: 10, minutes: 20, at: at(1) }],
      [bookId, { page: 20, at: at(2) }],
      [bookId, { page: 30, minutes: 25, at: at(3) }],
      [from, { page: 10, at: at(1) }],
      [from, { page: 20, minutes: 15, at: at(2) }],
      [from, { page: 30, minutes: 5, at: at(3) }],
      [from, { seconds: 400, at: at(4) }],
    ])
      expect((await reader.post(`/books/${id}/progress`, event as object)).status).toBe(201)
    await merge(reader, bookId, from)
    const events = (await progressOf(reader, bookId)).reverse() as Record<string, unknown>[]
    expect(events.map(({ page, minutes, seconds }) => [page, minutes, seconds])).toEqual([
      [10, 20, null],
      [20, null, null],
      [20, 15, null],
      [30, 25, null],
      [30, 5, null],
      [30, null, 400],
    ])
    await expectConsistent()
  })

  it('has the page of the other book if neither has an event', async () => {
    const { answer, reader, bookId } = await mergePair({}, { currentPage: 77 })
    expect(answer.body).toMatchObject({ currentPage: 77 })
    expect(await progressOf(reader, bookId)).toMatchObject([{ page: 77, kind: 'PROGRESS' }])
    await expectConsistent()
  })

  it('keeps the newest events of the other book up to the limit', async () => {
    const { reader, bookId, from } = await createPair()
    const insert = (id: number, count: number, offset: number) =>
      select(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
        insert into progress (memberId, bookId, at, page, kind, total)
        select memberId, bookId, i * 1000 + ?3, 5, 'PROGRESS', i from books, n where bookId = ?1`,
        ...[id, count, offset],
      )
    await insert(bookId, MAX_EVENTS - 2, 0)
    await insert(from, 4, 500)
    await select('update books set currentPage = 5 where bookId in (?, ?)', bookId, from)
    expect((await merge(reader, bookId, from)).status).toBe(200)
    const rows = await select('select at from progress where bookId = ? and at % 1000 = 500', bookId)
    expect(rows).toEqual([{ at: 3500 }, { at: 4500 }])
    await expectConsistent()
  })
})

const MANY_TAGS = Array.from({ length: 30 }, (_, n) => `tag ${n}`)

describe('a merge', () => {
  it.each([
    ['MAX_MEMOS_PER_BOOK', '3', 'memos'],
    ['MAX_BOOK_TEXT_BYTES', '7', 'memos'],
    ['MAX_READINGS', '', 'readings'],
    ['MAX_BOOK_TAGS', '', 'tags'],
  ])('beyond %s is refused, and changes nothing', async (code, limit, what) => {
    const { reader, bookId, from } = await createPair({}, { bookStatus: what === 'readings' ? 'ING' : 'YET' })
    for (const id of what === 'memos' ? [bookId, bookId, from, from] : [])
      await reader.createMemo(id, { memoContent: 'ab' })
    if (what === 'readings') await insertReadings(bookId, MAX_READINGS)
    if (what === 'tags') await setTags(reader, bookId, MANY_TAGS)
    if (what === 'tags') await setTags(reader, from, ['tag 1', 'another'])
    const before = await snapshot(reader, bookId, from)
    const changed: object = limit ? { [code]: limit } : {}
    const answer = await reader.send('POST', `/books/${bookId}/merge`, { body: { from }, changed })
    expect(answer).toMatchObject({ status: 409 })
    expect(answer.headers.get('X-Error-Code')).toBe(code)
    expect(await snapshot(reader, bookId, from)).toEqual(before)
  })

  it('of a book without memos is allowed if the other one is beyond a limit', async () => {
    const { reader, bookId, from } = await createPair()
    await reader.createMemo(bookId)
    const changed = { MAX_MEMOS_PER_BOOK: '0', MAX_BOOK_TEXT_BYTES: '0', MAX_MEMBER_TEXT_BYTES: '0' }
    const answer = await reader.send('POST', `/books/${bookId}/merge`, { body: { from }, changed })
    expect(answer).toMatchObject({ status: 200 })
  })

  it('may fill a book up to its limits', async () => {
    const { reader, bookId, from } = await createPair()
    await insertReadings(bookId, MAX_READINGS - 1)
    await select(`update books set bookStatus = 'ING' where bookId = ?`, from)
    await setTags(
      reader,
      bookId,
      Array.from({ length: 29 }, (_, n) => `tag ${n}`),
    )
    await setTags(reader, from, ['tag 1', 'another'])
    expect((await merge(reader, bookId, from)).status).toBe(200)
    expect(await readingsOf(reader, bookId)).toHaveLength(MAX_READINGS)
  })

  it('with itself is refused', async () => {
    const { reader, bookId } = await createPair()
    const reason = 'must be another book than the one in the path'
    expect(await merge(reader, bookId, bookId)).toMatchObject({
      status: 400,
      body: { fieldErrors: [{ field: 'from', reason }] },
    })
    expect((await getBook(reader, bookId)).bookId).toBe(bookId)
  })

  it.each([[undefined], [null], ['1'], [0], [1.5], [2 ** 53]])('of %j is refused', async (from) => {
    const { reader, bookId } = await createPair()
    expect(await merge(reader, bookId, from)).toMatchObject({ status: 400, body: { fieldErrors: [{ field: 'from' }] } })
  })

  it('with a missing book, or one of another member, responds 404 and changes nothing', async () => {
    const { reader, bookId, from } = await createPair()
    const other = await signUp()
    const foreign = await other.createBook()
    const before = await snapshot(reader, bookId, from)
    const answers: Answer[] = []
    for (const [one, another] of [
      [bookId, foreign.bookId],
      [foreign.bookId, bookId],
      [bookId, 999_999],
      [999_999, bookId],
    ] as const) {
      answers.push(await merge(reader, one, another))
    }
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { message: 'Book not found' } })
    expect(await snapshot(reader, bookId, from)).toEqual(before)
  })

  it('repeated responds 404, and a key that created the other book is spent', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const send = () => reader.send('POST', '/books', { body: { title: 'x' }, headers: { 'Idempotency-Key': 'one' } })
    const { body } = await send()
    expect((await merge(reader, bookId, body.bookId)).status).toBe(200)
    expect((await merge(reader, bookId, body.bookId)).status).toBe(404)
    expect(await send()).toMatchObject({ status: 410 })
  })

  it('of three books moves all to the last one', async () => {
    const { reader, bookId, from } = await createPair(finished(2020), finished(2021))
    const { bookId: last } = await reader.createBook({ bookStatus: 'ING' })
    const { memoId } = await reader.createMemo(from)
    await merge(reader, bookId, from)
    expect((await merge(reader, last, bookId)).body).toMatchObject({ bookStatus: 'ING', memoCount: 1 })
    expect(await readingsOf(reader, last)).toHaveLength(3)
    expect((await reader.patch(`/memos/${memoId}`, { memoBookPage: 9 })).status).toBe(200)
    expect((await reader.delete(`/books/${last}`)).status).toBe(204)
    expect(await select('select * from readings where memberId = ?', await memberIdOf(reader))).toEqual([])
    await expectConsistent()
  })

  it('loses nothing amid other writes and merges', async () => {
    const reader = await signUp()
    const ids = await Promise.all(
      [{}, finished(2020), {}, finished(2021)].map(async (book) => (await reader.createBook(book)).bookId),
    )
    const bookAt = (at: number) => ids[at % ids.length] ?? 0
    const memos: number[] = []
    const addMemo = async (at: number) => {
      const memo = { memoBookPage: 1, memoContent: `memo ${at}` }
      const { status, body } = await reader.post(`/memos?bookId=${bookAt(at)}`, memo)
      if (status === 201) memos.push(body.memoId)
    }
    const writes = [
      addMemo,
      (at: number) => reader.post(`/books/${bookAt(at)}/readings`, { finishedAt: `20${10 + at}` }),
      (at: number) => reader.post(`/books/${bookAt(at)}/progress`, { at: `2026-01-${10 + at}T00:00:00Z`, page: at }),
      (at: number) => setTags(reader, bookAt(at), [`tag ${at}`]),
      (at: number) => merge(reader, bookAt(at), bookAt(3 * at + 1)),
    ]
    await Promise.all(Array.from({ length: 40 }, (_, at) => writes[at % writes.length]?.(at)))
    const books = (await reader.get('/export')).body.books
    expect(books.length).toBeLessThan(ids.length)
    const found = books.flatMap((book: { memos: { memoId: number }[] }) => book.memos.map(({ memoId }) => memoId))
    expect(found.toSorted()).toEqual(memos.toSorted())
    await expectConsistent()
  })

  it('is limited per member, as one merge after the other can move the same memos', async () => {
    const { reader, bookId, from } = await createPair()
    const changed = { MEMBER_LIMIT: refusing }
    const body = { from }
    expect((await reader.send('POST', `/books/${bookId}/merge`, { body, changed })).status).toBe(200)
    expect((await merge(reader, bookId, from)).status).toBe(429)
  })

  it('takes one call to the database', async () => {
    const { reader, bookId, from } = await createPair(finished(2020), finished(2021))
    expect(await measure(() => merge(reader, bookId, from))).toMatchObject({ calls: 1 })
  })
})
