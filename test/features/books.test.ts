import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, signUp } from '../support/api'

let reader: Reader
beforeAll(async () => {
  reader = await signUp()
})

const detail = async (bookId: number, by = reader) => (await by.get(`/books/${bookId}?memoAuthority=ALL`)).body

describe('POST /books', () => {
  it('registers a book of a title alone, as YET and unread', async () => {
    const answer = await reader.post('/books', { title: '데미안' })
    expect(answer.status).toBe(201)
    const { bookId } = answer.body
    expect(answer.headers.get('Location')).toBe(`/books/${bookId}`)
    expect(answer.body).toEqual({ bookId, title: '데미안', author: null, cover: null, bookStatus: 'YET' })
    expect(await detail(bookId)).toEqual({
      bookId,
      title: '데미안',
      cover: null,
      author: null,
      publisher: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
      star: 0,
      currentPage: 0,
      itemPage: null,
      bookStatus: 'YET',
      readStartDate: null,
      readEndDate: null,
      memoCount: 0,
      memosList: [],
    })
  })

  it('keeps every field as it was sent', async () => {
    const book = {
      title: 'Grande Sertão: Veredas',
      author: 'João Guimarães Rosa',
      cover: 'https://covers.example/1.jpg?size=L',
      publisher: 'Companhia das Letras',
      itemPage: 552,
      currentPage: 552,
      bookStatus: 'DONE',
      readStartDate: '2024-02-29T00:00:00',
      readEndDate: '2025-12-31T23:59:59',
    }
    const { bookId } = await reader.registers(book)
    expect(await detail(bookId)).toMatchObject({ ...book, star: 0 })
  })

  it.each([
    ['a status by its code', { bookStatus: 1 }, { bookStatus: 'ING' }],
    ['a status by its quoted code', { bookStatus: '2' }, { bookStatus: 'DONE' }],
    ['a quoted number of pages', { itemPage: '0350' }, { itemPage: 350 }],
    ['empty texts as null', { author: '', publisher: '', cover: '' }, { author: null, publisher: null, cover: null }],
    ['nulls', { author: null, itemPage: null, readEndDate: null }, { author: null, itemPage: null, readEndDate: null }],
    [
      'a fraction of a second, dropped',
      { readEndDate: '2025-01-01T10:20:30.987654' },
      { readEndDate: '2025-01-01T10:20:30' },
    ],
    ['the largest int', { currentPage: 2_147_483_647 }, { currentPage: 2_147_483_647 }],
    ['a title of 500 characters', { title: '가'.repeat(500) }, { title: '가'.repeat(500) }],
    ['right-to-left marks', { title: '\u202Eספר\u200F' }, { title: '\u202Eספר\u200F' }],
    ['SQL and LIKE characters', { author: `%_'";--\\` }, { author: `%_'";--\\` }],
    ['keys it does not know', { title: 'T', star: 5, bookId: 1, memberId: 1, memoCount: 9 }, { star: 0, memoCount: 0 }],
  ])('takes %s', async (_, sent, kept) => {
    const { bookId } = await reader.registers(sent)
    expect(await detail(bookId)).toMatchObject(kept)
  })

  it.each([
    ['no title', { title: undefined }],
    ['a null title', { title: null }],
    ['a blank title', { title: ' \u3000' }],
    ['a title of 501 characters', { title: 'x'.repeat(501) }],
    ['a title with a NUL', { title: 'a\0b' }],
    ['a title that is an object', { title: {} }],
    ['an author with half a surrogate pair', { author: '\udc00' }],
    ['a publisher of 501 characters', { publisher: 'x'.repeat(501) }],
    ['a cover that is no address', { cover: 'cover.jpg' }],
    ['a cover that is no address as it stands', { cover: 'https:example.com/a b.png' }],
    ['a cover with a space before it', { cover: ' https://x.test/a.png' }],
    ['a cover that runs', { cover: 'javascript:alert(1)' }],
    ['a cover of 2,049 characters', { cover: `https://x.test/${'a'.repeat(2034)}` }],
    ['a number of pages that is a word', { itemPage: 'many' }],
    ['an empty number of pages', { itemPage: '' }],
    ['a fraction of a page', { itemPage: 1.5 }],
    ['2^31 pages', { itemPage: 2_147_483_648 }],
    ['quoted 2^31 pages', { itemPage: '2147483648' }],
    ['2^53+1 pages', { itemPage: Number('9007199254740993') }],
    ['negative pages', { currentPage: -1 }],
    ['a quoted current page', { currentPage: '3' }],
    ['a current page that is null', { currentPage: null }],
    ['a status in lower case', { bookStatus: 'done' }],
    ['a status that there is not', { bookStatus: 3 }],
    ['a status that is null', { bookStatus: null }],
    ['a status of a fraction', { bookStatus: 0.5 }],
    ['a date alone', { readStartDate: '2025-01-01' }],
    ['a time with a zone', { readStartDate: '2025-01-01T00:00:00Z' }],
    ['a day that the calendar has not', { readEndDate: '2025-02-29T00:00:00' }],
    ['an hour that the day has not', { readEndDate: '2025-01-01T24:00:00' }],
    ['a date that is a number', { readEndDate: 1_700_000_000 }],
    ['an empty date', { readEndDate: '' }],
  ])('refuses %s, and stores nothing', async (_, wrong) => {
    const count = () => env.DB.prepare('select count(*) as n from books').first('n')
    const before = await count()
    const answer = await reader.post('/books', { title: 'Demian', ...wrong })
    expect(answer).toMatchObject({ status: 400, body: { status: 0, message: null, violationErrors: null } })
    const [field] = Object.keys(wrong)
    const sent = Object.values(wrong)[0] ?? null
    expect(answer.body.fieldErrors).toEqual([{ field, rejectedValue: sent, reason: expect.any(String) }])
    expect(await count()).toBe(before)
  })

  it('takes the same title twice as two books, and never gives an identifier twice', async () => {
    const first = await reader.registers({ title: 'Twice' })
    await reader.delete(`/books/${first.bookId}`)
    const second = await reader.registers({ title: 'Twice' })
    expect(second.bookId).toBeGreaterThan(first.bookId)
  })
})

