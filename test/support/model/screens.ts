// What a screen shows in one call: a book as a whole, the numbers of books, a series, and the memos of all books.
import { BOOK_FORMATS, BOOK_STATUSES } from '../../../src/values/contract'
import { editionOf, toEdition } from './editions'
import { ascending, type Book, descending, type Library, memosOf, pick, SOME_EDITION, toMemo } from './library'
import { includes, type Selection } from './lists'
import { eventsOf, toEvent } from './progress'
import { currentOf, pastOf, toReading } from './readings'
import { tagsOf, tagViews } from './tags'
import { toLibraryBook, type View } from './views'

const wholeView = (library: Library, book: Book): View => {
  const { bookId } = book
  const memos = memosOf(library, bookId).toSorted(descending((memo) => memo.memoId))
  const past = pastOf(library, bookId).toSorted(descending(({ readingId }) => readingId))
  const [event] = eventsOf(library, bookId)
  const body = {
    ...book,
    memoCount: memos.length,
    edition: toEdition(library, book),
    tags: tagsOf(library, bookId).map(({ tag }) => tag),
    readings: [currentOf(library, book) ?? past[0]].flatMap((reading) => (reading ? toReading(reading) : [])),
    progress: event ? toEvent(library, bookId)(event) : null,
    memos: memos.slice(0, 20).map((memo) => ({ ...toMemo(memo), memoContent: memo.memoContent.slice(0, 500) })),
  }
  return { path: `/books/${bookId}/whole`, expected: { status: 200, body } }
}

const countView = (library: Library): View => {
  const { books } = library
  const editions = books.map(({ bookId }) => editionOf(library, bookId))
  const count = <Item>(items: Item[], isCounted: (item: Item) => boolean) => items.filter(isCounted).length
  const present = <Row extends { bookCount: number }>(rows: Row[]) => rows.filter(({ bookCount }) => bookCount > 0)
  const series = [...new Set(editions.flatMap((edition) => edition.series ?? []))].map((name) => ({
    series: name,
    bookCount: count(editions, (edition) => edition.series === name),
  }))
  const tagView = tagViews(library, undefined, { page: 1, size: 1 }, 0).find(({ path }) => path === '/tags')
  const body = {
    statuses: Object.fromEntries(
      BOOK_STATUSES.map((status) => [status, count(books, (book) => book.bookStatus === status)]),
    ),
    formats: present(
      [...BOOK_FORMATS]
        .toSorted()
        .map((format) => ({ format, bookCount: count(editions, (edition) => edition.format === format) })),
    ),
    ratings: present([1, 2, 3, 4, 5].map((star) => ({ star, bookCount: count(books, (book) => book.star === star) }))),
    tags: tagView && 'expected' in tagView ? tagView.expected.body : [],
    series: series.toSorted(descending(({ bookCount }) => bookCount)),
    seriesCount: series.length,
  }
  return { path: '/books/counts', expected: { status: 200, body } }
}

const seriesView = (library: Library, size: number): View => {
  const numberOf = ({ bookId }: Book) => editionOf(library, bookId).seriesNumber
  const items = library.books
    .filter(({ bookId }) => editionOf(library, bookId).series === SOME_EDITION.series)
    .toSorted(
      ascending(
        (book) => numberOf(book) ?? Number.MAX_SAFE_INTEGER,
        ({ bookId }) => bookId,
      ),
    )
    .map((book) => ({ ...toLibraryBook(library, book), seriesNumber: numberOf(book) }))
  return { path: `/series/${encodeURIComponent(SOME_EDITION.series)}?`, size, items }
}

const memoViews = (library: Library, { terms, memoType = 'ALL', size }: Selection): View[] =>
  [undefined, ...terms].map((term) => {
    const items = library.memos
      .filter((memo) => term === undefined || includes(memo.memoContent, term))
      .filter((memo) => [memo.memoType, 'ALL'].includes(memoType))
      .toSorted(descending(({ memoId }) => memoId))
      .map((memo) => {
        const book = library.books.find(({ bookId }) => bookId === memo.bookId)
        return { ...toMemo(memo), bookId: memo.bookId, book: book && pick(book, 'title', 'author', 'cover') }
      })
    const q = term === undefined ? '' : `&q=${encodeURIComponent(term)}`
    return { path: `/memos?include=book&memoType=${memoType}${q}`, size, items }
  })

export const screenViews = (library: Library, book: Book | undefined, selected: Selection): View[] => [
  ...(book ? [wholeView(library, book)] : []),
  countView(library),
  seriesView(library, selected.size),
  ...memoViews(library, selected),
]
