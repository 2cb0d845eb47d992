// Several times more than the service can serve, for half a minute: what it still serves, sheds and holds, and how soon
// it is itself again.
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { findMismatches } from '../../scripts/integrity'
import { encode, exchange, median, open } from '../support/http-client'
import { type Member, registerBook, signUp } from './members'
import { watchMemory } from './memory'
import type { Part } from './part'
import type { Service } from './service'

/** As many as keep it busy without waiting for each other long, and many times as many. */
const FEW = 8
const MANY = 1000
const MEMBERS = 16
const SECONDS = 30
const RECOVERED_WITHIN_MS = 1000
const MIB = 1024 * 1024
/** What the platform gives a Worker. */
const LIMIT = 128 * MIB

/** Three reads to each write. */
const requestOf = ({ token }: Member, n: number) =>
  n % 4 === 0
    ? encode({ method: 'POST', path: '/books', token, body: '{"title":"Overload"}' })
    : encode({ method: 'GET', path: '/books/library?page=1&size=20&bookStatus=YET', token })

type Load = { served: number; shed: number; odd: string[]; latencies: number[] }

/** Asks over so many connections, each as soon as it was answered, for so long. */
const press = async ({ url }: Service, members: Member[], connections: number, ms: number): Promise<Load> => {
  const load: Load = { served: 0, shed: 0, odd: [], latencies: [] }
  // Each is answered once before the rush: those that workerd has not accepted yet are not the Worker's to shed.
  const sockets: Socket[] = []
  for (let n = 0; n < connections; n++) {
    const socket = await open(url)
    await exchange(socket, encode({ method: 'GET', path: '/nothing' }))
    sockets.push(socket)
  }
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
          load.odd.push(`answered ${status}`)
        }
      }
    } catch (error) {
      load.odd.push(String(error))
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(sockets.map(work))
  return load
}

/** How long after the rush a request is served as fast as it ever was. */
const recover = async (service: Service, member: Member) => {
  const start = performance.now()
  for (;;) {
    const { status } = await service.ask({ method: 'GET', path: '/members/me', token: member.token })
    if (status === 200 || performance.now() - start > 30_000) return performance.now() - start
    await wait(20)
  }
}

export const overload: Part = async ({ start, quick, progress }) => {
  const service = await start({ entry: 'test/attacks/workers/queued.ts', inspected: true })
  const members: Member[] = []
  for (let n = 0; n < MEMBERS; n++) {
    const member = await signUp(service)
    await registerBook(service, member)
    members.push(member)
  }
  const seconds = quick ? 5 : SECONDS
  await press(service, members, FEW, 3000)
  progress(`what ${FEW} connections are served`)
  const calm = await press(service, members, FEW, 5000)
  progress(`${MANY} connections for ${seconds} s`)
  let rush = calm
  const peak = await watchMemory(service, async () => {
    rush = await press(service, members, MANY, seconds * 1000)
  })
  const recovered = await recover(service, members[0] as Member)
  const disagreements = await findMismatches(service.database)
  const p99 = rush.latencies.sort((a, b) => a - b)[Math.floor(rush.latencies.length * 0.99)] ?? Number.NaN
  const failures = [...new Set(rush.odd)].map(
    (odd) => `${odd}, ${rush.odd.filter((each) => each === odd).length} times`,
  )
  if (rush.shed === 0) failures.push('nothing was shed: it was no overload')
  if (recovered > RECOVERED_WITHIN_MS) failures.push(`it was well again after ${Math.round(recovered)} ms only`)
  if (peak.isolate > LIMIT) failures.push(`the Worker held ${Math.round(peak.isolate / MIB)} MiB`)
  if (disagreements.length > 0) failures.push(`${disagreements.length} counters disagree afterwards`)
  const offered = (rush.served + rush.shed) / seconds
  return {
    figures: [
      {
        tried: `requests in 5 s over ${FEW} connections`,
        times: calm.served,
        found: `${Math.round(calm.served / 5)} a second, p50 ${Math.round(median(calm.latencies))} ms`,
      },
      {
        tried: `requests in ${seconds} s over ${MANY} connections`,
        times: rush.served + rush.shed,
        found: `${Math.round(offered)} a second: ${Math.round(rush.served / seconds)} served, ${Math.round(rush.shed / seconds)} shed with 503`,
      },
      {
        tried: 'answers served meanwhile',
        times: rush.served,
        found: `p50 ${Math.round(median(rush.latencies))} ms, p99 ${Math.round(p99)} ms`,
      },
      {
        tried: 'MiB held by the isolate at most, heap and buffers',
        times: Math.round(peak.isolate / MIB),
        found: `limit ${LIMIT / MIB}, ${Math.round(peak.process / MIB)} by the whole process`,
      },
      { tried: 'well again after the rush', times: 1, found: `${Math.round(recovered)} ms` },
    ],
    failures,
  }
}
