// Requests a second, side by side: A B A B …, so that whatever else the machine does falls on both alike.
import { type Endpoint, expectAnswers } from './endpoints.ts'
import { ask, drive, encode, median } from './load.ts'
import type { Shelf } from './seed.ts'

export const CONNECTIONS = 8

export type Speed = { perSecond: number; p50: number }
/** `warmUp`: requests before the first round, until both are compiled. */
export type Effort = { warmUp: number; rounds: number; requests: number }

const serve = async (
  url: URL,
  endpoint: Endpoint,
  shelf: Shelf,
  requests: number,
  check: (answer: { status: number; head: string; body: string }) => void,
) =>
  drive(
    url,
    Array.from({ length: requests }, (_, n) => encode(endpoint.ask(shelf, n))),
    CONNECTIONS,
    check,
  )

/** The same endpoint of each server in turn; answers the medians of each, in the order of the servers. */
export const race = async (
  urls: URL[],
  endpoint: Endpoint,
  shelf: Shelf,
  { warmUp, rounds, requests }: Effort,
): Promise<Speed[]> => {
  const count = endpoint.dear ? Math.ceil(requests / 10) : requests
  // One check for all: what one server answers differently from the others fails the bench.
  const check = expectAnswers(endpoint)
  for (const url of urls) await serve(url, endpoint, shelf, endpoint.dear ? count : warmUp, check)
  const loads = urls.map(() => [] as Speed[])
  for (let round = 0; round < rounds; round++) {
    for (const [at, url] of urls.entries()) {
      const { perSecond, latencies } = await serve(url, endpoint, shelf, count, check)
      loads[at]?.push({ perSecond, p50: median(latencies) })
    }
  }
  return loads.map((samples) => ({
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    p50: median(samples.map(({ p50 }) => p50)),
  }))
}

/** The p50 of one request after another on few connections. */
export const timeAnswers = async (url: URL, endpoint: Endpoint, shelf: Shelf, requests: number) => {
  const asks = Array.from({ length: requests }, (_, n) => encode(endpoint.ask(shelf, n)))
  const { latencies } = await drive(url, asks, 2, ({ status }) => {
    if (status !== endpoint.status) throw new Error(`${endpoint.name}: ${status} instead of ${endpoint.status}`)
  })
  return median(latencies)
}

export const confirmAnswer = async (url: URL, endpoint: Endpoint, shelf: Shelf) =>
  expectAnswers(endpoint)(await ask(url, endpoint.ask(shelf, 0)))
