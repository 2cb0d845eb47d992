import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { sweep as runSweep } from '../../../src/sweep'
import { toInstant } from '../../../src/values/fields'
import { HOUR_MS, MINUTE_MS } from '../../../src/values/time'
import { send } from '../../support/api'
import { brokenDatabase, select } from '../../support/database'
import { eventually, holdClock } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'

/** Asks an isolate that has not checked its database yet. */
const health = (changed: Partial<Bindings> = {}) =>
  send('GET', '/health', { changed: { DB: wrapDatabase(env.DB, (call) => call()), ...changed } })
const LATE = 'No sweep has succeeded within the last three hours'

/** Sweeps, and returns the log lines. */
const sweep = async (changed: Partial<Bindings> = {}) => {
  const lines: string[] = []
  const keep = (line: unknown) => void lines.push(String(line))
  using _info = vi.spyOn(console, 'info').mockImplementation(keep)
  using _error = vi.spyOn(console, 'error').mockImplementation(keep)
  await runSweep({ ...env, ...changed })
  return lines.map((line) => JSON.parse(line))
}

beforeEach(() => env.CATALOGUE.delete('sweep'))
afterEach(() => vi.useRealTimers())

it('/health shows the version, and warns if no sweep has succeeded within three hours of its upload', async () => {
  holdClock()
  const uploadedAgo = (ms: number) => ({ ...env.VERSION, timestamp: new Date(Date.now() - ms).toISOString() })
  const { id: version } = env.VERSION
  const fresh = await health({ VERSION: uploadedAgo(3 * HOUR_MS) })
  expect([fresh.status, fresh.body]).toEqual([200, { status: 'ok', version, lastSweep: null }])
  const body = { status: 'ok', version, lastSweep: null, warnings: [LATE] }
  expect(await health({ VERSION: uploadedAgo(3 * HOUR_MS + 1) })).toMatchObject({ status: 200, body })
  expect(await health({ VERSION: { ...env.VERSION, timestamp: '' } })).toMatchObject({ status: 200, body })
})

describe('/health and the bucket', () => {
  const bucketOf = (head: R2Bucket['head']) => {
    const asked = vi.fn(head)
    return { asked, IMAGES: { head: asked } as unknown as R2Bucket }
  }

  it('asks it at most once a minute', async () => {
    holdClock()
    const { asked, IMAGES } = bucketOf(async () => null)
    expect(await health({ IMAGES })).toMatchObject({ status: 200 })
    vi.setSystemTime(Date.now() + MINUTE_MS - 1)
    await health({ IMAGES })
    expect(asked.mock.calls).toEqual([['health']])
    vi.setSystemTime(Date.now() + 1)
    await health({ IMAGES })
    expect(asked).toHaveBeenCalledTimes(2)
  })

  it('responds with 503 for a minute if it fails', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { asked, IMAGES } = bucketOf(() => Promise.reject(new Error('R2 is down')))
    const down = { status: 503, body: { message: 'Service unavailable: no answer from the bucket' } }
    expect(await health({ IMAGES })).toMatchObject(down)
    expect(error.mock.calls.join()).toContain('UNAVAILABLE: bucket: Error: R2 is down')
    const { length } = asked.mock.calls
    asked.mockResolvedValue(null)
    expect(await health({ IMAGES })).toMatchObject(down)
    expect(asked).toHaveBeenCalledTimes(length)
    using _now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + MINUTE_MS)
    expect(await health({ IMAGES })).toMatchObject({ status: 200 })
  })
})

it('/health shows the end of the last sweep, and warns after three hours', async () => {
  holdClock()
  await sweep()
  const { body } = await health()
  expect(body.lastSweep).toBe(toInstant(Date.now()))
  expect(body.warnings).toBeUndefined()
  await env.CATALOGUE.put('sweep', String(Date.parse('2026-11-21T09:17:04.567Z')))
  expect((await health()).body).toMatchObject({ lastSweep: '2026-11-21T09:17:04Z', warnings: [LATE] })
})

it.each([
  ['fails', () => Promise.reject(new Error('KV is down'))],
  ['does not answer', () => new Promise(() => {})],
])('/health says so if KV %s', async (_, get) => {
  using warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const warnings = ['KV does not answer: the time of the last sweep is unknown']
  const body = { status: 'ok', lastSweep: null, warnings }
  holdClock()
  const asked = vi.fn(get)
  const answer = health({ CATALOGUE: { get: asked } as unknown as KVNamespace })
  await eventually(() => expect(asked).toHaveBeenCalled())
  await vi.advanceTimersByTimeAsync(DEADLINES.lastSweep)
  expect(await answer).toMatchObject({ status: 200, body })
  expect(warn.mock.calls.join()).toContain('last sweep: ')
})

it('a sweep logs what it did', async () => {
  await select('insert into purgeJobs values (987655, ?)', Date.now())
  const line = { level: 'info', message: 'sweep', version: env.VERSION.id, ms: expect.any(Number) }
  expect(await sweep()).toEqual([{ ...line, slots: 1, claims: 0, members: 1, imports: 0, failures: 0 }])
})

it('a sweep counts what it did in all slots', async () => {
  await select('insert or ignore into purgeJobs values (987655, ?)', Date.now())
  // The jobs of the same database, once for each slot.
  const changed = { DB_1: env.DB, DB_2: env.DB, ADDRESS_KEY: 'a key of the tests only, for the hashes of addresses' }
  expect((await sweep(changed)).at(-1)).toMatchObject({ message: 'sweep', slots: 3, members: 3 })
})

it('a sweep in which a step failed is not the last one', async () => {
  const lines = await sweep({ DB: brokenDatabase('D1_ERROR: disk is full') })
  expect(lines.at(-1)).toMatchObject({ message: 'sweep', failures: 3 })
  expect((await health()).body.lastSweep).toBeNull()
})

it('a sweep that cannot be recorded says so', async () => {
  const put = () => Promise.reject(new Error('KV is down'))
  const lines = await sweep({ CATALOGUE: { put } as unknown as KVNamespace })
  expect(lines).toMatchObject([
    { level: 'error', message: 'sweep: Error: KV is down' },
    { message: 'sweep', failures: 1 },
  ])
})
