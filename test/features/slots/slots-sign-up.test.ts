import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { chooseStandIn } from '../../../src/accounts/addresses/directory'
import { hashAddress } from '../../../src/auth/keyed-hash'
import { idRange } from '../../../src/db/next-id'
import type { Bindings } from '../../../src/env'
import worker from '../../../src/index'
import { sweep } from '../../../src/sweep'
import { codeIn, mails, requestCode as requestCodeFrom } from '../../support/accounts/mailed-codes'
import { BASE, newEmail, PASSWORD, send, tokenOf } from '../../support/api'
import { brokenDatabase, select } from '../../support/database'
import { countConcurrent } from '../../support/runtime/concurrent'
import {
  ADDRESS_KEY,
  findDirectoryProblems,
  interceptSlots,
  migrateSlots,
  recordCalls,
  SLOTS,
} from '../../support/slots'
import { claimsOf } from '../../support/tokens'

const IN_SLOT_1 = { ...SLOTS, NEW_MEMBERS: '*:1' }

let email: string
beforeAll(migrateSlots)
beforeEach(() => {
  email = newEmail()
})

const newMember = (fields: object = {}) => ({
  email,
  name: 'Reader',
  password: PASSWORD,
  authenticationCode: '123456',
  ...fields,
})
const join = (changed: Partial<Bindings> = IN_SLOT_1, fields: object = {}) =>
  send('POST', '/join', { body: newMember(fields), changed })
const login = (password = PASSWORD, changed: Partial<Bindings> = IN_SLOT_1) =>
  send('POST', '/login', { body: { email, password }, changed })
const entries = async () => {
  const hash = await hashAddress(ADDRESS_KEY, email)
  return select('select memberId, slot, state from addresses where hex(addressHash) = ?', hash)
}

