// Requests per second of several servers, alternating (A B A B …) so that other load on the machine affects all alike.
import { encode, type Load, median, sendAll, sendRequest } from '../../support/service/http-client.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { checkStatus, createCheck, sendExpecting } from '../endpoints/endpoints.ts'
import type { Library } from '../endpoints/seed.ts'
import { startWorkers } from '../workers.ts'

const CONNECTIONS = 8

/** `ratio`: the first server's speed divided by this one's, the median of the rounds. */
export type Speed = { perSecond: number; p50: number; ratio: number }
/** `warmUp`: requests before the first round, while code is being compiled. */
type Effort = { warmUp: number; rounds: number; requests: number }

export const encodeRequests = ({ toRequest }: Endpoint, library: Library, count: number) =>
  Array.from({ length: count }, (_, n) => encode(toRequest(library, n)))

/** The milliseconds of one GET, with a new connection. */
export const timeGet = async (url: URL, path: string) => {
  const start = performance.now()
  await sendRequest(url, { method: 'GET', path })
  return performance.now() - start
}

/** @throws Error unless the servers send the same headers */
export const compareHeaders = async (urls: URL[], { name, status, toRequest }: Endpoint, library: Library) => {
  const [first, ...others] = await Promise.all(
    urls.map(async (url) => {
      const { head } = await sendExpecting(url, toRequest(library, 0), status)
      return [...head.matchAll(/^[^:\s]+(?=:)/gm)]
        .map(([header]) => header.toLowerCase())
        .sort()
        .join(', ')
    }),
  )
  for (const other of others) if (other !== first) throw new Error(`${name}: headers ${first}, but ${other}`)
}

/** Measures an endpoint on each server in turn; returns the medians, in the order of the servers. */
export const compareSpeed = async (urls: URL[], endpoint: Endpoint, library: Library, effort: Effort) => {
  const { warmUp, rounds, requests } = effort
  const count = endpoint.slow ? Math.ceil(requests / 10) : requests
  // One check for all servers, which also compares their responses.
  const check = createCheck(endpoint)
  const load = (url: URL, requests: number) =>
    sendAll(url, encodeRequests(endpoint, library, requests), CONNECTIONS, check)
  for (const url of urls) await load(url, endpoint.slow ? count : warmUp)
  const loads = urls.map((): Load[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, url] of urls.entries()) loads[at]?.push(await load(url, count))
  }
  const [first = []] = loads
  return loads.map((rounds) => ({
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50: median(rounds.map(({ latencies }) => median(latencies))),
    ratio: median(rounds.map(({ perSecond }, round) => (first[round]?.perSecond ?? Number.NaN) / perSecond)),
  }))
}

/** The p50 of sequential requests. */
export const measureLatency = async (url: URL, endpoint: Endpoint, library: Library, count: number) => {
  const check = checkStatus(endpoint.name, endpoint.status)
  const { latencies } = await sendAll(url, encodeRequests(endpoint, library, count), 1, check)
  return median(latencies)
}

/** The cost of a cold start: loading the module in a new workerd, minus a request that loads nothing. */
const timeLoad = async () => {
  const { urlOf, stop } = await startWorkers(['loading'])
  const time = (path: string) => timeGet(urlOf.loading, path)
  try {
    await time('/')
    const idle = median([await time('/'), await time('/'), await time('/')])
    return (await time('/load')) - idle
  } finally {
    await stop()
  }
}

/** The median milliseconds that the service's module takes to load. */
export const measureStartup = async (times: number) => {
  const samples: number[] = []
  for (let n = 0; n < times; n++) samples.push(await timeLoad())
  return median(samples)
}
