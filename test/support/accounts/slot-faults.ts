import { env } from 'cloudflare:workers'
import type { Bindings } from '../../../src/env'
import { sweep } from '../../../src/sweep'
import { interceptSlots, SLOTS } from '../slots'

// Faults of the calls between the databases of a deployment with slots.

export const KINDS = ['fails', 'is lost', 'runs late', 'runs twice', 'never runs, nor any later one'] as const
/** What a killed isolate leaves behind. */
const KILLED = KINDS[4]
export const ORDERS = ['before', 'after'] as const
/** The first error is retried for idempotent calls, the second one never. */
export const ERRORS = ['D1_ERROR: Network connection lost.', 'D1_ERROR: D1 DB is overloaded.']
export type Fault = { call: number; kind: (typeof KINDS)[number]; message: string; binding?: string }

/** Databases of which one call has a fault. A call that runs late, or again, waits in `late`. */
export const injectFault = (fault?: Fault) => {
  const state = { calls: 0, late: [] as (() => Promise<unknown>)[] }
  const changed = interceptSlots(async (binding, call) => {
    if (fault?.binding && fault.binding !== binding) return call()
    state.calls += 1
    if (fault?.kind === KILLED && state.calls >= fault.call) throw new Error(fault.message)
    if (state.calls !== fault?.call) return call()
    if (fault.kind === 'runs late' || fault.kind === 'runs twice') state.late.push(call)
    if (fault.kind === 'is lost') await call()
    if (fault.kind !== 'runs twice') throw new Error(fault.message)
    return call()
  })
  return { state, changed }
}

export const isLate = (kind: Fault['kind']) => kind === 'runs late' || kind === 'runs twice'
/** One in four, another one each time, unless all are wanted. SEED repeats a choice. */
const PART = 4
/** The faults to run: all with ALL_FAULTS=1, otherwise a part of them. */
export const pickFaults = <T>(faults: T[]) => {
  const picked = faults.filter((_, at) => env.ALL_FAULTS || (at + Number(env.SEED)) % PART === 0)
  return picked.length > 0 ? picked : faults.slice(0, 1)
}

/** Every fault of every call. The order matters only for those that leave a late call. */
export const listFaults = (
  calls: number,
  order: (typeof ORDERS)[number] = 'before',
  messages = ERRORS,
): [string, Fault][] =>
  Array.from({ length: calls }, (_, at) => at + 1).flatMap((call) =>
    KINDS.filter((kind) => order === 'before' || isLate(kind)).flatMap((kind) =>
      (isLate(kind) || kind === KILLED ? ERRORS.slice(1) : messages).map((message): [string, Fault] => [
        `call ${call} ${kind}: ${message}`,
        { call, kind, message },
      ]),
    ),
  )

const LATER_MS = 100_000
/** Runs the sweep when all open claims are old enough to be settled. */
export const sweepLater = (changed: Partial<Bindings> = {}) =>
  sweep({ ...env, ...SLOTS, ...changed } as Bindings, Date.now() + LATER_MS)

/** Counts the database calls of a flow, those after its response included. */
export const countCalls = async (flow: (changed: Partial<Bindings>) => Promise<unknown>) => {
  const { state, changed } = injectFault()
  await flow(changed)
  return state.calls
}
