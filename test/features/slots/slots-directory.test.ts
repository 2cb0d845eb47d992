import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compareSlot, describeDifference } from '../../../scripts/slots/compare.ts'
import { rebuildSlot } from '../../../scripts/slots/rebuild.ts'
import { hashAddress } from '../../../src/auth/keyed-hash'
import { newEmail, PASSWORD, send, tokenOf } from '../../support/api'
import { select } from '../../support/database'
import { ADDRESS_KEY, migrateSlots, SLOTS } from '../../support/slots'
import { insertMemberRow } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const hash = (email: string) => hashAddress(ADDRESS_KEY, email)
const OPEN = [env.DB, env.SPARE_1, env.SPARE_2].map((database, slot) => ({ slot, database }))
const idOf = (slot: number, number: number) => slot * 2 ** 40 + number

const insert = (slot: number, number: number, email: string) =>
  insertMemberRow(OPEN[slot]?.database ?? env.DB, email, '-', idOf(slot, number))
const insertEntry = async (email: string, slot: number, number: number, state = 'HELD', key = ADDRESS_KEY) =>
  select(
    'insert into addresses (addressHash, memberId, slot, claimId, state, settleAt) values (unhex(?), ?, ?, 1, ?, ?)',
    await hashAddress(key, email),
    idOf(slot, number),
    slot,
    state,
    state === 'HELD' ? null : 1,
  )

/** Who has the entry for an address, and how. */
const entryOf = async (email: string) =>
  (
    await select(
      'select memberId, slot, state, settleAt from addresses where addressHash = unhex(?)',
      await hash(email),
    )
  )[0]

const compare = async (slot: number, slots = OPEN) => {
  const lines: string[] = []
  for await (const differences of compareSlot(slots, slot, hash)) {
    lines.push(...differences.map((difference) => describeDifference(slot, difference)))
  }
  return lines
}
const rebuild = (slot: number, options = {}, slots = OPEN) => rebuildSlot(slots, slot, hash, options)

beforeAll(migrateSlots)
beforeEach(async () => {
  for (const { database } of OPEN) {
    const tables = ['members', 'addresses', 'slotCounters', 'settledClaims', 'purgeJobs']
    await database.batch(tables.map((table) => database.prepare(`delete from ${table}`)))
  }
})

