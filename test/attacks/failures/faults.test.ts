import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, type TestContext, vi } from 'vitest'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { newNetwork } from '../../support/accounts/mailed-codes'
import { type Reader, send, signUp } from '../../support/api'
import { changeDatabase, memberDatabase, memberHome, memberSlot, select } from '../../support/database'
import { png } from '../../support/images/pictures'
import { toFileForm } from '../../support/inputs/file-form'
import { eventually, holdClock } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'
import { FLOWS } from './faults/flows'
import { type Fault, injectFault } from './faults/inject'
import type { Flow, Stage } from './faults/subjects'
import { listFaults, nameOf, recordReference, tryFault } from './faults/trials'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.createBook()).bookId
})

const LOST = 'D1_ERROR: Network connection lost.'

let logged: MockInstance<typeof console.error>
beforeAll(() => {
  logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})
beforeEach(() => {
  logged.mockClear()
})
afterEach(() => vi.useRealTimers())

/** A database whose first calls fail, if `takesEffect` after they were executed. */
const failFirst = (times: number, message: string, takesEffect = false) => {
  const counted = { calls: 0 }
  const DB = wrapDatabase(memberDatabase(), async (call) => {
    counted.calls += 1
    if (counted.calls > times) return call()
    if (takesEffect) await call()
    throw new Error(message)
  })
  return { DB, counted }
}

