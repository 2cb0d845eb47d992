import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sweep } from '../../src/sweep'
import { newEmail, PASSWORD, type Reader, send, signUp } from '../support/api'
import { select } from '../support/database'
import { memberIdOf } from '../support/images'
import { newNetwork } from '../support/mailed-codes'
import { claimsOf } from '../support/tokens'

const DAY_MS = 86_400_000
const CLIENT = { headers: { 'User-Agent': 'Reading/2.1 (Android 15)' }, cf: { country: 'KR' } }
const ORIGIN = { device: 'Reading on Android', country: 'KR' }

let reader: Reader
let memberId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
})
afterEach(() => {
  vi.useRealTimers()
})

/** Each attempt comes from its own network, because these are limited exactly. It returns after the activity is written. */
const logIn = (email: string, password = PASSWORD) => {
  const headers = { ...CLIENT.headers, 'CF-Connecting-IP': newNetwork() }
  return send('POST', '/login', { ...CLIENT, headers, body: { email, password }, changed: {} })
}

type Entry = { at: string; kind: string; device: string | null; country: string | null }
const listActivity = async (): Promise<Entry[]> => (await reader.get('/members/me/activity')).body
const kindsOf = async () => (await listActivity()).map(({ kind }) => kind)
const countEntries = async () => (await select('select count(*) as n from activity where memberId = ?', memberId))[0]?.n

const insertEntries = (count: number, isFailedLogin: 0 | 1, at = Date.now()) =>
  select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
    insert into activity (memberId, isFailedLogin, entry, at, kind) select ?1, ?3, i, ?4, ?5 from n`,
    memberId,
    count,
    isFailedLogin,
    at,
    isFailedLogin ? 'LOGIN_FAILED' : 'LOGIN',
  )

describe('GET /members/me/activity', () => {
  it('is empty for a new member', async () => {
    expect(await reader.get('/members/me/activity')).toMatchObject({ status: 200, body: [] })
  })

  it('lists logins, including failed ones, newest first, with device and country', async () => {
    vi.useFakeTimers({ now: new Date('2030-01-01T10:00:00.900Z'), toFake: ['Date'] })
    reader = await signUp()
    await logIn(reader.email)
    vi.setSystemTime(new Date('2030-01-01T10:00:05Z'))
    await logIn(reader.email.toUpperCase(), 'wrong-password')
    expect(await listActivity()).toEqual([
      { at: '2030-01-01T10:00:05Z', kind: 'LOGIN_FAILED', ...ORIGIN },
      { at: '2030-01-01T10:00:00Z', kind: 'LOGIN', ...ORIGIN },
    ])
  })

  it('lists sessions ended by logout, by another session, and all others at once', async () => {
    const devices = [await reader.logInAgain(), await reader.logInAgain(), await reader.logInAgain()]
    await devices[0]?.send('POST', '/logout', CLIENT)
    await reader.delete(`/sessions/${claimsOf(devices[1]?.token ?? '').sid}`)
    await reader.delete('/sessions')
    const entries = (await listActivity()).filter(({ kind }) => kind === 'SESSION_ENDED')
    expect(entries).toHaveLength(3)
    expect(entries[2]).toMatchObject(ORIGIN)
  })

  it('lists nothing if no session has ended', async () => {
    await reader.delete(`/sessions/${crypto.randomUUID()}`)
    await reader.delete('/sessions')
    await reader.post('/sessions/renew', undefined)
    expect(await listActivity()).toEqual([])
  })

  it('lists a change of password, but not of the name', async () => {
    await reader.patch('/members/me', { name: 'Renamed' })
    await reader.send('PATCH', '/members/me', { ...CLIENT, body: { password: 'another-password-1' } })
    expect(await listActivity()).toEqual([{ at: expect.any(String), kind: 'PASSWORD_CHANGED', ...ORIGIN }])
  })

  it('lists nothing of other members', async () => {
    const other = await signUp()
    await logIn(other.email)
    await logIn(other.email, 'wrong-password')
    expect(await listActivity()).toEqual([])
  })

  it('lists entries of the same second in the order in which they happened', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    await logIn(reader.email)
    await reader.patch('/members/me', { password: 'another-password-1' })
    await logIn(reader.email, 'another-password-1')
    await reader.delete('/sessions')
    expect(await kindsOf()).toEqual(['SESSION_ENDED', 'LOGIN', 'PASSWORD_CHANGED', 'LOGIN'])
  })

  it('goes back 90 days', async () => {
    await insertEntries(1, 0, Date.now() - 91 * DAY_MS)
    await insertEntries(1, 1, Date.now() - 89 * DAY_MS)
    expect(await kindsOf()).toEqual(['LOGIN_FAILED'])
  })
})

describe('failed logins', () => {
  it('are listed twenty times a day', async () => {
    await Promise.all(Array.from({ length: 25 }, () => logIn(reader.email, 'wrong-password')))
    expect(await countEntries()).toBe(20)
    vi.useFakeTimers({ now: Date.now() + 1.01 * DAY_MS, toFake: ['Date'] })
    await logIn(reader.email, 'wrong-password')
    expect(await countEntries()).toBe(21)
  })

  it('of unknown addresses leave no entry', async () => {
    const count = () => select('select count(*) as n from activity')
    const before = await count()
    await logIn(newEmail(), 'wrong-password')
    expect(await count()).toEqual(before)
  })

  it('do not remove other entries', async () => {
    await insertEntries(500, 1)
    await logIn(reader.email)
    await logIn(reader.email, 'wrong-password')
    expect((await kindsOf()).filter((kind) => kind === 'LOGIN')).toHaveLength(1)
    expect(await countEntries()).toBe(501)
  })
})

describe('the activity of a member', () => {
  it('has at most 500 failed logins and 500 other entries: the oldest are removed', async () => {
    await insertEntries(500, 0, Date.now() - DAY_MS)
    await insertEntries(500, 1, Date.now() - DAY_MS)
    expect(await countEntries()).toBe(1000)
    await logIn(reader.email)
    await logIn(reader.email, 'wrong-password')
    expect((await kindsOf()).slice(0, 2).sort()).toEqual(['LOGIN', 'LOGIN_FAILED'])
    expect(await countEntries()).toBe(1000)
    const oldest = 'select isFailedLogin, min(entry) as entry from activity where memberId = ? group by isFailedLogin'
    expect((await select(oldest, memberId)).map(({ entry }) => entry)).toEqual([2, 2])
  })

  it('is swept after 90 days', async () => {
    await insertEntries(3, 0, Date.now() - 91 * DAY_MS)
    await insertEntries(2, 1, Date.now() - 89 * DAY_MS)
    await sweep(env)
    expect(await countEntries()).toBe(2)
    await logIn(reader.email)
    expect(await kindsOf()).toEqual(['LOGIN', 'LOGIN_FAILED', 'LOGIN_FAILED'])
  })

  it('is gone after the withdrawal', async () => {
    await logIn(reader.email)
    await logIn(reader.email, 'wrong-password')
    expect(await countEntries()).toBe(2)
    await reader.delete('/members/me')
    expect(await countEntries()).toBe(0)
    await logIn(reader.email, 'wrong-password')
    expect(await countEntries()).toBe(0)
  })
})
