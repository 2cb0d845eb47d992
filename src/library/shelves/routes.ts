import { Hono } from 'hono'
import { canReadLibrary } from '../../callers/authenticated'
import { limitStatistics } from '../../callers/large-reads'
import type { App } from '../../env'
import { found } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { valid } from '../../input/validate'
import { countBooks } from './counts'
import { SeriesPath, SeriesQuery } from './schema'
import { getSeries } from './series'

export const shelves = new Hono<App>()
  .get('/books/counts', canReadLibrary, limitStatistics, async (c) =>
    c.json(await countBooks(c.var.db, c.var.caller), 200),
  )
  .all('/books/counts', allowOnly('GET', 'HEAD'))
  .get('/series/:series', canReadLibrary, valid('param', SeriesPath), valid('query', SeriesQuery), async (c) => {
    const page = await getSeries(c.var.db, c.var.caller, c.req.valid('param').series, c.req.valid('query'))
    return c.json(found(page, 'SERIES_NOT_FOUND'), 200)
  })
