import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { measure, memberDatabase, select } from '../../support/database'
import { getBook } from '../../support/library'

const UNKNOWN = 2 ** 40 - 1
const MEMO = { memoBookPage: 1, memoContent: 'Read this page again.' }

let reader: Reader
let other: Reader
beforeAll(async () => {
  reader = await signUp()
  other = await signUp()
})
afterEach(async () => {
  expect(await findMismatches(memberDatabase())).toEqual([])
})

const createBooks = async (count: number, book: object = {}) => {
  const books: number[] = []
  for (let n = 0; n < count; n++) books.push((await reader.createBook(book)).bookId)
  return books
}

describe('PATCH /books', () => {
  const update = (ids: unknown[], patch: object, to = reader) => to.send('PATCH', '/books', { body: { ids, ...patch } })
  const readings = async (bookId: number) => (await reader.get(`/books/${bookId}/readings`)).body
  const tags = async (bookId: number) => (await reader.get(`/books/${bookId}/tags`)).body.tags

  it('changes fields and tags of all the books, and says which it changed', async () => {
    const [first, second, third] = (await createBooks(3)) as [number, number, number]
    await reader.send('PUT', `/books/${second}/tags`, { body: { tags: ['To buy'] } })
    const { bookId: foreign } = await other.createBook({ author: 'Theirs' })
    const set = { author: 'Han Kang', star: 4, series: 'Collected works', publishedYear: 2014, language: 'ko' }
    const change = { set, addTags: ['Novel'], removeTags: ['to buy'] }
    expect(await update([third], { set, addTags: ['Novel'] })).toMatchObject({ body: { changed: [third] } })
    const answer = await update([second, UNKNOWN, third, foreign, first], change)
    expect(answer).toMatchObject({
      ...{ status: 200, body: { changed: [second, first], unchanged: [third], missing: [UNKNOWN, foreign] } },
    })
    for (const bookId of [first, second, third]) {
      expect(await getBook(reader, bookId)).toMatchObject({ author: 'Han Kang', star: 4 })
      expect((await reader.get(`/books/${bookId}/edition`)).body).toMatchObject({
        series: 'Collected works',
        language: 'ko',
      })
      expect(await tags(bookId)).toEqual(['Novel'])
    }
    expect((await reader.get('/authors')).body.item).toContainEqual({ author: 'Han Kang', bookCount: 3 })
    expect(await getBook(other, foreign)).toMatchObject({ author: 'Theirs', star: 0 })
    expect((await update([first, second], change)).body).toEqual({
      ...{ changed: [], unchanged: [first, second], missing: [] },
    })
  })

  it.each([
    ['the only one of the author, is respelled before the other gets the author', 0, 'Hermann Hesse'],
    ['gets an author that the other already has, whose spelling stays', 1, 'HERMANN HESSE'],
  ])('in the order of their identifiers: the first %s', async (_, hasAuthor, author) => {
    const member = await signUp()
    const ids = [await member.createBook(), await member.createBook()].map(({ bookId }) => bookId)
    await member.patch(`/books/${ids[hasAuthor]}`, { author: 'HERMANN HESSE', bookStatus: 'DONE' })
    // The reading that ended is archived after the one that did not is discarded.
    await update(ids.toReversed(), { set: { author: 'Hermann Hesse', bookStatus: 'YET' } }, member)
    expect((await member.get('/authors')).body.item).toEqual([{ author, bookCount: 2 }])
  })

  it.each(['YET', 'ING', 'DONE'])('to %s does with readings what PATCH of each book does', async (bookStatus) => {
    const dates = { readStartDate: '2024-01-02T03:04:05', readEndDate: '2024-02-29T00:00:00' }
    const create = async () => {
      const ids = [
        ...(await createBooks(2, { bookStatus: 'DONE', ...dates })),
        ...(await createBooks(3, { bookStatus: 'ING' })),
        ...(await createBooks(3)),
      ]
      await reader.patch(`/readings/${ids[2]}`, { note: 'On the train.' })
      await reader.patch(`/books/${ids[6]}`, { bookStatus: 'DONE', ...dates })
      await reader.patch(`/books/${ids[6]}`, { bookStatus: 'YET' })
      await reader.patch(`/books/${ids[7]}`, { bookStatus: 'ING' })
      await reader.patch(`/readings/${ids[7]}`, { outcome: 'STOPPED' })
      await reader.patch(`/books/${ids[7]}`, { bookStatus: 'YET' })
      return ids
    }
    const [together, apart] = [await create(), await create()]
    const change = { bookStatus, star: 3 }
    expect((await update(together, { set: change })).body.changed).toHaveLength(together.length)
    for (const bookId of apart) await reader.patch(`/books/${bookId}`, change)
    const shown = async (bookId: number) => {
      const { bookId: _, title, createdAt, ...book } = await getBook(reader, bookId)
      const list = (await readings(bookId)).map(({ readingId, ...reading }: { readingId: number }) => ({
        ...reading,
        isFirst: readingId === bookId,
      }))
      const { item } = (await reader.get(`/books/${bookId}/progress`)).body
      return { book, list, kinds: item.map(({ kind }: { kind: string }) => kind) }
    }
    expect(await Promise.all(together.map(shown))).toEqual(await Promise.all(apart.map(shown)))
    const [used] = await select(
      `select count(readingId) - count(distinct readingId) as repeated from (
        select readingId from books where readingId is not null union all select readingId from readings
      )`,
    )
    expect(used?.repeated).toBe(0)
  })

  it('has one change of the feed for each book that it changes', async () => {
    const ids = await createBooks(3)
    await update([ids[2]], { set: { series: 'One' }, addTags: ['Fed'] })
    let cursor = ''
    for (let hasMore = true; hasMore; ) {
      const { body } = await reader.get(`/changes${cursor && `?cursor=${cursor}`}`)
      cursor = body.next
      hasMore = body.hasMore
    }
    await update(ids, { set: { series: 'One' }, addTags: ['Fed'] })
    const { item } = (await reader.get(`/changes?cursor=${cursor}`)).body
    expect(item.map(({ kind, id }: { kind: string; id: number }) => [kind, id])).toEqual([
      ['book', ids[0]],
      ['book', ids[1]],
    ])
  })

  const room = (bytes: number) =>
    select('update members set maxTextBytes = textBytes + ? where email = ?', bytes, reader.email)
  const unchanged = async (ids: number[], change: object, code: string) => {
    const state = () =>
      Promise.all(ids.map(async (id) => [await getBook(reader, id), await readings(id), await tags(id)]))
    const before = await state()
    const answer = await update(ids, change)
    expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([409, code])
    expect(await state()).toEqual(before)
  }

  it('changes nothing if the texts or the tags of one book exceed a limit', async () => {
    const ids = await createBooks(3, { bookStatus: 'DONE' })
    await reader.send('PUT', `/books/${ids[1]}/tags`, {
      body: { tags: Array.from({ length: 30 }, (_, n) => `tag ${n}`) },
    })
    const set = { bookStatus: 'ING', series: 'A series', star: 2 }
    await unchanged(ids, { set, addTags: ['another'] }, 'MAX_BOOK_TAGS')
    expect((await update(ids, { removeTags: ['tag 0'], addTags: ['another'] })).status).toBe(200)
    await room(3 * 16 - 1)
    await unchanged(ids, { set, addTags: ['new'] }, 'MAX_MEMBER_TEXT_BYTES')
    expect((await reader.get('/tags')).body).not.toContainEqual(expect.objectContaining({ tag: 'new' }))
    // What is left is for the texts, of which a series counts twice: no reading is archived.
    await room(3 * 16)
    expect((await update(ids, { set, addTags: ['another'] })).body.changed).toEqual(ids)
    for (const id of ids) expect(await readings(id)).toMatchObject([{ readingId: id, outcome: null }])
    await select('update members set maxTextBytes = null where email = ?', reader.email)
  })

  it('leaves room for new texts when a status archives a reading, also in PATCH of a single book', async () => {
    const [bookId = 0] = await createBooks(1, { bookStatus: 'DONE' })
    const publisher = 'x'.repeat(100)
    const patch = () => reader.patch(`/books/${bookId}`, { bookStatus: 'ING', publisher })
    // A publisher counts twice.
    await room(199)
    expect((await patch()).status).toBe(409)
    expect(await getBook(reader, bookId)).toMatchObject({ bookStatus: 'DONE', publisher: null })
    await room(200)
    expect((await patch()).body).toMatchObject({ bookStatus: 'ING', publisher })
    expect(await readings(bookId)).toHaveLength(1)
    await select('update members set maxTextBytes = null where email = ?', reader.email)
  })

  it('refuses to finish books with too many events', async () => {
    const ids = await createBooks(50)
    await select(
      'update books set eventBlocks = 50 where bookId in (select value from json_each(?))',
      JSON.stringify(ids),
    )
    expect(await update(ids, { set: { bookStatus: 'DONE' } })).toMatchObject({ status: 400 })
    expect(await getBook(reader, ids[0] ?? 0)).toMatchObject({ bookStatus: 'YET' })
    await select(
      'update books set eventBlocks = 0 where bookId in (select value from json_each(?))',
      JSON.stringify(ids),
    )
    expect((await update(ids, { set: { bookStatus: 'DONE' } })).body.changed).toHaveLength(50)
  })

  it('refuses invalid fields and too many tags, and names unknown ones', async () => {
    const [bookId = 0] = await createBooks(1)
    for (const change of [
      { set: { star: 6 } },
      { set: { bookStatus: 'READ' } },
      { set: [] },
      { set: { author: 5 } },
      { addTags: [''] },
      { addTags: 'novel' },
    ]) {
      expect((await update([bookId], change)).status).toBe(400)
    }
    const many = Array.from({ length: 200 }, (_, n) => UNKNOWN - n)
    expect(await update(many, { addTags: ['1', '2', '3'], removeTags: ['4', '5', '6'] })).toMatchObject({ status: 400 })
    const { status, headers } = await update([bookId], { set: { star: 1, title: 'Demian', currentPage: 5 }, x: 1 })
    expect([status, headers.get('X-Ignored')]).toEqual([200, 'set.title, set.currentPage, x'])
    expect((await update([bookId], {})).body).toEqual({ changed: [], unchanged: [bookId], missing: [] })
  })

  it('takes one call, and reads as much of the books of others as of unknown ones', async () => {
    const foreign = [(await other.createBook()).bookId, (await other.createBook()).bookId]
    await createBooks(1)
    const change = { set: { bookStatus: 'DONE', series: 'One' }, addTags: ['Novel'], removeTags: ['Essay'] }
    const measured = (ids: number[]) => measure(() => update(ids, change))
    const [ofOthers, ofNobody] = [await measured(foreign), await measured([UNKNOWN, UNKNOWN - 1])]
    expect(ofOthers).toEqual(ofNobody)
    expect(ofOthers).toMatchObject({ calls: 1, written: 0 })
  })
})

