import { canEditLibrary, canReadLibrary, canWriteLibrary } from '../../callers/authenticated'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { sendJson } from '../../http/json-stream'
import { keyed } from '../../input/request-key'
import { valid } from '../../input/validate'
import { BookPath } from '../books/schema'
import { deleteReading, updateReading } from './change'
import type { Reading } from './responses'
import { NewReading, ReadingPatch, ReadingPath } from './schema'
import { createReading, listReadings } from './store'

export const bookReadings = new Hono<App>()
  .get('/:book-id/readings', canReadLibrary, valid('param', BookPath), async (c) => {
    const readings = await listReadings(c.var.db, c.var.caller, c.req.valid('param')['book-id'])
    return sendJson<Reading[]>(c, found(readings, 'BOOK_NOT_FOUND'))
  })
  .post(
    '/:book-id/readings',
    canWriteLibrary,
    keyed('library:read'),
    valid('param', BookPath),
    valid('json', NewReading),
    async (c) => {
      const { db, caller, config, key } = c.var
      const reading = await createReading(db, caller, c.req.valid('param')['book-id'], c.req.valid('json'), config, key)
      return c.json(found(reading, 'BOOK_NOT_FOUND'), 201)
    },
  )

export const readings = new Hono<App>()
  .patch('/:reading-id', canEditLibrary, valid('param', ReadingPath), valid('json', ReadingPatch), async (c) => {
    const { db, caller, config } = c.var
    const reading = await updateReading(db, caller, c.req.valid('param')['reading-id'], c.req.valid('json'), config)
    return c.json(found(reading, 'READING_NOT_FOUND'), 200)
  })
  .delete('/:reading-id', canWriteLibrary, valid('param', ReadingPath), async (c) => {
    const readingId = c.req.valid('param')['reading-id']
    found(await deleteReading(c.var.db, c.var.caller, readingId), 'READING_NOT_FOUND')
    return c.body(null, 204)
  })
