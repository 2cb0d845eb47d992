import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { toQuery } from '../../../scripts/slots/compare.ts'
import { confirmMarks, findLost, isOtherKey, markSlots, recordKey } from '../../../scripts/slots/marks.ts'
import { hashAddress } from '../../../src/auth/keyed-hash'
import type { Bindings } from '../../../src/env'
import { sweep } from '../../../src/sweep'
import { confirmChange, insertEmailCode, undo } from '../../support/accounts/email-changes'
import { codeIn, mails, newNetwork, requestCode } from '../../support/accounts/mailed-codes'
import { newEmail, PASSWORD, send, tokenOf } from '../../support/api'
import { measure, select } from '../../support/database'
import { emptyDatabase } from '../../support/runner/empty-databases'
import { ADDRESS_KEY, migrateSlots, SLOTS } from '../../support/slots'
import { claimsOf } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

// Lost slots and keys: databases that do not belong together, or a key that is not that of the directory.

const NUMBERS = [0, 1, 2]
const DATABASES = [env.DB, env.SPARE_1, env.SPARE_2]
/** A migrated database without members. */
const EMPTY = env.MIGRATED
const OTHER_KEY = `${ADDRESS_KEY}, but another one`

const query = toQuery(DATABASES.map((database, slot) => ({ slot, database })))
const mark = async () => {
  const { lost, unconfirmed } = await markSlots(query, NUMBERS)
  await confirmMarks(query, unconfirmed)
  return { lost, unconfirmed }
}
const readMarks = async () =>
  Promise.all(
    DATABASES.map(async (database) => (await database.prepare('select * from slotMarks order by slot').all()).results),
  )
const clearMarks = async () => {
  for (const database of [...DATABASES, EMPTY]) await database.prepare('delete from slotMarks').run()
}

type Changed = Partial<Bindings>
/** A binding that no isolate has checked. */
const fresh = (database: D1Database) => wrapDatabase(database, (call) => call())
const health = (changed: Changed) => send('GET', '/health', { changed: { DB: fresh(env.DB), ...changed } })
const join = (email: string, slot: number, changed: Changed = SLOTS) => {
  const body = { email, name: 'Reader', password: PASSWORD, authenticationCode: '123456' }
  return send('POST', '/join', { body, changed: { NEW_MEMBERS: `*:${slot}`, ...changed } })
}
const login = (email: string, changed: Changed = SLOTS, password = PASSWORD) =>
  send('POST', '/login', { body: { email, password }, changed })

const UNAVAILABLE = { status: 503, body: { message: 'Service unavailable: try again later' } }
const unhealthy = (message: string) => ({ status: 503, body: { message: `Service unavailable: ${message}` } })

let errors: ReturnType<typeof vi.spyOn>
const logged = () => errors.mock.calls.join()
let inSlot0: string
let inSlot1: string
beforeAll(async () => {
  await migrateSlots()
  await emptyDatabase(EMPTY)
})
beforeEach(async () => {
  errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  await clearMarks()
  await env.DB.prepare('delete from attempts').run()
  ;[inSlot0, inSlot1] = [newEmail(), newEmail()]
  for (const [slot, email] of [inSlot0, inSlot1].entries()) expect((await join(email, slot)).status).toBe(201)
  await mark()
  await recordKey(query, ADDRESS_KEY, { replace: false })
})
afterAll(() => vi.restoreAllMocks())

/** The members who can log in do, and no address is accepted that may be taken. */
const expectClosed = async (changed: Changed, problem: string) => {
  for (const email of [inSlot1, inSlot1.toUpperCase(), inSlot0, newEmail()]) {
    expect(await join(email, 0, changed), email).toMatchObject(UNAVAILABLE)
  }
  expect(logged()).toContain(`UNAVAILABLE: ${problem}`)
  // Under another key, a login finds no entry, but its stand-in may be the slot.
  expect([200, 503]).toContain((await login(inSlot1, changed)).status)
  expect((await login(inSlot0, changed)).status).toBe(200)
  // The same for a wrong password as for an unknown address.
  expect(await login(inSlot0, changed, 'wrong')).toMatchObject(UNAVAILABLE)
  expect(await login(newEmail(), changed)).toMatchObject(UNAVAILABLE)
  expect(await select('select 1 from members where lower(email) = ?', inSlot1)).toEqual([])
}

