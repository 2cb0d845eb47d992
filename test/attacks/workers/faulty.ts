// The service with the fault that the request names in X-Fault. The response reports the calls in X-Calls.
import service from '../../support/service.js'
import { type Fault, injectFault } from '../faults/inject.ts'

/** Stands in for the catalogue provider. */
const answerAsProvider = async () => Response.json({ works: [{ title: 'Demian' }] })

export default {
  async fetch(request, env, context) {
    const header = request.headers.get('X-Fault')
    const injected = injectFault(env, header ? (JSON.parse(header) as Fault) : undefined)
    // Only one request at a time calls the provider, so a global is safe.
    globalThis.fetch = (_, init) =>
      new Promise<Response>((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        injected.interceptFetch(answerAsProvider).then(resolve, reject)
      })
    return injected.report(await service.fetch(request, injected.env, context))
  },
} satisfies ExportedHandler<Parameters<typeof injectFault>[0]>
