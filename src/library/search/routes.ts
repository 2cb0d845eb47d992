import { Hono } from 'hono'
import type { App } from '../../env'
import { found } from '../../errors'
import { valid } from '../../http/bodies/validate'
import { allowOnly } from '../../http/error-response'
import { canReadAll, canReadLibrary } from '../../http/guard/authenticated'
import { throttledByMember } from '../../http/guard/throttle'
import { BookSearch, MemoSearch } from './schema'
import { searchBooks, searchMemos } from './store'

export const search = new Hono<App>()
  .get('/books/search', canReadLibrary, throttledByMember, valid('query', BookSearch), async (c) =>
    c.json(await searchBooks(c.var.db, c.var.caller, c.req.valid('query')), 200),
  )
  .all('/books/search', allowOnly('GET', 'HEAD'))
  .get('/memos/search', canReadAll, throttledByMember, valid('query', MemoSearch), async (c) => {
    const list = await searchMemos(c.var.db, c.var.caller, c.req.valid('query'))
    return c.json(found(list, 'BOOK_NOT_FOUND'), 200)
  })
  .all('/memos/search', allowOnly('GET', 'HEAD'))
