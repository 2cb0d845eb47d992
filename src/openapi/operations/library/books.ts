import * as z from 'zod/mini'
import { Author } from '../../../library/authors/responses'
import { MAX_EXAMINED } from '../../../library/books/book-list'
import {
  AbandonedBook,
  BookDetail,
  CalenderBook,
  CreatedDate,
  LibraryBook,
  LibraryBookPage,
  ListedBook,
  MemoBook,
  RegisteredBook,
  UpdatedBook,
} from '../../../library/books/responses'
import { Edition } from '../../../library/editions/responses'
import { MAX_SAME_ISBN } from '../../../library/editions/store'
import { Memo } from '../../../library/memos/responses'
import { MAX_MEMOS_SIZE } from '../../../values/paging'
import { listOf, pageOf } from '../../../values/responses'
import { empty, json, type Operations } from '../operation'

export const booksOperations: Operations = {
  'GET /books/by-isbn/{isbn}': {
    operationId: 'listBooksByIsbn',
    summary: 'List books by ISBN',
    description: `Newest registration first, at most ${MAX_SAME_ISBN}. An ISBN-10 and its ISBN-13 find the same books.`,
    responses: { 200: json(z.array(LibraryBook).check(z.maxLength(MAX_SAME_ISBN)), 'The books') },
  },
  'GET /books/{book-id}/edition': {
    operationId: 'getEdition',
    summary: 'Get the edition of a book',
    description: 'Unknown details are null; without identifiers, `sourceIds` is an empty array.',
    responses: { 200: json(Edition, 'The edition') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'PATCH /books/{book-id}/edition': {
    operationId: 'updateEdition',
    summary: 'Update the edition of a book',
    description: 'Absent fields stay unchanged, and null clears a field. An empty object changes nothing.',
    responses: { 200: json(Edition, 'The updated edition') },
    errors: ['BOOK_NOT_FOUND', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'GET /books/library': {
    operationId: 'listLibrary',
    summary: 'List books by status',
    description: 'Newest registration first. `setCreatedDate` does not change the order.',
    responses: { 200: json(LibraryBookPage, 'A page of books', 'Link') },
  },
  'GET /books/calender': {
    operationId: 'listCalender',
    summary: 'List finished books by end date',
    description: 'Books that are `DONE` and have a `readEndDate`, latest first.',
    responses: { 200: json(pageOf(CalenderBook), 'A page of books', 'Link') },
  },
  'GET /books/abandon': {
    operationId: 'listAbandoned',
    summary: 'List old unread books',
    description:
      'Books that are still `YET` 90 days after registration, oldest first. The number of days can be configured.',
    responses: { 200: json(pageOf(AbandonedBook), 'A page of books', 'Link') },
  },
  'GET /books/memo-books': {
    operationId: 'listMemoBooks',
    summary: 'List books with memos',
    description: 'Books that have at least one memo. Newest registration first.',
    responses: { 200: json(pageOf(MemoBook), 'A page of books', 'Link') },
  },
  'GET /books': {
    operationId: 'listBooks',
    summary: 'List, sort and filter books',
    description:
      'All books, or those that match all filters. A `-` before the sort reverses it. Books without a value to sort by come ' +
      'last in both directions, newest registration first: for `author`, books without one; for `finished`, books that ' +
      'are not `DONE` or have no `readEndDate`; for `rating`, unrated books. With filters, a request examines at most ' +
      `${2 * MAX_EXAMINED} books, so a page can be short or empty: the list ends when \`next\` is null.`,
    responses: { 200: json(listOf(ListedBook), 'A page of books') },
  },
  'POST /books': {
    operationId: 'registerBook',
    summary: 'Register a book',
    description:
      'Only `title` is required. Registering the same title twice creates two books. Status and dates are stored as ' +
      'sent: neither changes the other.',
    responses: { 201: json(RegisteredBook, 'The registered book', 'Location') },
    errors: ['MAX_BOOKS', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'GET /books/{book-id}': {
    operationId: 'getBook',
    summary: 'Get a book with its memos',
    description:
      '`memoCount` counts all memos of the book. `memosList` contains those that match `memoAuthority`, newest first.',
    responses: { 200: json(BookDetail, 'The book') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'PATCH /books/{book-id}': {
    operationId: 'updateBook',
    summary: 'Update a book',
    description:
      'Absent fields stay unchanged, and null clears a field that may be null. Any status may follow any other, and ' +
      'none changes a date. An empty object changes nothing.',
    responses: { 200: json(UpdatedBook, 'The updated values') },
    errors: ['BOOK_NOT_FOUND', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'DELETE /books/{book-id}': {
    operationId: 'deleteBook',
    summary: 'Delete a book with its memos',
    description: 'Cannot be undone. A second deletion returns 404.',
    responses: { 204: empty('Deleted') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'GET /books/{book-id}/memos': {
    operationId: 'listBookMemos',
    summary: 'List the memos of a book',
    description:
      'Newest first. `size` may be up to 10,000: send the `memoCount` of the book to load all its memos at once.',
    responses: { 200: json(pageOf(Memo, MAX_MEMOS_SIZE), 'A page of memos', 'Link') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'PATCH /books/created-date/{book-id}': {
    operationId: 'setCreatedDate',
    summary: 'Overwrite the registration date of a book',
    description:
      'The body is the new date, in the time zone of the service, as plain text or as a JSON string, whatever the content ' +
      'type says. Only `listAbandoned` depends on this date.',
    responses: { 200: json(CreatedDate, 'The updated date') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'GET /authors': {
    operationId: 'listAuthors',
    summary: 'List the authors of your books',
    description:
      'In alphabetical order, regardless of case. Authors that differ only in case are one author, spelled as in the book ' +
      'that was registered first.',
    responses: { 200: json(listOf(Author), 'A page of authors') },
  },
}
