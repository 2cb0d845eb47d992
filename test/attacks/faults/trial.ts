// Runs a flow with one fault: checks the response, what it left, and that repeating the request succeeds.
import { findMismatches } from '../../../scripts/integrity'
import { type Flow, prepare, readState, type Stage } from './flows'
import { BINDINGS, type Calls, type Fault, KINDS } from './inject'

/** Twice the timeout of a call, because an unsent mail is undone by another one, and some tolerance. */
const TIMEOUT_MS = 15_000
const DOCUMENTED_ERRORS = [500, 502, 503, 504]

/** A flow without faults: its calls per binding, and the subject's state before and after. */
export type Reference = { flow: Flow; calls: Calls; before: string[]; after: string[] }

export const recordReference = async (stage: Stage, flow: Flow): Promise<Reference> => {
  const { subject, code } = await prepare(stage, flow)
  const before = await readState(stage, subject)
  const { status, headers, body } = await stage.request(flow.toRequest(subject, code))
  if (status !== flow.status) throw new Error(`${flow.name}: ${status} ${JSON.stringify(body)}`)
  return { flow, calls: JSON.parse(headers.get('X-Calls') ?? '{}'), before, after: await readState(stage, subject) }
}

/** Every fault that the flow can meet: each kind at each call. */
export const listFaults = ({ calls }: Reference): Fault[] =>
  BINDINGS.flatMap((binding) =>
    Array.from({ length: calls[binding] ?? 0 }, (_, n) => n + 1).flatMap((call) =>
      KINDS.map((kind) => ({ binding, call, kind })),
    ),
  )

export const nameOf = ({ flow }: Reference, { binding, call, kind }: Fault) =>
  `${flow.name}: call ${call} of ${binding} ${kind}`

export type Verdict = { status: number; ms: number; problems: string[] }

export const tryFault = async (stage: Stage, { flow, before, after }: Reference, fault: Fault): Promise<Verdict> => {
  const { subject, code } = await prepare(stage, flow)
  const request = flow.toRequest(subject, code)
  const isState = (state: string[], expected: string[]) => state.join() === expected.join()
  const problems: string[] = []
  const start = Date.now()
  const { status, headers } = await stage.request(request, fault)
  const ms = Date.now() - start
  if (status !== flow.status && !DOCUMENTED_ERRORS.includes(status)) problems.push(`responded ${status}`)
  if (status === 503 && !headers.get('Retry-After')) problems.push('503 without Retry-After')
  if (ms > TIMEOUT_MS) problems.push(`responded after ${ms} ms`)
  const left = await readState(stage, subject)
  // A withdrawal deletes objects after its response, so its state may be in between.
  const isSettled = flow.name !== 'withdraw'
  if (isSettled && !isState(left, before) && !isState(left, after)) problems.push(`left ${left.join()}`)
  if (isSettled && status === flow.status && !isState(left, after)) problems.push(`succeeded, but left ${left.join()}`)
  for (const { table, id, field } of await findMismatches(stage.database)) {
    problems.push(`${field} of ${table} ${id} is wrong`)
  }
  const repeated = await stage.request(request)
  if (repeated.status !== flow.status && repeated.status !== flow.repeatedStatus) {
    problems.push(`responded ${repeated.status} to a repetition`)
  }
  if (repeated.status !== flow.status && isState(left, before)) {
    problems.push(`responded ${repeated.status} to a repetition, though nothing had been done`)
  }
  const final = await readState(stage, subject)
  if (isSettled && !isState(final, after)) problems.push(`left ${final.join()} after a repetition`)
  return { status, ms, problems }
}
