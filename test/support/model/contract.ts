// The commands of the API contract: books and memos.
import * as fc from 'fast-check'
import { BOOK_STATUSES, MEMO_AUTHORITIES, MEMO_TYPES } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, NOT_FOUND, position } from './commands'
import { addId, type Book, deleteBook, findBook, NO_EDITION, NOW, pick, settle, toMemo } from './library'
import { recordProgress } from './progress'
import { followBook } from './readings'
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

const register = command('register', 8, newBook, (library, body) => ({
  method: 'POST',
  path: '/books',
  body,
  respond: ({ bookId }) => {
    const { isbn: sent, ...fields } = body
    const book: Book = { bookId: addId(library.bookIds, bookId), ...EMPTY, ...UNREAD, ...fields }
    book.author ||= null
    book.publisher ||= null
    library.books.push(book)
    const isbn = ISBNS.find(([text]) => text === sent)?.[1] ?? null
    library.editions.set(book.bookId, { ...NO_EDITION, isbn })
    settle(library, book)
    return { status: 201, body: pick(book, 'bookId', 'title', 'author', 'cover', 'bookStatus') }
  },
}))

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
  const respond = () => {
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
    const respond = () => {
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
  const respond = () => {
    if (!findBook(library, bookId)) return NOT_FOUND
    deleteBook(library, bookId)
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

const write = command('create memo', 6, fc.tuple(position, newMemo), (library, [index, body]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = ({ memoId }: Record<string, unknown>) => {
    if (!findBook(library, bookId)) return NOT_FOUND
    const defaults = { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE', createdAt: NOW, updatedAt: NOW } as const
    const memo = { memoId: addId(library.memoIds, memoId), bookId, ...defaults, ...body }
    library.memos.push(memo)
    return { status: 201, body: toMemo(memo) }
  }
  return { method: 'POST', path: `/memos?bookId=${bookId}`, body, respond }
})

const edit = command('update memo', 3, fc.tuple(position, anyOf(memoFields)), (library, [index, patch]) => {
  const memoId = at(library.memoIds, index)
  if (!memoId) return undefined
  const respond = () => {
    const memo = library.memos.find((each) => each.memoId === memoId)
    if (!memo) return NOT_FOUND
    Object.assign(memo, patch)
    return { status: 200, body: toMemo(memo) }
  }
  return { method: 'PATCH', path: `/memos/${memoId}`, body: patch, respond }
})

const discard = command('delete memo', 2, position, (library, index) => {
  const memoId = at(library.memoIds, index)
  if (!memoId) return undefined
  const respond = () => {
    const isKnown = library.memos.some((memo) => memo.memoId === memoId)
    library.memos = library.memos.filter((memo) => memo.memoId !== memoId)
    return isKnown ? { status: 204, body: null } : NOT_FOUND
  }
  return { method: 'DELETE', path: `/memos/${memoId}`, respond }
})

export const contractCommands: Commands[] = [register, update, setCreatedDate, remove, write, edit, discard]
