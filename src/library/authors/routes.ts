import { Hono } from 'hono'
import type { App } from '../../env'
import { valid } from '../../http/bodies/validate'
import { canReadLibrary } from '../../http/guard/authenticated'
import { AuthorsQuery } from './schema'
import { listAuthors } from './store'

export const authors = new Hono<App>().get('/', canReadLibrary, valid('query', AuthorsQuery), async (c) =>
  c.json(await listAuthors(c.var.db, c.var.caller, c.req.valid('query')), 200),
)