describe('POST /books/delete', () => {
  const remove = (ids: unknown[], from = reader) => from.post('/books/delete', { ids })
  const shown = async (bookId: number) => {
    const paths = ['?memoAuthority=ALL', '/readings', '/tags', '/progress']
    return Promise.all(paths.map(async (path) => (await reader.get(`/books/${bookId}${path}`)).body))
  }

  it('puts the books into the trash, from which each comes back as it was', async () => {
    const ids = await createBooks(3, { author: 'Han Kang', bookStatus: 'DONE', readEndDate: '2026-01-02T03:04:05' })
    for (const [at, bookId] of ids.entries()) {
      for (let n = 0; n < at * 2; n++) await reader.createMemo(bookId, { ...MEMO, memoContent: 'x'.repeat(60_000) })
      await reader.post(`/books/${bookId}/readings`, { finishedAt: `201${at}` })
      await reader.post(`/books/${bookId}/progress`, { page: 10 + at })
      await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['novel', `tag ${at}`] } })
    }
    const before = await Promise.all(ids.map(shown))
    const answer = await remove(ids)
    expect(answer).toMatchObject({ status: 200, body: { deleted: ids, left: [], missing: [] } })
    for (const bookId of ids) expect((await reader.get(`/books/${bookId}?memoAuthority=ALL`)).status).toBe(404)
    expect(await findMismatches(memberDatabase())).toEqual([])
    for (const bookId of ids) expect((await reader.post(`/trash/book-${bookId}/restore`, undefined)).status).toBe(200)
    expect(await Promise.all(ids.map(shown))).toEqual(before)
  })

  it('answers a second time, and for books of others and unknown ones, that they are missing', async () => {
    const [first, second] = (await createBooks(2)) as [number, number]
    const { bookId: foreign } = await other.createBook()
    const ids = [UNKNOWN, second, foreign, first]
    expect((await remove(ids)).body).toEqual({ deleted: [second, first], left: [], missing: [UNKNOWN, foreign] })
    expect((await remove(ids)).body).toEqual({ deleted: [], left: [], missing: ids })
    expect(await getBook(other, foreign)).toMatchObject({ bookId: foreign })
  })

  it('has one change of the feed for each book', async () => {
    const ids = await createBooks(3)
    await reader.createMemo(ids[0] ?? 0)
    let cursor = ''
    for (let hasMore = true; hasMore; ) {
      const { body } = await reader.get(`/changes${cursor && `?cursor=${cursor}`}`)
      cursor = body.next
      hasMore = body.hasMore
    }
    await remove(ids)
    const { item } = (await reader.get(`/changes?cursor=${cursor}`)).body
    expect(item).toEqual(ids.map((id) => expect.objectContaining({ kind: 'book', id, value: null })))
  })

  it('deletes the first books that fit a batch, at least one, and names those that are left', async () => {
    const ids = await createBooks(4)
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
      insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select (select max(memoId) from memos) + i + 3000 * (bookId - ?1), bookId, memberId,
        (select count(*) from memos as m where m.memberId = books.memberId) + i + 3000 * (bookId - ?1),
        'SUMMARY', 'x', 1, 'PUBLIC', '2020-01-01T00:00:00', '2020-01-01T00:00:00'
      from n cross join books on bookId in (?1, ?2)`,
      ...[ids[0], ids[1]],
    )
    const [large, larger, small, last] = ids
    const { bookId: foreign } = await other.createBook()
    expect((await remove([small, large, larger, last, foreign])).body).toEqual({
      ...{ deleted: [small, large], left: [larger, last], missing: [foreign] },
    })
    expect((await remove([larger, last])).body).toEqual({ deleted: [larger, last], left: [], missing: [] })
  })

  it('refuses an empty list, more than 200 identifiers, and repeated or invalid ones', async () => {
    const list = (length: number) => Array.from({ length }, (_, n) => UNKNOWN - n)
    for (const ids of [[], list(201), [1, 1], ['1'], [0], [1.5], null, 'all'] as unknown[][]) {
      expect(await remove(ids)).toMatchObject({ status: 400, body: { fieldErrors: [{ field: /^ids/ }] } })
    }
    expect((await remove(list(200))).body).toEqual({ deleted: [], left: [], missing: list(200) })
  })

  it('takes one call, and reads as much of the books of others as of unknown ones', async () => {
    const foreign = [(await other.createBook()).bookId, (await other.createBook()).bookId]
    await createBooks(1)
    const [ofOthers, ofNobody] = [
      await measure(() => remove(foreign)),
      await measure(() => remove([UNKNOWN, UNKNOWN - 1])),
    ]
    expect(ofOthers).toEqual(ofNobody)
    expect(ofOthers).toMatchObject({ calls: 1, written: 0 })
  })

  it('refuses other methods', async () => {
    const answer = await reader.get('/books/delete')
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST'])
  })
})
