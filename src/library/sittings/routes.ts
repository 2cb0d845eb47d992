import { canReadLibrary } from '../../callers/authenticated'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { BookPath } from '../books/schema'
import { SittingQuery } from './schema'
import { listSittings } from './store'

export const sittings = new Hono<App>().get(
  '/:book-id/sittings',
  canReadLibrary,
  valid('param', BookPath),
  valid('query', SittingQuery),
  async (c) => {
    const list = await listSittings(c.var, c.req.valid('param')['book-id'], c.req.valid('query'))
    return c.json(found(list, 'BOOK_NOT_FOUND'), 200)
  },
)
