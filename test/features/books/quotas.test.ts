import { beforeEach, describe, expect, it } from 'vitest'
import type { Quota } from '../../../src/values/quotas'
import { type Reader, signUp } from '../../support/api'
import { select } from '../../support/database'

type Request = [method: string, path: string, body: object]

const memo = (memoContent: string) => ({ memoBookPage: 1, memoContent })
// '한' has three bytes in UTF-8.
const HAN = (bytes: number) => '한'.repeat(bytes / 3)

let reader: Reader
let bookId: number
let memoId: number
beforeEach(async () => {
  reader = await signUp()
  bookId = (await reader.createBook({ title: HAN(9), author: 'A' })).bookId
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
const longerAuthor = (): Request => ['PATCH', `/books/${bookId}`, { author: 'ABCDE' }]

// The member has one book of 10 bytes, with one memo of 30.
describe.each<[Quota, string, () => Request, needed: number, limit: string]>([
  ['MAX_BOOKS', 'a new book', newBook, 2, '1 books per member'],
  ['MAX_MEMBER_TEXT_BYTES', 'a new book', newBook, 50, '49 bytes of text per member'],
  ['MAX_MEMOS_PER_BOOK', 'a new memo', newMemo, 2, '1 memos per book'],
  ['MAX_BOOK_TEXT_BYTES', 'a new memo', newMemo, 60, '59 bytes of memo text per book'],
  ['MAX_MEMBER_TEXT_BYTES', 'a new memo', newMemo, 70, '69 bytes of text per member'],
  ['MAX_BOOK_TEXT_BYTES', 'a longer memo', longerMemo, 60, '59 bytes of memo text per book'],
  ['MAX_MEMBER_TEXT_BYTES', 'a longer memo', longerMemo, 70, '69 bytes of text per member'],
  ['MAX_MEMBER_TEXT_BYTES', 'a longer author', longerAuthor, 44, '43 bytes of text per member'],
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

it('frees what is deleted', async () => {
  await reader.delete(`/memos/${memoId}`)
  expect((await sendWith('MAX_BOOK_TEXT_BYTES', 30, newMemo())).status).toBe(201)
  await reader.delete(`/books/${bookId}`)
  expect((await sendWith('MAX_MEMBER_TEXT_BYTES', 10, newBook())).status).toBe(201)
  expect(await select('select textBytes from members where lower(email) = ?', reader.email)).toEqual([
    { textBytes: 10 },
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
