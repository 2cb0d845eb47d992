import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_SLOT } from '../../slots/placement'
import { namedObject } from '../../values/named'
import { Instant, textUpTo } from '../../values/responses'

const Health = namedObject('Health', {
  status: z.literal('ok'),
  version: textUpTo(36),
  lastSweep: z.nullable(Instant),
  warnings: z.optional(z.array(textUpTo(100)).check(z.minLength(1), z.maxLength(2))),
  slots: z.optional(
    z.array(z.int().check(z.minimum(0), z.maximum(MAX_SLOT))).check(z.minLength(2), z.maxLength(MAX_SLOT + 1)),
  ),
})

export const healthReference: FeatureReference = {
  tag: 'Health',
  schemas: { Health: 'The health of the service.' },
  properties: {
    lastSweep: 'When the last hourly sweep ended in which nothing failed. Null if it is unknown, or none has.',
    slots: 'Numbers of the databases that respond. Present only if the service has several.',
    status: 'Always `ok`: an unhealthy service responds with 503.',
    version: 'Identifies the uploaded version of the service that responds.',
    warnings:
      'What is wrong although requests are served: no sweep has succeeded within three hours (in a new service, since its ' +
      'version was uploaded), or its time is unknown; or nothing can be changed, because of maintenance.',
  },
  operations: {
    'GET /health': {
      operationId: 'checkHealth',
      summary: 'Check the health of the service',
      description:
        'Succeeds when the configuration is valid, all databases answer and belong together, and the store of images answers. ' +
        'Databases are asked at most once every five seconds, the store at most once a minute. The error message names the store, ' +
        'and the databases if there are several. Of more than sixty, each check asks sixty.',
      usesDatabase: true,
      responses: { 200: json(Health, 'Healthy') },
    },
  },
}
