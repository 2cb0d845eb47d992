import { Hono } from 'hono'
import type { App } from '../env'
import { found } from '../errors'
import { authenticated } from '../http/auth'
import { describeRoute, empty, json } from '../http/describe-route'
import { allowOnly } from '../http/error-response'
import { sendJson } from '../http/json-stream'
import { limitLargePages } from '../http/large-pages'
import { localTime } from '../http/local-time'
import { sendPage } from '../http/send-page'
import { valid, validText } from '../http/validate'
import { listMemos } from '../memos/lists'
import { Memo, MemosQuery } from '../memos/schema'
import { listOf } from '../schema/cursor'
import { MAX_MEMOS_SIZE, Paging, pageOf } from '../schema/paging'
import { Timestamp } from '../schema/values'
import { listBooks, MAX_EXAMINED } from './list'
import {
  AbandonedBook,
  BookDetail,
  BookPatch,
  BookPath,
  CalenderBook,
  CreatedDate,
  DetailQuery,
  LibraryBookPage,
  LibraryQuery,
  ListedBook,
  ListQuery,
  MemoBook,
  NewBook,
  RegisteredBook,
  UpdatedBook,
} from './schema'
import { createBook, deleteBook, getBook, setCreatedDate, updateBook } from './store'
import { listAbandoned, listCalender, listLibrary, listWithMemos } from './views'

const DAY_MS = 86_400_000

const views = new Hono<App>()
  .get(
    '/library',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listLibrary',
      summary: 'List books by status',
      description: 'Newest registration first. `setCreatedDate` does not change the order.',
      tags: ['Books'],
      responses: { 200: json(LibraryBookPage, 'A page of books', 'Link') },
    }),
    valid('query', LibraryQuery),
    limitLargePages,
    async (c) => {
      const query = c.req.valid('query')
      return sendPage(c, '/books/library', query, await listLibrary(c.get('db'), c.get('caller'), query))
    },
  )
  .get(
    '/calender',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listCalender',
      summary: 'List finished books by end date',
      description: 'Books that are `DONE` and have a `readEndDate`, latest first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(CalenderBook), 'A page of books', 'Link') },
    }),
    valid('query', Paging),
    limitLargePages,
    async (c) => {
      const query = c.req.valid('query')
      return sendPage(c, '/books/calender', query, await listCalender(c.get('db'), c.get('caller'), query))
    },
  )
  .get(
    '/abandon',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listAbandoned',
      summary: 'List old unread books',
      description:
        'Books that are still `YET` 90 days after registration, oldest first. The number of days can be configured.',
      tags: ['Books'],
      responses: { 200: json(pageOf(AbandonedBook), 'A page of books', 'Link') },
    }),
    valid('query', Paging),
    limitLargePages,
    async (c) => {
      const { db, caller, config } = c.var
      const before = localTime(config.TIME_ZONE, Date.now() - config.ABANDON_AFTER_DAYS * DAY_MS)
      const query = c.req.valid('query')
      return sendPage(c, '/books/abandon', query, await listAbandoned(db, caller, before, query))
    },
  )
  .get(
    '/memo-books',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listMemoBooks',
      summary: 'List books with memos',
      description: 'Books that have at least one memo. Newest registration first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(MemoBook), 'A page of books', 'Link') },
    }),
    valid('query', Paging),
    limitLargePages,
    async (c) => {
      const query = c.req.valid('query')
      return sendPage(c, '/books/memo-books', query, await listWithMemos(c.get('db'), c.get('caller'), query))
    },
  )
  .all('/:view{(?:library|calender|abandon|memo-books)}', allowOnly('GET', 'HEAD'))

