// The service on databases that take 5 ms for a query. Locally D1 responds so fast that requests queue before the
// Worker, where it cannot shed them.
import { withQueues } from '../../support/service/queue.ts'
import service from '../../support/service/service.js'

const withQueue = withQueues(5)

export default {
  fetch: (request, env, context) => service.fetch(request, withQueue(env), context),
} satisfies ExportedHandler<{ DB: D1Database }>
