// The service with a clock that only the attack moves: X-Pass moves it by as many milliseconds, and returns its time.
import service from '../../support/service/service.js'

const real = Date.now.bind(Date)
let now: number | undefined
Date.now = () => {
  now ??= real()
  return now
}

export default {
  fetch: (request, env, context) => {
    const passed = request.headers.get('X-Pass')
    if (!passed) return service.fetch(request, env, context)
    now = Date.now() + Number(passed)
    return new Response(String(now))
  },
  scheduled: (event, env, context) => service.scheduled(event, env, context),
} satisfies ExportedHandler