describe('rebuilding a slot', () => {
  it('makes entries for members who have none', async () => {
    await insert(1, 1, 'Mina@library.test')
    await insert(2, 1, 'other@library.test')
    expect(await compare(1)).toEqual([`directory: member ${idOf(1, 1)} of slot 1 has no entry`])
    expect(await rebuild(1)).toEqual({ added: 1, deleted: 0, conflicts: [] })
    expect(await entryOf('mina@LIBRARY.test')).toEqual({ memberId: idOf(1, 1), slot: 1, state: 'HELD', settleAt: null })
    expect([await compare(1), await compare(2)]).toEqual([[], [expect.stringMatching(/has no entry$/)]])
    expect(await rebuild(1)).toEqual({ added: 0, deleted: 0, conflicts: [] })
  })

  it('works page by page', async () => {
    const fill = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2345)
      insert into members (memberId, email, name, passwordHash, createdAt, updatedAt)
      select ? + i, 'm' || i || '@library.test', 'M', '-', '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`
    await env.SPARE_1.prepare(fill).bind(idOf(1, 0)).run()
    await insertEntry('gone@library.test', 1, 9999)
    expect(await rebuild(1)).toEqual({ added: 2345, deleted: 1, conflicts: [] })
    expect(await compare(1)).toEqual([])
  })

  it('deletes entries whose member withdrew, does not exist or has another address', async () => {
    await insert(1, 1, 'new@library.test')
    await insert(1, 2, 'withdrawn@library.test')
    await env.SPARE_1.prepare('update members set withdrawnAt = 1 where memberId = ?').bind(idOf(1, 2)).run()
    await insertEntry('old@library.test', 1, 1)
    await insertEntry('withdrawn@library.test', 1, 2)
    await insertEntry('nobody@library.test', 1, 3)
    await insertEntry('elsewhere@library.test', 2, 3)
    expect(await compare(1)).toHaveLength(4)
    expect(await rebuild(1)).toEqual({ added: 1, deleted: 3, conflicts: [] })
    expect(await select('select slot, count(*) as n from addresses group by slot')).toEqual([
      { slot: 1, n: 1 },
      { slot: 2, n: 1 },
    ])
  })

  it('leaves open claims and reservations to the sweep', async () => {
    await insert(1, 1, 'mina@library.test')
    await insertEntry('mina@library.test', 1, 1, 'CLAIMED')
    await insertEntry('former@library.test', 1, 1, 'RESERVED')
    await insertEntry('signing-up@library.test', 1, 2, 'CLAIMED')
    expect(await compare(1)).toEqual([])
    expect(await rebuild(1)).toEqual({ added: 0, deleted: 0, conflicts: [] })
    expect(await select('select state from addresses order by state')).toHaveLength(3)
  })

  const DAY_MS = 86_400_000
  const insertUndo = (number: number, email: string, expiresAt = Date.now() + DAY_MS) =>
    env.SPARE_1.prepare('insert into emailUndos (memberId, codeHash, email, expiresAt) values (?, ?, ?, ?)')
      .bind(idOf(1, number), crypto.randomUUID(), email, expiresAt)
      .run()

  it('reserves the former addresses that a member may return to, until the last undo of each ends', async () => {
    const end = Date.now() + DAY_MS
    await insert(1, 1, 'mina@library.test')
    await insert(1, 2, 'noah@library.test')
    for (const [email, expiresAt] of [
      ['Former@library.test', end],
      ['former@library.test', end - 1],
      ['old@library.test', 1],
      ['MINA@library.test', end],
    ] as const) {
      await insertUndo(1, email, expiresAt)
    }
    await insertUndo(2, 'noahs@library.test', end)
    await insertEntry('noahs@library.test', 1, 2)
    expect((await compare(1)).sort()).toEqual([
      `directory: member ${idOf(1, 1)} of slot 1 has no entry`,
      `directory: member ${idOf(1, 1)} of slot 1 has no entry for a former address`,
      `directory: member ${idOf(1, 2)} of slot 1 has an entry for an address that is not theirs`,
      `directory: member ${idOf(1, 2)} of slot 1 has no entry`,
      `directory: member ${idOf(1, 2)} of slot 1 has no entry for a former address`,
    ])
    expect(await rebuild(1)).toEqual({ added: 4, deleted: 1, conflicts: [] })
    expect(await compare(1)).toEqual([])
    expect(await entryOf('former@library.test')).toEqual({
      memberId: idOf(1, 1),
      slot: 1,
      state: 'RESERVED',
      settleAt: end,
    })
    expect(await entryOf('noahs@library.test')).toMatchObject({ state: 'RESERVED', settleAt: end })
    expect(await entryOf('mina@library.test')).toMatchObject({ state: 'HELD' })
    expect(await select('select count(*) as n from addresses')).toEqual([{ n: 4 }])
    // An undo that was used leaves a reservation without a reason.
    await env.SPARE_1.prepare('delete from emailUndos where memberId = ?').bind(idOf(1, 1)).run()
    expect(await rebuild(1)).toEqual({ added: 0, deleted: 1, conflicts: [] })
    expect(await entryOf('former@library.test')).toBeUndefined()
  })

  it('lists members who may return to an address that another one uses', async () => {
    await insert(0, 1, 'former@library.test')
    await insert(1, 1, 'mina@library.test')
    await insertEntry('mina@library.test', 1, 1)
    await insertUndo(1, 'former@library.test')
    expect(await compare(1)).toEqual([
      `directory: member ${idOf(1, 1)} of slot 1 may return to the address of member 1 of slot 0`,
    ])
    expect((await rebuild(1)).conflicts).toHaveLength(1)
    expect(await entryOf('former@library.test')).toBeUndefined()
  })

  it('takes over unused entries, and reservations of the member', async () => {
    await insert(1, 1, 'mina@library.test')
    await insert(1, 2, 'noah@library.test')
    await insertEntry('mina@library.test', 2, 7)
    await insertEntry('noah@library.test', 1, 2, 'RESERVED')
    expect(await rebuild(1)).toEqual({ added: 2, deleted: 0, conflicts: [] })
    expect(await entryOf('mina@library.test')).toMatchObject({ memberId: idOf(1, 1), slot: 1 })
    expect(await entryOf('noah@library.test')).toMatchObject({ state: 'HELD', settleAt: null })
  })

  it('lists members with the same address in other slots, and changes nothing for them', async () => {
    await insert(0, 1, 'mina@library.test')
    await insert(1, 1, 'MINA@library.test')
    await insert(1, 2, 'noah@library.test')
    await insert(2, 1, 'Noah@library.test')
    await insertEntry('noah@library.test', 2, 1)
    const conflicts = [
      `directory: member ${idOf(1, 1)} of slot 1 has the same address as member 1 of slot 0`,
      `directory: member ${idOf(1, 2)} of slot 1 has the same address as member ${idOf(2, 1)} of slot 2`,
    ]
    expect(await compare(1)).toEqual(conflicts)
    const { added, deleted, conflicts: found } = await rebuild(1)
    expect([added, deleted, found.map((each) => describeDifference(1, each))]).toEqual([0, 0, conflicts])
    expect(await entryOf('noah@library.test')).toMatchObject({ memberId: idOf(2, 1) })
    // Also if the directory names the member of slot 1.
    await insertEntry('mina@library.test', 1, 1)
    expect(await compare(1)).toEqual(conflicts)
  })

  it('keeps entries under another key with --keep-stale, and deletes them otherwise', async () => {
    await insert(1, 1, 'mina@library.test')
    await insertEntry('mina@library.test', 1, 1, 'HELD', `${ADDRESS_KEY}, before it was changed`)
    expect(await rebuild(1, { keepStale: true })).toEqual({ added: 1, deleted: 0, conflicts: [] })
    expect(await rebuild(1)).toEqual({ added: 0, deleted: 1, conflicts: [] })
    expect(await compare(1)).toEqual([])
  })

  it('raises the counter of claims above all ids of the slot', async () => {
    await insert(1, 20_000, 'mina@library.test')
    await env.SPARE_1.prepare('insert into settledClaims values (?, 0)').bind(idOf(1, 30_000)).run()
    await select('insert into slotCounters values (1, ?)', idOf(1, 10_000))
    await rebuild(1)
    expect(await select('select * from slotCounters')).toEqual([{ slot: 1, lastClaimId: idOf(1, 30_001) }])
    expect(await select('select claimId from addresses')).toEqual([{ claimId: idOf(1, 30_001) }])
    await insert(1, 40_000, 'withdrawn@library.test')
    await env.SPARE_1.prepare('delete from members where memberId = ?').bind(idOf(1, 40_000)).run()
    await rebuild(1)
    expect(await select('select * from slotCounters')).toEqual([{ slot: 1, lastClaimId: idOf(1, 40_001) }])
  })

  const setEmail = (number: number, email: string) =>
    env.SPARE_1.prepare('update members set email = ? where memberId = ?').bind(email, idOf(1, number)).run()
  /** What a flow does to an entry: its new claim id keeps a rebuild from changing it. */
  const setEntry = async (email: string, state: string, settleAt: number | null) =>
    select(
      'update addresses set claimId = 99, state = ?, settleAt = ? where addressHash = unhex(?)',
      state,
      settleAt,
      await hash(email),
    )
  const EVENTS: Record<string, () => Promise<unknown>> = {
    withdraws: async () => {
      await env.SPARE_1.prepare('update members set withdrawnAt = 1 where memberId = ?').bind(idOf(1, 1)).run()
      await select('delete from addresses where memberId = ?', idOf(1, 1))
    },
    'signs up': async () => {
      await insertEntry('new@library.test', 1, 3, 'CLAIMED')
      await insert(1, 3, 'new@library.test')
      await setEntry('new@library.test', 'HELD', null)
    },
    'changes the e-mail': async () => {
      await setEntry('noah@library.test', 'CLAIMED', 1)
      await insertEntry('changed@library.test', 1, 2, 'CLAIMED')
      await setEmail(2, 'changed@library.test')
      await setEntry('changed@library.test', 'HELD', null)
      await setEntry('noah@library.test', 'RESERVED', 1)
    },
  }
  it.each(Object.keys(EVENTS))('is correct while a member %s before any of its calls', async (event) => {
    let isOver = false
    for (let at = 1; !isOver; at++) {
      for (const { database } of OPEN) {
        await database.batch(['members', 'addresses'].map((table) => database.prepare(`delete from ${table}`)))
      }
      // The first has no entry; the second has one.
      await insert(1, 1, 'mina@library.test')
      await insert(1, 2, 'noah@library.test')
      await insertEntry('noah@library.test', 1, 2)
      let calls = 0
      const slots = OPEN.map(({ slot, database }) => ({
        slot,
        database: wrapDatabase(database, async (call) => {
          calls += 1
          if (calls === at) await EVENTS[event]?.()
          return call()
        }),
      }))
      await rebuild(1, {}, slots)
      isOver = calls < at
      if (isOver) expect(at).toBeGreaterThan(8)
      expect(await compare(1), `before call ${at}`).toEqual([])
      const reserved = event === 'changes the e-mail' && !isOver ? 'RESERVED' : 'HELD'
      expect(await entryOf('noah@library.test'), `before call ${at}`).toMatchObject({ state: reserved })
    }
  })
})

