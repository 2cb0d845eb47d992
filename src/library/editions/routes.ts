import { canEditLibrary, canReadLibrary } from '../../callers/authenticated'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { BookPath } from '../books/schema'
import { EditionPatch, IsbnPath } from './schema'
import { getEdition, listByIsbn, updateEdition } from './store'

export const editions = new Hono<App>()
  .get('/by-isbn/:isbn', canReadLibrary, valid('param', IsbnPath), async (c) =>
    c.json(await listByIsbn(c.var.db, c.var.caller, c.req.valid('param').isbn), 200),
  )
  .get('/:book-id/edition', canReadLibrary, valid('param', BookPath), async (c) => {
    const edition = await getEdition(c.var.db, c.var.caller, c.req.valid('param')['book-id'])
    return c.json(found(edition, 'BOOK_NOT_FOUND'), 200)
  })
  .patch('/:book-id/edition', canEditLibrary, valid('param', BookPath), valid('json', EditionPatch), async (c) => {
    const edition = await updateEdition(c.var, c.req.valid('param')['book-id'], c.req.valid('json'))
    return c.json(found(edition, 'BOOK_NOT_FOUND'), 200)
  })
