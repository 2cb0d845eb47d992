import { canEditLibrary, canReadLibrary } from '../../callers/authenticated'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { BookPath } from '../books/schema'
import { NewProgress, ProgressQuery } from './schema'
import { addProgress, isOtherDay, listProgress } from './store'

export const progress = new Hono<App>()
  .get('/:book-id/progress', canReadLibrary, valid('param', BookPath), valid('query', ProgressQuery), async (c) => {
    const list = await listProgress(c.var.db, c.var.caller, c.req.valid('param')['book-id'], c.req.valid('query'))
    return c.json(found(list, 'BOOK_NOT_FOUND'), 200)
  })
  .post('/:book-id/progress', canEditLibrary, valid('param', BookPath), valid('json', NewProgress), async (c) => {
    const sent = c.req.valid('json')
    const added = found(await addProgress(c.var, c.req.valid('param')['book-id'], sent), 'BOOK_NOT_FOUND')
    if (isOtherDay(sent, added)) c.var.ignoredFields?.push('date')
    return c.json(added, 201)
  })
