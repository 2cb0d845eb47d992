// The service with its database DISTANCE_MS away.
import { wrapDatabase } from '../../support/wrap-database.ts'
import service from './service.js'

console.log = () => {}
console.info = () => {}

// Built once for each env, as the platform's own binding is.
const distant = new WeakMap<object, object>()

const holdUp = (env: { DB: D1Database; DISTANCE_MS: number }) => {
  const known = distant.get(env)
  if (known) return known
  const database = wrapDatabase(env.DB, async (call) => {
    await scheduler.wait(env.DISTANCE_MS)
    return call()
  })
  const held = { ...env, DB: database }
  distant.set(env, held)
  return held
}

export default {
  fetch: (request, env, context) => service.fetch(request, holdUp(env), context),
} satisfies ExportedHandler<{ DB: D1Database; DISTANCE_MS: number }>
