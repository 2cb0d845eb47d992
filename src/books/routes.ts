import { Hono } from 'hono'
import type { App } from '../env'
import { authenticated } from '../http/auth'
import { localTime } from '../http/clock'
import { describe, empty, json } from '../http/describe'
import { found, only } from '../http/errors'
import { Paging, pageOf } from '../http/paging'
import { valid, validText } from '../http/validate'
import { Timestamp } from '../http/values'
import { Memo, MemosQuery } from '../memos/schema'
import { listMemos } from '../memos/store'
import {
  AbandonedBook,
  BookDetail,
  BookPatch,
  BookPath,
  CalenderBook,
  CreatedDate,
  DetailQuery,
  LibraryBook,
  LibraryQuery,
  MemoBook,
  NewBook,
  RegisteredBook,
  UpdatedBook,
} from './schema'
import { createBook, deleteBook, getBook, setCreatedDate, updateBook } from './store'
import { listAbandoned, listCalender, listLibrary, listWithMemos } from './views'

const MS_A_DAY = 86_400_000

const views = new Hono<App>()
  .get(
    '/library',
    authenticated,
    describe({
      operationId: 'listLibrary',
      summary: 'List the books of one status',
      description: 'Newest first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(LibraryBook), 'A page of books') },
    }),
    valid('query', LibraryQuery),
    async (c) => c.json(await listLibrary(c.get('db'), c.get('caller'), c.req.valid('query')), 200),
  )
  .get(
    '/calender',
    authenticated,
    describe({
      operationId: 'listCalender',
      summary: 'List the finished books by their end date',
      description: 'Those that are `DONE` and have a `readEndDate`, latest first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(CalenderBook), 'A page of books') },
    }),
    valid('query', Paging),
    async (c) => c.json(await listCalender(c.get('db'), c.get('caller'), c.req.valid('query')), 200),
  )
  .get(
    '/abandon',
    authenticated,
    describe({
      operationId: 'listAbandoned',
      summary: 'List the unread books that were registered long ago',
      description: 'Those that are `YET` after 90 days, unless the deployment counts otherwise. Oldest first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(AbandonedBook), 'A page of books') },
    }),
    valid('query', Paging),
    async (c) => {
      const { db, caller, config } = c.var
      const before = localTime(config.TIME_ZONE, Date.now() - config.ABANDON_AFTER_DAYS * MS_A_DAY)
      return c.json(await listAbandoned(db, caller, before, c.req.valid('query')), 200)
    },
  )
  .get(
    '/memo-books',
    authenticated,
    describe({
      operationId: 'listMemoBooks',
      summary: 'List the books that have memos',
      description: 'Newest first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(MemoBook), 'A page of books') },
    }),
    valid('query', Paging),
    async (c) => c.json(await listWithMemos(c.get('db'), c.get('caller'), c.req.valid('query')), 200),
  )
  .all('/:view{(?:library|calender|abandon|memo-books)}', only('GET', 'HEAD'))

export const books = new Hono<App>()
  .route('/', views)
  .post(
    '/',
    authenticated,
    describe({
      operationId: 'registerBook',
      summary: 'Register a book',
      description: 'Only `title` is required. The same title twice is two books; dates are kept as sent.',
      tags: ['Books'],
      responses: { 201: json(RegisteredBook, 'Registered', 'Location') },
    }),
    valid('json', NewBook),
    async (c) => {
      const { db, caller, config } = c.var
      const book = await createBook(db, caller, c.req.valid('json'), localTime(config.TIME_ZONE))
      return c.json(book, 201, { Location: `/books/${book.bookId}` })
    },
  )
  .get(
    '/:book-id',
    authenticated,
    describe({
      operationId: 'getBook',
      summary: 'Read a book with its memos',
      description:
        '`memoCount` counts all memos of the book; `memosList` holds those that `memoAuthority` lets through.',
      tags: ['Books'],
      responses: { 200: json(BookDetail, 'The book') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    valid('query', DetailQuery),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const book = await getBook(c.get('db'), c.get('caller'), bookId, c.req.valid('query'))
      return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .get(
    '/:book-id/memos',
    authenticated,
    describe({
      operationId: 'listBookMemos',
      summary: 'List the memos of a book by type',
      description: 'Newest first.',
      tags: ['Books'],
      responses: { 200: json(pageOf(Memo), 'A page of memos') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    valid('query', MemosQuery),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const page = await listMemos(c.get('db'), c.get('caller'), bookId, c.req.valid('query'))
      return c.json(found(page, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .patch(
    '/:book-id',
    authenticated,
    describe({
      operationId: 'updateBook',
      summary: 'Change a book',
      description: 'What is absent stays as it is; null clears what may be null.',
      tags: ['Books'],
      responses: { 200: json(UpdatedBook, 'The values afterwards') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    valid('json', BookPatch),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const book = await updateBook(c.get('db'), c.get('caller'), bookId, c.req.valid('json'))
      return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .delete(
    '/:book-id',
    authenticated,
    describe({
      operationId: 'deleteBook',
      summary: 'Delete a book with its memos',
      description: 'It cannot be undone; a second deletion is 404.',
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
    authenticated,
    describe({
      operationId: 'setCreatedDate',
      summary: 'Overwrite the registration date of a book',
      description: 'The body is the bare timestamp, or the same as a JSON string.',
      tags: ['Books'],
      responses: { 200: json(CreatedDate, 'The date afterwards') },
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
