import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, sharedReader } from '../support/api'
import {
  ABSENT,
  BLANK,
  EMPTY,
  fieldError,
  INVALID_IDS,
  invalidCases,
  NOT_INT,
  NOT_TIMESTAMP,
  NOT_URL,
  NULL,
  notOneOf,
  notText,
  QUOTED,
  UNUSUAL_TEXTS,
  violation,
  withField,
} from '../support/invalid-values'
import { getBook, snapshot, TIMESTAMP } from '../support/library'

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
const BARE_BOOK = {
  title: 'Demian',
  cover: null,
  author: null,
  publisher: null,
  createdAt: TIMESTAMP,
  star: 0,
  currentPage: 0,
  itemPage: null,
  bookStatus: 'YET',
  readStartDate: null,
  readEndDate: null,
  memoCount: 0,
  memosList: [],
}

/** Valid values of both registration and update. */
const VALID: [what: string, sent: object, stored: object][] = [
  ...STATUSES.flatMap((bookStatus, code): typeof VALID => [
    [`status ${bookStatus}`, { bookStatus }, { bookStatus }],
    [`status code ${code}`, { bookStatus: code }, { bookStatus }],
    [`quoted status code ${code}`, { bookStatus: `${code}` }, { bookStatus }],
  ]),
  ['a quoted number of pages', { itemPage: '0350' }, { itemPage: 350 }],
  ['0 pages', { itemPage: 0, currentPage: 0 }, { itemPage: 0, currentPage: 0 }],
  [
    '2^31-1 pages',
    { itemPage: 2 ** 31 - 1, currentPage: 2 ** 31 - 1 },
    { itemPage: 2 ** 31 - 1, currentPage: 2 ** 31 - 1 },
  ],
  ['empty texts as null', { author: '', publisher: '' }, { author: null, publisher: null }],
  ['null texts', { author: null, publisher: null }, { author: null, publisher: null }],
  ['a null number of pages', { itemPage: null }, { itemPage: null }],
  ['null dates', { readStartDate: null, readEndDate: null }, { readStartDate: null, readEndDate: null }],
  [
    'texts of 500 characters',
    { author: '가'.repeat(500), publisher: '가'.repeat(500) },
    { author: '가'.repeat(500), publisher: '가'.repeat(500) },
  ],
  [
    'a fraction of a second, dropped',
    { readEndDate: '2025-01-01T10:20:30.987654' },
    { readEndDate: '2025-01-01T10:20:30' },
  ],
  ['an end before the start', { readEndDate: '1999-01-01T00:00:00' }, { readEndDate: '1999-01-01T00:00:00' }],
]

const INVALID = {
  author: notText(500),
  publisher: notText(500),
  itemPage: NOT_INT,
  currentPage: { ...NOT_INT, ...QUOTED, ...NULL },
  bookStatus: { ...notOneOf(STATUSES), ...NULL, ...EMPTY },
  readStartDate: NOT_TIMESTAMP,
  readEndDate: NOT_TIMESTAMP,
}

