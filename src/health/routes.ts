import { Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { describeRoute, json } from '../http/describe-route'
import { checkDatabase } from './store'

const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

export const health = new Hono<App>().get(
  '/health',
  describeRoute({
    operationId: 'checkHealth',
    summary: 'Check the health of the service',
    description:
      'Succeeds when the configuration is valid and the database answers, checked at most once every five seconds.',
    tags: ['Health'],
    usesDatabase: true,
    responses: { 200: json(Health, 'Healthy') },
  }),
  async (c) => {
    await checkDatabase(c.env.DB, c.get('db'))
    return c.json({ status: 'ok' } as const, 200)
  },
)