describe('a transient database error', () => {
  const library = '/books/library?page=1&size=5&bookStatus=YET'

  it.each([
    LOST,
    'D1_ERROR: D1 DB reset because its code was updated.',
    'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  ])('is retried for a read: %s', async (message) => {
    const { DB, counted } = failFirst(2, message)
    expect((await reader.send('GET', library, { changed: changeDatabase(DB) })).status).toBe(200)
    expect(counted.calls).toBe(3)
  })

  it('responds 503 with Retry-After after three attempts', async () => {
    const { DB, counted } = failFirst(9, LOST)
    const answer = await reader.send('GET', library, { changed: changeDatabase(DB) })
    expect(answer).toMatchObject({ status: 503, body: { status: 503 } })
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(counted.calls).toBe(3)
    expect(logged.mock.calls.join()).toContain(LOST)
  })

  it('is retried for an idempotent write', async () => {
    const { DB, counted } = failFirst(1, LOST, true)
    const changed = await reader.send('PATCH', `/books/${bookId}`, { body: { star: 3 }, changed: changeDatabase(DB) })
    expect(changed).toMatchObject({ status: 200, body: { star: 3 } })
    expect(counted.calls).toBe(2)
  })

  const notIdempotent: [string, string, () => string, unknown][] = [
    ['registering a book', 'POST', () => '/books', { title: 'Once' }],
    ['writing a memo', 'POST', () => `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'Once' }],
    ['a deletion', 'DELETE', () => `/books/${bookId}`, undefined],
  ]
  it.each(notIdempotent)('is not retried for %s', async (_, method, path, body) => {
    const { DB, counted } = failFirst(9, LOST)
    expect((await reader.send(method, path(), { body, changed: changeDatabase(DB) })).status).toBe(503)
    expect(counted.calls).toBe(1)
    expect(await select(`select * from books where title = 'Once'`)).toEqual([])
  })

  it.each([
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1_ERROR: database or disk is full: SQLITE_FULL',
    'D1_ERROR: Exceeded maximum DB size',
  ])('is not retried when the database is overloaded or full: %s', async (message) => {
    const { DB, counted } = failFirst(9, message)
    expect((await reader.send('GET', library, { changed: changeDatabase(DB) })).status).toBe(503)
    expect(counted.calls).toBe(1)
  })

  it('is retried for all writes when the database was locked', async () => {
    const locked = 'D1_ERROR: database is locked: SQLITE_BUSY'
    const twice = failFirst(2, locked)
    const body = { title: 'Locked' }
    expect((await reader.send('POST', '/books', { body, changed: changeDatabase(twice.DB) })).status).toBe(201)
    expect(twice.counted.calls).toBe(3)
    const always = failFirst(9, locked)
    expect((await reader.send('POST', '/books', { body, changed: changeDatabase(always.DB) })).status).toBe(503)
    expect(await select(`select * from books where title = 'Locked'`)).toHaveLength(1)
  })

  it.each([null, {}, [], [{}, {}], 'text'])('responds 500 when the database returns %j', async (junk) => {
    const DB = wrapDatabase(memberDatabase(), async <T>() => junk as T)
    expect((await reader.send('POST', '/books', { body: { title: 'Junk' }, changed: changeDatabase(DB) })).status).toBe(
      500,
    )
  })
})

describe('a transient bucket error', () => {
  it('is retried under the same key', async () => {
    const keys: string[] = []
    const put = async (key: string, value: Uint8Array) => {
      keys.push(key)
      const stored = await env.IMAGES.put(key, value)
      if (keys.length === 1) throw new Error('put: We encountered an internal error. Please try again. (10001)')
      return stored
    }
    expect((await reader.upload(png(), { changed: { IMAGES: { put } as unknown as R2Bucket } })).status).toBe(201)
    expect(keys).toEqual([keys[0], keys[0]])
  })
})

const stage: Stage = {
  request: async ({ method, path, token, body, file, bytes, headers: own }, fault) => {
    const { env: faulty, report } = injectFault(env, fault)
    const form = file && toFileForm(file)
    const headers = {
      // Mails are limited for each network.
      'CF-Connecting-IP': newNetwork(),
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(form && { 'Content-Type': form.type }),
      ...own,
    }
    const changed = { ...faulty, EMAIL_VERIFICATION: 'required' }
    const answer = await send(method, path, { headers, changed, body, raw: form?.body ?? bytes })
    // `npm run attack -- faults` measures the time until the response.
    const { headers: reported } = report(new Response(), 0)
    return { ...answer, headers: new Headers([...answer.headers, ...reported]) }
  },
  secret: env.JWT_SECRET ?? '',
  home: memberHome(),
  bucket: env.IMAGES,
  lists: env.CATALOGUE,
}

describe('a failing binding', () => {
  const never = vi.fn(() => new Promise<never>(() => {}))
  const NETWORK_LIMIT = { limit: never } as RateLimit
  const CATALOGUE = { get: never, put: never } as unknown as KVNamespace

  it.each<[string, number, string, string, Parameters<typeof send>[2], number[]]>([
    ['the database', 503, 'GET', '/health', { changed: { DB: wrapDatabase(env.DB, never) } }, [DEADLINES.healthCheck]],
    ['a rate limiter', 400, 'POST', '/login', { body: {}, changed: { NETWORK_LIMIT } }, [DEADLINES.rateLimit]],
    [
      'the cache of lists',
      200,
      'GET',
      '/ext-lib/best-seller',
      { changed: { CATALOGUE } },
      [DEADLINES.listCache, DEADLINES.listCache],
    ],
  ])('times out if %s never answers, with %i', async (_, status, method, path, options, deadlines) => {
    holdClock()
    never.mockClear()
    const answer = send(method, path, options)
    for (const [at, ms] of deadlines.entries()) {
      await eventually(() => expect(never).toHaveBeenCalledTimes(at + 1))
      await vi.advanceTimersByTimeAsync(ms)
    }
    expect((await answer).status).toBe(status)
  })
})

describe('with a failing binding', () => {
  // `npm run attack -- faults` tries the other kinds of fault.
  const tryFlow = async (flow: Flow, { skip }: TestContext, pick: (faults: Fault[]) => Fault[]) => {
    skip(memberSlot() > 0 && flow.name === 'sign up', 'faults between databases: slots/slots.test.ts')
    const reference = await recordReference(stage, flow)
    skip(memberSlot() > 0 && !reference.calls.DB, 'uses one database, as in slot 0')
    const faults = listFaults(reference).filter(({ kind }) => ['throws afterwards', 'is down'].includes(kind))
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of pick(faults)) {
      const { problems } = await tryFault(stage, reference, fault)
      expect(problems, nameOf(reference, fault)).toEqual([])
    }
  }
  // In another slot, the slow tests always run, too.
  it.for(memberSlot() === 0 ? FLOWS : [])(
    `$name: fails cleanly or succeeds at one fault (SEED=${env.SEED})`,
    (flow, context) => tryFlow(flow, context, (faults) => faults.slice(env.SEED % faults.length).slice(0, 1)),
  )
  it.for(FLOWS)(
    '$name: fails cleanly or succeeds if a call throws afterwards or its binding is down',
    { tags: ['slow'] },
    (flow, context) => tryFlow(flow, context, (faults) => faults),
  )
})
