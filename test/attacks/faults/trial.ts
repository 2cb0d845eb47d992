// One flow with one fault: what is answered, what it left, and whether the same request repeated succeeds.
import { findMismatches } from '../../../scripts/integrity'
import { type Flow, prepare, type Stage, take } from './flows'
import { BINDINGS, type Calls, type Fault, KINDS } from './inject'

/** The longest that a call of a binding is waited for, twice (a mail that hangs is cleared up after), and some grace. */
const IN_TIME_MS = 15_000
/** What is documented of every operation, or of those of the catalogue. */
const REFUSALS = [500, 502, 503, 504]

/** What happens to a flow when nothing goes wrong: what is called how often, and what there is before and after. */
export type Course = { flow: Flow; calls: Calls; before: string[]; after: string[] }

export const follow = async (stage: Stage, flow: Flow): Promise<Course> => {
  const { subject, code } = await prepare(stage, flow)
  const before = await take(stage, subject)
  const { status, headers, body } = await stage.ask(flow.asks(subject, code))
  if (status !== flow.answers) throw new Error(`${flow.name}: ${status} ${JSON.stringify(body)}`)
  return { flow, calls: JSON.parse(headers.get('X-Calls') ?? '{}'), before, after: await take(stage, subject) }
}

/** Every fault that a flow can meet. */
export const faultsOf = ({ calls }: Course): Fault[] =>
  BINDINGS.flatMap((binding) =>
    Array.from({ length: calls[binding] ?? 0 }, (_, n) => n + 1).flatMap((call) =>
      KINDS.map((kind) => ({ binding, call, kind })),
    ),
  )

export const nameOf = ({ flow }: Course, { binding, call, kind }: Fault) =>
  `${flow.name}: call ${call} of ${binding} ${kind}`

export type Verdict = { status: number; ms: number; repeated: number; complaints: string[] }

export const tryFault = async (stage: Stage, { flow, before, after }: Course, fault: Fault): Promise<Verdict> => {
  const { subject, code } = await prepare(stage, flow)
  const asked = flow.asks(subject, code)
  const complaints: string[] = []
  const start = Date.now()
  const { status, headers } = await stage.ask(asked, fault)
  const ms = Date.now() - start
  if (status !== flow.answers && !REFUSALS.includes(status)) complaints.push(`answered ${status}`)
  if (status === 503 && !headers.get('Retry-After')) complaints.push('503 without Retry-After')
  if (ms > IN_TIME_MS) complaints.push(`answered after ${ms} ms`)
  const left = await take(stage, subject)
  const states = [before, after].map((state) => state.join())
  // Of what is deleted behind the answer, something may be there still.
  if (!states.includes(left.join()) && flow.name !== 'withdraw') complaints.push(`left ${left.join()}`)
  if (status === flow.answers && left.join() !== after.join() && flow.name !== 'withdraw') {
    complaints.push(`said it was done, and left ${left.join()}`)
  }
  for (const { table, id, field } of await findMismatches(stage.database)) {
    complaints.push(`${field} of ${table} ${id} disagrees`)
  }
  const again = await stage.ask(asked)
  const mayAnswer = [flow.answers, ...(flow.again ? [flow.again] : [])]
  if (!mayAnswer.includes(again.status)) complaints.push(`repeated, answered ${again.status}`)
  if (again.status !== flow.answers && left.join() === before.join()) {
    complaints.push(`repeated, answered ${again.status}, though it had not been done`)
  }
  const settled = await take(stage, subject)
  if (settled.join() !== after.join() && flow.name !== 'withdraw') complaints.push(`repeated, left ${settled.join()}`)
  return { status, ms, repeated: again.status, complaints }
}
