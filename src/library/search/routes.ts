import { canReadAll, canReadLibrary } from '../../callers/authenticated'
import { throttledAsSearches } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { BookSearch, MemoSearch } from './schema'
import { searchBooks, searchMemos } from './store'

export const search = new Hono<App>()
  .get('/books/search', canReadLibrary, throttledAsSearches, valid('query', BookSearch), async (c) =>
    c.json(await searchBooks(c.var.db, c.var.caller, c.req.valid('query')), 200),
  )
  .all('/books/search', allowOnly('GET', 'HEAD'))
  .get('/memos/search', canReadAll, throttledAsSearches, valid('query', MemoSearch), async (c) => {
    const list = await searchMemos(c.var.db, c.var.caller, c.req.valid('query'))
    return c.json(found(list, 'BOOK_NOT_FOUND'), 200)
  })
  .all('/memos/search', allowOnly('GET', 'HEAD'))
