import { beforeEach, describe, expect, it } from 'vitest'
import { IMAGE_PRICE } from '../../../src/values/prices'
import type { Quota } from '../../../src/values/quotas'
import { type Reader, signUp } from '../../support/api'
import { select } from '../../support/database'
import { PIXEL } from '../../support/inputs/file-form'

type Request = [method: string, path: string, body: object]

const memo = (memoContent: string) => ({ memoBookPage: 1, memoContent })
// '한' has three bytes in UTF-8.
const HAN = (bytes: number) => '한'.repeat(bytes / 3)

let reader: Reader
let bookId: number
let memoId: number
beforeEach(async () => {
  reader = await signUp()
  bookId = (await reader.createBook({ title: HAN(9), author: 'A', bookStatus: 'ING' })).bookId
  memoId = (await reader.createMemo(bookId, memo(HAN(30)))).memoId
})

/** Sends a request with one quota set. */
const sendWith = (quota: Quota, limit: number, [method, path, body]: Request) => {
  const changed: Partial<Record<Quota, string>> = { [quota]: String(limit) }
  return reader.send(method, path, { body, changed })
}

const newBook = (): Request => ['POST', '/books', { title: HAN(9), publisher: 'B' }]
const newMemo = (): Request => ['POST', `/memos?bookId=${bookId}`, memo(HAN(30))]
const longerMemo = (): Request => ['PATCH', `/memos/${memoId}`, memo(HAN(60))]
const newReading = (): Request => ['POST', `/books/${bookId}/readings`, { note: 'x', finishedAt: '2020' }]
const longerNote = (): Request => ['PATCH', `/readings/${bookId}`, { note: 'x' }]
/** Of PIXEL, once it is cleaned. */
const PIXEL_BYTES = 42
const newImage = (): Request => ['POST', '/memos/image-memo', PIXEL]
const longerAuthor = (): Request => ['PATCH', `/books/${bookId}`, { author: 'ABCDE' }]

// The member has one book, which counts 1,500, its title 4 * 9 bytes and its author 7, with one memo of 1,300 + 30.
describe.each<[Quota, string, () => Request, needed: number, limit: string]>([
  ['MAX_BOOKS', 'a new book', newBook, 2, '1 books per member'],
  ['MAX_MEMBER_TEXT_BYTES', 'a new book', newBook, 4411, '4,410 bytes of text and rows per member'],
  ['MAX_MEMOS_PER_BOOK', 'a new memo', newMemo, 2, '1 memos per book'],
  ['MAX_BOOK_TEXT_BYTES', 'a new memo', newMemo, 60, '59 bytes of memo text per book'],
  ['MAX_MEMBER_TEXT_BYTES', 'a new memo', newMemo, 4203, '4,202 bytes of text and rows per member'],
  ['MAX_BOOK_TEXT_BYTES', 'a longer memo', longerMemo, 60, '59 bytes of memo text per book'],
  ['MAX_MEMBER_TEXT_BYTES', 'a longer memo', longerMemo, 2903, '2,902 bytes of text and rows per member'],
  ['MAX_MEMBER_TEXT_BYTES', 'a longer author', longerAuthor, 2901, '2,900 bytes of text and rows per member'],
])('%s and %s', (quota, _, request, needed, limit) => {
  it('writes up to the limit, and answers 409 above it without writing anything', async () => {
    const rows = () => Promise.all(['members', 'books', 'memos'].map((table) => select(`select * from ${table}`)))
    const before = await rows()
    const refused = await sendWith(quota, needed - 1, request())
    expect(refused).toMatchObject({ status: 409, body: { status: 409, message: `Limit reached: ${limit}` } })
    expect(await rows()).toEqual(before)
    expect((await sendWith(quota, needed, request())).status).toBeLessThan(300)
  })
})

