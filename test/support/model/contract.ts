// The commands of the API contract: books and memos.
import * as fc from 'fast-check'
import { toErrorBody } from '../../../src/errors'
import { BOOK_STATUSES, MEMO_AUTHORITIES, MEMO_TYPES } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, type Expected, NOT_FOUND, position } from './commands'
import { createOnce, someKey, withKey } from './keys'
import { addId, type Book, findBook, type Library, type Memo, NO_EDITION, NOW, pick, settle, toMemo } from './library'
import { recordProgress } from './progress'
import { followBook } from './readings'
import { trashBook, trashMemo } from './trash'
import { AUTHORS, DATES, ISBNS, OLD_DATES, TEXTS, TITLES } from './values'

const status = fc.constantFrom(...BOOK_STATUSES)
const date = fc.constantFrom(null, ...DATES)
const author = fc.constantFrom(null, '', ...AUTHORS)
const page = fc.constantFrom(0, 1, 10, 11, 50, 300)

const newBook = fc.record(
  {
    title: fc.constantFrom(...TITLES),
    author,
    publisher: fc.constantFrom(null, '민음사'),
    cover: fc.constantFrom(null, 'https://covers.library.test/1.jpg'),
    itemPage: fc.constantFrom(null, 300),
    currentPage: page,
    bookStatus: status,
    readStartDate: date,
    readEndDate: date,
    isbn: fc.constantFrom(null, 5, ...ISBNS.map(([sent]) => sent)),
  },
  { requiredKeys: ['title'] },
)

const EMPTY = { cover: null, author: null, publisher: null, itemPage: null, readStartDate: null, readEndDate: null }
const UNREAD = { createdAt: NOW, star: 0, currentPage: 0, bookStatus: 'YET' } as const

const toRegistered = (book: Book) => pick(book, 'bookId', 'title', 'author', 'cover', 'bookStatus')

export const register = command('register', 8, fc.tuple(newBook, someKey), (_, [body, key]) => {
  const create = (library: Library, bookId: unknown) => {
    const { isbn: sent, ...fields } = body
    const book: Book = { bookId: addId(library.bookIds, bookId), ...EMPTY, ...UNREAD, ...fields }
    book.author ||= null
    book.publisher ||= null
    library.books.push(book)
    const isbn = ISBNS.find(([text]) => text === sent)?.[1] ?? null
    library.editions.set(book.bookId, { ...NO_EDITION, isbn })
    settle(library, book)
    return { status: 201, body: toRegistered(book), id: book.bookId }
  }
  const respond = (library: Library, { bookId }: Record<string, unknown>) =>
    createOnce(library, key, {
      request: body,
      create: () => create(library, bookId),
      show: (id) => library.books.filter((book) => book.bookId === id).map(toRegistered)[0],
    })
  return { method: 'POST', path: '/books', body, ...withKey(key), respond }
})

const bookPatch = anyOf({
  author,
  publisher: fc.constantFrom(null, '', 'Penguin'),
  itemPage: fc.constantFrom(null, 0, 250),
  currentPage: page,
  star: fc.nat(5),
  bookStatus: status,
  readStartDate: date,
  readEndDate: date,
})

const update = command('update', 10, fc.tuple(position, bookPatch), (library, [index, patch]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = (library: Library) => {
    const book = findBook(library, bookId)
    if (!book) return NOT_FOUND
    const before = { ...book }
    Object.assign(book, patch)
    book.author ||= null
    book.publisher ||= null
    settle(library, book, before.author)
    recordProgress(library, followBook(library, before, book), book)
    const { author, publisher, itemPage, readStartDate, readEndDate, bookStatus, star, currentPage } = book
    const body = { author, publisher, itemPage, readStartDate, readEndDate, bookStatus, star, currentPage }
    return { status: 200, body }
  }
  return { method: 'PATCH', path: `/books/${bookId}`, body: patch, respond }
})

const setCreatedDate = command(
  'set created date',
  2,
  fc.tuple(position, fc.constantFrom(...DATES, ...OLD_DATES)),
  (library, [index, createdAt]) => {
    const bookId = at(library.bookIds, index)
    if (!bookId) return undefined
    const respond = (library: Library) => {
      const book = findBook(library, bookId)
      if (!book) return NOT_FOUND
      book.createdAt = createdAt
      return { status: 200, body: { bookId, createdAt } }
    }
    return { method: 'PATCH', path: `/books/created-date/${bookId}`, body: createdAt, respond }
  },
)

