import { canReadLibrary } from '../../callers/authenticated'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { IsbnPath } from '../editions/schema'
import { CatalogueQuery } from './schema'
import { lookUpIsbn, searchAsMember } from './store'

export const lookup = new Hono<App>()
  .get('/isbn/:isbn', canReadLibrary, valid('param', IsbnPath), async (c) =>
    c.json(await lookUpIsbn({ ...c.var, env: c.env }, c.req.valid('param').isbn), 200),
  )
  .get('/search', canReadLibrary, valid('query', CatalogueQuery), async (c) =>
    c.json(await searchAsMember({ ...c.var, env: c.env }, c.req.valid('query').q), 200),
  )
