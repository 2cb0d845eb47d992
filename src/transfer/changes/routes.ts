import { Hono } from 'hono'
import type { App } from '../../env'
import { valid } from '../../http/bodies/validate'
import { canReadAll } from '../../http/guard/authenticated'
import { throttledAsWrites } from '../../http/guard/throttle'
import { ChangesQuery } from './schema'
import { listChanges } from './store'

export const changes = new Hono<App>().get(
  '/changes',
  canReadAll,
  throttledAsWrites,
  valid('query', ChangesQuery),
  async (c) => c.json(await listChanges(c.var.db, c.var.caller, c.req.valid('query')), 200),
)
