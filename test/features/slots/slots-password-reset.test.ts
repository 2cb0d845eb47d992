import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { mails, newNetwork, requestReset, resetCodeIn, resetWith } from '../../support/accounts/mailed-codes'
import { newEmail, PASSWORD, send } from '../../support/api'
import { brokenDatabase } from '../../support/database'
import { insertMemberAt } from '../../support/home'
import { ADDRESS_KEY, interceptSlots, migrateSlots, recordCalls, SLOTS } from '../../support/slots'
import { insertAccessToken } from '../../support/tokens'

// Three databases, with members in each.

const NEW_PASSWORD = 'another-horse-2'
// PASSWORD, hashed.
const HASH =
  '$pbkdf2-sha512-chain$r=3,i=70000$cmVhZGluZy1saWJyYXJ5IQ==$limaDJprKnSewjH+8NQD/XCwh2WlY9XVqrVlbZLD8wyUdwn8lJXt+AGmYYjc3L2y4Tox+VS4ioG3+51kyGQVOg=='

beforeAll(migrateSlots)
beforeEach(() => {
  mails.length = 0
})

const databaseOf = (slot: number) => [env.DB, env.SPARE_1, env.SPARE_2][slot] ?? env.DB
const signUp = (slot: number) =>
  insertMemberAt(
    { slot, database: databaseOf(slot), directory: env.DB, addressKey: ADDRESS_KEY },
    env.JWT_SECRET ?? '',
    newEmail(),
    HASH,
  )
const codeFor = async (email: string) => {
  expect((await requestReset(email, { from: newNetwork(), ...SLOTS })).status).toBe(202)
  return resetCodeIn(mails.at(-1))
}
const reset = (email: string, code: string, changed: object = SLOTS) =>
  resetWith(email, code, NEW_PASSWORD, { from: newNetwork(), ...changed })
const login = async (email: string, password: string) =>
  (await send('POST', '/login', { body: { email, password }, changed: SLOTS })).status
const profile = async (token: string) =>
  (await send('GET', '/members/me', { headers: { Authorization: `Bearer ${token}` }, changed: SLOTS })).status

const FAILED = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
/** Slot 1, whose answer to the call that sets the password is lost. */
const losing = () =>
  interceptSlots(async (binding, call) => {
    const result = await call()
    if (binding === 'DB_1') throw new Error('D1_ERROR: Network connection lost.')
    return result
  })

describe.each([0, 1, 2])('a member of slot %d', (slot) => {
  it('resets the password, which ends all sessions and access tokens', async () => {
    const { email, memberId, token } = await signUp(slot)
    const script = await insertAccessToken(databaseOf(slot), memberId, ['profile:read'], slot)
    expect([await profile(token), await profile(script)]).toEqual([200, 200])
    const code = await codeFor(email.toUpperCase())
    expect((await reset(email, code)).status).toBe(204)
    expect([await profile(token), await profile(script)]).toEqual([401, 401])
    expect([await login(email, PASSWORD), await login(email, NEW_PASSWORD)]).toEqual([401, 200])
    expect((await reset(email, code)).status).toBe(400)
    expect(mails).toMatchObject([
      { to: email },
      { to: email, subject: 'Your Reading Library password was reset / 비밀번호가 재설정되었습니다' },
    ])
  })

  it('gets the answer from the same databases as a stranger', async () => {
    const { email } = await signUp(slot)
    const callsFor = async (address: string) => {
      const { calls, changed } = recordCalls()
      await requestReset(address, { from: newNetwork(), ...changed })
      return calls
    }
    const own = slot === 0 ? 'DB' : (`DB_${slot}` as const)
    expect(await callsFor(email)).toEqual(['DB', 'DB', own, 'DB'])
    const { calls, changed } = recordCalls()
    expect((await reset(email, 'WRONG-WRONG', changed)).status).toBe(400)
    expect(calls).toEqual(['DB'])
  })

  it('sets only one of three passwords sent at once with the same code', async () => {
    const { email } = await signUp(slot)
    const code = await codeFor(email)
    const answers = await Promise.all(Array.from({ length: 3 }, () => reset(email, code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400])
  })
})

it('makes four calls for an unknown address, one of them to a stand-in slot', async () => {
  const seen = new Set<string>()
  for (let n = 0; n < 20; n++) {
    const { calls, changed } = recordCalls()
    await requestReset(newEmail(), { from: newNetwork(), ...changed })
    expect([calls[0], calls[1], calls[3], calls.length]).toEqual(['DB', 'DB', 'DB', 4])
    seen.add(calls[2] ?? '')
  }
  expect(seen.size).toBeGreaterThan(1)
  expect(mails).toEqual([])
})

it('mails nothing to a former address that is still reserved', async () => {
  const { email, memberId } = await signUp(1)
  await env.DB.prepare(`update addresses set state = 'RESERVED', settleAt = ? where memberId = ?`)
    .bind(Date.now() + 1_000_000, memberId)
    .run()
  await env.SPARE_1.prepare('update members set email = ? where memberId = ?').bind(newEmail(), memberId).run()
  expect((await requestReset(email, { from: newNetwork(), ...SLOTS })).status).toBe(202)
  expect(mails).toEqual([])
})

describe('when slot 1 fails', () => {
  it('a reset changes nothing and uses up the code, and the member can ask for another', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { email, token } = await signUp(1)
    const code = await codeFor(email)
    expect((await reset(email, code, { ...SLOTS, DB_1: FAILED })).status).toBe(503)
    expect([await profile(token), await login(email, PASSWORD)]).toEqual([200, 200])
    expect((await reset(email, code)).status).toBe(400)
    expect((await reset(email, await codeFor(email))).status).toBe(204)
    expect(await login(email, NEW_PASSWORD)).toBe(200)
  })

  it('a reset leaves another code valid', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { email } = await signUp(1)
    const [first, second] = [await codeFor(email), await codeFor(email)]
    expect((await reset(email, first, { ...SLOTS, DB_1: FAILED })).status).toBe(503)
    expect((await reset(email, second)).status).toBe(204)
  })

  it('after setting the password, the reset takes effect once', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { email, token } = await signUp(1)
    const [code, other] = [await codeFor(email), await codeFor(email)]
    expect((await reset(email, code, losing())).status).toBe(503)
    expect([await profile(token), await login(email, NEW_PASSWORD)]).toEqual([401, 200])
    for (const used of [code, other]) expect((await reset(email, used)).status).toBe(400)
  })

  it('a request gets the usual response, and nothing is mailed', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { email } = await signUp(1)
    expect((await requestReset(email, { from: newNetwork(), ...SLOTS, DB_1: FAILED })).status).toBe(202)
    expect(mails).toEqual([])
    expect(error.mock.calls.join()).toContain('slot 1')
    expect(await codeFor(email)).not.toBe('')
  })
})

it('keeps the code if the directory fails before it is used', async () => {
  using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { email } = await signUp(1)
  const code = await codeFor(email)
  let calls = 0
  const changed = interceptSlots((binding, call) => {
    if (binding === 'DB') calls += 1
    return calls === 2 ? Promise.reject(new Error('D1_ERROR: D1 DB is overloaded.')) : call()
  })
  expect((await reset(email, code, changed)).status).toBe(503)
  expect((await reset(email, code)).status).toBe(204)
})