describe('after a restore of', () => {
  const IN_SLOT_1 = { ...SLOTS, NEW_MEMBERS: '*:1' }
  const IN_SLOT_2 = { ...SLOTS, NEW_MEMBERS: '*:2' }
  const join = async (email: string, changed: object = IN_SLOT_1) => {
    const body = { email, name: 'Reader', password: PASSWORD, authenticationCode: '123456' }
    expect((await send('POST', '/join', { body, changed })).status).toBe(201)
  }
  const login = (email: string) => send('POST', '/login', { body: { email, password: PASSWORD }, changed: SLOTS })
  const withdraw = async (email: string) => {
    const headers = { Authorization: `Bearer ${tokenOf(await login(email))}` }
    expect((await send('DELETE', '/members/me', { headers, changed: SLOTS })).status).toBe(204)
  }

  /** Saves tables, and returns a function that restores them. */
  const save = async (database: D1Database, ...tables: string[]) => {
    const saved = await Promise.all(tables.map((table) => database.prepare(`select * from ${table}`).all()))
    return async () => {
      await database.batch(tables.map((table) => database.prepare(`delete from ${table}`)))
      for (const [at, { results }] of saved.entries()) {
        for (const row of results) {
          const columns = Object.keys(row)
          const insertRow = `insert into ${tables[at]} (${columns}) values (${columns.map(() => '?')})`
          await database
            .prepare(insertRow)
            .bind(...Object.values(row).map(toBound))
            .run()
        }
      }
    }
  }
  // D1 returns blobs as arrays of bytes.
  const toBound = (value: unknown) => (Array.isArray(value) ? Uint8Array.from(value) : value)

  const [before, after, gone] = [newEmail(), newEmail(), newEmail()]
  const checkLogins = async (expected: Record<string, number>) => {
    for (const [email, status] of Object.entries(expected)) expect((await login(email)).status, email).toBe(status)
  }

  it('the directory, those who signed up since get their entries, and those who withdrew lose theirs', async () => {
    await join(before)
    await join(gone)
    const restore = await save(env.DB, 'addresses', 'slotCounters')
    await join(after)
    await withdraw(gone)
    await restore()
    expect(await compare(1)).toHaveLength(2)
    expect(await rebuild(1)).toEqual({ added: 1, deleted: 1, conflicts: [] })
    expect(await compare(1)).toEqual([])
    await checkLogins({ [before]: 200, [after]: 200, [gone]: 401 })
    // The counter is beyond all members again.
    await join(gone)
  })

  it('the directory, someone who has signed up again in another slot is listed', async () => {
    await join(before)
    const restore = await save(env.DB, 'addresses', 'slotCounters')
    await join(after)
    await restore()
    await join(after.toUpperCase(), IN_SLOT_2)
    const { added, conflicts } = await rebuild(1)
    expect([added, conflicts]).toEqual([0, [expect.objectContaining({ other: expect.objectContaining({ slot: 2 }) })]])
    expect(await compare(2)).toEqual([])
  })

  it('a slot, those who had signed up since can sign up again, and those who withdrew are back', async () => {
    await join(before)
    await join(gone)
    const restore = await save(env.SPARE_1, 'members')
    await join(after)
    await withdraw(gone)
    await restore()
    expect(await rebuild(1)).toEqual({ added: 1, deleted: 1, conflicts: [] })
    expect(await compare(1)).toEqual([])
    await checkLogins({ [before]: 200, [after]: 401, [gone]: 200 })
    await join(after)
  })
})
