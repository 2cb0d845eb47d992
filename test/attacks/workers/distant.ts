// The service with a database 40 ms away, as in another region: an import has time between its calls to be killed.
import service from '../../support/service/service.js'
import { wrapEnv } from '../../support/wrap-database.ts'

const withDistance = wrapEnv<{ DB: D1Database }>(() => async (call) => {
  await scheduler.wait(40)
  return call()
})

export default {
  fetch: (request, env, context) => service.fetch(request, withDistance(env), context),
  scheduled: (event, env, context) => service.scheduled(event, withDistance(env), context),
} satisfies ExportedHandler<{ DB: D1Database }>
