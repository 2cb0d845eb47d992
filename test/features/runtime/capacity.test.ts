import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { asService, connect, type Db, run } from '../../../src/db/client'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { type Answer, newEmail, type Reader, send, signUp } from '../../support/api'
import { join } from '../../support/bytes'
import { changeDatabase, memberDatabase } from '../../support/database'
import { jpeg } from '../../support/images/pictures'
import { eventually, holdClock } from '../../support/runtime/clock'
import { countConcurrent, settle } from '../../support/runtime/concurrent'
import { wrapDatabase } from '../../support/wrap-database'

let reader: Reader
beforeAll(async () => {
  reader = await signUp()
})
afterEach(() => vi.useRealTimers())

const profile = (changed: object) => reader.send('GET', '/members/me', { changed })
const statuses = async (answers: Promise<Answer>[]) => (await Promise.all(answers)).map(({ status }) => status)

/** A database whose calls wait until they are released. `calls` counts those that began. */
const heldDatabase = (database: D1Database) => {
  const state = { calls: 0 }
  const held = Array.from({ length: 200 }, () => Promise.withResolvers<void>())
  const wrapped = wrapDatabase(database, async (call) => {
    await held[state.calls++]?.promise
    return call()
  })
  const releaseOne = () => held[0]?.resolve()
  const release = () => {
    for (const { resolve } of held) resolve()
  }
  return { database: wrapped, state, releaseOne, release }
}

it('runs 16 database calls of a session at a time, lets 64 wait, refuses more, and serves others meanwhile', async () => {
  const other = await signUp()
  // Stops the clock, so that no caller waits for too long.
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  const { database, state, release } = heldDatabase(memberDatabase())
  const answers = Array.from({ length: 90 }, () => profile(changeDatabase(database)))
  const refused = await Promise.race(answers)
  expect(refused).toMatchObject({ status: 503, body: { status: 503 } })
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect(state.calls).toBe(16)
  expect((await other.get('/members/me')).status).toBe(200)
  release()
  const all = await statuses(answers)
  expect([all.filter((status) => status === 200).length, all.filter((status) => status === 503).length]).toEqual([
    80, 10,
  ])
})

describe('while 128 database calls of two networks are in progress', () => {
  const query = (db: Db) => run(db, { ones: { build: () => ({ sql: 'select 1 as one', params: [] }), values: {} } })
  const from = (network: string, database = env.DB) => connect(database, { slot: 900, sources: [network] })

  /** The first network has 96 calls in progress and 4 waiting, the second one has 32 in progress. */
  const fill = async () => {
    const { database, ...held } = heldDatabase(env.DB)
    const networks = [...Array<string>(100).fill('192.0.2.1'), ...Array<string>(32).fill('192.0.2.2')]
    const settled = Promise.allSettled(networks.map((network) => query(from(network, database))))
    await eventually(() => expect(held.state.calls).toBe(128))
    return { ...held, settled }
  }

  it('serves a health check next, then a third network, then the first one', async () => {
    const { state, releaseOne, release, settled } = await fill()
    const third = from('192.0.2.3')
    const order: string[] = []
    const served = [
      query(third).then(() => order.push('third')),
      query(asService(third)).then(() => order.push('health')),
    ]
    releaseOne()
    await Promise.all(served)
    expect(order).toEqual(['health', 'third'])
    await eventually(() => expect(state.calls).toBe(129))
    release()
    expect((await settled).every(({ status }) => status === 'fulfilled')).toBe(true)
  })

  it('serves pushes of devices, at most four of each at a time', async () => {
    const { release, settled } = await fill()
    const push = (device: string, database = env.DB) =>
      query({ ...from('192.0.2.1', database), sources: [], credential: device, isPush: true })
    const { database, ...held } = heldDatabase(env.DB)
    const replay = Array.from({ length: 6 }, () => push('one', database))
    await eventually(() => expect(held.state.calls).toBe(4))
    await push('two')
    await settle()
    expect(held.state.calls).toBe(4)
    held.release()
    await Promise.all(replay)
    release()
    await settled
  })

  it('refuses a caller with 503 after its deadline', async () => {
    const { release, settled } = await fill()
    holdClock()
    let isRefused = false
    const refused = query(from('192.0.2.3')).catch(({ code }) => {
      isRefused = code === 'UNAVAILABLE'
    })
    await vi.advanceTimersByTimeAsync(DEADLINES.databaseTurn - 1)
    await settle()
    expect(isRefused).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await refused
    expect(isRefused).toBe(true)
    vi.useRealTimers()
    release()
    await settled
  })
})

