// @module-tag slow
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lastSignUp } from '../../scripts/data/objects.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
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
import { type Mark, toMark } from '../../src/values/marks'
import { DEFAULT_QUOTAS } from '../../src/values/quotas'
import { localTime } from '../../src/values/time'
import { createDatabase, createFolder, runCommandIn } from './databases.ts'

const NOW = '2026-01-01T00:00:00'
const CONFIG = { ...DEFAULT_QUOTAS, TIME_ZONE: 'UTC' }
const ADDRESS_KEY = 'a key of the tests only, for the hashes of addresses'
const BINDINGS = ['DB', 'DB_1', 'DB_2']
const [KEEPER, LEAVER, NEWCOMER] = [1, 2, 3]

const run = (...args: string[]) => runCommandIn('.', { ADDRESS_KEY, TIME_ZONE: 'UTC' }, ...args)

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
const open = async (data: string) => {
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

const readRows = (data: string, binding: string) => {
  using database = new DatabaseSync(localPath(data, binding), { readOnly: true })
  const tables = ['members', 'sessions', 'books', 'memos', 'readings', 'images', 'purgeJobs', 'retiredIds']
  return tables.map((table) => database.prepare(`select * from ${table} order by 1, 2`).all())
}

/** Three slots, as they were before and after further activity. */
const createCopies = async (folder: string) => {
  const [data, older, newer] = ['data', 'older', 'newer'].map((name) => join(folder, name)) as [string, string, string]
  for (const binding of BINDINGS) createDatabase(data, binding).close()
  writeFileSync(join(data, 'slots.json'), '[{"slot":1},{"slot":2}]')
  const copy = (to: string) => cpSync(data, to, { recursive: true })
  const before = await open(data)
  for (const slot of [0, 1, 2]) {
    for (const member of [KEEPER, LEAVER]) {
      await before.signUp(slot, member)
      await before.write(slot, member)
    }
    await before.upload(slot, KEEPER, 'a')
    await before.query(slot, 'update members set maxImageBytes = 9')
  }
  await before.dispose()
  copy(older)

  const after = await open(data)
  const ids: number[][] = []
  for (const slot of [0, 1, 2]) {
    ids.push(await after.write(slot, KEEPER))
    await after.upload(slot, KEEPER, 'b')
    await after.query(slot, `delete from images where name like 'a%'`)
    await after.bucket.delete(after.keyOf(slot, KEEPER, 'a'))
    await after.withdraw(slot, LEAVER)
    await after.sweep(slot)
    await after.signUp(slot, NEWCOMER)
    await after.upload(slot, NEWCOMER, 'c')
  }
  await after.dispose()
  copy(newer)
  /** Takes slots back to how they were, but not the bucket. */
  const goBack = (name: string, bindings: string[]) => {
    const restored = join(folder, name)
    cpSync(newer, restored, { recursive: true })
    for (const binding of bindings) {
      for (const suffix of ['', '-wal', '-shm']) {
        const [from, to] = [localPath(older, binding) + suffix, localPath(restored, binding) + suffix]
        rmSync(to, { force: true })
        if (existsSync(from)) cpSync(from, to)
      }
    }
    const command = (...args: string[]) => run(...args, '--local', '--persist-to', restored)
    return { restored, command }
  }
  return { ids, goBack }
}

/** Each starts a dozen commands. */
const TIMEOUT = { timeout: 300_000 }

const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
let copies: Awaited<ReturnType<typeof createCopies>>
beforeAll(async () => {
  copies = await createCopies(folder)
}, TIMEOUT.timeout)
afterAll(() => rmSync(folder, { recursive: true }))

const repaired = (binding: string) => `${binding}: withdrawals repeated: 1`

it('a slot that went back in time loses no withdrawal and assigns no identifier again', TIMEOUT, async () => {
  const { ids, goBack } = copies
  const { restored } = goBack('slot-restored', ['DB_1'])
  const broken = await open(restored)
  expect(await broken.verify()).not.toEqual([])
  const others = () => ['DB', 'DB_2'].map((binding) => readRows(restored, binding))
  const before = others()

  expect(await broken.verify({ repair: true, restored: 1 })).toEqual(
    expect.arrayContaining([
      repaired('DB_1'),
      'rows of images added: 1',
      'rows of missing images deleted: 1',
      'objects without a row deleted: 1',
    ]),
  )
  await broken.dispose()

  const { verify, query, idOf, keyOf, bucket, write, sweep, dispose } = await open(restored)
  expect(await verify()).toEqual([])
  expect(others()).toEqual(before)
  const leaver = idOf(1, LEAVER)
  expect(await query(1, 'select * from members where memberId = ?', leaver)).toMatchObject([
    { email: `withdrawn-${leaver}`, name: '', passwordHash: '', maxImageBytes: null },
  ])
  expect(await query(1, 'select * from sessions where memberId = ?', leaver)).toEqual([])
  await sweep(1)
  expect(await query(1, 'select memberId from members')).toEqual([{ memberId: idOf(1, KEEPER) }])
  const { objects } = await bucket.list({ prefix: `images/${String(idOf(1, 0)).slice(0, 6)}` })
  expect(objects.map(({ key }) => key)).toEqual([keyOf(1, KEEPER, 'b')])
  for (const [at, id] of (await write(1, KEEPER)).entries()) expect(id).toBeGreaterThan(ids[1]?.[at] ?? Number.NaN)
  await dispose()
})

it('slots that all went back in time assign no member identifier again', TIMEOUT, async () => {
  const { ids, goBack } = copies
  const { command, restored } = goBack('all-restored', BINDINGS)
  const broken = await open(restored)
  expect(await broken.verify({ repair: true, restored: 'all' })).toEqual(expect.arrayContaining(BINDINGS.map(repaired)))
  await broken.dispose()
  expect(await command('verify')).toMatchObject({ code: 0 })

  const { query, idOf, write, dispose } = await open(restored)
  for (const slot of [0, 1, 2])
    for (const [at, id] of (await write(slot, KEEPER)).entries())
      expect(id).toBeGreaterThan(ids[slot]?.[at] ?? Number.NaN)
  const [member] = await query(
    0,
    `insert into members (email, name, passwordHash, createdAt, updatedAt) values ('n', '', '', '${NOW}', '${NOW}') returning memberId`,
  )
  expect(member?.memberId).toBeGreaterThan(NEWCOMER)
  for (const { slot, lastClaimId } of await query(0, 'select * from slotCounters'))
    expect(lastClaimId).toBeGreaterThan(idOf(Number(slot), NEWCOMER))
  await dispose()
})

it.each(['America/Los_Angeles', 'Asia/Seoul'])(
  'a sign-up after a restore gets no images of a lost member and is not withdrawn (%s)',
  TIMEOUT,
  async (timeZone) => {
    const data = join(createFolder(), 'data')
    for (const binding of ['DB', 'DB_1']) createDatabase(data, binding).close()
    writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
    const LOST = NEWCOMER + 1
    const { signUp, mark, put, keyOf, verify, rebuild, dispose } = await open(data)
    const at = (seconds: number) => localTime(timeZone, Date.now() + seconds * 1000)
    for (const member of [LEAVER, NEWCOMER]) await mark(1, member, Date.now() - 60_000)
    await put(1, KEEPER, 'a')
    await put(1, LOST, 'b')
    for (const member of [KEEPER, LEAVER]) await signUp(1, member, at(-120))
    await signUp(1, NEWCOMER, at(0))
    await signUp(1, LOST, at(60))

    const orphan = `${keyOf(1, LOST, 'b')}: object without a row`
    expect(await verify({ repair: true, timeZone })).toEqual(['rows of images added: 1', orphan])
    expect(await verify({ repair: true, restored: 1, timeZone })).toEqual(
      expect.arrayContaining([repaired('DB_1'), 'objects without a row deleted: 1']),
    )
    await rebuild(1)
    expect(await verify({ timeZone })).toEqual([])
    await dispose()
    const [members, , , , , images] = readRows(data, 'DB_1')
    expect(members?.map(({ withdrawnAt }) => withdrawnAt !== null)).toEqual([false, true, false, false])
    expect(images).toMatchObject([{ name: `${'a'.repeat(22)}.png` }])
  },
)

it('repeats what operators did, and lets in no replaced password', TIMEOUT, async () => {
  const data = join(createFolder(), 'data')
  for (const binding of ['DB', 'DB_1']) createDatabase(data, binding).close()
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  const { signUp, query, idOf, bucket, verify, dispose } = await open(data)
  const [CHANGED, KNOWN, OLD, BLOCKED, ENDED] = [1, 2, 3, 4, 5] as const
  const backup = Date.now() - 3_600_000
  const insertToken = `insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, kind) values (?1, ?2, ?1, '', 1, '', 1, ?3)`
  for (const member of [CHANGED, KNOWN, OLD, BLOCKED, ENDED]) {
    await signUp(1, member)
    await query(1, insertToken, `token ${member}`, idOf(1, member), null)
    await query(1, insertToken, `link ${member}`, idOf(1, member), 'SHELF')
  }
  const recordPassword = (member: number, at: number) =>
    query(1, `insert into activity values (?, 0, 1, ?, 'PASSWORD_CHANGED', null, null, 1, null)`, idOf(1, member), at)
  await recordPassword(KNOWN, backup)
  const mark = (kind: Mark['kind'], member: number, minutes: number, action = '') =>
    bucket.put(toMark({ kind, memberId: idOf(1, member), at: backup + minutes * 60_000, action }), '')
  await mark('password', CHANGED, 5)
  await mark('password', KNOWN, 0.01)
  await mark('password', OLD, -5)
  for (const [minutes, action] of ['block', 'unblock', 'block', 'quota MAX_BOOKS=5', 'quota MAX_BOOKS=7'].entries())
    await mark('operator', BLOCKED, minutes, action)
  for (const [minutes, action] of ['block', 'unblock', 'export', 'delete-link link 3'].entries())
    await mark('operator', OLD, minutes, action)
  await mark('operator', ENDED, 1, 'end-sessions')

  const repeated = ['actions of operators repeated: 4', 'passwords to be reset: 1'].map((line) => `DB_1: ${line}`)
  const added = 'entries of the log of operators added: 10'
  expect(await verify({ repair: true, restored: 'all' })).toEqual([...repeated, added])
  expect(await verify({ repair: true, restored: 'all' })).toEqual([])
  const rows = (table: string, columns: string) =>
    query(1, `select ${columns} from ${table} where memberId > ${idOf(1, 0)} order by 1`)
  const each = (password: string, isBlocked: number, maxBooks: number | null, credentialsVersion: number) => {
    return { passwordHash: password, isBlocked, maxBooks, credentialsVersion }
  }
  const unchanged = each('hash', 0, null, 0)
  expect(
    await rows('members', `memberId, passwordHash, blockedAt is not null as isBlocked, maxBooks, credentialsVersion`),
  ).toMatchObject([each('', 0, null, 1), unchanged, unchanged, each('hash', 1, 7, 1), unchanged])
  expect((await rows('sessions', 'memberId')).map(({ memberId }) => memberId)).toEqual(
    [KNOWN, OLD, BLOCKED].map((member) => idOf(1, member)),
  )
  expect((await rows('accessTokens', 'tokenHash')).map(({ tokenHash }) => tokenHash)).toEqual([
    'blocked link 4',
    'blocked token 4',
    'link 1',
    'link 2',
    'token 2',
    'token 3',
  ])
  const log = await query(0, 'select action from operatorLog order by at, memberId limit 3')
  expect(log).toEqual([{ action: 'block' }, { action: 'block' }, { action: 'unblock' }])
  await dispose()
})

it.each([
  ['2026-11-01T05:10:00Z', '2026-11-01T01:10:00'],
  ['2026-11-01T06:10:00Z', '2026-11-01T01:59:59'],
  ['2026-11-01T07:10:00Z', '2026-11-01T02:10:00'],
])('members who existed at %s signed up by %s in New York, where clocks are set back', (at, last) => {
  expect(lastSignUp('America/New_York', Date.parse(at))).toBe(last)
})
