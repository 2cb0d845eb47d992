import { canReadLibrary } from '../../callers/authenticated'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { AuthorsQuery } from './schema'
import { listAuthors } from './store'

export const authors = new Hono<App>().get('/', canReadLibrary, valid('query', AuthorsQuery), async (c) =>
  c.json(await listAuthors(c.var.db, c.var.caller, c.req.valid('query')), 200),
)
