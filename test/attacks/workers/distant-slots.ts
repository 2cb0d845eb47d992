// The service with databases at different distances, so that response times reveal which ones were queried. Responses
// name those that answered before them in X-Databases; work after the response has only begun by then.
import service from '../../support/service/service.js'
import { wrapDatabase } from '../../support/wrap-database.ts'

const DISTANCE_MS = { DB: 2, DB_1: 12 }

export default {
  async fetch(request, env, context) {
    const answered: string[] = []
    const withDistance = (binding: 'DB' | 'DB_1') =>
      wrapDatabase(env[binding], async (call) => {
        await scheduler.wait(DISTANCE_MS[binding])
        const results = await call()
        answered.push(binding)
        return results
      })
    const databases = { DB: withDistance('DB'), DB_1: withDistance('DB_1') }
    const response = await service.fetch(request, { ...env, ...databases }, context)
    const named = new Response(response.body, response)
    named.headers.set('X-Databases', answered.join())
    return named
  },
} satisfies ExportedHandler<Record<'DB' | 'DB_1', D1Database>>
