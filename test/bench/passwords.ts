// Password hashing is the one costly thing by intent: what it costs, and whether a flood of logins starves reads.

import { type Answer, ask, drive, encode, exchange, median, open } from '../support/http-client.ts'
import type { Endpoint } from './endpoints.ts'
import type { Shelf } from './seed.ts'

/** The milliseconds of one hash in workerd. */
export const timeHash = async (url: URL) => {
  const time = async (hashes: number) => {
    const start = performance.now()
    await ask(url, { method: 'GET', path: `/?hashes=${hashes}` })
    return performance.now() - start
  }
  await time(1)
  const samples: number[] = []
  for (let n = 0; n < 5; n++) samples.push((await time(4)) / 4)
  return median(samples)
}

export type Flood = { p50: number; p99: number; answers: Record<number, number> }

/** Reads for a while, with so many connections that log in as fast as they are answered. */
const readThrough = async (
  url: URL,
  endpoint: Endpoint,
  shelf: Shelf,
  reads: number,
  flooders: number,
  network: string,
  emailOf: (n: number) => string,
): Promise<Flood> => {
  const answers: Record<number, number> = {}
  let isOver = false
  let sent = 0
  const headers = `CF-Connecting-IP: ${network}\r\n`
  const flood = async () => {
    const socket = await open(url)
    while (!isOver) {
      const body = JSON.stringify({ email: emailOf(sent++), password: 'wrong-horse-9' })
      const answer: Answer = await exchange(socket, encode({ method: 'POST', path: '/login', body, headers }))
      if (answer.status !== 401 && answer.status !== 429) throw new Error(`login: ${answer.status}: ${answer.body}`)
      answers[answer.status] = (answers[answer.status] ?? 0) + 1
    }
    socket.destroy()
  }
  const floods = Promise.all(Array.from({ length: flooders }, flood))
  const asks = Array.from({ length: reads }, (_, n) => encode(endpoint.ask(shelf, n)))
  const { latencies } = await drive(url, asks, 2, ({ status }) => {
    if (status !== endpoint.status) throw new Error(`${endpoint.name} in the flood: ${status}`)
  })
  isOver = true
  await floods
  return {
    p50: median(latencies),
    p99: latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0,
    answers,
  }
}

export type Flooded = { alone: Flood; oneAccount: Flood; manyAccounts: Flood }

/** Reads alone; while one account is hammered; and while one network tries ever new accounts. */
export const floodLogins = async (url: URL, endpoint: Endpoint, shelf: Shelf, reads: number): Promise<Flooded> => {
  const run = (flooders: number, network: string, emailOf: (n: number) => string) =>
    readThrough(url, endpoint, shelf, reads, flooders, network, emailOf)
  await run(0, '', String)
  return {
    alone: await run(0, '', String),
    oneAccount: await run(4, '192.0.2.1', () => 'victim@example.com'),
    manyAccounts: await run(4, '192.0.2.2', (n) => `victim${n}@example.com`),
  }
}
