// The service on databases that run one query at a time each, as D1 does. Locally D1 responds so fast that requests queue
// before the Worker, where it cannot shed them.
import service from '../../support/service.js'
import { wrapEnv } from '../../support/wrap-database.ts'

const QUERY_MS = 5

const withQueue = wrapEnv(() => {
  let freeAt = 0
  return async (call) => {
    freeAt = Math.max(freeAt, Date.now()) + QUERY_MS
    await scheduler.wait(freeAt - Date.now())
    return call()
  }
})

export default {
  fetch: (request, env, context) => service.fetch(request, withQueue(env), context),
} satisfies ExportedHandler<{ DB: D1Database }>
