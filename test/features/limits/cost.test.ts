import { beforeAll, describe, expect, it } from 'vitest'
import { join, login, newEmail, send, signUp } from '../../support/api'
import { fillShelf, insertImport, measure, memberSlot, select } from '../../support/database'
import { addressOf, type Operation, operations } from '../../support/document/operations'

type Library = Awaited<ReturnType<typeof createLibrary>>

const createLibrary = async (books: number) => {
  const reader = await signUp()
  const memberId = Number((await select('select memberId from members where email = ?', reader.email))[0]?.memberId)
  const { bookId } = await reader.createBook()
  const { memoId } = await reader.createMemo(bookId)
  for (let n = 0; n < 5; n++) await reader.createMemo(bookId, { memoType: n % 4 })
  await fillShelf(memberId, books)
  const unread = `select max(bookId) as id from books where memberId = ? and hasMemos = 0 and bookStatus = 'YET'`
  const [spare] = await select(unread, memberId)
  const importId = await insertImport(memberId, 'DONE', books)
  return { reader, bookId, memoId, importId, spare: Number(spare?.id) }
}

const FINISHED = { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' }

let small: Library
let large: Library
beforeAll(async () => {
  // A scan ends at the row of a neighbour, which the first member would not have.
  const [neighbour] = await select('select memberId from members where email = ?', (await signUp()).email)
  await insertImport(Number(neighbour?.memberId), 'DONE', 1)
  small = await createLibrary(60)
  large = await createLibrary(3000)
})

/** Reads whose cost depends on the size of the library, up to a limit or as a whole. */
const VARIABLE = [
  '/books',
  '/books/abandon',
  '/books/counts',
  '/books/search',
  // The first request begins the member's log, to which later writes add a row: sync/changes.test.ts.
  '/changes',
  '/export',
  '/export.csv',
  '/export/memos.md',
  '/imports/{import-id}/failed.csv',
]
const reads = operations.filter(
  ({ method, needsToken, template }) => method === 'GET' && needsToken && !VARIABLE.includes(template),
)
const toAddress = (operation: Operation, { bookId, memoId, importId }: Library) =>
  addressOf(operation, {
    'book-id': `${bookId}`,
    bookId: `${bookId}`,
    'memo-id': `${memoId}`,
    'import-id': `${importId}`,
    bookStatus: 'DONE',
    size: '5',
    // The memos are of the first hours of 2020, which is another year in some time zones.
    year: '2018',
  })

const constantCost: [string, (library: Library) => Promise<unknown>][] = [
  ...reads.map((operation): (typeof constantCost)[number] => [
    `GET ${operation.template}`,
    (library) => library.reader.get(toAddress(operation, library)),
  ]),
  ['memos of a type', ({ reader, bookId }) => reader.get(`/books/${bookId}/memos?memoType=SUMMARY&page=1&size=3`)],
  ['rows of an import', ({ reader, importId }) => reader.get(`/imports/${importId}/rows?page=2&size=20&outcome=ALL`)],
  ['register', ({ reader }) => reader.post('/books', { title: 'One more' })],
  ['register a finished book', ({ reader }) => reader.post('/books', { title: 'Read', ...FINISHED })],
  ['update', ({ reader, spare }) => reader.patch(`/books/${spare}`, { star: 4, bookStatus: 'ING' })],
  ['created date', ({ reader, spare }) => reader.patch(`/books/created-date/${spare}`, '2024-01-01T00:00:00')],
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
    const costWithoutCounting = async (library: Library) => {
      const { calls, read } = await measure(() => list(library))
      return { calls, read: read - (await list(library)).body.pageInfo.totalElements }
    }
    expect(await costWithoutCounting(large)).toEqual({ ...(await costWithoutCounting(small)), calls: 1 })
  })

  it('deletion of a book without memos', async () => {
    const remove = ({ reader, spare }: Library) => measure(() => reader.delete(`/books/${spare}`))
    expect(await remove(large)).toEqual({ ...(await remove(small)), calls: 1 })
  })
})

it('writes at most 8 rows to register a book, whatever its status', async () => {
  for (const book of [{}, { bookStatus: 'ING' }, FINISHED]) {
    const { written } = await measure(() => small.reader.post('/books', { title: 'T', author: 'A', ...book }))
    expect(written).toBeLessThanOrEqual(8)
  }
})

it('writes four rows to update the current page: the book and the event, each with an index entry', async () => {
  const { written } = await measure(() => small.reader.patch(`/books/${small.bookId}`, { currentPage: 77 }))
  expect(written).toBe(4)
})

it('writes at most 9 rows for the first memo of a book, and 8 for another', async () => {
  const { bookId } = await small.reader.createBook()
  const write = () => small.reader.post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' })
  expect((await measure(write)).written).toBeLessThanOrEqual(9)
  expect((await measure(write)).written).toBeLessThanOrEqual(8)
})

// Three in slot 1: slots-sign-up.test.ts.
it.skipIf(memberSlot() > 0)('takes two database calls to sign up, change a password or log in', async () => {
  const reader = await signUp()
  const calls = async (request: () => Promise<unknown>) => (await measure(request)).calls
  expect(await calls(join)).toBe(2)
  expect(await calls(() => reader.patch('/members/me', { password: 'another-one' }))).toBe(2)
  expect(await calls(() => login(small.reader.email))).toBe(2)
})

// With several databases: slots-lost.test.ts.
it.skipIf(memberSlot() > 0)(
  'reads at most 8 rows to sign up, and 36 to log in, three and one of them for marks',
  async () => {
    const { email } = await signUp()
    expect((await measure(join)).read).toBeLessThanOrEqual(8)
    expect((await measure(() => login(email))).read).toBeLessThanOrEqual(36)
  },
)

// Two in slot 1: slots-sign-up.test.ts.
it.skipIf(memberSlot() > 0)(
  'takes one database call to refuse a login, and another one after the response',
  async () => {
    // With `changed`, the request lasts until the work after its response is done.
    const refuse = (email: string) => send('POST', '/login', { body: { email, password: 'wrong' }, changed: {} })
    const known = await measure(() => refuse(small.reader.email))
    const unknown = await measure(() => refuse(newEmail()))
    expect([known.calls, unknown.calls]).toEqual([2, 2])
  },
)

it('writes at most 8 rows for a login: the attempt, the session, the activity, and their indexes', async () => {
  // A mail that an earlier request sends after its response is counted with the first.
  const logins = [await measure(() => login(small.reader.email)), await measure(() => login(small.reader.email))]
  expect(Math.min(...logins.map(({ written }) => written))).toBeLessThanOrEqual(8)
})