describe('POST /books', () => {
  it('registers a book with a title alone, as unread', async () => {
    const answer = await reader.post('/books', { title: 'Demian' })
    expect(answer.status).toBe(201)
    const { bookId } = answer.body
    expect(answer.headers.get('Location')).toBe(`/books/${bookId}`)
    expect(answer.body).toEqual({ bookId, title: 'Demian', author: null, cover: null, bookStatus: 'YET' })
    expect(await getBook(reader, bookId)).toEqual({ ...BARE_BOOK, bookId })
  })

  it('stores every field as sent', async () => {
    const { title, author, cover, bookStatus } = FULL_BOOK
    const { body } = await reader.post('/books', FULL_BOOK)
    expect(body).toEqual({ bookId: expect.any(Number), title, author, cover, bookStatus })
    expect(await getBook(reader, body.bookId)).toMatchObject({ ...FULL_BOOK, star: 0 })
  })

  it('derives no date or page from a status', async () => {
    const { bookId } = await reader.createBook({ bookStatus: 'DONE' })
    expect(await getBook(reader, bookId)).toMatchObject({ readStartDate: null, readEndDate: null, currentPage: 0 })
  })

  it.each([
    ...VALID,
    ['a title of 500 characters', { title: '가'.repeat(500) }, { title: '가'.repeat(500) }],
    ['an http cover', { cover: 'http://covers.example/x' }, { cover: 'http://covers.example/x' }],
    ['a cover of 2,048 characters', ...Array(2).fill({ cover: 'https://covers.example/'.padEnd(2048, 'x') })],
    ['an empty cover as null', { cover: '' }, { cover: null }],
    ['a null cover', { cover: null }, { cover: null }],
  ] as typeof VALID)('accepts %s', async (_, sent, stored) => {
    const { bookId } = await reader.createBook(sent as Record<string, unknown>)
    expect(await getBook(reader, bookId)).toMatchObject(stored)
  })

  it.each(Object.entries(UNUSUAL_TEXTS))('stores %s unchanged, also on update', async (_, text) => {
    const { bookId } = await reader.createBook({ title: text, author: text, publisher: text })
    const stored = { title: text, author: text, publisher: text }
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
    const first = await reader.createBook({ title: 'Twice' })
    expect((await reader.createBook({ title: 'Twice' })).bookId).not.toBe(first.bookId)
    const deleted = await reader.createBook({ title: 'Twice' })
    await reader.delete(`/books/${deleted.bookId}`)
    expect((await reader.createBook({ title: 'Twice' })).bookId).toBeGreaterThan(deleted.bookId)
  })

  describe('with an invalid field', () => {
    let before: unknown
    beforeAll(async () => {
      before = await snapshot(reader)
    })
    const title = { ...notText(500), ...NULL, ...BLANK, ...ABSENT }
    it.each(invalidCases({ ...INVALID, title, cover: NOT_URL }))('rejects $what as $field', async ({ field, json }) => {
      const request = withField({ title: 'Rejected' }, field, json)
      expect(await reader.send('POST', '/books', request)).toMatchObject(fieldError(field, json))
    })
    it('stores nothing', async () => {
      expect(await snapshot(reader)).toEqual(before)
    })
  })
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
    const answer = await patch({})
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(full)
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
  ])('takes readStratDate as readStartDate, which wins: %o', async (dates, readStartDate) => {
    await patch({ readStartDate: '2000-01-01T00:00:00' })
    expect((await patch(dates)).body.readStartDate).toBe(readStartDate)
  })

  it.each(VALID)('accepts %s', async (_, sent, stored) => {
    expect(await patch(sent)).toMatchObject({ status: 200, body: stored })
  })

  it('ignores unknown keys', async () => {
    const before = await getBook(reader, bookId)
    const unknown = { title: 'x', cover: null, bookId: 1, memoCount: 9, createdAt: '2000-01-01T00:00:00' }
    expect((await patch(unknown)).status).toBe(200)
    expect(await getBook(reader, bookId)).toEqual(before)
  })

  describe('with an invalid field', () => {
    let before: unknown
    beforeAll(async () => {
      before = await snapshot(reader, bookId)
    })
    const star = { ...NOT_INT, ...QUOTED, ...NULL, 6: '6' }
    it.each(invalidCases({ ...INVALID, star, readStratDate: NOT_TIMESTAMP }))(
      'rejects $what as $field',
      async ({ field, json }) => {
        const request = withField({ publisher: 'Rejected' }, field, json)
        expect(await reader.send('PATCH', `/books/${bookId}`, request)).toMatchObject(fieldError(field, json))
      },
    )
    it('changes nothing', async () => {
      expect(await snapshot(reader, bookId)).toEqual(before)
    })
  })
})

