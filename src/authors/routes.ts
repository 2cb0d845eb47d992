import { Hono } from 'hono'
import type { App } from '../env'
import { authenticated } from '../http/auth'
import { valid } from '../http/validate'
import { AuthorsQuery } from './schema'
import { listAuthors } from './store'

export const authors = new Hono<App>().get(
  '/',
  authenticated('library:read'),
  valid('query', AuthorsQuery),
  async (c) => c.json(await listAuthors(c.get('db'), c.get('caller'), c.req.valid('query')), 200),
)
