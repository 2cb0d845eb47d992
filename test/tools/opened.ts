import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { openStores } from '../../scripts/data/stores.ts'
import { verify } from '../../scripts/data/verify.ts'
import { rebuildSlot } from '../../scripts/slots/rebuild.ts'
import { idsOf } from '../../scripts/slots/table.ts'
import { releaseAddresses } from '../../src/accounts/addresses/directory'
import { runPurgeJobs } from '../../src/accounts/members/purge'
import { withdraw } from '../../src/accounts/members/store'
import { hashAddress } from '../../src/auth/keyed-hash'
import type { SessionCaller } from '../../src/db/caller'
import { connect } from '../../src/db/client'
import { createBook } from '../../src/library/books/store'
import { createMemo } from '../../src/library/memos/store'
import { createReading } from '../../src/library/readings/store'
import { putMark } from '../../src/storage/bucket'
import { DEFAULT_QUOTAS } from '../../src/values/quotas'
import { runCommandIn } from './databases.ts'

export const NOW = '2026-01-01T00:00:00'
const CONFIG = { ...DEFAULT_QUOTAS, TIME_ZONE: 'UTC' }
export const ADDRESS_KEY = 'a key of the tests only, for the hashes of addresses'
export const BINDINGS = ['DB', 'DB_1', 'DB_2']
export const [KEEPER, LEAVER, NEWCOMER] = [1, 2, 3]

export const run = (...args: string[]) => runCommandIn('.', { ADDRESS_KEY, TIME_ZONE: 'UTC' }, ...args)

type Flags = { repair?: boolean; restored?: 'all' | number; timeZone?: string }

type Stores = Omit<Awaited<ReturnType<typeof openStores>>, 'dispose'>

/** Verifies local data, and returns the lines that it prints but the last. */
const verifyStores = async (stores: Stores, { repair = false, restored, timeZone = 'UTC' }: Flags = {}) => {
  const lines: string[] = []
  await verify(
    { ...stores, addressKey: ADDRESS_KEY, settings: { ...stores.settings, TIME_ZONE: timeZone } },
    {
      repair,
      restored: stores.slots.filter(({ slot }) => restored === 'all' || restored === slot),
      settleMs: 0,
      print: (line) => lines.push(line),
      progress: () => {},
    },
  )
  return lines.slice(0, -1)
}

const hashEmail = (email: string) => hashAddress(ADDRESS_KEY, email)

/** Opens local data, and what a Worker does with it. */
export const open = async (data: string) => {
  const { dispose, ...stores } = await openStores({ persistTo: data })
  const { slots, bucket } = stores
  const databaseOf = (slot: number) => slots[slot]?.database as D1Database
  const dbOf = (slot: number) => connect(databaseOf(slot) as never, { slot })
  const idOf = (slot: number, member: number) => idsOf(slot).first + member
  const callerOf = (slot: number, member: number): SessionCaller => ({
    ...{ kind: 'session', slot, required: [] },
    memberId: idOf(slot, member),
    sessionId: 'session',
  })
  const keyOf = (slot: number, member: number, letter: string) =>
    `images/${idOf(slot, member)}/${letter.repeat(22)}.png`
  const workers = bucket as unknown as Parameters<typeof putMark>[0]
  const query = async (slot: number, sql: string, ...values: unknown[]) =>
    (
      await databaseOf(slot)
        .prepare(sql)
        .bind(...values)
        .all()
    ).results

  return {
    bucket: bucket as R2Bucket,
    dispose,
    query,
    verify: (flags?: Flags) => verifyStores(stores, flags),
    rebuild: (slot: number) => rebuildSlot(slots, slot, hashEmail),
    idOf,
    keyOf,
    /** Uploads an image, named after a letter. */
    upload: async (slot: number, member: number, letter: string) => {
      await query(
        slot,
        `insert into images (imageId, memberId, name, type, bytes, createdAt) values (?, ?, ?, 'image/png', 1, '${NOW}')`,
        ...[idsOf(slot).first + letter.charCodeAt(0) + 100 * member, idOf(slot, member), `${letter.repeat(22)}.png`],
      )
      await bucket.put(keyOf(slot, member, letter), 'x', { httpMetadata: { contentType: 'image/png' } })
    },
    signUp: async (slot: number, member: number, createdAt = NOW) => {
      const id = idOf(slot, member)
      await query(
        slot,
        `insert into members (memberId, email, name, passwordHash, createdAt, updatedAt) values (?1, ?2, 'Mina', 'hash', ?3, ?3)`,
        ...[id, `${slot}-${member}@library.test`, createdAt],
      )
      await query(slot, `insert into sessions values (?, 'session', 1, 1, 9e15, null, null)`, id)
      if (slot === 0) return
      await query(0, 'insert or replace into slotCounters values (?, ?)', slot, id)
      await rebuildSlot(slots, slot, hashEmail)
    },
    /** Adds a book with a memo and two readings. Returns the new identifiers. */
    write: async (slot: number, member: number) => {
      const [db, caller] = [dbOf(slot), callerOf(slot, member)]
      const book = { title: '소년이 온다', bookStatus: 'YET', currentPage: 0 } as const
      const { bookId } = await createBook({ db, caller, config: CONFIG }, book)
      const memo = { memoBookPage: 1, memoContent: 'A memo', memoType: 'THOUGHT', memoAuthority: 'PRIVATE' } as const
      const created = await createMemo({ db, caller, config: CONFIG }, bookId, memo)
      await createReading(db, caller, bookId, { finishedAt: '2024' }, DEFAULT_QUOTAS)
      const reading = await createReading(db, caller, bookId, { finishedAt: '2025' }, DEFAULT_QUOTAS)
      return [bookId, created?.memoId ?? 0, reading?.readingId ?? 0]
    },
    /** Marks a withdrawal, and uploads an image that has no row. */
    mark: (slot: number, member: number, at: number) =>
      putMark(workers, { kind: 'withdrawn', memberId: idOf(slot, member), at }),
    put: (slot: number, member: number, letter: string) =>
      bucket.put(keyOf(slot, member, letter), 'x', { httpMetadata: { contentType: 'image/png' } }),
    withdraw: (slot: number, member: number) => withdraw(dbOf(slot), callerOf(slot, member)),
    sweep: (slot: number) =>
      runPurgeJobs(dbOf(slot), workers, (ids) => releaseAddresses({ directory: dbOf(0) }, ids), {
        left: 900,
        slotsAtATime: 1,
      }),
  }
}
