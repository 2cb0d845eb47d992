import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { toQuery } from '../../../scripts/slots/compare.ts'
import { confirmMarks, markSlots, recordKey } from '../../../scripts/slots/marks.ts'
import { idRange } from '../../../src/db/next-id'
import { forEachConcurrent } from '../../../src/runtime/concurrently'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { sweep } from '../../../src/sweep'
import { send } from '../../support/api'
import { migrateDatabase } from '../../support/runner/empty-databases'
import { eventually, holdClock } from '../../support/runtime/clock'
import { countConcurrent } from '../../support/runtime/concurrent'
import { SLOT_BINDINGS } from '../../support/service/slot-bindings'
import { ADDRESS_KEY } from '../../support/slots'
import { wrapDatabase } from '../../support/wrap-database'

// A deployment with 40 databases stays within the limits of an invocation on Workers Paid.
const MAX_CONNECTIONS = 6
const MAX_QUERIES = 1000
const HOUR_MS = 3_600_000

const large = env as unknown as Record<`LARGE_${string}`, D1Database>
const DATABASES = {
  DB: env.DB,
  ...Object.fromEntries(SLOT_BINDINGS.map((name) => [name, large[`LARGE_${name}`] as D1Database])),
}
const SLOTS = Object.entries(DATABASES)

/**
 * The deployment, with a count of its open connections, queries and the databases that were asked. The first calls wait
 * until `expected` connections are open.
 */
const watch = (expected: number) => {
  const { seen: connections, intercept: connect } = countConcurrent(expected)
  const seen = { connections, queries: 0, databases: new Set<string>() }
  const databases = SLOTS.map(([name, database]) => {
    const wrapped = wrapDatabase(database, (call, queries) => {
      seen.queries += queries
      seen.databases.add(name)
      return connect(call)
    })
    return [name, wrapped]
  })
  const IMAGES = new Proxy(env.IMAGES, {
    get: (bucket, name: 'list' | 'delete' | 'put') => (key: never, content: never) =>
      connect(() => bucket[name](key, content) as Promise<never>),
  })
  return { seen, changed: { ...Object.fromEntries(databases), IMAGES, ADDRESS_KEY } }
}

const LEAVERS = 3
const CLAIMS = 20

/** Withdrawn members with a book, a memo and an entry of the directory each, and abandoned claims. */
const fillSlot = async (database: D1Database, slot: number) => {
  const { idFloor } = idRange(slot)
  const insert = (query: string, count: number, into = database) =>
    into.prepare(
      `with recursive n(i) as (select ${idFloor + 1} union all select i + 1 from n where i < ${idFloor + count}) ${query} from n`,
    )
  await database.batch([
    insert(
      `insert into members (memberId, email, name, passwordHash, createdAt, updatedAt, withdrawnAt)
      select i, 'withdrawn-' || i, '', '', '2026-01-01T00:00:00', '2026-01-01T00:00:00', 1`,
      LEAVERS,
    ),
    insert('insert into purgeJobs (memberId, createdAt) select i, 1', LEAVERS),
    insert(
      `insert into books (bookId, memberId, title, createdAt) select i, i, 'Book', '2026-01-01T00:00:00'`,
      LEAVERS,
    ),
  ])
  if (slot === 0) return
  await env.DB.batch([
    insert(
      `insert into addresses (addressHash, memberId, slot, claimId, state) select randomblob(16), i, ${slot}, i, 'HELD'`,
      LEAVERS,
    ),
    insert(
      `insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
      select randomblob(16), i + 100, ${slot}, i + 100, 'CLAIMED', 0`,
      CLAIMS,
    ),
  ])
}

/** How many rows are left in all databases. */
const countRows = async (table: string) => {
  const count = ([, database]: [string, D1Database]) =>
    database.prepare(`select count(*) as n from ${table}`).first<number>('n')
  return (await Promise.all(SLOTS.map(count))).reduce<number>((sum, n) => sum + (n ?? 0), 0)
}

afterEach(() => vi.useRealTimers())

beforeAll(async () => {
  await forEachConcurrent(SLOTS, ([, database]) => migrateDatabase(database))
  // As a deployment does.
  const query = toQuery(SLOTS.map(([, database], slot) => ({ slot, database })))
  const { unconfirmed } = await markSlots(query, [...SLOTS.keys()])
  await confirmMarks(query, unconfirmed)
  await recordKey(query, ADDRESS_KEY, { replace: false })
})

describe('with 40 slots', () => {
  it('a health check asks each once, six at a time', async () => {
    const { seen, changed: watched } = watch(MAX_CONNECTIONS)
    // The bucket is asked before.
    const changed = { ...watched, IMAGES: env.IMAGES }
    expect(await send('GET', '/health', { changed })).toMatchObject({ status: 200, body: { slots: [...SLOTS.keys()] } })
    expect(seen).toMatchObject({ connections: { highest: MAX_CONNECTIONS }, queries: SLOTS.length })
    expect(seen.databases.size).toBe(SLOTS.length)
    await send('GET', '/health', { changed })
    expect(seen.queries).toBe(SLOTS.length)
  })

  it('a sweep settles all claims, purges what it may, and leaves the rest to the next one', {
    tags: ['slow'],
  }, async () => {
    await forEachConcurrent([...SLOTS.entries()], ([slot, [, database]]) => fillSlot(database, slot))
    const leavers = LEAVERS * SLOTS.length
    expect(await countRows('members')).toBe(leavers)
    const left: number[] = []
    for (const hour of [0, 1]) {
      const { seen, changed } = watch(1)
      await sweep({ ...env, ...changed }, Date.now() + hour * HOUR_MS)
      expect(seen.connections.highest).toBeLessThanOrEqual(MAX_CONNECTIONS)
      expect(seen.queries).toBeLessThanOrEqual(MAX_QUERIES)
      expect(seen.databases.size).toBe(SLOTS.length)
      expect(await countRows('addresses')).toBe(0)
      left.push(await countRows('members'))
    }
    expect(left[0]).toBeGreaterThan(0)
    expect(left[1]).toBe(0)
    expect(await countRows('purgeJobs')).toBe(0)
    expect(await countRows('settledClaims')).toBe(CLAIMS * (SLOTS.length - 1))
  })
})

