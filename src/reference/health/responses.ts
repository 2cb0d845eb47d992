import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../openapi/feature-reference'
import { MAX_SLOT } from '../../slots/placement'
import { namedObject } from '../../values/named'

const Health = namedObject('Health', {
  status: z.literal('ok'),
  slots: z.optional(
    z.array(z.int().check(z.minimum(0), z.maximum(MAX_SLOT))).check(z.minLength(2), z.maxLength(MAX_SLOT + 1)),
  ),
})

export const healthReference: FeatureReference = {
  tag: 'Health',
  schemas: { Health: 'The health of the service.' },
  properties: {
    slots: 'Numbers of the databases that respond. Present only if the service has several.',
    status: 'Always `ok`: an unhealthy service responds with 503.',
  },
  operations: {
    'GET /health': {
      operationId: 'checkHealth',
      summary: 'Check the health of the service',
      description:
        'Succeeds when the configuration is valid and all databases answer and belong together, checked at most once every ' +
        'five seconds. With several databases, the error message names those that do not. Of more than sixty, each check asks sixty.',
      usesDatabase: true,
      responses: { 200: json(Health, 'Healthy') },
    },
  },
}
