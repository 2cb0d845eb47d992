// What must hold when one call fails in a flow.
import { findMismatches } from '../../../../scripts/data/integrity'
import { BINDINGS, type Calls, type Fault, KINDS } from './inject'
import { readState } from './state'
import { endClaims, type Flow, follow, prepare, type Stage } from './subjects'

/** Twice the timeout of a call, because an unsent mail is undone by another one, and some tolerance. */
const TIMEOUT_MS = 15_000
const DOCUMENTED_ERRORS = [500, 502, 503, 504]
/** The service cannot know whether the mail was sent. */
const UNSENT: Fault['kind'][] = ['throws', 'throws afterwards', 'hangs', 'is down']

/** A flow without faults: its calls per binding, those after the response included, and the state before and after. */
type Reference = { flow: Flow; calls: Calls; before: string[]; after: string[]; mailsCode: boolean }

export const recordReference = async (stage: Stage, flow: Flow): Promise<Reference> => {
  const subject = await prepare(stage, flow)
  const before = await readState(stage, subject)
  const { status, headers, body } = await stage.request(flow.toRequest(subject))
  if (status !== flow.status) throw new Error(`${flow.name}: ${status} ${JSON.stringify(body)}`)
  const calls = JSON.parse(headers.get('X-Calls') ?? '{}')
  return { flow, calls, before, after: await readState(stage, subject), mailsCode: headers.has('X-Code') }
}

/** Every fault that the flow can meet: each kind at each call. */
export const listFaults = ({ calls }: Reference): Fault[] =>
  BINDINGS.flatMap((binding) => {
    const numbers = Array.from({ length: calls[binding] ?? 0 }, (_, n) => n + 1)
    return numbers.flatMap((call) => KINDS.map((kind) => ({ binding, call, kind })))
  })

export const nameOf = ({ flow }: Reference, { binding, call, kind }: Fault) =>
  `${flow.name}: call ${call} of ${binding} ${kind}`

const isState = (state: string[], ...expected: string[][]) => expected.some((each) => state.join() === each.join())

export const tryFault = async (stage: Stage, { flow, before, after, mailsCode }: Reference, fault: Fault) => {
  const subject = await prepare(stage, flow)
  const request = flow.toRequest(subject)
  const problems: string[] = []
  const { status, headers } = await stage.request(request, fault)
  const ms = Number(headers.get('X-Response-Ms'))
  if (status !== flow.status && !DOCUMENTED_ERRORS.includes(status)) problems.push(`responded ${status}`)
  if (status === 503 && !headers.get('Retry-After')) problems.push('503 without Retry-After')
  if (ms > TIMEOUT_MS) problems.push(`responded after ${ms} ms`)

  const left = await readState(stage, subject)
  const usedCode = flow.usesCodeFirst && stage.home.slot > 0 ? before.filter((thing) => thing !== 'code') : before
  // The sweep continues what a withdrawal deletes after its response.
  const isSettled = flow.name !== 'withdraw'
  if (isSettled && !isState(left, before, usedCode, after)) problems.push(`left ${left.join()}`)
  if (isSettled && !flow.writesLater && status === flow.status && !isState(left, after)) {
    problems.push(`succeeded, but left ${left.join()}`)
  }
  const isUnsent = fault.binding === 'EMAIL' && UNSENT.includes(fault.kind)
  if (mailsCode && isUnsent && !flow.mustMail && !isState(left, before))
    problems.push('kept a code that was not mailed')
  if (flow.mustMail && isState(left, after) && !isUnsent && !headers.has('X-Code')) {
    problems.push('took effect, but mailed no code')
  }
  for (const { table, id, field } of await findMismatches(stage.home.database)) {
    problems.push(`${field} of ${table} ${id} is wrong`)
  }

  const isUsedUp = usedCode !== before && isState(left, usedCode)
  const again = isUsedUp ? flow.toRequest(await follow(stage, flow, subject)) : request
  const first = await stage.request(again)
  const isBlocked = [409, 503].includes(first.status) && (await endClaims(stage))
  const repeated = isBlocked ? await stage.request(again) : first
  const isUnchanged = isUsedUp || isState(left, before)
  if (repeated.status !== flow.status && (repeated.status !== flow.repeatedStatus || isUnchanged)) {
    problems.push(`responded ${repeated.status} to a repetition after leaving ${left.join()}`)
  }
  if (mailsCode && repeated.status === flow.status && !repeated.headers.has('X-Code')) {
    problems.push('mailed no code after a repetition')
  }
  const final = await readState(stage, subject)
  if (isSettled && !isState(final, after)) problems.push(`left ${final.join()} after a repetition`)
  return { status, ms, problems }
}