/** Empty databases for all slots but the first. `onBound` receives each statement that is bound. */
const emptyDatabases = (
  slots: number,
  onBound: (slot: number, query: string, values: unknown[]) => void = () => {},
) => {
  const toDatabase = (slot: number) => {
    const prepare = (query: string) => ({ bind: (...values: unknown[]) => onBound(slot, query, values) })
    const batch = async (statements: unknown[]) => statements.map(() => ({ results: [] }))
    return { withSession: () => ({ prepare, batch, getBookmark: () => null }) } as unknown as D1Database
  }
  return Object.fromEntries(Array.from({ length: slots - 1 }, (_, n) => [`DB_${n + 1}`, toDatabase(n + 1)]))
}

describe('however many slots there are', () => {
  it.each([62, 63, 64, 200])('sweeps of %i slots purge withdrawn members', { tags: ['slow'] }, async (slots) => {
    await fillSlot(env.DB, 0)
    for (let hour = 0; hour < 24; hour++)
      await sweep({ ...env, ...emptyDatabases(slots), ADDRESS_KEY }, Date.now() + hour * HOUR_MS)
    const left = 'select (select count(*) from members) + (select count(*) from purgeJobs) as n'
    expect(await env.DB.prepare(left).first('n')).toBe(0)
  })

  it.each([40, 96])(
    'sweeps of %i slots read the idempotency keys of all members',
    { tags: ['slow'] },
    async (slots) => {
      const ranges = new Map<number, Set<unknown>>()
      const databases = emptyDatabases(slots, (slot, query, values) => {
        if (query.includes('delete from idempotencyKeys'))
          ranges.set(slot, (ranges.get(slot) ?? new Set()).add(values[1]))
      })
      for (let hour = 0; hour < 168 * Math.ceil(slots / 40); hour++)
        await sweep({ ...env, ...databases, ADDRESS_KEY }, hour * HOUR_MS)
      expect(Math.min(...[...ranges.values()].map(({ size }) => size))).toBe(168)
    },
  )
})

describe('with 400 slots', () => {
  it('a health check asks sixty, which may be far away', async () => {
    holdClock()
    let [asked, answered] = [0, 0]
    const statement = { bind: () => statement }
    const batch = async () => {
      asked++
      // Almost as long as each of ten rounds may take.
      await new Promise((resolve) => setTimeout(resolve, DEADLINES.healthCheck / 10 - 1))
      answered++
      return [{ results: [{ slot: 0, mark: '', isConfirmed: 1 }] }]
    }
    const distant = { withSession: () => ({ prepare: () => statement, batch, getBookmark: () => null }) }
    const databases = Object.fromEntries(Array.from({ length: 399 }, (_, n) => [`DB_${n + 1}`, distant]))
    const CATALOGUE = { get: async () => null } as unknown as KVNamespace
    const changed = { ...databases, DB: { ...distant } as unknown as D1Database, CATALOGUE, ADDRESS_KEY }
    const answer = send('GET', '/health', { changed })
    for (let round = 1; round <= 10; round++) {
      await eventually(() => expect(asked).toBe(6 * round))
      await vi.advanceTimersByTimeAsync(DEADLINES.healthCheck / 10 - 1)
      await eventually(() => expect(answered).toBe(6 * round))
    }
    expect((await answer).status).toBe(200)
    expect(asked).toBe(60)
  })
  it('a sweep settles the claims of as many as it may, which others do in later hours', {
    tags: ['slow'],
  }, async () => {
    await env.DB.prepare('delete from slotMarks').run()
    await env.DB.prepare(`
      insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 399)
      select randomblob(16), i, i, i, 'CLAIMED', 0 from n`).run()
    let queries = 0
    const database = {
      prepare: () => ({ bind: () => ({}) }),
      batch: async (statements: unknown[]) => {
        queries += statements.length
        return statements.map(() => ({ results: [] }))
      },
      getBookmark: () => null,
    }
    const answering = { withSession: () => database }
    const databases = Object.fromEntries(Array.from({ length: 399 }, (_, n) => [`DB_${n + 1}`, answering]))
    const DB = wrapDatabase(env.DB, (call, most) => {
      queries += most
      return call()
    })
    await sweep({ ...env, ...databases, DB, ADDRESS_KEY })
    expect(queries).toBeLessThanOrEqual(MAX_QUERIES)
    for (let hour = 1; hour < 10; hour++)
      await sweep({ ...env, ...databases, DB, ADDRESS_KEY }, Date.now() + hour * HOUR_MS)
    expect(await countRows('addresses')).toBe(0)
  })
})