describe('sign-up in slot 1', () => {
  it('creates the member there, who can log in and out again', async () => {
    expect(await join()).toMatchObject({ status: 201, body: { email, name: 'Reader' } })
    const [member] = (await env.SPARE_1.prepare('select * from members where email = ?').bind(email).all()).results
    expect(Number(member?.memberId)).toBeGreaterThan(idRange(1).idFloor)
    expect(await select('select 1 from members where email = ?', email)).toEqual([])
    expect(await entries()).toEqual([{ memberId: member?.memberId, slot: 1, state: 'HELD' }])

    const token = tokenOf(await login())
    expect(claimsOf(token)).toMatchObject({ slot: 1, sub: String(member?.memberId) })
    const headers = { Authorization: `Bearer ${token}` }
    expect((await send('GET', '/members/me', { headers, changed: SLOTS })).body).toEqual({ email, name: 'Reader' })
    expect((await send('DELETE', '/members/me', { headers, changed: SLOTS })).status).toBe(204)
    expect(await entries()).toEqual([])
    expect((await login()).status).toBe(401)
    expect((await join()).status).toBe(201)
    expect(await findDirectoryProblems()).toEqual([])
  })

  it('takes two calls before the response and one after it', async () => {
    const calls: string[] = []
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const changed = interceptSlots(async (binding, call) => {
      calls.push(binding)
      if (calls.length > 2) await answered
      return call()
    })
    const request = new Request<unknown, IncomingRequestCfProperties>(`${BASE}/join`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(newMember()),
    })
    const context = createExecutionContext()
    const response = await worker.fetch(request, { ...env, ...changed, NEW_MEMBERS: '*:1' }, context)
    expect(response.status).toBe(201)
    expect(await entries()).toMatchObject([{ state: 'CLAIMED' }])
    resolve()
    await waitOnExecutionContext(context)
    expect(calls).toEqual(['DB', 'DB_1', 'DB'])
    expect(await entries()).toMatchObject([{ state: 'HELD' }])
  })

  it('rejects an address that a member of any slot has, regardless of case', async () => {
    const inSlot = (slot: number) => ({ ...SLOTS, NEW_MEMBERS: `*:${slot}` })
    for (const taken of [0, 1, 2]) {
      email = newEmail()
      expect((await join(inSlot(taken))).status).toBe(201)
      for (const other of [0, 1, 2]) {
        expect((await join(inSlot(other), { email: email.toUpperCase() })).status).toBe(409)
      }
      const body = { joinAuthCodeEmail: email.toUpperCase() }
      expect((await send('POST', '/email/join', { body, changed: SLOTS })).status).toBe(409)
    }
    expect(await findDirectoryProblems()).toEqual([])
  })

  it.each([
    ['slot 1', '*:1'],
    ['slots 0 and 1', '*:0,1'],
  ])('creates one member from fifty concurrent sign-ups in %s', async (_, NEW_MEMBERS) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => join({ ...SLOTS, NEW_MEMBERS })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)])
    expect((await login()).status).toBe(200)
    expect(await findDirectoryProblems()).toEqual([])
  })

  it('chooses the slot by the continent of the request', async () => {
    const NEW_MEMBERS = 'EU:1 *:2'
    const joinFrom = async (continent: string) => {
      const request = new Request<unknown, IncomingRequestCfProperties>(`${BASE}/join`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(newMember({ email: newEmail() })),
        cf: { continent } as IncomingRequestCfProperties,
      })
      const { calls, changed } = recordCalls()
      const context = createExecutionContext()
      const { status } = await worker.fetch(request, { ...env, ...changed, NEW_MEMBERS }, context)
      await waitOnExecutionContext(context)
      expect(status).toBe(201)
      return calls[1]
    }
    expect(await joinFrom('EU')).toBe('DB_1')
    expect(await joinFrom('AS')).toBe('DB_2')
  })

  it('responds with 503 while NEW_MEMBERS is wrong, without affecting other requests', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await join()
    for (const NEW_MEMBERS of ['Europe:1', '*:7']) {
      expect((await join({ ...SLOTS, NEW_MEMBERS }, { email: newEmail() })).status).toBe(503)
      expect(error.mock.calls.join()).toContain('NEW_MEMBERS: ')
      expect((await login(PASSWORD, { ...SLOTS, NEW_MEMBERS })).status).toBe(200)
    }
  })

  it('never reuses a member id, even if a sign-up fails', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await join()
    const [first] = await entries()
    email = newEmail()
    const DB_1 = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
    expect((await join({ ...IN_SLOT_1, DB_1 })).status).toBe(503)
    expect((await join()).status).toBe(201)
    const [second] = await entries()
    expect(second?.memberId).toBe(Number(first?.memberId) + 2)
  })
})

describe('a code', () => {
  const changed = { ...IN_SLOT_1, EMAIL_VERIFICATION: 'required' }
  const requestCode = async () => {
    expect((await requestCodeFrom(email, { ...SLOTS, from: '10.9.9.9' })).status).toBe(201)
    return codeIn(mails.at(-1))
  }

  it('signs up once, in slot 1', async () => {
    const authenticationCode = await requestCode()
    expect((await join(changed, { authenticationCode: 'wrong' })).status).toBe(400)
    expect(await entries()).toEqual([])
    expect((await join(changed, { authenticationCode })).status).toBe(201)
    expect(await select('select count(*) as codes from joinCodes')).toEqual([{ codes: 0 }])
    expect((await join(changed, { authenticationCode })).status).toBe(409)
  })

  it('can be used again after its slot failed', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const authenticationCode = await requestCode()
    const DB_1 = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
    for (let n = 0; n < 25; n++) expect((await join({ ...changed, DB_1 }, { authenticationCode })).status).toBe(503)
    expect((await join(changed, { authenticationCode })).status).toBe(201)
    expect(await findDirectoryProblems()).toEqual([])
  })

  it('can be requested for an address whose claim was abandoned', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB_1 = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
    expect((await join({ ...IN_SLOT_1, DB_1 })).status).toBe(503)
    expect(await entries()).toMatchObject([{ state: 'CLAIMED' }])
    const authenticationCode = await requestCode()
    expect((await join({ ...changed, NEW_MEMBERS: '' }, { authenticationCode })).status).toBe(201)
    expect(await findDirectoryProblems()).toEqual([])
  })
})

