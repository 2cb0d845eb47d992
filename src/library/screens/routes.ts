import { canReadAll, canReadLibrary } from '../../callers/authenticated'
import { limitStatistics } from '../../callers/large-reads'
import { limitCaller } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { BookPath } from '../books/schema'
import { countBooks } from './counts'
import { listAcrossBooks } from './memos'
import { MemoListQuery, SeriesPath, SeriesQuery } from './schema'
import { getSeries } from './series'
import { getWholeBook } from './whole'

export const screens = new Hono<App>()
  .get('/books/counts', canReadLibrary, limitStatistics, async (c) =>
    c.json(await countBooks(c.var.db, c.var.caller), 200),
  )
  .all('/books/counts', allowOnly('GET', 'HEAD'))
  .get('/books/:book-id/whole', canReadLibrary, valid('param', BookPath), async (c) => {
    const book = await getWholeBook(c.var.db, c.var.caller, c.req.valid('param')['book-id'])
    return c.json(found(book, 'BOOK_NOT_FOUND'), 200)
  })
  .get('/series/:series', canReadLibrary, valid('param', SeriesPath), valid('query', SeriesQuery), async (c) => {
    const page = await getSeries(c.var.db, c.var.caller, c.req.valid('param').series, c.req.valid('query'))
    return c.json(page, 200)
  })
  .get('/memos', canReadAll, valid('query', MemoListQuery), async (c) => {
    const query = c.req.valid('query')
    if (query.q !== undefined) limitCaller(c, { binding: 'SEARCH_LIMIT', kind: '/memos/search' })
    return c.json(await listAcrossBooks(c.var, query), 200)
  })
