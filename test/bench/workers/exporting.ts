// The service, with counters of its D1 calls and their rows, to the end of the response. GET /cost returns and resets them.
import service from '../../support/service/service.js'
import { wrapDatabase } from '../../support/wrap-database.ts'
import './silence.ts'

type Meta = { rows_read?: number; rows_written?: number }

const none = () => ({ calls: 0, read: 0, written: 0 })
let cost = none()

export default {
  fetch: (request, env, context) => {
    if (new URL(request.url).pathname === '/cost') {
      const response = Response.json(cost)
      cost = none()
      return response
    }
    const DB = wrapDatabase(env.DB, async (call) => {
      cost.calls += 1
      const result = await call()
      for (const { meta = {} } of [result].flat() as { meta?: Meta }[]) {
        cost.read += meta.rows_read ?? 0
        cost.written += meta.rows_written ?? 0
      }
      return result
    })
    return service.fetch(request, { ...env, DB }, context)
  },
} satisfies ExportedHandler<{ DB: D1Database }>
