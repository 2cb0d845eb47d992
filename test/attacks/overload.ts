// Much more load than the service can serve: what it serves and sheds, how much memory it uses, how fast it recovers.
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { findMismatches } from '../../scripts/integrity'
import { encode, exchange, median, openSocket, quantile } from '../support/http-client'
import { MEMORY_LIMIT, toMib, watchMemory } from '../support/watch-memory'
import type { Attack } from './attack'
import { type Member, registerBook, signUpMany } from './members'
import type { Service } from './service'

/** Few connections keep the service busy without queueing; many overload it. */
const FEW = 8
const MANY = 1000
const MEMBERS = 16
const SECONDS = 30
const RECOVERY_MS = 1000

/** Three reads to each write. */
const requestOf = ({ token }: Member, n: number) =>
  n % 4 === 0
    ? encode({ method: 'POST', path: '/books', token, body: '{"title":"Overload"}' })
    : encode({ method: 'GET', path: '/books/library?page=1&size=20&bookStatus=YET', token })

/** Sends requests over a number of connections for a time, each as soon as the last was answered. */
const generateLoad = async ({ url }: Service, members: Member[], connections: number, ms: number) => {
  const load = { served: 0, shed: 0, errors: [] as string[], latencies: [] as number[] }
  const sockets = await Array.fromAsync({ length: connections }, () => openSocket(url))
  // One response first on each socket: the Worker cannot shed connections that workerd has not accepted.
  for (const socket of sockets) await exchange(socket, encode({ method: 'GET', path: '/nothing' }))
  const until = performance.now() + ms
  const work = async (socket: Socket, n: number) => {
    const member = members[n % members.length] as Member
    try {
      for (let sent = n; performance.now() < until; sent++) {
        const start = performance.now()
        const { status, head } = await exchange(socket, requestOf(member, sent))
        if (status === 200 || status === 201) {
          load.served += 1
          load.latencies.push(performance.now() - start)
        } else if ((status === 503 || status === 429) && /\r\nretry-after: *\d+/i.test(head)) {
          load.shed += 1
        } else {
          load.errors.push(`responded ${status}`)
        }
      }
    } catch (error) {
      load.errors.push(String(error))
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(sockets.map(work))
  return load
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

export const overload: Attack = async ({ start, quick, progress }) => {
  const service = await start({ entry: 'test/attacks/workers/queued.ts', inspected: true })
  const members = await signUpMany(service, MEMBERS)
  for (const member of members) await registerBook(service, member)
  const seconds = quick ? 5 : SECONDS
  await generateLoad(service, members, FEW, 3000)
  progress(`${FEW} connections`)
  const normal = await generateLoad(service, members, FEW, 5000)
  progress(`${MANY} connections for ${seconds} s`)
  let peakLoad = normal
  const peak = await watchMemory(service, async () => {
    peakLoad = await generateLoad(service, members, MANY, seconds * 1000)
  })
  const { served, shed, errors, latencies } = peakLoad
  const recovery = await measureRecovery(service, members[0] as Member)
  const mismatches = (await Promise.all(service.databases.map(findMismatches))).flat()
  const failures = [...Map.groupBy(errors, (error) => error)].map(([error, { length }]) => `${error}, ${length} times`)
  if (shed === 0) failures.push('nothing was shed: this was no overload')
  if (recovery > RECOVERY_MS) failures.push(`recovered only after ${Math.round(recovery)} ms`)
  if (peak.isolate > MEMORY_LIMIT) failures.push(`the Worker held ${toMib(peak.isolate)} MiB`)
  if (mismatches.length > 0) failures.push(`${mismatches.length} counters disagree afterwards`)
  const perSecond = (count: number) => Math.round(count / seconds)
  const ms = (value: number) => `${Math.round(value)} ms`
  const p50 = (load: typeof normal) => `p50 ${ms(median(load.latencies))}`
  const total = served + shed
  const normalRate = Math.round(normal.served / 5)
  const shares = `${perSecond(served)} served, ${perSecond(shed)} shed with 503`
  const whole = `${toMib(peak.process)} for the whole process`
  return {
    figures: [
      [`requests in 5 s over ${FEW} connections`, normal.served, `${normalRate} per second, ${p50(normal)}`],
      [`requests in ${seconds} s over ${MANY} connections`, total, `${perSecond(total)} per second: ${shares}`],
      ['served during the overload', served, `${p50(peakLoad)}, p99 ${ms(quantile(latencies, 0.99))}`],
      ['peak MiB of the isolate, heap and buffers', toMib(peak.isolate), `limit ${toMib(MEMORY_LIMIT)}; ${whole}`],
      ['recovery after the overload', 1, ms(recovery)],
    ],
    failures,
  }
}
