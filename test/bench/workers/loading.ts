// Loads the service's module on demand: the time of that request beside an idle one is what a cold start pays.
export default {
  async fetch(request) {
    if (new URL(request.url).pathname === '/load') await import('./service.js')
    return new Response('ok')
  },
} satisfies ExportedHandler
