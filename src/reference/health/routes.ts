import { Hono } from 'hono'
import type { App } from '../../env'
import { checkDatabases } from './store'

export const health = new Hono<App>().get('/health', async (c) => {
  const slots = c.var.slots
  await checkDatabases(c.env.DB, slots, c.var.config)
  const isOne = slots.numbers.length === 1
  return c.json({ status: 'ok' as const, ...(!isOne && { slots: [...slots.numbers] }) }, 200)
})
