// The service with a database whose calls take a few milliseconds more, each another time: they overtake each other.

import { jitter } from '../../support/service/jitter.ts'
import service from '../../support/service/service.js'
import { wrapEnv } from '../../support/wrap-database.ts'

const withJitter = wrapEnv<{ DB: D1Database }>(() => jitter)

export default {
  fetch: (request, env, context) => service.fetch(request, withJitter(env), context),
} satisfies ExportedHandler<{ DB: D1Database }>