describe('PATCH /books/created-date/{book-id}', () => {
  let bookId: number
  beforeAll(async () => {
    bookId = (await reader.createBook()).bookId
  })
  // Bytes, to which fetch adds no content type.
  const overwrite = (text: string, type?: string) =>
    reader.send('PATCH', `/books/created-date/${bookId}`, {
      raw: new TextEncoder().encode(text),
      headers: { ...(type && { 'Content-Type': type }) },
    })
  const DATE = '2020-05-06T07:08:09'

  it.each([
    ['bare text', DATE, 'text/plain'],
    ['bare text with a charset', DATE, 'text/plain;charset=UTF-8'],
    ['bare text without a content type', DATE, undefined],
    ['bare text declared as JSON', DATE, 'application/json'],
    ['bare text with a fraction declared as JSON', `${DATE}.5`, 'application/json'],
    ['a JSON string', `"${DATE}"`, 'application/json'],
    ['a JSON string within white space', ` "${DATE}"\n`, 'application/json'],
    ['a fraction of a second', `${DATE}.999`, 'text/plain'],
    ['a long fraction', `${DATE}.0123456789`, 'text/plain'],
  ])('accepts %s', async (_, text, type) => {
    await overwrite('2001-01-01T00:00:00', 'text/plain')
    const answer = await overwrite(text, type)
    expect(answer).toMatchObject({ status: 200, body: { bookId, createdAt: DATE } })
    expect((await getBook(reader, bookId)).createdAt).toBe(DATE)
  })

  it.each(invalidCases({ createdAt: NOT_TIMESTAMP }).filter(({ json }) => json.startsWith('"')))(
    'rejects $what, bare or as a JSON string',
    async ({ json }) => {
      expect(await overwrite(json, 'application/json')).toMatchObject(fieldError('createdAt', json))
      const bare = JSON.parse(json)
      if (bare) expect(await overwrite(bare, 'text/plain')).toMatchObject(fieldError('createdAt', json))
    },
  )

  it.each(['{}', '[]', 'null', '2020', `{"createdAt":"${DATE}"}`, `["${DATE}"]`, "'); drop table books"])(
    'rejects %s as text and as JSON',
    async (text) => {
      expect((await overwrite(text, 'application/json')).status).toBe(400)
      const asText = await overwrite(text, 'text/plain')
      expect(asText).toMatchObject({ status: 400, body: { status: 0, fieldErrors: [{ field: 'createdAt' }] } })
    },
  )

  it('rejects half a JSON string, an empty body and another content type', async () => {
    expect((await overwrite('"2020', 'application/json')).body.message).toBe('Malformed JSON request')
    expect((await overwrite('"2020', 'text/plain')).status).toBe(400)
    expect((await overwrite('', 'text/plain')).body.message).toBe('Required request body is missing')
    expect((await overwrite(DATE, 'text/html')).status).toBe(415)
  })
})

/** Every operation on a book. */
const OPERATIONS: [method: string, path: (bookId: number | string) => string, body?: unknown][] = [
  ['GET', (bookId) => `/books/${bookId}?memoAuthority=ALL`],
  ['GET', (bookId) => `/books/${bookId}/memos?page=1&size=9&memoType=ALL`],
  ['PATCH', (bookId) => `/books/${bookId}`, { star: 1 }],
  ['PATCH', (bookId) => `/books/${bookId}`, {}],
  ['PATCH', (bookId) => `/books/created-date/${bookId}`, '2020-01-01T00:00:00'],
  ['DELETE', (bookId) => `/books/${bookId}`],
  ['POST', (bookId) => `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' }],
]

describe('DELETE /books/{book-id}', () => {
  it('deletes a book with its memos, and leaves other books alone', async () => {
    const [{ bookId }, other] = [await reader.createBook(), await reader.createBook()]
    const [{ memoId }, kept] = [await reader.createMemo(bookId), await reader.createMemo(other.bookId)]
    expect(await reader.delete(`/books/${bookId}`)).toMatchObject({ status: 204, body: null })
    for (const [method, path, body] of OPERATIONS) {
      const answer = await reader.send(method, path(bookId), { body })
      expect(answer, `${method} ${path('{id}')}`).toMatchObject({ status: 404, body: { message: 'Book not found' } })
    }
    expect((await reader.patch(`/memos/${memoId}`, {})).status).toBe(404)
    expect((await reader.delete(`/memos/${memoId}`)).status).toBe(404)
    expect((await reader.patch(`/memos/${kept.memoId}`, {})).status).toBe(200)
    const { item } = (await reader.get('/books/memo-books?page=1&size=1000')).body
    const withMemos = item.map((book: { bookId: number }) => book.bookId)
    expect(withMemos).toContain(other.bookId)
    expect(withMemos).not.toContain(bookId)
  })
})

it.each(OPERATIONS)('%s %s rejects invalid identifiers', async (method, path, body) => {
  const name = path('').startsWith('/memos') ? 'bookId' : 'book-id'
  for (const id of INVALID_IDS) {
    const answer = await reader.send(method, path(id), { body })
    expect(answer, id).toMatchObject(violation(name, decodeURIComponent(id)))
  }
})
