// Much more load than the service can serve: what it serves and sheds, how much memory it uses, how fast it recovers.
import { setTimeout as wait } from 'node:timers/promises'
import { encode, median, quantile } from '../../support/service/http-client'
import { MEMORY_LIMIT, toMib, watchMemory } from '../../support/service/watch-memory'
import { type Attack, type Context, mergeReports, type Report } from '../harness/attack'
import { holdDatabase } from '../harness/hold-database'
import { generateLoad, openConnections } from '../harness/load'
import { type Member, registerBook, signUpMany } from '../harness/members'
import type { Service } from '../harness/service'

/** Few connections keep the service busy without queueing; many overload it. */
const FEW = 8
const MANY = 1000
const MEMBERS = 16
const RECOVERY_MS = 1000

/** Three reads to each write, the connections of each member in turn. */
const requestsOf = (members: Member[]) => (connection: number, sent: number) => {
  const { token } = members[connection % members.length] as Member
  return (connection + sent) % 4 === 0
    ? encode({ method: 'POST', path: '/books', token, body: '{"title":"Overload"}' })
    : encode({ method: 'GET', path: '/books/library?page=1&size=20&bookStatus=YET', token })
}

/** The milliseconds until a request succeeds again. */
const measureRecovery = async (service: Service, { token }: Member) => {
  const start = performance.now()
  for (;;) {
    const { status } = await service.request({ method: 'GET', path: '/members/me', token })
    if (status === 200 || performance.now() - start > 30_000) return performance.now() - start
    await wait(20)
  }
}

const overloadService = async ({ start, quick, progress }: Context): Promise<Report> => {
  const service = await start({ entry: 'test/attacks/workers/queued.ts', inspected: true })
  const members = await signUpMany(service, MEMBERS)
  for (const member of members) await registerBook(service, member)
  const load = async (connections: number, ms: number) =>
    generateLoad(await openConnections(service, connections), requestsOf(members), ms)
  const [seconds, normalSeconds] = quick ? [1, 0.5] : [30, 5]
  await load(FEW, quick ? 100 : 3000)
  progress(`${FEW} connections`)
  const normal = await load(FEW, normalSeconds * 1000)
  progress(`${MANY} connections for ${seconds} s`)
  let peakLoad = normal
  const peak = await watchMemory(service, async () => {
    peakLoad = await load(MANY, seconds * 1000)
  })
  const { served, shed, errors, latencies } = peakLoad
  const recovery = await measureRecovery(service, members[0] as Member)
  const mismatches = await service.findMismatches()
  const failures = [...Map.groupBy(errors, (error) => error)].map(([error, { length }]) => `${error}, ${length} times`)
  if (shed === 0) failures.push('nothing was shed: this was no overload')
  if (!quick && recovery > RECOVERY_MS) failures.push(`recovered only after ${Math.round(recovery)} ms`)
  if (peak.isolate > MEMORY_LIMIT) failures.push(`the Worker held ${toMib(peak.isolate)} MiB`)
  if (mismatches.length > 0) failures.push(`${mismatches.length} counters disagree afterwards`)
  const perSecond = (count: number) => Math.round(count / seconds)
  const ms = (value: number) => `${Math.round(value)} ms`
  const p50 = (load: typeof normal) => `p50 ${ms(median(load.latencies))}`
  const total = served + shed
  const normalRate = Math.round(normal.served / normalSeconds)
  const shares = `${perSecond(served)} served, ${perSecond(shed)} shed with 503`
  const whole = `${toMib(peak.process)} for the whole process`
  return {
    figures: [
      [
        `requests in ${normalSeconds} s over ${FEW} connections`,
        normal.served,
        `${normalRate} per second, ${p50(normal)}`,
      ],
      [`requests in ${seconds} s over ${MANY} connections`, total, `${perSecond(total)} per second: ${shares}`],
      ['served during the overload', served, `${p50(peakLoad)}, p99 ${ms(quantile(latencies, 0.99))}`],
      ['peak MiB of the isolate, heap and buffers', toMib(peak.isolate), `limit ${toMib(MEMORY_LIMIT)}; ${whole}`],
      ['recovery after the overload', 1, ms(recovery)],
    ],
    failures,
  }
}

export const overload: Attack = async (context) =>
  mergeReports(await overloadService(context), await holdDatabase(context))
