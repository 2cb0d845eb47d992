// The cost of hashing a password, and whether floods of logins slow down reads.
import { encode, exchange, median, openSocket, quantile, sendAll } from '../../support/service/http-client.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { checkStatus } from '../endpoints/endpoints.ts'
import type { Library } from '../endpoints/seed.ts'
import { encodeRequests, timeGet } from './throughput.ts'

/** The milliseconds of one hash in workerd. */
export const timeHash = async (url: URL, times: number) => {
  const time = (hashes: number) => timeGet(url, `/?hashes=${hashes}`)
  await time(1)
  const samples: number[] = []
  for (let n = 0; n < times; n++) samples.push((await time(4)) / 4)
  return median(samples)
}

type Flood = { p50: number; p99: number; responses: Record<number, number> }
export type Flooded = { alone: Flood; oneAccount: Flood; manyAccounts: Flood }

/** Reads alone, during a flood of logins to one account, and during one to many accounts, from one network. */
export const floodLogins = async (url: URL, endpoint: Endpoint, library: Library, reads: number): Promise<Flooded> => {
  const check = checkStatus(`${endpoint.name} during the flood`, endpoint.status)
  /** Sends reads while a number of connections log in without pause. */
  const readDuring = async (connections: number, network: string, emailOf: (n: number) => string): Promise<Flood> => {
    const responses: Record<number, number> = {}
    let isDone = false
    let sent = 0
    const headers = `CF-Connecting-IP: ${network}\r\n`
    const flood = async () => {
      const socket = await openSocket(url)
      while (!isDone) {
        const body = JSON.stringify({ email: emailOf(sent++), password: 'wrong-horse-9' })
        const answer = await exchange(socket, encode({ method: 'POST', path: '/login', body, headers }))
        const { status } = answer.status === 429 ? answer : checkStatus('login', 401)(answer)
        responses[status] = (responses[status] ?? 0) + 1
      }
      socket.destroy()
    }
    const floods = Promise.all(Array.from({ length: connections }, flood))
    const { latencies } = await sendAll(url, encodeRequests(endpoint, library, reads), 2, check)
    isDone = true
    await floods
    return { p50: median(latencies), p99: quantile(latencies, 0.99), responses }
  }
  await readDuring(0, '', String)
  return {
    alone: await readDuring(0, '', String),
    oneAccount: await readDuring(4, '192.0.2.1', () => 'victim@example.com'),
    manyAccounts: await readDuring(4, '192.0.2.2', (n) => `victim${n}@example.com`),
  }
}