describe('a slot bound to an empty database', () => {
  const TYPO = { ...SLOTS, DB_1: EMPTY }

  it('is named by /health', async () => {
    expect((await health(SLOTS)).status).toBe(200)
    expect(await health(TYPO)).toMatchObject(unhealthy('slot 1 has another database'))
    expect(logged()).toContain('bind DB_1 to the one with its members')
    expect((await health(SLOTS)).status).toBe(200)
  })

  it('accepts no members and no logins, while other slots do', async () => {
    expect(await join(newEmail(), 1, TYPO)).toMatchObject(UNAVAILABLE)
    expect(logged()).toContain('UNAVAILABLE: slot 1 has another database: bind DB_1')
    expect((await EMPTY.prepare('select 1 from members').all()).results).toEqual([])
    expect(await login(inSlot1, TYPO)).toMatchObject(UNAVAILABLE)
    for (const slot of [0, 2]) {
      const email = newEmail()
      expect((await join(email, slot, TYPO)).status).toBe(201)
      expect((await login(email, TYPO)).status).toBe(200)
    }
    expect((await login(inSlot1)).status).toBe(200)
  })

  it('is refused by a deployment, which marks nothing', async () => {
    const marks = await readMarks()
    const wrong = toQuery([env.DB, EMPTY, env.SPARE_2].map((database, slot) => ({ slot, database })))
    const line =
      'slot 1: DB_1 is not the database that DB knows: correct its name, restore it, or delete both marks if it has its members'
    expect(await markSlots(wrong, NUMBERS)).toEqual({ lost: [line], unconfirmed: [] })
    expect(await readMarks()).toEqual(marks)
    expect((await EMPTY.prepare('select 1 from slotMarks').all()).results).toEqual([])
  })

  it('is noticed if two slots are swapped, and if slot 0 is empty', async () => {
    const swapped = { ...SLOTS, DB_1: env.SPARE_2, DB_2: env.SPARE_1 }
    const both = 'slot 1 has another database; slot 2 has another database'
    expect(await health(swapped)).toMatchObject(unhealthy(both))
    expect(await health({ ...SLOTS, DB: fresh(EMPTY) })).toMatchObject(unhealthy(both))
    expect(await join(newEmail(), 1, { ...SLOTS, DB: EMPTY })).toMatchObject(UNAVAILABLE)
    const lost = await findLost(toQuery([EMPTY, env.SPARE_1].map((database, slot) => ({ slot, database }))), [0, 1])
    expect(lost).toHaveLength(1)
  })
})

