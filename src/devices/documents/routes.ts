import { canEditLibrary, canReadLibrary, sessionOnly } from '../../callers/authenticated'
import { throttledByMember } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { resetStatistics } from '../statistics/reset'
import { DocumentBook, DocumentPath, DocumentQuery } from './schema'
import { listDocuments, setDocumentBook } from './store'

export const documents = new Hono<App>()
  .get('/', canReadLibrary, valid('query', DocumentQuery), async (c) =>
    c.json(await listDocuments(c.var.db, c.var.caller, c.req.valid('query')), 200),
  )
  .delete('/statistics', sessionOnly, throttledByMember, async (c) => {
    await resetStatistics(c.var.db, c.var.caller, c.env.IMAGES)
    return c.body(null, 204)
  })
  .put('/:document-id/book', canEditLibrary, valid('param', DocumentPath), valid('json', DocumentBook), async (c) => {
    const { 'document-id': id } = c.req.valid('param')
    const document = await setDocumentBook(c.var.db, c.var.caller, id, c.req.valid('json'))
    return c.json(found(document, 'DOCUMENT_NOT_FOUND'), 200)
  })
