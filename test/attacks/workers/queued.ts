// The service on a database as busy as D1 can be: one query at a time, QUERY_MS each, the others in line. Locally D1
// answers within the turn, so that requests would queue before the Worker is asked, where it cannot shed them.
import { wrapDatabase } from '../../support/wrap-database.ts'
import service from './service.js'

const QUERY_MS = 5
let freeAt = 0

const wrapped = new WeakMap<object, object>()

const queue = (env: { DB: D1Database }) => {
  const known = wrapped.get(env)
  if (known) return known
  const DB = wrapDatabase(env.DB, async (call) => {
    freeAt = Math.max(freeAt, Date.now()) + QUERY_MS
    await scheduler.wait(freeAt - Date.now())
    return call()
  })
  const queued = { ...env, DB }
  wrapped.set(env, queued)
  return queued
}

export default {
  fetch: (request, env, context) => service.fetch(request, queue(env), context),
} satisfies ExportedHandler<{ DB: D1Database }>