const remove = command('delete book', 2, position, (library, index) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = (library: Library) => {
    if (!findBook(library, bookId)) return NOT_FOUND
    trashBook(library, bookId)
    return { status: 204, body: null }
  }
  return { method: 'DELETE', path: `/books/${bookId}`, respond }
})

const memoFields = {
  memoBookPage: fc.constantFrom(0, 95),
  memoContent: fc.constantFrom(...TEXTS),
  memoType: fc.constantFrom(...MEMO_TYPES),
  memoAuthority: fc.constantFrom(...MEMO_AUTHORITIES),
}
const newMemo = fc.record(memoFields, { requiredKeys: ['memoBookPage', 'memoContent'] })

const findMemo = ({ memos }: Library, memoId: number) => memos.find((memo) => memo.memoId === memoId)

const write = command('create memo', 6, fc.tuple(position, newMemo, someKey), (library, [index, body, key]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const path = `/memos?bookId=${bookId}`
  const create = (library: Library, memoId: unknown, etag: string | null): Expected & { id?: number } => {
    if (!findBook(library, bookId)) return NOT_FOUND
    const defaults = { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE', createdAt: NOW, updatedAt: NOW } as const
    const memo = { memoId: addId(library.memoIds, memoId), bookId, ...defaults, ...body }
    library.memos.push(memo)
    addVersion(library, memo.memoId, etag)
    return { status: 201, body: toMemo(memo), id: memo.memoId }
  }
  const respond = (library: Library, { memoId }: Record<string, unknown>, etag: string | null) =>
    createOnce(library, key, {
      request: { path, body },
      create: () => create(library, memoId, etag),
      show: (id) => library.memos.filter((memo) => memo.memoId === id).map(toMemo)[0],
    })
  return { method: 'POST', path, body, ...withKey(key), respond }
})

/** One of the versions that the memo has had, or any. */
const condition = fc.option(position, { nil: undefined, freq: 2 })

const versionsOf = ({ versions }: Library, memoId: number) => versions.get(memoId) ?? []
const addVersion = (library: Library, memoId: number, etag: string | null) =>
  library.versions.set(memoId, [...versionsOf(library, memoId), String(etag)])
/** The memo, or the error response: it does not exist, or has another version. */
const matchMemo = (library: Library, memoId: number, version: string | undefined): Memo | Expected => {
  const memo = findMemo(library, memoId)
  if (!memo) return NOT_FOUND
  if (!version || version === versionsOf(library, memoId).at(-1)) return memo
  return { status: 412, body: { ...toErrorBody('PRECONDITION_FAILED'), memo: toMemo(memo) } }
}
const ifMatch = (version: string | undefined) => (version ? { headers: { 'If-Match': version } } : {})

const edit = command(
  'update memo',
  3,
  fc.tuple(position, anyOf(memoFields), condition),
  (library, [index, patch, which]) => {
    const memoId = at(library.memoIds, index)
    if (!memoId) return undefined
    const version = which === undefined ? which : at(versionsOf(library, memoId), which)
    const respond = (library: Library, _: Record<string, unknown>, etag: string | null) => {
      const memo = matchMemo(library, memoId, version)
      if ('status' in memo) return memo
      Object.assign(memo, patch)
      if (Object.keys(patch).length > 0) addVersion(library, memoId, etag)
      return { status: 200, body: toMemo(memo) }
    }
    return { method: 'PATCH', path: `/memos/${memoId}`, body: patch, ...ifMatch(version), respond }
  },
)

const discard = command('delete memo', 2, fc.tuple(position, condition), (library, [index, which]) => {
  const memoId = at(library.memoIds, index)
  if (!memoId) return undefined
  const version = which === undefined ? which : at(versionsOf(library, memoId), which)
  const respond = (library: Library) => {
    const memo = matchMemo(library, memoId, version)
    if ('status' in memo) return memo
    trashMemo(library, memo)
    return { status: 204, body: null }
  }
  return { method: 'DELETE', path: `/memos/${memoId}`, ...ifMatch(version), respond }
})

export const contractCommands: Commands[] = [register, update, setCreatedDate, remove, write, edit, discard]