describe('another ADDRESS_KEY', () => {
  const CHANGED = { ...SLOTS, ADDRESS_KEY: OTHER_KEY }

  it('is named by /health, which does not record it', async () => {
    const marks = await readMarks()
    expect(await health(CHANGED)).toMatchObject(unhealthy('ADDRESS_KEY is not the key of the directory'))
    expect(await readMarks()).toEqual(marks)
    expect(JSON.stringify(marks)).not.toContain(ADDRESS_KEY)
    expect((await health(SLOTS)).status).toBe(200)
  })

  it('accepts no new address', async () => {
    await expectClosed(CHANGED, 'ADDRESS_KEY is not the key of the directory')
    expect(await join(inSlot1, 2, CHANGED)).toMatchObject(UNAVAILABLE)
    expect((await join(inSlot1, 2)).status).toBe(409)
  })

  it('mails no code, and counts no use of one', async () => {
    const [email, from] = [newEmail(), newNetwork()]
    expect(await requestCode(inSlot1, { ...CHANGED, from })).toMatchObject(UNAVAILABLE)
    expect((await requestCode(email, { ...SLOTS, from })).status).toBe(201)
    const authenticationCode = codeIn(mails.at(-1))
    const use = (changed: Changed) => {
      const body = { email, name: 'Reader', password: PASSWORD, authenticationCode }
      const bindings = { ...changed, EMAIL_VERIFICATION: 'required', NEW_MEMBERS: '*:1' }
      return send('POST', '/join', { body, headers: { 'CF-Connecting-IP': from }, changed: bindings })
    }
    for (let n = 0; n < 25; n++) expect((await use(CHANGED)).status).toBe(503)
    expect((await use(SLOTS)).status).toBe(201)
  })

  it.each([0, 1])('refuses changes of e-mail and their undo in slot %i, and counts no use of a code', async (slot) => {
    const [oldEmail = '', email, from] = [[inSlot0, inSlot1][slot], newEmail(), newNetwork()]
    const token = tokenOf(await login(oldEmail))
    await insertEmailCode(Number(claimsOf(token).sub), email)
    const change = (changed: Changed) => confirmChange({ token }, email, '000000', { changed, from })
    for (let n = 0; n < 25; n++) expect(await change(CHANGED)).toMatchObject(UNAVAILABLE)
    mails.length = 0
    expect((await change(SLOTS)).status).toBe(200)
    const undoCode = mails.at(-1)?.text.match(/^[0-9A-Z]+(?:-[0-9A-Z]{5})+$/m)?.[0] ?? ''
    expect(await undo(undoCode, { changed: CHANGED })).toMatchObject(UNAVAILABLE)
    expect((await undo(undoCode, { changed: SLOTS })).status).toBe(204)
  })

  it('is accepted once a rebuild has recorded it', async () => {
    expect(await isOtherKey(query, OTHER_KEY)).toBe(true)
    await recordKey(query, OTHER_KEY, { replace: false })
    expect(await isOtherKey(query, OTHER_KEY)).toBe(true)
    await recordKey(query, OTHER_KEY, { replace: true })
    expect([await isOtherKey(query, OTHER_KEY), await isOtherKey(query, ADDRESS_KEY)]).toEqual([false, true])
    expect((await health(CHANGED)).status).toBe(200)
    expect((await health(SLOTS)).status).toBe(503)
    expect((await join(newEmail(), 1, CHANGED)).status).toBe(201)
  })
})

describe('a rollback to fewer bindings', () => {
  it.each([
    ['one database', {}, 'slot 1 is not bound; slot 2 is not bound'],
    ['two databases', { DB_2: env.SPARE_2, ADDRESS_KEY }, 'slot 1 is not bound'],
  ])('to %s is named by /health, and accepts no new address', async (_, bindings, problem) => {
    expect(await health(bindings)).toMatchObject(unhealthy(problem))
    await expectClosed(bindings, 'slot 1 is not bound: add the binding DB_1')
  })

  it('is refused by a deployment', async () => {
    const line = 'slot 1: slots.json has no line for it, but DB knows it: list it, or delete its mark'
    expect((await markSlots(query, [0, 2])).lost).toEqual([line])
  })
})

it('a sweep frees no address in use because a slot or the key is lost', async () => {
  const claim = 'where hex(addressHash) = ? returning state'
  const hash = await hashAddress(ADDRESS_KEY, inSlot1)
  await select(`update addresses set state = 'CLAIMED', settleAt = 0 ${claim}`, hash)
  const stateAfter = async (changed: Changed) => {
    await sweep({ ...env, ...SLOTS, ...changed } as Bindings)
    return (await select('select state from addresses where hex(addressHash) = ?', hash))[0]?.state
  }
  expect(await stateAfter({ DB_1: EMPTY })).toBe('CLAIMED')
  expect(await stateAfter({ ADDRESS_KEY: OTHER_KEY })).toBe('CLAIMED')
  expect(await stateAfter({})).toBe('HELD')
})

