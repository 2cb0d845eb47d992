import * as z from 'zod'
import { MAX_SLOT } from '../../placement'
import { json, type Operations } from './operation'

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

export const healthOperations: Operations = {
  'GET /health': {
    operationId: 'checkHealth',
    summary: 'Check the health of the service',
    description:
      'Succeeds when the configuration is valid and all databases answer, checked at most once every five seconds. With ' +
      'several databases, the error message names those that do not. Of more than sixty, each check asks sixty.',
    usesDatabase: true,
    responses: { 200: json(Health, 'Healthy') },
  },
}
