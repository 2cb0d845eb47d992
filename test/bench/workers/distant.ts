// The service with a database DISTANCE_MS away.
import service from '../../support/service/service.js'
import { type Env, withDelay } from './delay.ts'
import './silence.ts'

export default {
  fetch: (request, env, context) => service.fetch(request, withDelay(env), context),
} satisfies ExportedHandler<Env>
