// Everything a member can read, with the answer that the model expects.
import { BOOK_STATUSES, MEMO_TYPES } from '../../../src/values/contract'
import type { Expected } from './commands'
import { ascending, type Book, descending, type Library, memosOf, NOW, pick, toMemo } from './library'

/** A path with the answer to it, with a check of it, or with all items of a list that is read by cursor. */
export type View = { path: string } & (
  | { expected: Expected }
  | { check: (body: unknown) => boolean }
  | { size: number; items: unknown[]; toItem?: (item: unknown) => unknown }
)

export type Paging = { page: number; size: number }

const toPage = <Item>(items: Item[], { page, size }: Paging) => ({
  item: items.slice((page - 1) * size, page * size),
  pageInfo: { page, size, totalElements: items.length, totalPages: Math.ceil(items.length / size) },
})

const EVERYTHING = { page: 1, size: 1000 }

/** A list as a whole, and any page of it. */
export const paged = <Item>(path: string, items: Item[], paging: Paging): View[] =>
  [EVERYTHING, paging].map(({ page, size }) => ({
    path: `${path}${path.includes('?') ? '&' : '?'}page=${page}&size=${size}`,
    expected: { status: 200, body: toPage(items, { page, size }) },
  }))

const newestFirst = <Item extends { bookId: number }>(items: Item[]) =>
  items.toSorted(descending((item) => item.bookId))

export const toLibraryBook = (library: Library, book: Book) => ({
  ...pick(book, 'bookId', 'title', 'cover', 'author', 'createdAt', 'star', 'currentPage', 'itemPage', 'bookStatus'),
  memoCount: memosOf(library, book.bookId).length,
})

const listViews = (library: Library, paging: Paging): View[] => {
  const { books } = library
  const finished = books.filter(({ bookStatus, readEndDate }) => bookStatus === 'DONE' && readEndDate !== null)
  const abandoned = books.filter(({ bookStatus, createdAt }) => bookStatus === 'YET' && createdAt !== NOW)
  const withMemos = books.filter(({ bookId }) => memosOf(library, bookId).length > 0)
  return [
    ...BOOK_STATUSES.flatMap((status) => {
      const ofStatus = newestFirst(books.filter(({ bookStatus }) => bookStatus === status))
      const items = ofStatus.map((book) => toLibraryBook(library, book))
      return paged(`/books/library?bookStatus=${status}`, items, paging)
    }),
    ...paged(
      '/books/calender',
      finished
        .toSorted(
          descending(
            (book) => book.readEndDate ?? '',
            (book) => book.bookId,
          ),
        )
        .map((book) => pick(book, 'bookId', 'cover', 'readEndDate')),
      paging,
    ),
    ...paged(
      '/books/abandon',
      abandoned
        .toSorted(
          ascending(
            (book) => book.createdAt,
            (book) => book.bookId,
          ),
        )
        .map((book) => pick(book, 'bookId', 'createdAt', 'title', 'cover')),
      paging,
    ),
    ...paged(
      '/books/memo-books',
      newestFirst(withMemos).map((book) => ({
        ...pick(book, 'bookId', 'title', 'cover'),
        memoCount: memosOf(library, book.bookId).length,
      })),
      paging,
    ),
  ]
}

export const detailViews = (library: Library, { bookId, ...book }: Book, paging: Paging): View[] => {
  const memos = memosOf(library, bookId).toSorted(descending((memo) => memo.memoId))
  const details = ['ALL', 'PUBLIC', 'PRIVATE'].map((authority) => {
    const listed = memos.filter(({ memoAuthority }) => authority === 'ALL' || memoAuthority === authority)
    const body = { bookId, ...book, memoCount: memos.length, memosList: listed.map(toMemo) }
    return { path: `/books/${bookId}?memoAuthority=${authority}`, expected: { status: 200, body } }
  })
  const lists = ['ALL', ...MEMO_TYPES].flatMap((type) => {
    const ofType = memos.filter(({ memoType }) => type === 'ALL' || memoType === type)
    return paged(`/books/${bookId}/memos?memoType=${type}`, ofType.map(toMemo), paging)
  })
  return [...details, ...lists]
}

const toRandomMemo = (memo: Library['memos'][number]) =>
  JSON.stringify(pick(memo, 'memoId', 'memoContent', 'memoType', 'memoBookPage'))

export const contractViews = (library: Library, book: Book | undefined, paging: Paging): View[] => {
  const deleted = library.bookIds.find((bookId) => library.books.every((each) => each.bookId !== bookId))
  const isOneOfMemos = (body: unknown) => {
    const [memo, ...more] = body as Library['memos']
    if (library.memos.length === 0) return memo === undefined
    return more.length === 0 && library.memos.map(toRandomMemo).includes(memo ? toRandomMemo(memo) : '')
  }
  return [
    ...listViews(library, paging),
    ...(book ? detailViews(library, book, paging) : []),
    ...(deleted ? [{ path: `/books/${deleted}?memoAuthority=ALL`, expected: { status: 404 } }] : []),
    ...library.memos.slice(-1).map((memo) => ({
      path: `/memos/${memo.memoId}`,
      expected: { status: 200, body: { ...toMemo(memo), bookId: memo.bookId } },
    })),
    { path: '/memos/random', check: isOneOfMemos },
  ]
}
