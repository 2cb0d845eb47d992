import {
  authenticated,
  canEditAll,
  canEditLibrary,
  canReadAll,
  canReadLibrary,
  canReadMemos,
  canWriteLibrary,
} from '../../callers/authenticated'
import { limitCountedPages, limitLargePages, recordCount } from '../../callers/large-reads'
import { limitCaller, refuseExceeded, throttledByMember } from '../../callers/throttle'
import { findEdition } from '../../catalogue/store'
import type { App } from '../../env'
import { found } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { sendJson } from '../../http/json-stream'
import { sendPage } from '../../http/send-page'
import { keyed } from '../../input/request-key'
import { readHeader, valid, validText } from '../../input/validate'
import { ChangesCursor } from '../../values/cursor'
import { Timestamp } from '../../values/fields'
import { Paging } from '../../values/paging'
import { DAY_MS, localTime } from '../../values/time'
import { listMemos } from '../memos/memo-lists'
import { MemosQuery } from '../memos/schema'
import { type FindEdition, registerByIsbn } from './by-isbn'
import { listBooks } from './list/book-list'
import { deleteBooks } from './many/delete-many'
import { updateBooks } from './many/update-many'
import { mergeBooks } from './merge'
import type { BookDetail } from './responses'
import {
  BookIds,
  BookMerge,
  BookPatch,
  BookPath,
  BooksPatch,
  DetailQuery,
  LibraryQuery,
  ListQuery,
  NewBook,
} from './schema'
import { createBook, deleteBook, getBook, setCreatedDate, updateBook } from './store'
import { listAbandoned, listCalender, listLibrary, listWithMemos } from './views'

const views = new Hono<App>()
  .get('/library', canReadLibrary, valid('query', LibraryQuery), limitLargePages, async (c) =>
    sendPage(c, await listLibrary(c.var.db, c.var.caller, c.req.valid('query'))),
  )
  .get('/calender', canReadLibrary, valid('query', Paging), limitLargePages, async (c) =>
    sendPage(c, await listCalender(c.var.db, c.var.caller, c.req.valid('query'))),
  )
  .get('/abandon', canReadLibrary, valid('query', Paging), limitCountedPages, async (c) => {
    const { db, caller, config } = c.var
    const before = localTime(config.TIME_ZONE, Date.now() - config.ABANDON_AFTER_DAYS * DAY_MS)
    const page = await listAbandoned(db, caller, before, c.req.valid('query'))
    recordCount(c, page)
    return sendPage(c, page)
  })
  .get('/memo-books', canReadLibrary, valid('query', Paging), limitLargePages, async (c) =>
    sendPage(c, await listWithMemos(c.var.db, c.var.caller, c.req.valid('query'))),
  )
  .all('/:view{(?:library|calender|abandon|memo-books)}', allowOnly('GET', 'HEAD'))

export const books = new Hono<App>()
  .route('/', views)
  .get('/', canReadLibrary, valid('query', ListQuery), async (c) => {
    const query = c.req.valid('query')
    if (query.q !== undefined) limitCaller(c, { binding: 'SEARCH_LIMIT', kind: '/books/search' })
    return c.json(await listBooks(c.var.db, c.var.caller, query), 200)
  })
  .post('/', canWriteLibrary, keyed('library:read'), valid('json', NewBook), async (c) => {
    const sent = c.req.valid('json')
    const find: FindEdition = (member, isbn) => {
      refuseExceeded(c)
      return findEdition({ ...c.var, env: c.env, member }, isbn)
    }
    const book = await ('title' in sent ? createBook(c.var, sent) : registerByIsbn(c.var, sent, find))
    return c.json(book, 201, { Location: `/books/${book.bookId}?memoAuthority=ALL` })
  })
  // Both can write thousands of rows, as a merge does.
  .patch('/', canEditLibrary, throttledByMember, valid('json', BooksPatch), async (c) =>
    c.json(await updateBooks(c.var, c.req.valid('json')), 200),
  )
  .post(
    '/delete',
    authenticated('library:write', 'memos:write'),
    throttledByMember,
    valid('json', BookIds),
    async (c) => c.json(await deleteBooks(c.var, c.req.valid('json')), 200),
  )
  .all('/delete', allowOnly('POST'))
  .get('/:book-id', canReadAll, valid('param', BookPath), valid('query', DetailQuery), async (c) => {
    const book = await getBook(c.var.db, c.var.caller, c.req.valid('param')['book-id'], c.req.valid('query'))
    return sendJson<BookDetail>(c, found(book, 'BOOK_NOT_FOUND'))
  })
  .get('/:book-id/memos', canReadMemos, valid('param', BookPath), valid('query', MemosQuery), async (c) => {
    const page = await listMemos(c.var.db, c.var.caller, c.req.valid('param')['book-id'], c.req.valid('query'))
    return sendPage(c, found(page, 'BOOK_NOT_FOUND'))
  })
  .patch('/:book-id', canEditLibrary, valid('param', BookPath), valid('json', BookPatch), async (c) => {
    const book = await updateBook(c.var, c.req.valid('param')['book-id'], c.req.valid('json'))
    return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
  })
  .delete('/:book-id', authenticated('library:write', 'memos:write'), valid('param', BookPath), async (c) => {
    const since = readHeader(c, 'If-Unchanged-Since', ChangesCursor)
    found(await deleteBook(c.var, c.req.valid('param')['book-id'], since), 'BOOK_NOT_FOUND')
    return c.body(null, 204)
  })
  // Books can be merged again and again, and each merge writes thousands of rows.
  .post(
    '/:book-id/merge',
    canEditAll,
    throttledByMember,
    valid('param', BookPath),
    valid('json', BookMerge),
    async (c) => {
      const { db, caller, config } = c.var
      const book = await mergeBooks(db, caller, c.req.valid('param')['book-id'], c.req.valid('json'), config)
      return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .patch(
    '/created-date/:book-id',
    canWriteLibrary,
    valid('param', BookPath),
    validText('createdAt', Timestamp),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const book = await setCreatedDate(c.var.db, c.var.caller, bookId, c.req.valid('json').createdAt)
      return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
    },
  )