it('uses one database call for any number of health checks', async () => {
  // The result is reused for five seconds, which a loaded machine may need for these requests.
  holdClock()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let calls = 0
  const DB = wrapDatabase(env.DB, async (call) => {
    calls++
    await held
    return call()
  })
  let refused = 0
  const checks = Array.from({ length: 200 }, async () => {
    const answer = await send('GET', '/health', { changed: { DB } })
    if (answer.status === 503) refused++
    return answer
  })
  // One asks, 64 wait.
  await eventually(() => expect(refused).toBe(135))
  expect((await profile({})).status).toBe(200)
  release()
  expect(new Set(await statuses(checks))).toEqual(new Set([200, 503]))
  expect(await statuses([send('GET', '/health', { changed: { DB } })])).toEqual([200])
  expect(calls).toBe(1)
})

it('loads at most 1,000 books of large pages at a time, and small pages concurrently', async () => {
  const expectHighest = async (size: number, expected: number) => {
    const { seen, intercept } = countConcurrent(expected)
    const DB = wrapDatabase(memberDatabase(), intercept)
    const path = `/books/library?bookStatus=YET&page=1&size=${size}`
    const answers = Array.from({ length: 5 }, () => reader.send('GET', path, { changed: changeDatabase(DB) }))
    expect(await statuses(answers)).toEqual(Array(5).fill(200))
    expect(seen.highest).toBe(expected)
  }
  await expectHighest(1000, 1)
  await expectHighest(500, 2)
  await expectHighest(100, 5)
})

it('frees the capacity of database calls that time out', async () => {
  using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
  let calls = 0
  const DB = wrapDatabase(memberDatabase(), () => {
    calls++
    return new Promise<never>(() => {})
  })
  holdClock()
  let refused = 0
  const hanging = Array.from({ length: 90 }, async () => {
    const answer = await profile(changeDatabase(DB))
    refused++
    return answer
  })
  // 16 calls hang, 64 wait for their turn.
  await eventually(() => expect([calls, refused]).toEqual([16, 10]))
  await vi.advanceTimersByTimeAsync(DEADLINES.databaseTurn)
  await eventually(() => expect(refused).toBe(74))
  await vi.advanceTimersByTimeAsync(DEADLINES.databaseCall)
  expect(await statuses(hanging)).toEqual(Array(90).fill(503))
  vi.useRealTimers()
  expect((await profile({})).status).toBe(200)
})

it('processes at most two large uploads concurrently, and queues the others', { tags: ['slow'] }, async () => {
  const small = jpeg()
  // Large because its scan data is long.
  const picture = join(small.subarray(0, -2), new Uint8Array(9 * 1024 * 1024), small.subarray(-2))
  const upload = async (count: number, intercept: typeof pair.intercept) => {
    const put = (...args: Parameters<R2Bucket['put']>) => intercept(() => env.IMAGES.put(...args))
    const IMAGES = { put } as unknown as R2Bucket
    const answers = Array.from({ length: count }, () => reader.upload(picture, { changed: { IMAGES } }))
    expect(await statuses(answers)).toEqual(Array(count).fill(201))
  }
  const pair = countConcurrent(2)
  await upload(2, pair.intercept)
  const all = countConcurrent(1)
  await upload(6, (call) => all.intercept(() => settle().then(call)))
  expect(all.seen.highest).toBeLessThanOrEqual(2)
})

/** A body that sends its start at once and then nothing, until it is cancelled. */
const stalling = (start: string) =>
  new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(start)) })

it('refuses bodies that stall, and answers others meanwhile', async () => {
  const starts = ['{"email":', ...Array<string>(4).fill(' '.repeat(100_000))]
  holdClock()
  const stalled: Answer[] = []
  const requests = starts.map(async (start) => {
    stalled.push(await send('POST', '/login', { raw: stalling(start), changed: {} }))
  })
  const { bookId } = await reader.createBook()
  await reader.createMemo(bookId, { memoContent: 'x'.repeat(60_000) })
  const credentials = JSON.stringify({ email: newEmail(), password: 'x' })
  const answer = await send('POST', '/login', { raw: new Blob([credentials.padEnd(500_000)]).stream() })
  expect(answer.status).toBe(401)
  expect(stalled).toEqual([])
  await eventually(async () => {
    await vi.advanceTimersByTimeAsync(DEADLINES.bodyStall)
    expect(stalled).toHaveLength(starts.length)
  })
  await Promise.all(requests)
  const message = 'The request body was cut off or sent too slowly'
  for (const refused of stalled) expect(refused).toMatchObject({ status: 400, body: { status: 400, message } })
})

it('does not keep a password that is too long to be valid', async () => {
  using importKey = vi.spyOn(crypto.subtle, 'importKey')
  const answer = await send('POST', '/login', { body: { email: reader.email, password: 'x'.repeat(1_000_000) } })
  expect(answer.status).toBe(401)
  const lengths = importKey.mock.calls.map(([, key]) => (key as Uint8Array).byteLength)
  expect(Math.max(...lengths)).toBeLessThan(200)
})
