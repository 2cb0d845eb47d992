// The service with the fault that a request asks for in X-Fault; the answer tells what was called.
import { type Fault, injectFault } from '../faults/inject.ts'
import service from './service.js'

/** What the catalogue's provider would answer. */
const answerAsProvider = async () => Response.json({ works: [{ title: 'Demian' }] })

export default {
  async fetch(request, env, context) {
    const told = request.headers.get('X-Fault')
    const injected = injectFault(env, told ? (JSON.parse(told) as Fault) : undefined)
    // One request at a time asks the outside.
    globalThis.fetch = (_, init) =>
      new Promise<Response>((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        injected.around(answerAsProvider).then(resolve, reject)
      })
    return injected.tell(await service.fetch(request, injected.env, context))
  },
} satisfies ExportedHandler<Parameters<typeof injectFault>[0]>