describe.each<[string, string, () => Request, needed: number, limit: string]>([
  ['maxBooks', 'a new book', newBook, 2, '1 books per member'],
  ['maxTextBytes', 'a new book', newBook, 4411, '4,410 bytes of text and rows per member'],
  ['maxTextBytes', 'a new memo', newMemo, 4203, '4,202 bytes of text and rows per member'],
  ['maxTextBytes', 'a longer memo', longerMemo, 2903, '2,902 bytes of text and rows per member'],
  ['maxTextBytes', 'a longer author', longerAuthor, 2901, '2,900 bytes of text and rows per member'],
  ['maxTextBytes', 'a new reading', newReading, 4174, '4,173 bytes of text and rows per member'],
  ['maxTextBytes', 'a longer note', longerNote, 2874, '2,873 bytes of text and rows per member'],
  ['maxImageBytes', 'a new image', newImage, IMAGE_PRICE + PIXEL_BYTES, '16,425 bytes of images per member'],
])('an own quota, %s, and %s', (column, _, request, needed, limit) => {
  const setOwn = (value: number | null) =>
    select(`update members set ${column} = ? where email = ?`, value, reader.email)
  const full = { MAX_BOOKS: '0', MAX_MEMBER_TEXT_BYTES: '0', MAX_MEMBER_IMAGE_BYTES: '0' }
  const ample = { MAX_BOOKS: '9', MAX_MEMBER_TEXT_BYTES: '9999', MAX_MEMBER_IMAGE_BYTES: '99999' }

  it('counts instead of the quota of the service, in both directions, and is named by the error', async () => {
    const sendRequest = (changed: typeof full) => {
      const [method, path, body] = request()
      return body instanceof Uint8Array
        ? reader.upload(body as Uint8Array<ArrayBuffer>, { changed })
        : reader.send(method, path, { body, changed })
    }
    await setOwn(needed - 1)
    expect(await sendRequest(ample)).toMatchObject({ status: 409, body: { message: `Limit reached: ${limit}` } })
    await setOwn(null)
    const message = expect.stringMatching(/^Limit reached: 0 (?:books|bytes) /)
    expect(await sendRequest(full)).toMatchObject({ status: 409, body: { message } })
    await select('update members set maxBooks = 9, maxTextBytes = 9999 where email = ?', reader.email)
    await setOwn(needed)
    expect((await sendRequest(full)).status).toBeLessThan(300)
  })
})

it('lets what exceeds a quota already be read, shortened and changed in other fields', async () => {
  const quotas = { MAX_BOOKS: '0', MAX_MEMOS_PER_BOOK: '0', MAX_BOOK_TEXT_BYTES: '0', MAX_MEMBER_TEXT_BYTES: '0' }
  const changes: Request[] = [
    ['PATCH', `/memos/${memoId}`, memo(HAN(30))],
    ['PATCH', `/memos/${memoId}`, memo(HAN(27))],
    ['PATCH', `/memos/${memoId}`, { memoBookPage: 7 }],
    ['PATCH', `/books/${bookId}`, { author: null, star: 5 }],
    ['PATCH', `/books/created-date/${bookId}`, '2026-01-01T00:00:00' as unknown as object],
  ]
  for (const [method, path, body] of changes) {
    expect((await reader.send(method, path, { body, changed: quotas })).status, path).toBe(200)
  }
  const book = await reader.send('GET', `/books/${bookId}?memoAuthority=ALL`, { changed: quotas })
  expect(book.body).toMatchObject({ author: null, star: 5, memosList: [{ memoContent: HAN(27), memoBookPage: 7 }] })
  expect((await reader.send('DELETE', `/memos/${memoId}`, { changed: quotas })).status).toBe(204)
})

it('frees what is deleted, once it is deleted for good', async () => {
  await reader.delete(`/memos/${memoId}`)
  expect((await sendWith('MAX_BOOK_TEXT_BYTES', 30, newMemo())).status).toBe(201)
  await reader.delete(`/books/${bookId}`)
  await reader.delete('/trash')
  expect((await sendWith('MAX_MEMBER_TEXT_BYTES', 1538, newBook())).status).toBe(201)
  expect(await select('select textBytes from members where lower(email) = ?', reader.email)).toEqual([
    { textBytes: 1538 },
  ])
})

it('holds under concurrent writes', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => sendWith('MAX_MEMOS_PER_BOOK', 4, newMemo())))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(5)
})

it('tells a full quota only to the owner of the book', async () => {
  const stranger = await signUp()
  const changed = { MAX_MEMOS_PER_BOOK: '0' }
  const answer = await stranger.send('POST', `/memos?bookId=${bookId}`, { body: memo('x'), changed })
  expect(answer).toMatchObject({ status: 404, body: { message: 'Book not found' } })
})
