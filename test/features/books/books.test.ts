import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, sharedReader } from '../../support/api'
import * as invalid from '../../support/inputs/invalid-values'
import { itRejects, NOT_TIMESTAMP, UNUSUAL_TEXTS, violation } from '../../support/inputs/invalid-values'
import { getBook, namesAndCodes, snapshot, TIMESTAMP, type ValidCase } from '../../support/library'

let reader: Reader
beforeAll(async () => {
  reader = await sharedReader()
})

const STATUSES = ['YET', 'ING', 'DONE']
const FULL_BOOK = {
  title: 'Grande Sertão: Veredas',
  author: 'João Guimarães Rosa',
  cover: 'https://covers.example/1.jpg?size=L&x=%20#top',
  publisher: 'Companhia das Letras',
  itemPage: 552,
  currentPage: 12,
  bookStatus: 'DONE',
  readStartDate: '2024-02-29T00:00:00',
  readEndDate: '2025-12-31T23:59:59',
}
const NO_DETAILS = {
  cover: null,
  author: null,
  publisher: null,
  itemPage: null,
  readStartDate: null,
  readEndDate: null,
}
const NEW = { bookStatus: 'YET', createdAt: TIMESTAMP, star: 0, currentPage: 0, memoCount: 0, memosList: [] }
const BARE_BOOK = { title: 'Demian', ...NO_DETAILS, ...NEW }

const MAX_INT = 2 ** 31 - 1
const LONG = '가'.repeat(500)

/** Valid values of both registration and update. */
const VALID: ValidCase[] = [
  ...namesAndCodes('bookStatus', STATUSES),
  [{ itemPage: '0350' }, { itemPage: 350 }],
  [{ itemPage: 0, currentPage: 0 }],
  [{ itemPage: MAX_INT, currentPage: MAX_INT }],
  [{ itemPage: null }],
  [{ author: '' }, { author: null }],
  [{ publisher: '' }, { publisher: null }],
  [{ author: null, publisher: null }],
  [{ author: LONG, publisher: LONG }],
  [{ readStartDate: null, readEndDate: null }],
  [{ readEndDate: '2025-01-01T10:20:30.987654' }, { readEndDate: '2025-01-01T10:20:30' }],
  // Before the start.
  [{ readEndDate: '1999-01-01T00:00:00' }],
]

const INVALID = {
  author: invalid.notText(500),
  publisher: invalid.notText(500),
  itemPage: invalid.NOT_INT,
  currentPage: { ...invalid.NOT_INT, ...invalid.QUOTED, ...invalid.NULL },
  bookStatus: { ...invalid.notOneOf(STATUSES), ...invalid.NULL, ...invalid.EMPTY },
  readStartDate: NOT_TIMESTAMP,
  readEndDate: NOT_TIMESTAMP,
}

describe('POST /books', () => {
  it('registers a book with a title alone, as unread', async () => {
    const answer = await reader.post('/books', { title: 'Demian' })
    expect(answer.status).toBe(201)
    const { bookId } = answer.body
    expect(answer.body).toEqual({ bookId, title: 'Demian', author: null, cover: null, bookStatus: 'YET' })
    const location = answer.headers.get('Location') ?? ''
    expect(location).toBe(`/books/${bookId}?memoAuthority=ALL`)
    expect((await reader.get(location)).body).toEqual({ ...BARE_BOOK, bookId })
  })

  it('stores every field as sent', async () => {
    const { title, author, cover, bookStatus } = FULL_BOOK
    const { body } = await reader.post('/books', FULL_BOOK)
    expect(body).toEqual({ bookId: expect.any(Number), title, author, cover, bookStatus })
    expect(await getBook(reader, body.bookId)).toMatchObject({ ...FULL_BOOK, star: 0 })
  })

  it.each([
    ...VALID,
    [{ title: LONG }],
    [{ cover: 'http://covers.example/x' }],
    [{ cover: 'https://covers.example/'.padEnd(2048, 'x') }],
    [{ cover: '' }, { cover: null }],
    [{ cover: null }],
    // A status implies neither dates nor pages.
    [{ bookStatus: 'DONE' }, { readStartDate: null, readEndDate: null, currentPage: 0 }],
  ])('accepts $0', async (sent, stored = sent) => {
    const { bookId } = await reader.createBook(sent)
    expect(await getBook(reader, bookId)).toMatchObject(stored)
  })

  it.each(Object.entries(UNUSUAL_TEXTS))('stores %s unchanged, also on update', async (_, text) => {
    const stored = { title: text, author: text, publisher: text }
    const { bookId } = await reader.createBook(stored)
    expect(await getBook(reader, bookId)).toMatchObject(stored)
    await reader.patch(`/books/${bookId}`, { author: null, publisher: null })
    await reader.patch(`/books/${bookId}`, { author: text, publisher: text })
    expect(await getBook(reader, bookId)).toMatchObject(stored)
  })

  it('ignores unknown keys', async () => {
    const unknown = { bookId: 1, memberId: 1, star: 5, memoCount: 9, createdAt: '2000-01-01T00:00:00', hasMemos: 1 }
    const book = { title: 'Demian', ...unknown, constructor: {}, ['__proto__']: { star: 5 } }
    const { bookId } = (await reader.post('/books', book)).body
    const created = await getBook(reader, bookId)
    expect(created).toEqual({ ...BARE_BOOK, bookId: expect.any(Number) })
    expect(created.createdAt).not.toBe('2000-01-01T00:00:00')
  })

  it('registers the same title twice, and never reuses an identifier', async () => {
    const [first, second] = [await reader.createBook({ title: 'Twice' }), await reader.createBook({ title: 'Twice' })]
    expect(second.bookId).not.toBe(first.bookId)
    await reader.delete(`/books/${second.bookId}`)
    expect((await reader.createBook({ title: 'Twice' })).bookId).toBeGreaterThan(second.bookId)
  })

  const title = { ...invalid.notText(500), ...invalid.NULL, ...invalid.BLANK, ...invalid.ABSENT }
  itRejects(
    { ...INVALID, title, cover: invalid.NOT_URL },
    { title: 'Rejected' },
    (body) => reader.send('POST', '/books', body),
    () => snapshot(reader),
    expect.any(String),
  )
})

