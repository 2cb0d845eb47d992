// The service in the region that the request names in X-Region, with each database at its distance from there.
import service from '../../support/service/service.js'
import { wrapEnv } from '../../support/wrap-database.ts'
import { DISTANCES_MS } from '../parts/slots-setup.ts'
import './silence.ts'

const regions = DISTANCES_MS.map((distances) =>
  wrapEnv<{ DB: D1Database }>((_, binding) => async (call) => {
    // The distance is the whole round trip, which the local call is part of.
    const [result] = await Promise.all([call(), scheduler.wait(distances[Number(binding.slice(3))] ?? 0)])
    return result
  }),
)

export default {
  fetch: (request, env, context) => {
    const region = regions[Number(request.headers.get('X-Region'))]
    return region ? service.fetch(request, region(env), context) : new Response(null, { status: 404 })
  },
} satisfies ExportedHandler<{ DB: D1Database }>