describe('PATCH /books/{book-id}', () => {
  it('changes what is sent, keeps what is absent and clears what is null', async () => {
    const { bookId } = await reader.registers({
      author: 'Hesse',
      publisher: 'Fischer',
      itemPage: 200,
      readStartDate: '2025-01-01T00:00:00',
    })
    const answer = await reader.patch(`/books/${bookId}`, {
      author: null,
      itemPage: null,
      readStartDate: null,
      star: 5,
      currentPage: 0,
      bookStatus: '1',
      title: 'Another',
    })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        author: null,
        publisher: 'Fischer',
        itemPage: null,
        readStartDate: null,
        readEndDate: null,
        bookStatus: 'ING',
        star: 5,
        currentPage: 0,
      },
    })
    expect(Object.keys(answer.body)).toHaveLength(8)
    expect(await detail(bookId)).toMatchObject({ title: 'Demian', star: 5 })
  })

  it('takes readStratDate beside readStartDate, which wins', async () => {
    const { bookId } = await reader.registers()
    const misspelled = { readStratDate: '2025-01-01T00:00:00' }
    expect((await reader.patch(`/books/${bookId}`, misspelled)).body.readStartDate).toBe('2025-01-01T00:00:00')
    const both = { readStratDate: '2024-01-01T00:00:00', readStartDate: null }
    expect((await reader.patch(`/books/${bookId}`, both)).body.readStartDate).toBeNull()
  })

  it('changes nothing by an empty object', async () => {
    const { bookId } = await reader.registers({ author: 'Hesse' })
    expect(await reader.patch(`/books/${bookId}`, {})).toMatchObject({
      status: 200,
      body: { author: 'Hesse', star: 0 },
    })
  })

  it.each([
    { star: 6 },
    { star: -1 },
    { star: 2.5 },
    { star: '3' },
    { star: null },
    { currentPage: null },
    { bookStatus: null },
    { bookStatus: '' },
    { readStratDate: 'yesterday' },
    { itemPage: -1 },
    { author: 7 },
  ])('refuses %o', async (wrong) => {
    const { bookId } = await reader.registers()
    const answer = await reader.patch(`/books/${bookId}`, wrong)
    expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field: Object.keys(wrong)[0] }] } })
  })
})

