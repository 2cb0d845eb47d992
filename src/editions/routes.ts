import { Hono } from 'hono'
import * as z from 'zod'
import { BookPath, LibraryBook } from '../books/schema'
import type { App } from '../env'
import { found } from '../errors'
import { authenticated } from '../http/auth'
import { describeRoute, json } from '../http/describe-route'
import { valid } from '../http/validate'
import { Edition, EditionPatch, IsbnPath } from './schema'
import { getEdition, listByIsbn, MAX_SAME_ISBN, updateEdition } from './store'

export const editions = new Hono<App>()
  .get(
    '/by-isbn/:isbn',
    authenticated('library:read'),
    describeRoute({
      operationId: 'listBooksByIsbn',
      tags: ['Books'],
      responses: { 200: json(z.array(LibraryBook).max(MAX_SAME_ISBN), 'The books') },
    }),
    valid('param', IsbnPath),
    async (c) => c.json(await listByIsbn(c.get('db'), c.get('caller'), c.req.valid('param').isbn), 200),
  )
  .get(
    '/:book-id/edition',
    authenticated('library:read'),
    describeRoute({
      operationId: 'getEdition',
      tags: ['Books'],
      responses: { 200: json(Edition, 'The edition') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('param', BookPath),
    async (c) => {
      const edition = await getEdition(c.get('db'), c.get('caller'), c.req.valid('param')['book-id'])
      return c.json(found(edition, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .patch(
    '/:book-id/edition',
    authenticated('library:read', 'library:write'),
    describeRoute({
      operationId: 'updateEdition',
      tags: ['Books'],
      responses: { 200: json(Edition, 'The updated edition') },
      errors: ['BOOK_NOT_FOUND', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('param', BookPath),
    valid('json', EditionPatch),
    async (c) => {
      const bookId = c.req.valid('param')['book-id']
      const edition = await updateEdition(c.get('db'), c.get('caller'), bookId, c.req.valid('json'), c.get('config'))
      return c.json(found(edition, 'BOOK_NOT_FOUND'), 200)
    },
  )
