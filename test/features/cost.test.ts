import { beforeAll, describe, expect, it } from 'vitest'
import { join, login, newEmail, type Reader, signUp } from '../support/api'
import { fillShelf, measure, select } from '../support/database'

type Library = { reader: Reader; bookId: number; memoId: number; spare: number }
const SMALL = 60
const LARGE = 3000

const createLibrary = async (books: number): Promise<Library> => {
  const reader = await signUp()
  const [member] = await select('select memberId from members where email = ?', reader.email)
  const { bookId } = await reader.createBook()
  const memo = await reader.createMemo(bookId)
  for (let n = 0; n < 5; n++) await reader.createMemo(bookId, { memoType: n % 4 })
  await fillShelf(Number(member?.memberId), books)
  const [spare] = await select(
    'select max(bookId) as bookId from books where memberId = ? and hasMemos = 0',
    member?.memberId,
  )
  return { reader, bookId, memoId: memo.memoId, spare: Number(spare?.bookId) }
}

let small: Library
let large: Library
beforeAll(async () => {
  small = await createLibrary(SMALL)
  large = await createLibrary(LARGE)
})

type Operation = (library: Library) => Promise<{ status: number }>
const constantCost: [string, Operation][] = [
  ['library', ({ reader }) => reader.get('/books/library?page=1&size=20&bookStatus=DONE')],
  ['calender', ({ reader }) => reader.get('/books/calender?page=1&size=20')],
  ['memo-books', ({ reader }) => reader.get('/books/memo-books?page=1&size=5')],
  ['detail', ({ reader, bookId }) => reader.get(`/books/${bookId}?memoAuthority=ALL`)],
  ['memos of all types', ({ reader, bookId }) => reader.get(`/books/${bookId}/memos?memoType=ALL&page=1&size=3`)],
  ['memos of a type', ({ reader, bookId }) => reader.get(`/books/${bookId}/memos?memoType=SUMMARY&page=1&size=3`)],
  ['random', ({ reader }) => reader.get('/memos/random')],
  ['profile', ({ reader }) => reader.get('/members/me')],
  ['register', ({ reader }) => reader.post('/books', { title: 'One more' })],
  [
    'register a finished book',
    ({ reader }) => reader.post('/books', { title: 'Read', bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' }),
  ],
  ['update', ({ reader, spare }) => reader.patch(`/books/${spare}`, { star: 4, bookStatus: 'ING' })],
  [
    'created date',
    ({ reader, spare }) => reader.send('PATCH', `/books/created-date/${spare}`, { raw: '2024-01-01T00:00:00' }),
  ],
  ['memo', ({ reader, bookId }) => reader.post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' })],
  ['update of a memo', ({ reader, memoId }) => reader.patch(`/memos/${memoId}`, { memoType: 'QUESTION' })],
  ['deletion of a memo', ({ reader, memoId }) => reader.delete(`/memos/${memoId}`)],
  ['rename', ({ reader }) => reader.patch('/members/me', { name: 'Renamed' })],
]

describe('one database call, at a cost independent of the size of the library', () => {
  it.each(constantCost)('%s', async (_, operation) => {
    const inSmall = await measure(() => operation(small))
    const inLarge = await measure(() => operation(large))
    expect([inSmall.calls, inLarge.calls]).toEqual([1, 1])
    expect(inLarge.read).toBeLessThanOrEqual(inSmall.read * 1.1)
    expect(inLarge.written).toBeLessThanOrEqual(inSmall.written)
  })

  it('abandon reads one more row per abandoned book', async () => {
    const list = ({ reader }: Library) => reader.get('/books/abandon?page=1&size=5')
    const read = async (library: Library) => {
      const { calls, read } = await measure(() => list(library))
      expect(calls).toBe(1)
      return read
    }
    const totalOf = async (library: Library) => (await list(library)).body.pageInfo.totalElements
    const counted = (await totalOf(large)) - (await totalOf(small))
    expect((await read(large)) - (await read(small))).toBe(counted)
  })

  it('deletion of a book without memos', async () => {
    const remove = async ({ reader, spare }: Library) => measure(() => reader.delete(`/books/${spare}`))
    const [inSmall, inLarge] = [await remove(small), await remove(large)]
    expect(inLarge).toEqual({ ...inSmall, calls: 1 })
  })
})

describe('rows written', () => {
  it('registering a book writes at most 5, whatever its status', async () => {
    for (const book of [{}, { bookStatus: 'ING' }, { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' }]) {
      const { written } = await measure(() => small.reader.post('/books', { title: 'T', ...book }))
      expect(written).toBeLessThanOrEqual(5)
    }
  })

  it('a book’s first memo writes at most 6, a further one 4', async () => {
    const { bookId } = await small.reader.createBook()
    const write = () => small.reader.post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' })
    expect((await measure(write)).written).toBeLessThanOrEqual(6)
    expect((await measure(write)).written).toBeLessThanOrEqual(4)
  })
})

describe('database calls of operations that hash a password', () => {
  it('sign-up and password change make two', async () => {
    expect((await measure(() => join())).calls).toBe(2)
    const reader = await signUp()
    expect((await measure(() => reader.patch('/members/me', { password: 'another-one' }))).calls).toBe(2)
  })

  it('login makes at most two', async () => {
    expect((await measure(() => login(newEmail()))).calls).toBeLessThanOrEqual(2)
    expect((await measure(() => login(small.reader.email))).calls).toBeLessThanOrEqual(2)
  })
})

it('withdrawal makes one database call', async () => {
  const reader = await signUp()
  expect((await measure(() => reader.delete('/members/me'))).calls).toBe(1)
})
