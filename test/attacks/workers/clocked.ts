// The service with a clock that the attack moves: X-Pass moves it by as many milliseconds, and returns its time.
import service from '../../support/service/service.js'

const real = Date.now.bind(Date)
let aheadMs = 0
Date.now = () => real() + aheadMs

export default {
  fetch: (request, env, context) => {
    const passed = request.headers.get('X-Pass')
    if (!passed) return service.fetch(request, env, context)
    aheadMs += Number(passed)
    return new Response(String(Date.now()))
  },
  scheduled: (event, env, context) => service.scheduled(event, env, context),
} satisfies ExportedHandler
