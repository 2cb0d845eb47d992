import * as z from 'zod/mini'
import { CATALOGUE_ERRORS } from '../../catalogue/responses'
import { MAX_READ_CHANGES } from '../../db/change-log'
import {
  COVER_SENT,
  empty,
  type FeatureReference,
  json,
  NULLABLE_SENT,
  WELL_FORMED,
} from '../../http/description/feature-reference'
import { MAX_COVER, MAX_NAME } from '../../values/contract'
import { Int32, int } from '../../values/fields'
import { named } from '../../values/named'
import { MAX_MEMOS_SIZE } from '../../values/paging'
import { Id, LocalTime, pageOf, textUpTo } from '../../values/responses'
import { Memo } from '../memos/responses'
import { KEPT_DAYS } from '../trash/schema'
import { BookStatus } from './schema'

/** All fields of a book in responses. Each view picks its own. */
const Book = z.object({
  bookId: Id,
  title: textUpTo(MAX_NAME),
  cover: z.nullable(textUpTo(MAX_COVER)),
  author: z.nullable(textUpTo(MAX_NAME)),
  publisher: z.nullable(textUpTo(MAX_NAME)),
  createdAt: LocalTime,
  star: int(0, 5),
  currentPage: Int32,
  itemPage: z.nullable(Int32),
  bookStatus: BookStatus,
  readStartDate: z.nullable(LocalTime),
  readEndDate: z.nullable(LocalTime),
  memoCount: Int32,
})

export const RegisteredBook = named(
  'RegisteredBook',
  z.pick(Book, { bookId: true, title: true, author: true, cover: true, bookStatus: true }),
)
export type RegisteredBook = z.infer<typeof RegisteredBook>

export const LibraryBook = named(
  'LibraryBook',
  z.omit(Book, { publisher: true, readStartDate: true, readEndDate: true }),
)
export type LibraryBook = z.infer<typeof LibraryBook>

export const LibraryBookPage = pageOf(LibraryBook)

export const ListedBook = named('ListedBook', Book)
export type ListedBook = z.infer<typeof ListedBook>

export const CalenderBook = named(
  'CalenderBook',
  z.extend(z.pick(Book, { bookId: true, cover: true }), { readEndDate: LocalTime }),
)
export type CalenderBook = z.infer<typeof CalenderBook>

export const AbandonedBook = named(
  'AbandonedBook',
  z.pick(Book, { bookId: true, createdAt: true, title: true, cover: true }),
)
export type AbandonedBook = z.infer<typeof AbandonedBook>

export const MemoBook = named('MemoBook', z.pick(Book, { bookId: true, title: true, cover: true, memoCount: true }))
export type MemoBook = z.infer<typeof MemoBook>

export const BookDetail = named('BookDetail', z.extend(Book, { memosList: z.array(Memo) }))
export type BookDetail = z.infer<typeof BookDetail>

const UpdatedBook = named(
  'UpdatedBook',
  z.omit(Book, { bookId: true, title: true, cover: true, createdAt: true, memoCount: true }),
)
export type UpdatedBook = z.infer<typeof UpdatedBook>

export const CreatedDate = named('CreatedDate', z.pick(Book, { bookId: true, createdAt: true }))
export type CreatedDate = z.infer<typeof CreatedDate>

export const DATE_SENT =
  '`yyyy-MM-ddTHH:mm:ss`, a valid calendar date without a time zone. Fractions of a second are dropped.'

