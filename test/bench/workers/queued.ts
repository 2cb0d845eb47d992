// The service on databases that take SERVICE_MS for a query.
import { withQueues } from '../../support/service/queue.ts'
import service from '../../support/service/service.js'
import { SERVICE_MS } from '../parts/slots-setup.ts'
import './silence.ts'

const withQueue = withQueues(SERVICE_MS)

export default {
  fetch: (request, env, context) => service.fetch(request, withQueue(env), context),
} satisfies ExportedHandler<{ DB: D1Database }>