describe('login', () => {
  it.each([0, 1, 2])(
    'asks the directory, then slot %i twice, and after a success the directory again',
    async (slot) => {
      const { calls, changed } = recordCalls()
      await join({ ...SLOTS, NEW_MEMBERS: `*:${slot}` })
      const database = (['DB', 'DB_1', 'DB_2'] as const)[slot]
      expect((await login(PASSWORD, changed)).status).toBe(200)
      // In slot 0, the session is created and the attempts are forgiven in one call.
      expect(calls.splice(0)).toEqual(['DB', database, database, ...(slot > 0 ? ['DB'] : [])])
      expect((await login('wrong', changed)).status).toBe(401)
      expect(calls.splice(0)).toEqual(['DB', database, database])
    },
  )

  it('queries the directory and always the same slot for an unknown address', async () => {
    const { calls, changed } = recordCalls()
    expect((await login('wrong', changed)).status).toBe(401)
    const first = calls.splice(0)
    expect(first).toHaveLength(3)
    expect(first[2]).toBe(first[1])
    expect((await login('wrong', changed)).status).toBe(401)
    expect(calls).toEqual(first)
  })

  it('chooses stand-in slots in proportion to their members', async () => {
    const shares = [
      { slot: 0, given: 100 },
      { slot: 1, given: 300 },
      { slot: 4, given: 0 },
      { slot: 5, given: 600 },
    ]
    const hashes = await Promise.all(Array.from({ length: 5000 }, () => hashAddress(ADDRESS_KEY, newEmail())))
    const chosen = hashes.map((hash) => chooseStandIn(hash, shares))
    const shareOf = (slot: number) => chosen.filter((each) => each === slot).length / chosen.length
    expect(shareOf(0)).toBeCloseTo(0.1, 1)
    expect(shareOf(1)).toBeCloseTo(0.3, 1)
    expect(shareOf(5)).toBeCloseTo(0.6, 1)
    expect(shareOf(4)).toBe(0)
    expect(chooseStandIn(hashes[0] ?? '', [])).toBe(0)
  })

  it('does not count an attempt that failed because the slot is down', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await join()
    const DB_1 = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
    for (let n = 0; n < 12; n++) expect((await login(PASSWORD, { ...SLOTS, DB_1 })).status).toBe(503)
    expect((await login()).status).toBe(200)
  })

  it('reads the password from the primary: a replica might still have an old one', async () => {
    await join()
    const headers = { Authorization: `Bearer ${tokenOf(await login())}` }
    const me = await send('GET', '/members/me', { headers, changed: SLOTS })
    const bookmark = me.headers.get('X-D1-Bookmark') ?? ''
    expect(bookmark).toMatch(/^1:/)
    using sessions = vi.spyOn(Object.getPrototypeOf(env.DB), 'withSession')
    const body = { email, password: PASSWORD }
    const answer = await send('POST', '/login', { body, headers: { 'X-D1-Bookmark': bookmark }, changed: SLOTS })
    expect(answer.status).toBe(200)
    expect(new Set(sessions.mock.calls.flat())).toEqual(new Set(['first-primary']))
  })

  it('fails if the directory has an entry but the slot has no member', async () => {
    await join()
    await env.SPARE_1.prepare('update members set email = ? where email = ?').bind(newEmail(), email).run()
    expect((await login()).status).toBe(401)
    await env.DB.prepare('delete from addresses').run()
    await env.SPARE_1.prepare('delete from members').run()
  })
})

