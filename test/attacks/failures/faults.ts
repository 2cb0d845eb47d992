// Every fault of every binding call in every flow that writes.
import { type Attack, countStatuses, type Figure, mapConcurrently } from '../harness/attack'
import { toLines } from '../harness/client'
import { uploadRequest } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'
import { FLOWS } from './faults/flows'
import type { Stage } from './faults/subjects'
import { listFaults, nameOf, recordReference, tryFault } from './faults/trials'

const CONCURRENCY = 6

// Mails are limited for each network.
let requests = 0
const nextNetwork = () => `10.9.${(++requests >> 8) & 255}.${requests & 255}`

export const toStage = (service: Service): Stage => ({
  request: ({ method, path, token, body, file, bytes, headers: own }, fault) => {
    const headers = toLines(Object.entries({ ...own, ...(fault && { 'X-Fault': JSON.stringify(fault) }) }))
    if (file && token) return service.request({ ...uploadRequest({ token }, file), headers })
    return service.request({
      method,
      path,
      token,
      headers,
      network: nextNetwork(),
      body: body === undefined ? bytes : JSON.stringify(body),
    })
  },
  secret: JWT_SECRET,
  home: service,
  bucket: service.bucket,
  lists: service.lists,
})

export const faults: Attack = async ({ start, quick, seed, progress }) => {
  const service = await start({
    entry: 'test/attacks/workers/faulty.ts',
    vars: { EMAIL_VERIFICATION: 'required', CATALOGUE_PROVIDER: 'open-library' },
    uploadsPerMinute: 1000,
    writesPerMinute: 100_000,
  })
  const stage = toStage(service)
  const failures: string[] = []
  const figures: Figure[] = []
  let slowest = 0
  for (const [at, flow] of FLOWS.entries()) {
    if (quick && at % 4 !== seed % 4) continue
    const reference = await recordReference(stage, flow)
    const all = listFaults(reference)
    const prompt = all.filter(({ kind }) => kind !== 'hangs')
    const faults = quick ? prompt.slice(at % prompt.length).slice(0, 1) : all
    progress(`${flow.name}: ${faults.length} faults`)
    // All trials share one cache and, in the Worker, one `fetch`.
    const concurrency = flow.needs === 'empty cache' ? 1 : CONCURRENCY
    const statuses = await mapConcurrently(concurrency, faults, async (fault) => {
      const { status, ms, problems } = await tryFault(stage, reference, fault)
      slowest = Math.max(slowest, ms)
      failures.push(...problems.map((problem) => `${nameOf(reference, fault)}: ${problem}`))
      return status
    })
    figures.push([flow.name, statuses.length, countStatuses(statuses)])
  }
  figures.push(['slowest response', 1, `${(slowest / 1000).toFixed(1)} s`])
  return { figures, failures }
}
