// The service with the fault that the request names in X-Fault. The response is sent when the work after it has ended, and
// reports the calls in X-Calls.
import service from '../../support/service/service.js'
import { type Fault, injectFault } from '../failures/faults/inject.ts'

/** Stands in for the catalogue provider. */
const answerAsProvider = async (url: URL) =>
  Response.json(
    url.pathname === '/api/books'
      ? { 'ISBN:9788936434120': { details: { title: 'Human Acts', authors: [{ name: 'Han Kang' }] } } }
      : { works: [{ title: 'Demian' }], docs: [] },
  )

/** The longest that the platform lets work after a response run. */
const LATER_MS = 30_000

/** Collects the work after a response, which may start more of it. */
const collectWork = () => {
  const work: Promise<unknown>[] = []
  const endAll = async () => {
    for (const each of work) await each.catch(() => {})
  }
  return {
    context: { waitUntil: (each) => void work.push(each), passThroughOnException: () => {} } as ExecutionContext,
    untilEnd: () => Promise.race([endAll(), scheduler.wait(LATER_MS)]),
  }
}

export default {
  async fetch(request, env) {
    const header = request.headers.get('X-Fault')
    const injected = injectFault(env, header ? (JSON.parse(header) as Fault) : undefined)
    // Only one request at a time calls the provider, so a global is safe.
    globalThis.fetch = (url, init) =>
      new Promise<Response>((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        injected.interceptFetch(() => answerAsProvider(url as URL)).then(resolve, reject)
      })
    const { context, untilEnd } = collectWork()
    const start = Date.now()
    const response = await service.fetch(request, injected.env, context)
    const ms = Date.now() - start
    await untilEnd()
    return injected.report(response, ms)
  },
} satisfies ExportedHandler<Parameters<typeof injectFault>[0]>
