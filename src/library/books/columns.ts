import { books } from '../../db/schema/book-tables'

/** The columns of a book in full, in the order of its fields in responses. */
export const bookColumns = {
  bookId: books.bookId,
  title: books.title,
  cover: books.cover,
  author: books.author,
  publisher: books.publisher,
  createdAt: books.createdAt,
  star: books.star,
  currentPage: books.currentPage,
  itemPage: books.itemPage,
  bookStatus: books.bookStatus,
  readStartDate: books.readStartDate,
  readEndDate: books.readEndDate,
  memoCount: books.memoCount,
}

const { publisher, readStartDate, readEndDate, ...columns } = bookColumns
/** The columns of LibraryBook. */
export const libraryColumns = columns