export const books = new Hono<App>()
  .route('/', views)
  .get(
    '/',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listBooks',
      summary: 'List, sort and filter books',
      description:
        'All books, or those that match all filters. A `-` before the sort reverses it. Books without a value to sort by come ' +
        'last in both directions, newest registration first: for `author`, books without one; for `finished`, books that ' +
        'are not `DONE` or have no `readEndDate`; for `rating`, unrated books. With filters, a request examines at most ' +
        `${2 * MAX_EXAMINED} books, so a page can be short or empty: the list ends when \`next\` is null.`,
      tags: ['Books'],
      responses: { 200: json(listOf(ListedBook), 'A page of books') },
    }),
    valid('query', ListQuery),
    async (c) => c.json(await listBooks(c.get('db'), c.get('caller'), c.req.valid('query')), 200),
  )
  .post(
    '/',
    authenticated('library:write'),
    describeRoute({
      operationId: 'registerBook',
      summary: 'Register a book',
      description:
        'Only `title` is required. Registering the same title twice creates two books. Status and dates are stored as ' +
        'sent: neither changes the other.',
      tags: ['Books'],
      responses: { 201: json(RegisteredBook, 'The registered book', 'Location') },
      errors: ['MAX_BOOKS', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('json', NewBook),
    async (c) => {
      const { db, caller, config } = c.var
      const book = await createBook(db, caller, c.req.valid('json'), localTime(config.TIME_ZONE), config)
      return c.json(book, 201, { Location: `/books/${book.bookId}?memoAuthority=ALL` })
    },
  )
  .get(
    '/:book-id',
    authenticated('library:read', 'memos:read'),
    describeRoute({
      operationId: 'getBook',
      summary: 'Get a book with its memos',
      description:
        '`memoCount` counts all memos of the book. `memosList` contains those that match `memoAuthority`, newest first.',
      tags: ['Books'],
      responses: { 200: json(BookDetail, 'The book') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    valid('query', DetailQuery),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const book = await getBook(c.get('db'), c.get('caller'), bookId, c.req.valid('query'))
      return sendJson<BookDetail>(c, found(book, 'BOOK_NOT_FOUND'))
    },
  )
  .get(
    '/:book-id/memos',
    authenticated('memos:read'),
    describeRoute({
      operationId: 'listBookMemos',
      summary: 'List the memos of a book',
      description:
        'Newest first. `size` may be up to 10,000: send the `memoCount` of the book to load all its memos at once.',
      tags: ['Books'],
      responses: { 200: json(pageOf(Memo, MAX_MEMOS_SIZE), 'A page of memos', 'Link') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    valid('query', MemosQuery),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const query = c.req.valid('query')
      const page = await listMemos(c.get('db'), c.get('caller'), bookId, query)
      return sendPage(c, `/books/${bookId}/memos`, query, found(page, 'BOOK_NOT_FOUND'))
    },
  )
  .patch(
    '/:book-id',
    authenticated('library:read', 'library:write'),
    describeRoute({
      operationId: 'updateBook',
      summary: 'Update a book',
      description:
        'Absent fields stay unchanged, and null clears a field that may be null. Any status may follow any other, and ' +
        'none changes a date. An empty object changes nothing.',
      tags: ['Books'],
      responses: { 200: json(UpdatedBook, 'The updated values') },
      errors: ['BOOK_NOT_FOUND', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('param', BookPath),
    valid('json', BookPatch),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const book = await updateBook(c.get('db'), c.get('caller'), bookId, c.req.valid('json'), c.get('config'))
      return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .delete(
    '/:book-id',
    authenticated('library:write', 'memos:write'),
    describeRoute({
      operationId: 'deleteBook',
      summary: 'Delete a book with its memos',
      description: 'Cannot be undone. A second deletion returns 404.',
      tags: ['Books'],
      responses: { 204: empty('Deleted') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    async (c) => {
      found(await deleteBook(c.get('db'), c.get('caller'), c.req.valid('param')['book-id']), 'BOOK_NOT_FOUND')
      return c.body(null, 204)
    },
  )
  .patch(
    '/created-date/:book-id',
    authenticated('library:write'),
    describeRoute({
      operationId: 'setCreatedDate',
      summary: 'Overwrite the registration date of a book',
      description:
        'The body is the new date, in the time zone of the service, as plain text or as a JSON string, whatever the content ' +
        'type says. Only `listAbandoned` depends on this date.',
      tags: ['Books'],
      responses: { 200: json(CreatedDate, 'The updated date') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    validText('createdAt', Timestamp),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const book = await setCreatedDate(c.get('db'), c.get('caller'), bookId, c.req.valid('json').createdAt)
      return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
    },
  )