describe('marking', () => {
  it('adds a slot, without keeping the former deployment from accepting members before the upload', async () => {
    await clearMarks()
    expect((await markSlots(query, NUMBERS)).unconfirmed).toEqual([1, 2])
    expect((await health({})).status).toBe(200)
    expect((await join(newEmail(), 0, {})).status).toBe(201)
    await confirmMarks(query, [1, 2])
    expect((await health({})).status).toBe(503)
    const [known = [], ...own] = await readMarks()
    expect(known).toMatchObject([
      { slot: 1, isConfirmed: 1 },
      { slot: 2, isConfirmed: 1 },
    ])
    expect(own.flat().map(({ mark }) => mark)).toEqual(known.map(({ mark }) => mark))
    expect(known[0]?.mark).not.toBe(known[1]?.mark)
    expect(await mark()).toEqual({ lost: [], unconfirmed: [] })
    expect(await readMarks()).toEqual([known, ...own])
  })

  it('completes what a crash before or after any of its calls left', { tags: ['slow'] }, async () => {
    for (const isAfter of [false, true]) {
      let isOver = false
      for (let at = 1; !isOver; at++) {
        await clearMarks()
        let calls = 0
        const crashing = toQuery(
          DATABASES.map((database, slot) => ({
            slot,
            database: wrapDatabase(database, async (call) => {
              calls += 1
              if (calls > at || (calls === at && !isAfter)) throw new Error('crashed')
              const result = await call()
              if (calls === at) throw new Error('crashed')
              return result
            }),
          })),
        )
        const run = async () => confirmMarks(crashing, (await markSlots(crashing, NUMBERS)).unconfirmed)
        isOver = await run().then(
          () => true,
          () => false,
        )
        expect((await health(SLOTS)).status, `call ${at}`).toBe(200)
        expect((await join(newEmail(), 1)).status, `call ${at}`).toBe(201)
        expect((await mark()).lost, `call ${at}`).toEqual([])
        expect((await health({ ...SLOTS, DB_1: EMPTY })).status, `call ${at}`).toBe(503)
        if (isOver) expect(at).toBeGreaterThan(6)
      }
    }
  })

  it('gives concurrent deployments the same marks', async () => {
    await clearMarks()
    await Promise.all([mark(), mark(), mark()])
    expect(await findLost(query, NUMBERS)).toEqual([])
  })

  it('is kept by a restore of a slot or of slot 0, and repeated after both marks were deleted', async () => {
    const { results } = await env.SPARE_1.prepare('select slot, mark from slotMarks').all<{ mark: string }>()
    await EMPTY.prepare('insert into slotMarks (slot, mark) values (1, ?)').bind(results[0]?.mark).run()
    expect((await health({ ...SLOTS, DB_1: EMPTY })).status).toBe(200)
    for (const database of [env.DB, EMPTY]) await database.prepare('delete from slotMarks where slot = 1').run()
    const restored = toQuery([env.DB, EMPTY, env.SPARE_2].map((database, slot) => ({ slot, database })))
    expect(await markSlots(restored, NUMBERS)).toEqual({ lost: [], unconfirmed: [1] })
  })
})

describe('a deployment without marks', () => {
  it('works, and its first health check records the key', async () => {
    await clearMarks()
    expect((await join(newEmail(), 1)).status).toBe(201)
    expect((await login(inSlot1)).status).toBe(200)
    expect((await health(SLOTS)).status).toBe(200)
    expect((await readMarks())[0]).toEqual([{ slot: 0, mark: expect.any(String), isConfirmed: 1 }])
    expect((await health({ ...SLOTS, ADDRESS_KEY: OTHER_KEY })).status).toBe(503)
    expect((await health({ ADDRESS_KEY: OTHER_KEY })).status).toBe(200)
  })
})

it('reads at most eight more rows per mark to sign up or log in, in no further call', async () => {
  const costs = async () => {
    const requests = [
      () => join(newEmail(), 0),
      () => join(newEmail(), 1),
      () => login(inSlot0),
      () => login(inSlot1),
      () => login(inSlot1, SLOTS, 'wrong'),
    ]
    const measured = []
    for (const request of requests) {
      await env.DB.prepare('delete from attempts').run()
      measured.push(await measure(request))
    }
    return measured
  }
  await login(inSlot1)
  const marked = await costs()
  await clearMarks()
  for (const [at, { calls, written, read }] of (await costs()).entries()) {
    expect(marked[at]).toMatchObject({ calls, written })
    expect(marked[at]?.read).toBeLessThanOrEqual(read + 8 * NUMBERS.length)
  }
})
