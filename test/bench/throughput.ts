// Requests a second, side by side: A B A B …, so that whatever else the machine does falls on both alike.

import { type Answer, ask, drive, encode, type Load, median } from '../support/http-client.ts'
import { type Endpoint, expectAnswers } from './endpoints.ts'
import type { Shelf } from './seed.ts'

export const CONNECTIONS = 8

/** `ratio`: how many times this server's speed the first one's is, the median of the rounds. */
export type Speed = { perSecond: number; p50: number; ratio: number }
/** `warmUp`: requests before the first round, until both are compiled. */
export type Effort = { warmUp: number; rounds: number; requests: number }

const serve = async (url: URL, endpoint: Endpoint, shelf: Shelf, requests: number, check: (answer: Answer) => void) =>
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
  const loads: Load[][] = []
  for (let round = 0; round < rounds; round++) {
    const loaded: Load[] = []
    for (const url of urls) loaded.push(await serve(url, endpoint, shelf, count, check))
    loads.push(loaded)
  }
  const medianOf = (value: (round: Load[]) => number | undefined) =>
    median(loads.map((round) => value(round) ?? Number.NaN))
  return urls.map((_, at) => ({
    perSecond: medianOf((round) => round[at]?.perSecond),
    p50: medianOf((round) => round[at] && median(round[at].latencies)),
    ratio: medianOf((round) => (round[0]?.perSecond ?? 0) / (round[at]?.perSecond ?? 0)),
  }))
}

/** The p50 of one request after another. */
export const timeAnswers = async (url: URL, endpoint: Endpoint, shelf: Shelf, requests: number) => {
  const asks = Array.from({ length: requests }, (_, n) => encode(endpoint.ask(shelf, n)))
  const { latencies } = await drive(url, asks, 1, ({ status }) => {
    if (status !== endpoint.status) throw new Error(`${endpoint.name}: ${status} instead of ${endpoint.status}`)
  })
  return median(latencies)
}

export const confirmAnswer = async (url: URL, endpoint: Endpoint, shelf: Shelf) =>
  expectAnswers(endpoint)(await ask(url, endpoint.ask(shelf, 0)))