describe('PATCH /books/created-date/{book-id}', () => {
  const overwrite = (bookId: number, raw: string, type: string) =>
    reader.send('PATCH', `/books/created-date/${bookId}`, { raw, headers: { 'Content-Type': type } })

  it.each([
    ['bare text', '2020-05-06T07:08:09', 'text/plain'],
    ['bare text with a charset', '2020-05-06T07:08:09', 'text/plain;charset=UTF-8'],
    ['a JSON string', '"2020-05-06T07:08:09"', 'application/json'],
    ['a JSON string after white space', ' "2020-05-06T07:08:09"\n', 'application/json'],
    ['a long fraction', '2020-05-06T07:08:09.0123456789', 'text/plain'],
    ['bare text sent as JSON', '2020-05-06T07:08:09.5', 'application/json'],
  ])('takes %s', async (_, raw, type) => {
    const { bookId } = await reader.registers()
    const answer = await overwrite(bookId, raw, type)
    expect(answer).toMatchObject({ status: 200, body: { bookId, createdAt: '2020-05-06T07:08:09' } })
    expect((await detail(bookId)).createdAt).toBe('2020-05-06T07:08:09')
  })

  it.each(['yesterday', '2020-13-01T00:00:00', '{}', '[]', 'null', '2020-05-06', '"2020-05-06T07:08:09Z"'])(
    'refuses %s',
    async (raw) => {
      const { bookId } = await reader.registers()
      const answer = await overwrite(bookId, raw, 'text/plain')
      expect(answer).toMatchObject({ status: 400, body: { status: 0, fieldErrors: [{ field: 'createdAt' }] } })
    },
  )

  it('refuses half a JSON string, nothing, and another type', async () => {
    const { bookId } = await reader.registers()
    expect((await overwrite(bookId, '"2020', 'application/json')).body.message).toBe('Malformed JSON request')
    expect((await overwrite(bookId, '', 'text/plain')).body.message).toBe('Required request body is missing')
    expect((await overwrite(bookId, '2020-05-06T07:08:09', 'text/html')).status).toBe(415)
  })
})

describe('DELETE /books/{book-id}', () => {
  it('deletes a book with its memos; a second time there is nothing to delete', async () => {
    const { bookId } = await reader.registers()
    const { memoId } = await reader.writes(bookId)
    expect(await reader.delete(`/books/${bookId}`)).toMatchObject({ status: 204, body: null })
    expect(await reader.delete(`/books/${bookId}`)).toMatchObject({ status: 404, body: { message: 'Book not found' } })
    expect((await reader.delete(`/memos/${memoId}`)).status).toBe(404)
  })
})

