// The service with databases at different distances, so that response times reveal which ones were queried. Responses
// name them in X-Databases.
import service from '../../support/service.js'
import { wrapDatabase } from '../../support/wrap-database.ts'

const DISTANCE_MS = { DB: 2, DB_1: 12 }

export default {
  async fetch(request, env, context) {
    const asked: string[] = []
    const withDistance = (binding: 'DB' | 'DB_1') =>
      wrapDatabase(env[binding], async (call) => {
        asked.push(binding)
        await scheduler.wait(DISTANCE_MS[binding])
        return call()
      })
    const databases = { DB: withDistance('DB'), DB_1: withDistance('DB_1') }
    const response = await service.fetch(request, { ...env, ...databases }, context)
    const named = new Response(response.body, response)
    named.headers.set('X-Databases', asked.join())
    return named
  },
} satisfies ExportedHandler<Record<'DB' | 'DB_1', D1Database>>