describe('a slot that is down', () => {
  it('fails requests of its members and sign-ups into it, and no others', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await join()
    const token = tokenOf(await login())
    const down = { ...IN_SLOT_1, DB_1: brokenDatabase('D1_ERROR: D1 DB is overloaded.') }
    const authorized = { headers: { Authorization: `Bearer ${token}` }, changed: down }
    expect((await send('GET', '/members/me', authorized)).status).toBe(503)
    expect((await login(PASSWORD, down)).status).toBe(503)
    email = newEmail()
    expect((await join(down)).status).toBe(503)
    for (const NEW_MEMBERS of ['*:0', '*:2']) {
      email = newEmail()
      expect((await join({ ...down, NEW_MEMBERS })).status).toBe(201)
      expect((await login(PASSWORD, down)).status).toBe(200)
    }
  })

  it('is named by /health, which still checks the others', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { changed } = recordCalls()
    expect(await send('GET', '/health', { changed })).toMatchObject({ status: 200, body: { slots: [0, 1, 2] } })
    const DB_1 = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
    const { changed: fresh } = recordCalls()
    for (let n = 0; n < 2; n++) {
      const answer = await send('GET', '/health', { changed: { ...fresh, DB_1 } })
      expect(answer).toMatchObject({ status: 503, body: { message: expect.stringContaining('slot 1') } })
      expect(answer.body.message).not.toContain('slot 2')
    }
  })
})

describe('the sweep', () => {
  it('visits every slot, at most six at a time', { tags: ['slow'] }, async () => {
    const { seen, intercept } = countConcurrent(6)
    const visited = new Set<string>()
    const { changed } = recordCalls()
    const extra = Object.fromEntries(
      Array.from({ length: 37 }, (_, n) => {
        const calls = interceptSlots((_, call) => {
          visited.add(`DB_${n + 3}`)
          return intercept(call)
        })
        return [`DB_${n + 3}`, calls.DB_2]
      }),
    )
    await sweep({ ...env, ...changed, ...extra })
    expect(visited.size).toBe(37)
    expect(seen.highest).toBe(6)
  })

  it('settles a thousand claims of one slot without blocking the directory', { tags: ['slow'] }, async () => {
    const { idFloor } = idRange(1)
    await select(`insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
      with recursive n(i) as (select ${idFloor + 1000} union all select i + 1 from n where i < ${idFloor + 1999})
      select randomblob(16), i, 1, i, 'CLAIMED', 0 from n`)
    let most = 0
    const counted = interceptSlots(async (_, call) => {
      const results = await call()
      const read = [results].flat().map((each) => (each as D1Result).meta.rows_read)
      most = Math.max(
        most,
        read.reduce((sum, rows) => sum + rows),
      )
      return results
    })
    await sweep({ ...env, ...counted })
    expect(most).toBeLessThan(10 * 1000)
    expect(await select('select 1 from addresses where settleAt = 0')).toEqual([])
  })

  it('settles the claims of other slots while one with a thousand claims is down', { tags: ['slow'] }, async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await select(`insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
      with recursive n(i) as (select 3000 union all select i + 1 from n where i < 4000)
      select randomblob(16), i, iif(i = 4000, 2, 1), i, 'CLAIMED', iif(i = 4000, 1, 0) from n`)
    await sweep({ ...env, ...SLOTS, DB_1: brokenDatabase('D1_ERROR: D1 DB is overloaded.') })
    const left = await select('delete from addresses where claimId between 3000 and 4000 returning slot')
    expect(new Set(left.map(({ slot }) => slot))).toEqual(new Set([1]))
  })

  it('keeps settled claims for a day', async () => {
    const now = Date.now()
    const insert = env.SPARE_1.prepare('insert into settledClaims values (?, ?)')
    await env.SPARE_1.batch([insert.bind(1, now - 86_300_000), insert.bind(2, now - 86_500_000)])
    await sweep({ ...env, ...SLOTS })
    const { results } = await env.SPARE_1.prepare('select claimId from settledClaims where claimId < 3').all()
    expect(results).toEqual([{ claimId: 1 }])
  })

  it('deletes expired reservations', async () => {
    const insert = env.DB.prepare(`insert into addresses values (unhex(?), 1, 1, 1, 'RESERVED', ?)`)
    const [old, young] = await Promise.all([hashAddress(ADDRESS_KEY, 'old'), hashAddress(ADDRESS_KEY, 'young')])
    await env.DB.batch([insert.bind(old, Date.now() - 1), insert.bind(young, Date.now() + 60_000)])
    await sweep({ ...env, ...SLOTS })
    const left = await select(`select hex(addressHash) as hash from addresses where state = 'RESERVED'`)
    expect(left).toEqual([{ hash: young }])
    await select('delete from addresses where memberId = 1')
  })
})
