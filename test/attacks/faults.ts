// Every call of every binding in every flow that writes, gone wrong in every way: the table that docs/trust.md shows.
import { type Asked, FLOWS, type Stage } from './faults/flows'
import type { Fault } from './faults/inject'
import { faultsOf, follow, nameOf, tryFault, type Verdict } from './faults/trial'
import { upload } from './members'
import type { Figure, Part } from './part'
import type { Service } from './service'

const AT_ONCE = 6

const onStage = (service: Service): Stage => {
  const ask = ({ method, path, token, body, file }: Asked, fault?: Fault) => {
    const headers = fault ? `X-Fault: ${JSON.stringify(fault)}\r\n` : ''
    if (file && token) return service.ask(upload({ email: '', memberId: 0, token }, file, { headers }))
    return service.ask({ method, path, token, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }
  return { ask, database: service.database, bucket: service.bucket, lists: service.lists }
}

const count = (verdicts: Verdict[]) => {
  const statuses = Map.groupBy(verdicts, ({ status }) => status)
  return [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, { length }]) => `${length} × ${status}`)
    .join(', ')
}

export const faults: Part = async ({ start, quick, progress }) => {
  const service = await start({
    entry: 'test/attacks/workers/faulty.ts',
    vars: { EMAIL_VERIFICATION: 'required', CATALOGUE_PROVIDER: 'open-library' },
    uploads: 1000,
  })
  const stage = onStage(service)
  const failures: string[] = []
  const figures: Figure[] = []
  let slowest = 0
  for (const flow of FLOWS) {
    const course = await follow(stage, flow)
    const all = faultsOf(course).filter(({ kind }) => !quick || kind !== 'hangs')
    progress(`${flow.name}: ${all.length} faults`)
    const verdicts: Verdict[] = []
    const work = async () => {
      for (let fault = all.shift(); fault; fault = all.shift()) {
        const verdict = await tryFault(stage, course, fault)
        verdicts.push(verdict)
        slowest = Math.max(slowest, verdict.ms)
        failures.push(...verdict.complaints.map((complaint) => `${nameOf(course, fault)}: ${complaint}`))
      }
    }
    // The cached list is one for all.
    await Promise.all(Array.from({ length: flow.needs === 'member' ? AT_ONCE : 1 }, work))
    figures.push({ tried: flow.name, times: verdicts.length, found: count(verdicts) })
  }
  figures.push({ tried: 'the slowest answer', times: 1, found: `${(slowest / 1000).toFixed(1)} s` })
  return { figures, failures }
}
