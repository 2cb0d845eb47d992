import { Hono } from 'hono'
import * as z from 'zod'
import { BookPath } from '../books/schema'
import type { App } from '../env'
import { found } from '../errors'
import { authenticated } from '../http/auth'
import { describeRoute, empty, json } from '../http/describe-route'
import { sendJson } from '../http/json-stream'
import { valid } from '../http/validate'
import { MAX_READINGS, NewReading, Reading, ReadingPatch, ReadingPath } from './schema'
import { createReading, deleteReading, listReadings, updateReading } from './store'

export const bookReadings = new Hono<App>()
  .get(
    '/:book-id/readings',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listReadings',
      summary: 'List the readings of a book',
      description:
        'Newest first, at most 200. A book that is `ING` or `DONE` has at least one. The book has the status, dates and ' +
        'rating of the newest.',
      tags: ['Readings'],
      responses: { 200: json(z.array(Reading).max(MAX_READINGS), 'The readings') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    async (c) => {
      const readings = await listReadings(c.get('db'), c.get('caller'), c.req.valid('param')['book-id'])
      return sendJson<Reading[]>(c, found(readings, 'BOOK_NOT_FOUND'))
    },
  )
  .post(
    '/:book-id/readings',
    authenticated('library:write'),
    describeRoute({
      operationId: 'createReading',
      summary: 'Add a reading of a book',
      description:
        'If it is the newest reading, the book takes its status, full dates and rating. Otherwise the book does not change.',
      tags: ['Readings'],
      responses: { 201: json(Reading, 'The new reading') },
      errors: ['BOOK_NOT_FOUND', 'MAX_READINGS', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('param', BookPath),
    valid('json', NewReading),
    async (c) => {
      const { db, caller, config } = c.var
      const reading = await createReading(db, caller, c.req.valid('param')['book-id'], c.req.valid('json'), config)
      return c.json(found(reading, 'BOOK_NOT_FOUND'), 201)
    },
  )

export const readings = new Hono<App>()
  .patch(
    '/:reading-id',
    authenticated('library:read', 'library:write'),
    describeRoute({
      operationId: 'updateReading',
      summary: 'Update a reading',
      description:
        'Absent fields stay unchanged, and null clears a field. If the reading is or becomes the newest, the book changes, ' +
        'too. An empty object changes nothing.',
      tags: ['Readings'],
      responses: { 200: json(Reading, 'The updated reading') },
      errors: ['READING_NOT_FOUND', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('param', ReadingPath),
    valid('json', ReadingPatch),
    async (c) => {
      const { db, caller, config } = c.var
      const reading = await updateReading(db, caller, c.req.valid('param')['reading-id'], c.req.valid('json'), config)
      return c.json(found(reading, 'READING_NOT_FOUND'), 200)
    },
  )
  .delete(
    '/:reading-id',
    authenticated('library:write'),
    describeRoute({
      operationId: 'deleteReading',
      summary: 'Delete a reading',
      description:
        'Cannot be undone. The book takes the status, dates and rating of the newest reading that is left. Without any, the ' +
        'book becomes `YET` and has no dates.',
      tags: ['Readings'],
      responses: { 204: empty('Deleted') },
      errors: ['READING_NOT_FOUND'],
    }),
    valid('param', ReadingPath),
    async (c) => {
      const readingId = c.req.valid('param')['reading-id']
      found(await deleteReading(c.get('db'), c.get('caller'), readingId), 'READING_NOT_FOUND')
      return c.body(null, 204)
    },
  )
