import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { toInstant } from '../../values/fields'
import { checkHealth, describeSweep } from './store'

export const health = new Hono<App>().get('/health', async (c) => {
  const slots = c.var.slots
  const lastSweep = await checkHealth(c.env, slots, c.var.config)
  const isMaintained = c.var.config.MAINTENANCE === 'on'
  const warnings = [
    ...(isMaintained ? ['Under maintenance: changes get 503'] : []),
    ...describeSweep(lastSweep, c.env.VERSION.timestamp),
  ]
  const health = {
    status: 'ok' as const,
    version: c.env.VERSION.id,
    lastSweep: lastSweep ? toInstant(lastSweep) : null,
    ...(warnings.length > 0 && { warnings }),
    ...(slots.numbers.length > 1 && { slots: [...slots.numbers] }),
  }
  return c.json(health, 200)
})
