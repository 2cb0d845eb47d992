// Lists with a cursor: all books, sorted and filtered, authors, and what a search finds.
import * as fc from 'fast-check'
import { BOOK_STATUSES, MEMO_TYPES } from '../../../src/values/contract'
import { fold, toSortKey } from '../../../src/values/text/fold'
import { ascending, type Book, descending, type Library, type Memo, memosOf, pick } from './library'
import { hasTag } from './tags'
import { AUTHORS, ISBNS, TAGS, TERMS } from './values'
import { toLibraryBook, type View } from './views'

const toQuery = (parameters: Record<string, string | undefined>) =>
  Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&')

const filters = {
  status: fc.constantFrom(...BOOK_STATUSES),
  tag: fc.constantFrom(...TAGS),
  author: fc.constantFrom(...AUTHORS),
}
const none = fc.constant(undefined)

/** What the lists of a run are filtered by: mostly nothing, since few books match several filters. */
export const selection = fc.record({
  filter: fc.oneof(
    { weight: 3, arbitrary: fc.record({ status: none, tag: none, author: none }) },
    { weight: 1, arbitrary: fc.record({ ...filters, tag: none, author: none }) },
    { weight: 1, arbitrary: fc.record({ ...filters, status: none, author: none }) },
    { weight: 1, arbitrary: fc.record({ ...filters, status: none, tag: none }) },
    { weight: 1, arbitrary: fc.record(filters) },
  ),
  terms: fc.subarray(TERMS, { minLength: 3, maxLength: 3 }),
  memoType: fc.oneof(none, fc.constantFrom('ALL', ...MEMO_TYPES)),
  size: fc.integer({ min: 1, max: 5 }),
})
export type Selection = typeof selection extends fc.Arbitrary<infer Value> ? Value : never

/** A field to sort by, and whether a book has a value of it. Books without one come last, newest first. */
type Sort = { has?: (book: Book) => boolean; key: (book: Book) => string | number }
const SORTS: Record<string, Sort> = {
  created: { key: () => 0 },
  title: { key: ({ title }) => toSortKey(title) },
  author: { has: ({ author }) => author !== null, key: ({ author }) => toSortKey(author ?? '') },
  finished: {
    has: ({ bookStatus, readEndDate }) => bookStatus === 'DONE' && readEndDate !== null,
    key: ({ readEndDate }) => readEndDate ?? '',
  },
  rating: { has: ({ star }) => star > 0, key: ({ star }) => star },
}

const sortBooks = (books: Book[], sort: string) => {
  const { has = () => true, key } = SORTS[sort.replace('-', '')] as Sort
  const id = ({ bookId }: Book) => bookId
  const order = sort.startsWith('-') ? descending<Book>(key, id) : ascending<Book>(key, id)
  const without = books.filter((book) => !has(book)).toSorted(descending(id))
  return [...books.filter(has).toSorted(order), ...without]
}

const bookLists = (library: Library, { filter: { status, tag, author }, size }: Selection): View[] => {
  const books = library.books.filter(
    (book) =>
      (status === undefined || book.bookStatus === status) &&
      (tag === undefined || hasTag(library, book.bookId, tag)) &&
      (author === undefined || toSortKey(book.author ?? '') === toSortKey(author)),
  )
  const sorts = [undefined, ...Object.keys(SORTS).flatMap((sort) => [sort, `-${sort}`])]
  return sorts.map((sort) => {
    const sorted = sortBooks(books, sort ?? '-created')
    const items = sorted.map((book) => ({ ...book, memoCount: memosOf(library, book.bookId).length }))
    return { path: `/books?${toQuery({ status, tag, author, sort })}`, size, items }
  })
}

export const includes = (text: string, term: string) =>
  fold(term)
    .split(/[\s-]+/)
    .every((word) => fold(text).includes(word))

/** What a search finds of a book. An ISBN has no hyphens, and may be searched with ten digits. */
const textOf = ({ editions, bookTags }: Library, { bookId, title, author, publisher }: Book) => {
  const { subtitle = null, isbn = null } = editions.get(bookId) ?? {}
  return [title, subtitle, author, publisher, isbn, ...(bookTags.get(bookId) ?? [])].join('\n')
}
const toIsbn = (term: string) => ISBNS.find(([sent]) => sent === term)?.[1] ?? term

/** Without the excerpt, which has its own tests. */
const toFound = ({ books }: Library, memo: Memo) => ({
  ...pick(memo, 'memoId', 'memoType', 'memoBookPage', 'memoAuthority', 'createdAt', 'updatedAt', 'bookId'),
  title: books.find(({ bookId }) => bookId === memo.bookId)?.title,
})

type Found = { excerpt: string }
/** Takes the excerpt off, after checking that it shows the term. */
const checkExcerpt = (term: string) => (item: unknown) => {
  const { excerpt, ...memo } = item as Found
  if (!includes(excerpt, term)) throw new Error(`The excerpt ${JSON.stringify(excerpt)} lacks ${term}`)
  return memo
}

const searches = (library: Library, bookId: number | undefined, { terms, memoType, size }: Selection): View[] =>
  terms.flatMap((term) => {
    const books = library.books
      .filter((book) => includes(textOf(library, book), toIsbn(term)))
      .toSorted(descending((book) => book.bookId))
      .map((book) => toLibraryBook(library, book))
    const memos = library.memos
      .filter((memo) => includes(memo.memoContent, term) && [memo.memoType, 'ALL'].includes(memoType ?? 'ALL'))
      .toSorted(descending((memo) => memo.memoId))
    const toView = (of: number | undefined): View => ({
      path: `/memos/search?${toQuery({ q: term, memoType, bookId: of?.toString() })}`,
      size,
      items: memos.filter((memo) => of === undefined || memo.bookId === of).map((memo) => toFound(library, memo)),
      toItem: checkExcerpt(term),
    })
    const inBooks = { path: `/books/search?${toQuery({ q: term })}`, size, items: books }
    return [inBooks, toView(undefined), ...(bookId ? [toView(bookId)] : [])]
  })

const authorList = ({ books, authors }: Library, size: number): View => {
  const items = authors.toSorted(ascending(({ key }) => key)).map(({ key, author }) => ({
    author,
    bookCount: books.filter((book) => book.author !== null && toSortKey(book.author) === key).length,
  }))
  return { path: '/authors?', size, items }
}

export const cursorViews = (library: Library, bookId: number | undefined, selected: Selection): View[] => [
  ...bookLists(library, selected),
  authorList(library, selected.size),
  ...searches(library, bookId, selected),
]