describe('PATCH /books/{book-id}', () => {
  let bookId: number
  const patch = (body: object) => reader.patch(`/books/${bookId}`, body)
  const { title: _title, cover: _cover, ...updatable } = FULL_BOOK
  const full = { ...updatable, star: 0 }
  beforeAll(async () => {
    bookId = (await reader.createBook(FULL_BOOK)).bookId
  })

  it('changes nothing for an empty object', async () => {
    expect(await patch({})).toEqual({ status: 200, headers: expect.anything(), body: full })
  })

  it('changes what is sent, keeps what is absent and clears what is null', async () => {
    const changes = { author: null, itemPage: null, readStartDate: null, star: 5, currentPage: 0, bookStatus: 'ING' }
    expect((await patch({ ...changes, bookStatus: '1' })).body).toEqual({ ...full, ...changes })
    expect(await getBook(reader, bookId)).toMatchObject({ ...FULL_BOOK, ...changes })
    expect((await patch({ star: 0 })).body).toEqual({ ...full, ...changes, star: 0 })
    expect((await patch(full)).body).toEqual(full)
  })

  const [one, other] = ['2025-01-01T00:00:00', '2025-02-02T00:00:00']
  it.each([
    [{ readStratDate: one }, one],
    [{ readStratDate: one, readStartDate: other }, other],
    [{ readStratDate: one, readStartDate: null }, null],
    [{ readStartDate: one }, one],
    [{ readStratDate: null }, null],
  ])('accepts readStratDate as an alias of readStartDate, which wins: %o', async (dates, readStartDate) => {
    await patch({ readStartDate: '2000-01-01T00:00:00' })
    expect((await patch(dates)).body.readStartDate).toBe(readStartDate)
  })

  it.each(VALID)('accepts $0', async (sent, stored = sent) => {
    expect(await patch(sent)).toMatchObject({ status: 200, body: stored })
  })

  it('ignores unknown keys', async () => {
    const before = await getBook(reader, bookId)
    const unknown = { title: 'x', cover: null, bookId: 1, memoCount: 9, createdAt: '2000-01-01T00:00:00' }
    expect((await patch(unknown)).status).toBe(200)
    expect(await getBook(reader, bookId)).toEqual(before)
  })

  const star = { ...invalid.NOT_INT, ...invalid.QUOTED, ...invalid.NULL, 6: '6' }
  itRejects(
    { ...INVALID, star, readStratDate: NOT_TIMESTAMP },
    { publisher: 'Rejected' },
    (body) => reader.send('PATCH', `/books/${bookId}`, body),
    () => snapshot(reader, bookId),
    expect.any(String),
  )
})

/** Every operation on a book. */
const OPERATIONS: [method: string, path: string, body?: unknown][] = [
  ['GET', '/books/{id}?memoAuthority=ALL'],
  ['GET', '/books/{id}/memos?page=1&size=9&memoType=ALL'],
  ['PATCH', '/books/{id}', { star: 1 }],
  ['PATCH', '/books/{id}', {}],
  ['PATCH', '/books/created-date/{id}', '2020-01-01T00:00:00'],
  ['DELETE', '/books/{id}'],
  ['POST', '/memos?bookId={id}', { memoBookPage: 1, memoContent: 'x' }],
  ['GET', '/books/{id}/edition'],
  ['PATCH', '/books/{id}/edition', { language: 'ko' }],
  ['PATCH', '/books/{id}/edition', {}],
  ['GET', '/books/{id}/progress'],
  ['GET', '/books/{id}/sittings'],
  ['POST', '/books/{id}/progress', { page: 5 }],
  ['POST', '/books/{id}/progress', { percent: 5 }],
  ['PATCH', '/books/{id}/tags', { add: ['Sea'] }],
]

it('deletes a book with its memos, and leaves other books alone', async () => {
  const [{ bookId }, other] = [await reader.createBook(), await reader.createBook()]
  const [{ memoId }, kept] = [await reader.createMemo(bookId), await reader.createMemo(other.bookId)]
  expect(await reader.delete(`/books/${bookId}`)).toMatchObject({ status: 204, body: null })
  for (const [method, path, body] of OPERATIONS) {
    const answer = await reader.send(method, path.replace('{id}', `${bookId}`), { body })
    expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { message: 'Book not found' } })
  }
  expect((await reader.patch(`/memos/${memoId}`, {})).status).toBe(404)
  expect((await reader.delete(`/memos/${memoId}`)).status).toBe(404)
  expect((await reader.patch(`/memos/${kept.memoId}`, {})).status).toBe(200)
  const { item } = (await reader.get('/books/memo-books?page=1&size=1000')).body
  expect(item).toContainEqual(expect.objectContaining({ bookId: other.bookId }))
  expect(item).not.toContainEqual(expect.objectContaining({ bookId }))
})

it.each(OPERATIONS)('%s %s rejects invalid identifiers', async (method, path, body) => {
  const name = path.startsWith('/memos') ? 'bookId' : 'book-id'
  for (const id of invalid.INVALID_IDS) {
    const answer = await reader.send(method, path.replace('{id}', id), { body })
    expect(answer, id).toMatchObject(violation(name, decodeURIComponent(id)))
  }
})
