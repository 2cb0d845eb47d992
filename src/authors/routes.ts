import { Hono } from 'hono'
import type { App } from '../env'
import { authenticated } from '../http/auth'
import { describeRoute, json } from '../http/describe-route'
import { valid } from '../http/validate'
import { listOf } from '../schema/cursor'
import { Author, AuthorsQuery } from './schema'
import { listAuthors } from './store'

export const authors = new Hono<App>().get(
  '/',
  authenticated('library:read'),
  describeRoute({
    operationId: 'listAuthors',
    tags: ['Books'],
    responses: { 200: json(listOf(Author), 'A page of authors') },
  }),
  valid('query', AuthorsQuery),
  async (c) => c.json(await listAuthors(c.get('db'), c.get('caller'), c.req.valid('query')), 200),
)
