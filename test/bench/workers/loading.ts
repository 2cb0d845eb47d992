// Loads the service's module on demand, to measure what a cold start costs.
export default {
  async fetch(request) {
    if (new URL(request.url).pathname === '/load') await import('../../support/service/service.js')
    return new Response('ok')
  },
} satisfies ExportedHandler