export const booksReference: FeatureReference = {
  tag: 'Books',
  schemas: {
    AbandonedBook: 'An unread book that was registered long ago.',
    AbandonedBookPage: 'A page of unread books that were registered long ago.',
    BookDetail: 'A book with its memos.',
    BookMerge: 'The book to merge into another one.',
    BookPatch: 'The fields of a book to change. Absent fields stay unchanged.',
    BookStatus: 'Reading status of a book.\n\n- `YET`: not started\n- `ING`: being read\n- `DONE`: finished',
    CalenderBook: 'A finished book, with the day it was finished.',
    CalenderBookPage: 'A page of finished books.',
    CreatedDate: 'The registration date of a book.',
    LibraryBook: 'A book as listed in the library.',
    LibraryBookList: 'A page of books that match a search.',
    LibraryBookPage: 'A page of the library.',
    ListedBook: 'A book with all its fields.',
    MemoBook: 'A book that has memos.',
    MemoBookPage: 'A page of books with memos.',
    NewBook: 'A book to register.',
    RegisteredBook: 'A book that was just registered.',
    UpdatedBook: 'The values of a book after a change.',
  },
  properties: {
    author: 'Author of the book. Null if unknown.',
    'NewBook.author': `Author of the book. ${NULLABLE_SENT}`,
    'BookPatch.author': `Author of the book. ${NULLABLE_SENT}`,
    bookId: 'Identifier of the book.',
    bookStatus: 'Reading status.',
    'NewBook.bookStatus': 'Reading status. `YET` if absent.',
    'BookMerge.from': 'Identifier of the book that is merged into the other one, and put into the trash.',
    cover: 'URL of the cover image, or null.',
    'NewBook.cover': COVER_SENT,
    createdAt: 'When the book was registered.',
    currentPage: 'The page that the reader has reached.',
    'NewBook.currentPage': 'The page that the reader has reached. 0 if absent.',
    'NewBook.isbn':
      'An ISBN-10 or ISBN-13, with or without spaces and hyphens. `getEdition` returns it. Beside a title, an invalid one is ignored, and named in `X-Ignored`: `updateEdition` says what is wrong with it.',
    itemPage: 'Number of pages of the book. Null if unknown.',
    'NewBook.itemPage': 'Number of pages of the book.',
    'BookPatch.itemPage': 'Number of pages of the book.',
    memoCount: 'Number of memos on the book.',
    memosList: 'The memos that match `memoAuthority`, newest first.',
    publisher: 'Publisher of the book. Null if unknown.',
    'NewBook.publisher': `Publisher of the book. ${NULLABLE_SENT}`,
    'BookPatch.publisher': `Publisher of the book. ${NULLABLE_SENT}`,
    readEndDate: 'When reading ended, in the time zone of the reader. Null if not yet.',
    'CalenderBook.readEndDate': 'When reading ended.',
    'NewBook.readEndDate': `When reading ended. ${DATE_SENT}`,
    'BookPatch.readEndDate': `When reading ended. ${DATE_SENT}`,
    readStartDate: 'When reading started, in the time zone of the reader. Null if not yet.',
    'NewBook.readStartDate': `When reading started. ${DATE_SENT}`,
    'BookPatch.readStartDate': `When reading started. ${DATE_SENT}`,
    readStratDate: 'Old spelling of `readStartDate`. If both are sent, this is ignored, and named in `X-Ignored`.',
    star: 'Rating from 1 to 5. 0 means not rated.',
    title: 'Title of the book.',
    'NewBook.title': `Title of the book. Required without an \`isbn\`. ${WELL_FORMED}.`,
  },
  parameters: {
    'book-id': 'Identifier of the book.',
    bookStatus: 'Which books to list.',
    memoAuthority: 'Which memos to include. `ALL` includes all.',
  },
  operations: {
    'GET /books/library': {
      operationId: 'listLibrary',
      summary: 'List books by status',
      description: 'Newest registration first. `setCreatedDate` does not change the order.',
      responses: { 200: json(LibraryBookPage, 'A page of books') },
    },
    'GET /books/calender': {
      operationId: 'listCalender',
      summary: 'List finished books by end date',
      description: 'Books that are `DONE` and have a `readEndDate`, latest first.',
      responses: { 200: json(pageOf(CalenderBook), 'A page of books') },
    },
    'GET /books/abandon': {
      operationId: 'listAbandoned',
      summary: 'List old unread books',
      description:
        'Books that are still `YET` 90 days after registration, oldest first. The number of days can be configured.',
      responses: { 200: json(pageOf(AbandonedBook), 'A page of books') },
    },
    'GET /books/memo-books': {
      operationId: 'listMemoBooks',
      summary: 'List books with memos',
      description: 'Books that have at least one memo. Newest registration first.',
      responses: { 200: json(pageOf(MemoBook), 'A page of books') },
    },
    'POST /books': {
      operationId: 'registerBook',
      summary: 'Register a book',
      description:
        'Requires only a `title`, or an `isbn`. Registering the same title twice creates two books. Status and dates are stored as ' +
        'sent: neither changes the other, and only readings check that the end is not before the start. With an `isbn` and ' +
        'no `title`, the catalogue adds what you do not send: title, subtitle, author, publisher, pages, cover, language, ' +
        'year and `sourceIds`. If the catalogue does not know the ISBN, or fails, nothing is registered. Tags, format and series follow ' +
        'with `changeBookTags` and `updateEdition`, or `updateBooks`; `startImport` adds many books.',
      responses: { 201: json(RegisteredBook, 'The registered book', 'Location') },
      errors: ['MAX_BOOKS', 'MAX_MEMBER_TEXT_BYTES', 'ISBN_NOT_FOUND', ...CATALOGUE_ERRORS],
    },
    'GET /books/{book-id}': {
      operationId: 'getBook',
      summary: 'Get a book with its memos',
      description: '`memoCount` counts all memos. `memosList` has those that match `memoAuthority`, newest first.',
      responses: { 200: json(BookDetail, 'The book') },
    },
    'PATCH /books/{book-id}': {
      operationId: 'updateBook',
      summary: 'Update a book',
      description:
        'Any status may follow any other, and none changes a date. Dates are stored as sent, in any order. An empty object ' +
        'changes nothing. `title`, `cover` and details of the edition have no effect here: `updateEdition` changes them.',
      responses: { 200: json(UpdatedBook, 'The updated values') },
      errors: ['MAX_MEMBER_TEXT_BYTES'],
    },
    'DELETE /books/{book-id}': {
      operationId: 'deleteBook',
      summary: 'Delete a book with its memos',
      description:
        `\`restore\` brings it back for ${KEPT_DAYS} days. A second deletion returns 404. With \`next\` of \`listChanges\` ` +
        'as `If-Unchanged-Since`, nothing is deleted that you have not received: 412 if the book or its memos, ' +
        'readings, progress or tags changed since (deleted memos and readings do not count), or if that is unknown: ' +
        `during the first sync, after ${MAX_READ_CHANGES.toLocaleString('en')} changes, after a database restore.`,
      requestHeaders: ['If-Unchanged-Since'],
      responses: { 204: empty('Deleted') },
      errors: ['PRECONDITION_FAILED'],
    },
    'POST /books/{book-id}/merge': {
      operationId: 'mergeBooks',
      summary: 'Merge two books',
      description:
        'Moves the memos, readings, progress, tags and `sourceIds` of the book `from` to the book in the path, and ' +
        'puts `from` into the trash, in one transaction. Null fields of the book that stays are filled. Status, ' +
        'dates and stars are those of an open reading or of the latest one, `currentPage` that of the latest ' +
        'progress. A reading of `from` is dropped if it adds nothing to one of the other book. If both have an open ' +
        'one, that of `from` becomes a stopped one, or is dropped if it has no details. The `isbn` of `from` becomes ' +
        'a source id if the other book has another one. Beyond 20 source ids or 1,000 progress events in all, the ' +
        'last ids and the oldest events of `from` are dropped. `from` can have at most 2,500 memos: with more, send ' +
        `the other one. \`restore\` takes the books apart for ${KEPT_DAYS} days. A second merge returns 404.`,
      responses: { 200: json(ListedBook, 'The merged book') },
      errors: ['MAX_MEMOS_PER_BOOK', 'MAX_BOOK_TEXT_BYTES', 'MAX_READINGS', 'MAX_BOOK_TAGS'],
    },
    'GET /books/{book-id}/memos': {
      operationId: 'listBookMemos',
      summary: 'List the memos of a book',
      description: 'Newest first. `size` may be up to 10,000: the `memoCount` of the book loads all at once.',
      responses: { 200: json(pageOf(Memo, MAX_MEMOS_SIZE), 'A page of memos') },
    },
    'PATCH /books/created-date/{book-id}': {
      operationId: 'setCreatedDate',
      summary: 'Overwrite the registration date of a book',
      description:
        'The body is the new date, in the time zone of the service, as plain text or as a JSON string. For both, the content ' +
        'type may be `text/plain`, `application/json` or missing. Only `listAbandoned` depends on this date.',
      responses: { 200: json(CreatedDate, 'The updated date') },
    },
  },
}
