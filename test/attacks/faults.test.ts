import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Reader, send, signUp } from '../support/api'
import { select } from '../support/database'
import { png } from '../support/pictures'
import { wrapDatabase } from '../support/wrap-database'
import { FLOWS, type Flow, type Stage } from './faults/flows'
import { injectFault } from './faults/inject'
import { faultsOf, follow, nameOf, tryFault } from './faults/trial'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.registers()).bookId
})

const LOST = 'D1_ERROR: Network connection lost.'

let logged: string[] = []
beforeEach(() => {
  logged = []
  vi.spyOn(console, 'error').mockImplementation((line) => logged.push(String(line)))
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** A database whose first calls fail with this message, after they took effect if `isDone`; `calls` counts all. */
const failing = (times: number, message: string, isDone = false) => {
  const counted = { calls: 0 }
  const around = async <T>(call: () => Promise<T>) => {
    counted.calls += 1
    if (counted.calls > times) return call()
    if (isDone) await call()
    throw new Error(message)
  }
  return { DB: wrapDatabase(env.DB, around), counted }
}

describe('a database that fails in a way that passes', () => {
  const library = '/books/library?page=1&size=5&bookStatus=YET'

  it.each([
    LOST,
    'D1_ERROR: D1 DB reset because its code was updated.',
    'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  ])('is asked again for what only reads: %s', async (message) => {
    const { DB, counted } = failing(2, message)
    expect((await reader.send('GET', library, { changed: { DB } })).status).toBe(200)
    expect(counted.calls).toBe(3)
  })

  it('is asked three times, and then answered for with 503 and when to try again', async () => {
    const { DB, counted } = failing(9, LOST)
    const answer = await reader.send('GET', library, { changed: { DB } })
    expect(answer).toMatchObject({ status: 503, body: { status: 503 } })
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(counted.calls).toBe(3)
    expect(logged.join()).toContain(LOST)
  })

  it('is asked again for a change that changes nothing the second time', async () => {
    const { DB, counted } = failing(1, LOST, true)
    const changed = await reader.send('PATCH', `/books/${bookId}`, { body: { star: 3 }, changed: { DB } })
    expect(changed).toMatchObject({ status: 200, body: { star: 3 } })
    expect(counted.calls).toBe(2)
  })

  const unrepeatable: [string, string, () => string, unknown][] = [
    ['a registration', 'POST', () => '/books', { title: 'Once' }],
    ['a memo', 'POST', () => `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'Once' }],
    ['a deletion', 'DELETE', () => `/books/${bookId}`, undefined],
  ]
  it.each(unrepeatable)('is not asked again for %s', async (_, method, path, body) => {
    const { DB, counted } = failing(9, LOST)
    expect((await reader.send(method, path(), { body, changed: { DB } })).status).toBe(503)
    expect(counted.calls).toBe(1)
    expect(await select(`select * from books where title = 'Once'`)).toEqual([])
  })

  it.each([
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  ])('is left alone when it has too much to do: %s', async (message) => {
    const { DB, counted } = failing(9, message)
    expect((await reader.send('GET', library, { changed: { DB } })).status).toBe(503)
    expect(counted.calls).toBe(1)
  })

  it.each([null, {}, [], [{}, {}], 'text'])('is not believed when it answers %j', async (junk) => {
    const DB = wrapDatabase(env.DB, async <T>() => junk as T)
    expect((await reader.send('POST', '/books', { body: { title: 'Junk' }, changed: { DB } })).status).toBe(500)
  })
})

describe('a bucket', () => {
  it('that fails once is asked again, under the same key', async () => {
    const keys: string[] = []
    const put: R2Bucket['put'] = (async (key: string, value: Uint8Array) => {
      keys.push(key)
      const stored = await env.IMAGES.put(key, value)
      if (keys.length === 1) throw new Error('put: We encountered an internal error. Please try again. (10001)')
      return stored
    }) as R2Bucket['put']
    const IMAGES = { put } as R2Bucket
    expect((await reader.uploads(png(), { changed: { IMAGES } })).status).toBe(201)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })
})

describe('a call that is never answered', () => {
  const never = () => new Promise<never>(() => {})

  it.concurrent('by the database ends in 503 after ten seconds', async () => {
    const DB = wrapDatabase(env.DB, never)
    expect((await send('GET', '/health', { changed: { DB } })).status).toBe(503)
  })

  it.concurrent('by a limiter lets through after one', async () => {
    const NETWORK_LIMIT = { limit: never } as RateLimit
    expect((await send('POST', '/login', { body: {}, changed: { NETWORK_LIMIT } })).status).toBe(400)
  })

  it.concurrent('by the cache of lists is as if there were none', async () => {
    const CATALOGUE = { get: never, put: never } as unknown as KVNamespace
    expect((await send('GET', '/ext-lib/best-seller', { changed: { CATALOGUE } })).status).toBe(200)
  })
})

describe('a flow that writes, when a call of a binding fails', () => {
  const stage: Stage = {
    ask: async ({ method, path, token, body, file }, fault) => {
      const { env: faulty, tell } = injectFault(env, fault)
      const changed = { ...faulty, EMAIL_VERIFICATION: 'required', MAIL_FROM: 'library@example.com' }
      const raw = new FormData()
      if (file) raw.append('file', new Blob([new Uint8Array(file)]), 'a.gif')
      const headers = token ? { Authorization: `Bearer ${token}` } : undefined
      const answer = await send(method, path, { headers, changed, ...(file ? { raw } : { body }) })
      const told = new Headers(answer.headers)
      for (const [name, value] of tell(new Response()).headers) told.set(name, value)
      return { ...answer, headers: told }
    },
    database: env.DB,
    bucket: env.IMAGES,
    lists: env.CATALOGUE,
  }

  // What hangs, is slow or answers junk is for `npm run attack -- faults`.
  it.each(FLOWS.map((flow): [string, Flow] => [flow.name, flow]))('%s', async (_, flow) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    const course = await follow(stage, flow)
    const faults = faultsOf(course).filter(({ kind }) => kind === 'throws afterwards' || kind === 'is down')
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of faults) {
      expect([nameOf(course, fault), (await tryFault(stage, course, fault)).complaints]).toEqual([
        nameOf(course, fault),
        [],
      ])
    }
  })
})
