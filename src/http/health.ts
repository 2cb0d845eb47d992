import { Hono } from 'hono'
import * as z from 'zod'
import { ping } from '../db/client'
import type { App } from '../env'
import { describe, json } from './describe'
import { ApiError, unavailable } from './errors'

const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

export const health = new Hono<App>().get(
  '/health',
  describe({
    operationId: 'checkHealth',
    summary: 'Tell whether the service can answer',
    description: 'It is configured, and its database answers.',
    tags: ['Health'],
    responses: { 200: json(Health, 'It can') },
  }),
  async (c) => {
    await ping(c.get('db')).catch((error) => {
      throw error instanceof ApiError ? error : unavailable(error)
    })
    return c.json({ status: 'ok' } as const, 200)
  },
)
