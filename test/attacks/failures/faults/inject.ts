// Bindings with one failing call. Runs inside the Worker.
import { wrapDatabase } from '../../../support/wrap-database.ts'

export const KINDS = ['throws', 'throws afterwards', 'hangs', 'is slow', 'answers junk', 'is down'] as const
const LIMITS = [
  'NETWORK_LIMIT',
  'MEMBER_LIMIT',
  'SEARCH_LIMIT',
  'DEVICE_LIMIT',
  'WRITE_LIMIT',
  'CREDENTIAL_LIMIT',
] as const
export const BINDINGS = ['DB', 'DB_1', 'IMAGES', 'CATALOGUE', 'EMAIL', 'READER', ...LIMITS, 'fetch'] as const
type Binding = (typeof BINDINGS)[number]
type Database = 'DB' | 'DB_1'

/** Which call of a binding fails, counted from 1. `is down`: that call and all later ones. */
export type Fault = { binding: Binding; call: number; kind: (typeof KINDS)[number] | 'fails late' }
export type Calls = Partial<Record<Binding, number>>

/** Transient errors of D1. */
const LOST = 'D1_ERROR: Network connection lost.'
const INTERNAL = 'D1_ERROR: internal error; reference = 0123456789abcdefghijklmn'
const SLOW_MS = 400
/** Just before the timeout of a call. */
const LATE_MS = 9950

type Intercept = <T>(call: () => Promise<T>) => Promise<T>

const interceptCalls =
  (binding: Binding, calls: Calls, fault?: Fault): Intercept =>
  async (call) => {
    const number = (calls[binding] ?? 0) + 1
    calls[binding] = number
    if (fault?.binding !== binding || number < fault.call) return call()
    if (fault.kind === 'is down') throw new Error(LOST)
    if (number > fault.call) return call()
    if (fault.kind === 'hangs') return new Promise<never>(() => {})
    if (fault.kind === 'fails late') await scheduler.wait(LATE_MS)
    if (fault.kind === 'throws' || fault.kind === 'fails late') throw new Error(LOST)
    if (fault.kind === 'is slow') await scheduler.wait(SLOW_MS)
    const result = await call()
    if (fault.kind === 'throws afterwards') throw new Error(INTERNAL)
    return fault.kind === 'answers junk' ? ('junk' as never) : result
  }

type Methods = Record<string, (...values: unknown[]) => Promise<unknown>>

const wrapMethods = <T extends object>(binding: T, intercept: Intercept) =>
  new Proxy(binding, {
    get:
      (target, name) =>
      (...values: unknown[]) =>
        intercept(async () => (target as unknown as Methods)[String(name)]?.(...values)),
  })

type Bindings = Record<Exclude<Binding, Database | 'WRITE_LIMIT' | 'CREDENTIAL_LIMIT' | 'fetch'>, object> & {
  DB: D1Database
  DB_1?: D1Database
  WRITE_LIMIT?: object
  CREDENTIAL_LIMIT?: object
}

/** A code that is a line of its own in a mail. */
const CODE = /^(?:\d{6}|[0-9A-Z]+(?:-[0-9A-Z]{5})+)$/m

/**
 * Injects a fault. `report` adds the number of calls, the last mailed code and the time until the response to a response,
 * as X-Calls, X-Code and X-Response-Ms.
 */
export const injectFault = <Env extends Bindings>(env: Env, fault?: Fault) => {
  const calls: Calls = {}
  const interceptOf = (binding: Binding) => interceptCalls(binding, calls, fault)
  const wrapped: Env = { ...env, DB: wrapDatabase(env.DB, interceptOf('DB')) }
  if (env.DB_1) wrapped.DB_1 = wrapDatabase(env.DB_1, interceptOf('DB_1'))
  for (const binding of BINDINGS) {
    if (binding === 'DB' || binding === 'DB_1' || binding === 'fetch') continue
    const original = env[binding] as object | undefined
    if (original) Object.assign(wrapped, { [binding]: wrapMethods(original, interceptOf(binding)) })
  }
  let code = ''
  const send = (mail: { text: string }) => {
    code = CODE.exec(mail.text)?.[0] ?? code
    return (env.EMAIL as unknown as Methods).send?.(mail)
  }
  wrapped.EMAIL = wrapMethods({ send }, interceptOf('EMAIL'))
  const report = (response: Response, ms: number) => {
    const reporting = new Response(response.body, response)
    reporting.headers.set('X-Calls', JSON.stringify(calls))
    reporting.headers.set('X-Response-Ms', String(ms))
    if (code) reporting.headers.set('X-Code', code)
    return reporting
  }
  return { env: wrapped, report, interceptFetch: interceptOf('fetch') }
}
