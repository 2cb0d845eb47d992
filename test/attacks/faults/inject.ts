// Bindings of which one call fails. Runs inside the Worker, in the torture and in the tests alike.
import { wrapDatabase } from '../../support/wrap-database.ts'

export const KINDS = ['throws', 'throws afterwards', 'hangs', 'is slow', 'answers junk', 'is down'] as const
export const BINDINGS = ['DB', 'IMAGES', 'CATALOGUE', 'EMAIL', 'NETWORK_LIMIT', 'MEMBER_LIMIT', 'fetch'] as const
export type Binding = (typeof BINDINGS)[number]

/** The call of the binding, counted from 1, that goes wrong; `is down` is that one and every later one. */
export type Fault = { binding: Binding; call: number; kind: (typeof KINDS)[number] }
export type Calls = Partial<Record<Binding, number>>

/** D1's own words for what its documentation says to try again. */
const LOST = 'D1_ERROR: Network connection lost.'
const SLOW_MS = 400

type Around = <T>(call: () => Promise<T>) => Promise<T>

const never = () => new Promise<never>(() => {})

const aroundCalls =
  (binding: Binding, calls: Calls, fault?: Fault): Around =>
  async (call) => {
    const number = (calls[binding] ?? 0) + 1
    calls[binding] = number
    if (fault?.binding !== binding || number < fault.call) return call()
    if (fault.kind === 'is down') throw new Error(LOST)
    if (number > fault.call) return call()
    if (fault.kind === 'hangs') return never()
    if (fault.kind === 'throws') throw new Error(LOST)
    if (fault.kind === 'is slow') await scheduler.wait(SLOW_MS)
    const done = await call()
    if (fault.kind === 'throws afterwards') throw new Error(LOST)
    return fault.kind === 'answers junk' ? ('junk' as never) : done
  }

type Methods = Record<string, (...values: unknown[]) => Promise<unknown>>

const wrapMethods = <T extends object>(binding: T, around: Around) =>
  new Proxy(binding, {
    get:
      (target, name) =>
      (...values: unknown[]) =>
        around(async () => (target as unknown as Methods)[String(name)]?.(...values)),
  })

type Wrapped = Record<Exclude<Binding, 'DB' | 'fetch'>, object> & { DB: D1Database }

/**
 * The bindings with a fault among them. `tell` adds to an answer how often each was called, and the code that was
 * mailed meanwhile.
 */
export const injectFault = <Env extends Wrapped>(env: Env, fault?: Fault) => {
  const calls: Calls = {}
  const aroundOf = (binding: Binding) => aroundCalls(binding, calls, fault)
  const wrapped: Env = { ...env, DB: wrapDatabase(env.DB, aroundOf('DB')) }
  for (const binding of BINDINGS) {
    if (binding === 'DB' || binding === 'fetch') continue
    wrapped[binding] = wrapMethods(env[binding], aroundOf(binding))
  }
  let code = ''
  const send = (mail: { text: string }) => {
    code = /\b\d{6}\b/.exec(mail.text)?.[0] ?? ''
    return (env.EMAIL as unknown as Methods).send?.(mail)
  }
  wrapped.EMAIL = wrapMethods({ send }, aroundOf('EMAIL'))
  const tell = (answer: Response) => {
    const telling = new Response(answer.body, answer)
    telling.headers.set('X-Calls', JSON.stringify(calls))
    if (code) telling.headers.set('X-Code', code)
    return telling
  }
  return { env: wrapped, tell, around: aroundOf('fetch') }
}
