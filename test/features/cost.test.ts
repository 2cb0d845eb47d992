import { beforeAll, describe, expect, it } from 'vitest'
import { join, login, newEmail, type Reader, signUp } from '../support/api'
import { fillShelf, measure, select } from '../support/database'

type Shelf = { reader: Reader; bookId: number; memoId: number; spare: number }
const FEW = 60
const MANY = 3000

const shelfOf = async (books: number): Promise<Shelf> => {
  const reader = await signUp()
  const [member] = await select('select memberId from members where email = ?', reader.email)
  const { bookId } = await reader.registers()
  const memo = await reader.writes(bookId)
  for (let n = 0; n < 5; n++) await reader.writes(bookId, { memoType: n % 4 })
  await fillShelf(Number(member?.memberId), books)
  const [spare] = await select(
    'select max(bookId) as bookId from books where memberId = ? and hasMemos = 0',
    member?.memberId,
  )
  return { reader, bookId, memoId: memo.memoId, spare: Number(spare?.bookId) }
}

let few: Shelf
let many: Shelf
beforeAll(async () => {
  few = await shelfOf(FEW)
  many = await shelfOf(MANY)
})

type Ask = (shelf: Shelf) => Promise<{ status: number }>
const flat: [string, Ask][] = [
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

describe('every authenticated endpoint makes one call, and costs no more in a large library', () => {
  it.each(flat)('%s', async (_, ask) => {
    const inFew = await measure(() => ask(few))
    const inMany = await measure(() => ask(many))
    expect([inFew.calls, inMany.calls]).toEqual([1, 1])
    expect(inMany.read).toBeLessThanOrEqual(inFew.read * 1.1)
    expect(inMany.written).toBeLessThanOrEqual(inFew.written)
  })

  it('abandon grows by what it counts only', async () => {
    const ask = ({ reader }: Shelf) => reader.get('/books/abandon?page=1&size=5')
    const read = async (shelf: Shelf) => {
      const { calls, read } = await measure(() => ask(shelf))
      expect(calls).toBe(1)
      return read
    }
    const counted = (await ask(many)).body.pageInfo.totalElements - (await ask(few)).body.pageInfo.totalElements
    expect((await read(many)) - (await read(few))).toBe(counted)
  })

  it('deletion of a book without memos', async () => {
    const remove = async ({ reader, spare }: Shelf) => measure(() => reader.delete(`/books/${spare}`))
    const [inFew, inMany] = [await remove(few), await remove(many)]
    expect(inMany).toEqual({ ...inFew, calls: 1 })
  })
})

describe('rows written', () => {
  it('at most 5 by a registration, whatever the status', async () => {
    for (const book of [{}, { bookStatus: 'ING' }, { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' }]) {
      const { written } = await measure(() => few.reader.post('/books', { title: 'T', ...book }))
      expect(written).toBeLessThanOrEqual(5)
    }
  })

  it('at most 6 by a memo, the first of its book included, and 4 by a further one', async () => {
    const { bookId } = await few.reader.registers()
    const write = () => few.reader.post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' })
    expect((await measure(write)).written).toBeLessThanOrEqual(6)
    expect((await measure(write)).written).toBeLessThanOrEqual(4)
  })
})

describe('what hashes in between makes two calls', () => {
  it('sign-up and password change', async () => {
    expect((await measure(() => join())).calls).toBe(2)
    const reader = await signUp()
    expect((await measure(() => reader.patch('/members/me', { password: 'another-one' }))).calls).toBe(2)
  })

  it('a login at most', async () => {
    expect((await measure(() => login(newEmail()))).calls).toBeLessThanOrEqual(2)
    expect((await measure(() => login(few.reader.email))).calls).toBeLessThanOrEqual(2)
  })

  it('a withdrawal makes one', async () => {
    const reader = await signUp()
    expect((await measure(() => reader.delete('/members/me'))).calls).toBe(1)
  })
})
