import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_ENTRIES } from '../../../src/accounts/sessions/schema'
import { sweep } from '../../../src/sweep'
import { newNetwork } from '../../support/accounts/mailed-codes'
import { newEmail, PASSWORD, type Reader, send, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { claimsOf } from '../../support/tokens'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
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

type Entry = { at: string; firstAt: string; count: number; kind: string; device: string | null; country: string | null }
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
      { at: '2030-01-01T10:00:05Z', firstAt: '2030-01-01T10:00:05Z', count: 1, kind: 'LOGIN_FAILED', ...ORIGIN },
      { at: '2030-01-01T10:00:00Z', firstAt: '2030-01-01T10:00:00Z', count: 1, kind: 'LOGIN', ...ORIGIN },
    ])
  })

  it('lists sessions ended by logout, by another session, and all others at once', async () => {
    const devices = [await reader.logInAgain(), await reader.logInAgain(), await reader.logInAgain()]
    await devices[0]?.send('POST', '/logout', CLIENT)
    await reader.delete(`/sessions/${claimsOf(devices[1]?.token ?? '').sid}`)
    await reader.delete('/sessions')
    const entries = (await listActivity()).filter(({ kind }) => kind === 'SESSION_ENDED')
    expect(entries).toMatchObject([{ count: 2 }, { count: 1, ...ORIGIN }])
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
    expect(await listActivity()).toMatchObject([{ count: 1, kind: 'PASSWORD_CHANGED', ...ORIGIN }])
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
    expect(await kindsOf()).toEqual(['SESSION_ENDED', 'PASSWORD_CHANGED', 'LOGIN'])
  })

  it('goes back 90 days', async () => {
    await insertEntries(1, 0, Date.now() - 91 * DAY_MS)
    await insertEntries(1, 1, Date.now() - 89 * DAY_MS)
    expect(await kindsOf()).toEqual(['LOGIN_FAILED'])
  })
})

describe('repeats', () => {
  const start = Date.parse('2030-01-01T10:00:00Z')
  const at = (ms: number) => vi.useFakeTimers({ now: start + ms, toFake: ['Date'] })
  beforeEach(async () => {
    at(0)
    reader = await signUp()
    memberId = await memberIdOf(reader)
  })

  /** Creates and deletes an access token. */
  const useToken = async (device: string, country = 'KR') => {
    const from = { headers: { 'User-Agent': device }, cf: { country }, changed: { MAIL_FROM: '' } }
    const body = { name: 'Script', scopes: ['profile:read'] }
    const { tokenId } = (await reader.send('POST', '/tokens', { ...from, body })).body
    await reader.send('DELETE', `/tokens/${tokenId}`, from)
  }
  const entriesOf = async (kind: string) => (await listActivity()).filter((entry) => entry.kind === kind)

  it('from the same device and country on the same UTC day are counted in one entry', async () => {
    await logIn(reader.email)
    at(5000)
    await logIn(reader.email)
    const counted = { at: '2030-01-01T10:00:05Z', firstAt: '2030-01-01T10:00:00Z', count: 2, kind: 'LOGIN', ...ORIGIN }
    expect(await listActivity()).toEqual([counted])
    at(14 * HOUR_MS)
    await logIn(reader.email)
    const next = { at: '2030-01-02T00:00:00Z', firstAt: '2030-01-02T00:00:00Z', count: 1, kind: 'LOGIN', ...ORIGIN }
    expect(await listActivity()).toEqual([next, counted])
  })

  it('beyond five devices and countries on a day are counted without either', async () => {
    for (const device of ['A', 'B', 'C', 'D']) await useToken(device)
    await useToken('A', 'DE')
    for (const device of ['E', 'F', 'A', 'D']) await useToken(device)
    const created = (await entriesOf('TOKEN_CREATED')).map(({ count, device, country }) => [count, device, country])
    expect(created.sort()).toEqual([
      [1, 'A', 'DE'],
      [1, 'B', 'KR'],
      [1, 'C', 'KR'],
      [2, null, null],
      [2, 'A', 'KR'],
      [2, 'D', 'KR'],
    ])
  })

  it('from an unknown device and country do not count towards the five', async () => {
    const from = { headers: {}, cf: {} }
    const body = { password: 'another-password-1' }
    for (let n = 0; n < 2; n++) await reader.send('PATCH', '/members/me', { ...from, body })
    for (const device of ['A', 'B', 'C', 'D', 'E', 'F']) {
      await reader.send('PATCH', '/members/me', { headers: { 'User-Agent': device }, cf: {}, body })
    }
    const changed = (await entriesOf('PASSWORD_CHANGED')).map(({ count, device }) => [count, device])
    expect(changed.sort()).toEqual([
      [1, 'A'],
      [1, 'B'],
      [1, 'C'],
      [1, 'D'],
      [1, 'E'],
      [3, null],
    ])
  })

  it('do not push out the login of a thief who creates and deletes 100 access tokens', { tags: ['slow'] }, async () => {
    await logIn(reader.email)
    for (let n = 0; n < 100; n++) {
      at(n * 1000)
      await useToken(`Device${n % 60}`)
    }
    expect(await entriesOf('LOGIN')).toMatchObject([{ at: '2030-01-01T10:00:00Z', ...ORIGIN }])
    for (const kind of ['TOKEN_CREATED', 'TOKEN_DELETED']) {
      const entries = await entriesOf(kind)
      expect(entries).toHaveLength(6)
      expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(100)
    }
  })

  it('are searched for among the newest entries only', async () => {
    await insertEntries(100, 0, start - DAY_MS)
    await useToken('A')
    const { read: before } = await measure(() => useToken('A'))
    await select('delete from activity where memberId = ?', memberId)
    await insertEntries(4000, 0, start - DAY_MS)
    await useToken('A')
    const { calls, read } = await measure(() => useToken('A'))
    expect([calls, read]).toEqual([2, before])
    // Two entries, each merged after the newest 54 were read.
    expect(read).toBeLessThan(300)
  })
})

describe('failed logins', () => {
  it('are listed twenty times a day', { tags: ['slow'] }, async () => {
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
  it('has at most 500 failed logins and 5,000 other entries: the oldest are removed', async () => {
    await insertEntries(5000, 0, Date.now() - DAY_MS)
    await insertEntries(500, 1, Date.now() - DAY_MS)
    expect(await countEntries()).toBe(MAX_ENTRIES)
    await logIn(reader.email)
    await logIn(reader.email, 'wrong-password')
    expect((await kindsOf()).slice(0, 2).sort()).toEqual(['LOGIN', 'LOGIN_FAILED'])
    expect(await countEntries()).toBe(MAX_ENTRIES)
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
