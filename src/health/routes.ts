import { Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { describeRoute, json } from '../http/describe-route'
import { MAX_SLOT } from '../placement'
import { checkDatabases } from './store'

const Health = z
  .object({
    status: z.literal('ok'),
    slots: z
      .array(z.int().min(0).max(MAX_SLOT))
      .min(2)
      .max(MAX_SLOT + 1)
      .optional(),
  })
  .meta({ id: 'Health' })

export const health = new Hono<App>().get(
  '/health',
  describeRoute({
    operationId: 'checkHealth',
    tags: ['Health'],
    usesDatabase: true,
    responses: { 200: json(Health, 'Healthy') },
  }),
  async (c) => {
    const slots = c.get('slots')
    await checkDatabases(c.env.DB, slots)
    const isOne = slots.numbers.length === 1
    return c.json({ status: 'ok' as const, ...(!isOne && { slots: [...slots.numbers] }) }, 200)
  },
)