describe('the views', () => {
  let viewer: Reader
  let ids: Record<string, number>
  beforeAll(async () => {
    viewer = await signUp()
    const register = async (title: string, book: object) => [title, (await viewer.registers({ title, ...book })).bookId]
    ids = Object.fromEntries([
      await register('done late', { bookStatus: 'DONE', readEndDate: '2026-03-03T00:00:00' }),
      await register('done early', {
        bookStatus: 'DONE',
        readEndDate: '2026-01-01T00:00:00',
        cover: 'https://c.test/a',
      }),
      await register('done same day', { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' }),
      await register('done undated', { bookStatus: 'DONE' }),
      await register('reading with an end', { bookStatus: 'ING', readEndDate: '2026-02-02T00:00:00' }),
      await register('unread old', {}),
      await register('unread older', {}),
      await register('unread new', {}),
    ])
    const age = (bookId: number | undefined, raw: string) =>
      viewer.send('PATCH', `/books/created-date/${bookId}`, { raw })
    await age(ids['unread old'], '2021-01-01T00:00:00')
    await age(ids['unread older'], '2020-01-01T00:00:00')
    await viewer.writes(ids['done early'] ?? 0)
    await viewer.writes(ids['done early'] ?? 0)
    await viewer.writes(ids['unread old'] ?? 0)
  })
  const titles = (body: { item: { bookId: number }[] }) =>
    body.item.map(({ bookId }) => Object.keys(ids).find((title) => ids[title] === bookId))

  it('library: one status, newest first', async () => {
    const { body } = await viewer.get('/books/library?page=1&size=3&bookStatus=DONE')
    expect(titles(body)).toEqual(['done undated', 'done same day', 'done early'])
    expect(body.pageInfo).toEqual({ page: 1, size: 3, totalElements: 4, totalPages: 2 })
    expect(body.item[2]).toEqual({
      bookId: ids['done early'],
      title: 'done early',
      cover: 'https://c.test/a',
      author: null,
      createdAt: expect.any(String),
      star: 0,
      currentPage: 0,
      itemPage: null,
      bookStatus: 'DONE',
      memoCount: 2,
    })
    expect(titles((await viewer.get('/books/library?page=2&size=3&bookStatus=2')).body)).toEqual(['done late'])
  })

  it('calender: finished books with an end date, latest first, ties by identifier', async () => {
    const { body } = await viewer.get('/books/calender?page=1&size=10')
    expect(titles(body)).toEqual(['done late', 'done same day', 'done early'])
    expect(body.item[2]).toEqual({
      bookId: ids['done early'],
      readEndDate: '2026-01-01T00:00:00',
      cover: 'https://c.test/a',
    })
    expect(body.pageInfo.totalElements).toBe(3)
  })

  it('abandon: unread books registered long ago, oldest first', async () => {
    const { body } = await viewer.get('/books/abandon?page=1&size=10')
    expect(titles(body)).toEqual(['unread older', 'unread old'])
    expect(body.item[0]).toEqual({
      bookId: ids['unread older'],
      createdAt: '2020-01-01T00:00:00',
      title: 'unread older',
      cover: null,
    })
    expect(body.pageInfo).toEqual({ page: 1, size: 10, totalElements: 2, totalPages: 1 })
  })

  it('memo-books: books with memos, newest first', async () => {
    const { body } = await viewer.get('/books/memo-books?page=1&size=1')
    expect(body).toEqual({
      item: [{ bookId: ids['unread old'], title: 'unread old', cover: null, memoCount: 1 }],
      pageInfo: { page: 1, size: 1, totalElements: 2, totalPages: 2 },
    })
  })

  it('a page past the end is empty, with the true totals', async () => {
    const { body } = await viewer.get('/books/library?page=2147483647&size=1000&bookStatus=YET')
    expect(body).toEqual({ item: [], pageInfo: { page: 2147483647, size: 1000, totalElements: 3, totalPages: 1 } })
  })

  it('nothing at all is no page', async () => {
    const newcomer = await signUp()
    for (const view of ['library?bookStatus=ING&', 'calender?', 'abandon?', 'memo-books?']) {
      expect((await newcomer.get(`/books/${view}page=1&size=20`)).body).toEqual({
        item: [],
        pageInfo: { page: 1, size: 20, totalElements: 0, totalPages: 0 },
      })
    }
  })

  it.each([
    ['library', 'size=1&bookStatus=YET', 'page', null],
    ['library', 'page=1&bookStatus=YET', 'size', null],
    ['library', 'page=1&size=1', 'bookStatus', null],
    ['library', 'page=1&size=1&bookStatus=3', 'bookStatus', '3'],
    ['library', 'page=1&size=1&bookStatus=done', 'bookStatus', 'done'],
    ['library', 'page=1&size=1&bookStatus=ALL', 'bookStatus', 'ALL'],
    ['calender', 'page=0&size=1', 'page', '0'],
    ['calender', 'page=-1&size=1', 'page', '-1'],
    ['calender', 'page=1.5&size=1', 'page', '1.5'],
    ['calender', 'page=one&size=1', 'page', 'one'],
    ['calender', 'page=&size=1', 'page', ''],
    ['calender', 'page=2147483648&size=1', 'page', '2147483648'],
    ['abandon', 'page=1&size=0', 'size', '0'],
    ['abandon', 'page=1&size=1001', 'size', '1001'],
    ['memo-books', 'page=1&size=1e2', 'size', '1e2'],
    ['memo-books', 'page=1&page=2&size=1', 'page', ['1', '2']],
  ])('%s?%s is refused', async (view, query, propertyPath, rejectedValue) => {
    const answer = await viewer.get(`/books/${view}?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { status: 0, message: null, fieldErrors: null } })
    expect(answer.body.violationErrors).toEqual([{ propertyPath, rejectedValue, reason: expect.any(String) }])
  })

  it.each(['0', '-1', '1.5', 'x', '9007199254740993', '99999999999999999999', '1%2F2', '0x1', '%00'])(
    'the identifier %s is refused',
    async (id) => {
      const answer = await viewer.get(`/books/${id}?memoAuthority=ALL`)
      expect(answer).toMatchObject({ status: 400, body: { violationErrors: [{ propertyPath: 'book-id' }] } })
    },
  )
})
