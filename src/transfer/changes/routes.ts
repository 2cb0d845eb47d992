import { canReadAll } from '../../callers/authenticated'
import { throttledAsWrites } from '../../callers/throttle'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { ChangesQuery } from './schema'
import { listChanges } from './store'

export const changes = new Hono<App>().get(
  '/changes',
  canReadAll,
  throttledAsWrites,
  valid('query', ChangesQuery),
  async (c) => c.json(await listChanges(c.var.db, c.var.caller, c.req.valid('query')), 200),
)
