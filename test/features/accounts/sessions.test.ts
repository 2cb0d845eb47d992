import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { blockMember } from '../../../scripts/members/block'
import { sweep } from '../../../src/sweep'
import { PASSWORD, type Reader, readerWith, send, signUp, tokenOf } from '../../support/api'
import { changeDatabase, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { claimsOf, insertAccessToken, signClaims } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const DAY_MS = 86_400_000
const passDays = (days: number) => vi.useFakeTimers({ now: Date.now() + days * DAY_MS, toFake: ['Date'] })

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1'

let reader: Reader
let phone: Reader
beforeEach(async () => {
  reader = await signUp()
  phone = await reader.logInAgain()
})
afterEach(() => {
  vi.useRealTimers()
})

const isSignedIn = async ({ get }: Reader) => {
  const { status } = await get('/members/me')
  expect([200, 401]).toContain(status)
  return status === 200
}
const sessionIdOf = ({ token }: Reader) => String(claimsOf(token).sid)
const idsOf = async ({ get }: Reader): Promise<string[]> =>
  (await get('/sessions')).body.map(({ sessionId }: { sessionId: string }) => sessionId)
const countSessions = async (of: Reader) =>
  (await select('select count(*) as n from sessions where memberId = ?', Number(claimsOf(of.token).sub)))[0]?.n
const renew = async (of: Reader) => readerWith(of.email, tokenOf(await of.post('/sessions/renew', undefined)))

describe('POST /logout', () => {
  it('ends the token, and those of its renewals, but no other session', async () => {
    const renewed = await renew(phone)
    const again = await renew(renewed)
    expect(await again.post('/logout', undefined)).toMatchObject({ status: 204, body: null })
    for (const token of [phone, renewed, again]) expect(await isSignedIn(token)).toBe(false)
    expect((await phone.post('/sessions/renew', undefined)).status).toBe(401)
    expect((await phone.post('/logout', undefined)).status).toBe(401)
    expect(await isSignedIn(reader)).toBe(true)
    expect(await idsOf(reader)).toEqual([sessionIdOf(reader)])
  })

  it('lets the member log in again', async () => {
    await phone.post('/logout', undefined)
    expect(await isSignedIn(await phone.logInAgain())).toBe(true)
  })
})

describe('GET /sessions', () => {
  it('lists the sessions, newest first, with device and country', async () => {
    vi.useFakeTimers({ now: new Date('2030-01-01T10:00:00.700Z'), toFake: ['Date'] })
    const { email } = await signUp()
    vi.setSystemTime(new Date('2030-01-02T10:00:00Z'))
    const credentials = { email, password: PASSWORD }
    const tablet = await send('POST', '/login', { body: credentials, headers: { 'User-Agent': 'okhttp/4.12.0' } })
    vi.setSystemTime(new Date('2030-01-03T10:00:00Z'))
    const options = { body: credentials, headers: { 'User-Agent': IPHONE }, cf: { country: 'KR' } }
    const current = readerWith(email, tokenOf(await send('POST', '/login', options)))
    vi.setSystemTime(new Date('2030-01-04T10:00:00Z'))
    await renew(current)
    const { status, body } = await current.get('/sessions')
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        sessionId: sessionIdOf(current),
        createdAt: '2030-01-03T10:00:00Z',
        renewedAt: '2030-01-04T10:00:00Z',
        expiresAt: '2030-02-03T10:00:00Z',
        device: 'Safari on iPhone',
        country: 'KR',
        current: true,
      },
      {
        sessionId: claimsOf(tokenOf(tablet)).sid,
        createdAt: '2030-01-02T10:00:00Z',
        renewedAt: '2030-01-02T10:00:00Z',
        expiresAt: '2030-02-01T10:00:00Z',
        device: 'okhttp',
        country: null,
        current: false,
      },
      expect.objectContaining({ createdAt: '2030-01-01T10:00:00Z', device: null, country: null, current: false }),
    ])
  })

  it('lists neither sessions of other members nor expired ones', async () => {
    expect(await idsOf(await signUp())).toHaveLength(1)
    passDays(29)
    const later = await reader.logInAgain()
    passDays(2)
    expect(await idsOf(later)).toEqual([sessionIdOf(later)])
  })
})

describe('DELETE /sessions/{session-id}', () => {
  it('ends another session at once', async () => {
    const renewed = await renew(phone)
    expect(await reader.delete(`/sessions/${sessionIdOf(phone)}`)).toMatchObject({ status: 204, body: null })
    expect(await Promise.all([phone, renewed, reader].map(isSignedIn))).toEqual([false, false, true])
  })

  it('ends the current session', async () => {
    expect((await phone.delete(`/sessions/${sessionIdOf(phone)}`)).status).toBe(204)
    expect(await Promise.all([phone, reader].map(isSignedIn))).toEqual([false, true])
  })

  it('answers 404 for a session that is unknown, has ended or belongs to another member', async () => {
    const other = await signUp()
    await phone.post('/logout', undefined)
    for (const sessionId of [crypto.randomUUID(), sessionIdOf(phone), sessionIdOf(other)]) {
      const answer = await reader.delete(`/sessions/${sessionId}`)
      expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([404, 'SESSION_NOT_FOUND'])
    }
    expect(await isSignedIn(other)).toBe(true)
  })
})

describe('DELETE /sessions', () => {
  it('ends all other sessions, but no access token', async () => {
    const [tablet, other] = [await reader.logInAgain(), await signUp()]
    const memberId = await memberIdOf(reader)
    const script = await insertAccessToken(memberDatabase(), memberId, ['profile:read'], memberSlot())
    expect(await reader.delete('/sessions')).toMatchObject({ status: 204, body: null })
    const devices = [reader, phone, tablet, other, readerWith(reader.email, script)]
    expect(await Promise.all(devices.map(isSignedIn))).toEqual([true, false, false, true, true])
    expect((await reader.delete('/sessions')).status).toBe(204)
  })
})

describe('POST /sessions/renew', () => {
  it('answers like a login, with a fresh token for the same session', async () => {
    // Stops the clock, so that the times are exact.
    passDays(0)
    phone = await reader.logInAgain()
    passDays(1)
    const answer = await phone.post('/sessions/renew', undefined)
    expect(answer).toMatchObject({ status: 200, body: { email: phone.email, name: 'Reader' } })
    const [old, fresh] = [claimsOf(phone.token), claimsOf(tokenOf(answer))]
    expect(fresh).toEqual({ ...old, iat: Number(old.iat) + 86_400, exp: Number(old.exp) + 86_400 })
    expect(await countSessions(phone)).toBe(3)
  })

  it('leaves the old token valid until it expires', async () => {
    passDays(28)
    const renewed = await renew(phone)
    expect(await isSignedIn(phone)).toBe(true)
    passDays(1.99)
    expect(await Promise.all([phone, renewed].map(isSignedIn))).toEqual([true, true])
    passDays(0.02)
    expect(await Promise.all([phone, renewed].map(isSignedIn))).toEqual([false, true])
    await sweep(env, Date.now())
    expect(await isSignedIn(renewed)).toBe(true)
  })

  it('extends the session to a year after the login and no further', async () => {
    let latest = phone
    for (let day = 29; day < 365; day += 29) {
      passDays(29)
      latest = await renew(latest)
    }
    const aYear = Number(claimsOf(phone.token).iat) + 365 * 86_400
    expect(claimsOf(latest.token).exp).toBe(aYear)
    passDays(16.9)
    const last = await renew(latest)
    expect(claimsOf(last.token).exp).toBe(aYear)
    expect(await isSignedIn(last)).toBe(true)
    passDays(0.2)
    expect(await isSignedIn(last)).toBe(false)
    expect((await last.post('/sessions/renew', undefined)).status).toBe(401)
  })

  it('ends a session after SESSION_TTL_SECONDS, but no token before it expires', async () => {
    const expiryWith = async (SESSION_TTL_SECONDS: string) => {
      const answer = await phone.send('POST', '/sessions/renew', { changed: { SESSION_TTL_SECONDS } })
      return Number(claimsOf(tokenOf(answer)).exp) - Number(claimsOf(phone.token).iat)
    }
    passDays(1)
    expect(await expiryWith('60')).toBe(30 * 86_400)
    expect(await expiryWith(String(30 * 86_400 + 3600))).toBe(30 * 86_400 + 3600)
  })

  it('leaves one session and signs nobody out if sent fifty times at once', async () => {
    await reader.delete('/sessions')
    const renewed = await Promise.all(Array.from({ length: 50 }, () => renew(reader)))
    expect(await idsOf(reader)).toEqual([sessionIdOf(reader)])
    expect(await Promise.all([reader, ...renewed].map(isSignedIn))).toEqual(Array(51).fill(true))
    await reader.post('/logout', undefined)
    expect(await Promise.all([reader, ...renewed].map(isSignedIn))).toEqual(Array(51).fill(false))
  })
})

describe('a login', () => {
  /** Logs in, and does something between the check of the password and the insertion of the session. */
  const logInDuring = async (email: string, interfere: () => Promise<unknown>) => {
    let calls = 0
    const database = wrapDatabase(memberDatabase(), async (call) => {
      calls += 1
      if (calls === 2) await interfere()
      return call()
    })
    const body = { email, password: PASSWORD }
    const answer = await send('POST', '/login', { body, changed: changeDatabase(database) })
    expect(calls).toBeGreaterThanOrEqual(2)
    return answer
  }
  const refused = { status: 401, body: { message: 'Wrong e-mail or password' } }

  it('fails and creates no session if the password changes before the session is created', async () => {
    const answer = await logInDuring(reader.email, () =>
      reader.patch('/members/me', { password: 'changed-meanwhile-1' }),
    )
    expect(answer).toMatchObject(refused)
    expect([answer.headers.get('Authorization'), answer.headers.get('X-Error-Code')]).toEqual([null, 'LOGIN_FAILED'])
    expect(await idsOf(reader)).toEqual([sessionIdOf(reader)])
  })

  it('fails and creates no session if the member is blocked before the session is created', async () => {
    const block = async () => blockMember(memberDatabase(), await memberIdOf(reader))
    expect(await logInDuring(reader.email, block)).toMatchObject(refused)
    expect(
      await select(
        'select 1 from sessions where sessionId not like ? and memberId = ?',
        'blocked %',
        await memberIdOf(reader),
      ),
    ).toEqual([])
  })

  it('fails and creates no session if the member withdraws before the session is created', async () => {
    expect(await logInDuring(reader.email, () => reader.delete('/members/me'))).toMatchObject(refused)
    expect(await countSessions(reader)).toBe(0)
  })

  it('succeeds if only the name changes meanwhile', async () => {
    const answer = await logInDuring(reader.email, () => reader.patch('/members/me', { name: 'Renamed' }))
    expect(await isSignedIn(readerWith(reader.email, tokenOf(answer)))).toBe(true)
  })
})

describe('sessions of a member', () => {
  it('are at most a hundred: a further login ends the oldest', async () => {
    const { sub } = claimsOf(reader.token)
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 98)
      insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt)
      select ?1, 'session ' || i, ?2 + i, ?2, ?2 + 2592000000 from n`,
      Number(sub),
      Date.now(),
    )
    expect(await countSessions(reader)).toBe(100)
    expect(await isSignedIn(reader)).toBe(true)
    passDays(1)
    const newest = await reader.logInAgain()
    expect(await countSessions(newest)).toBe(100)
    expect(await Promise.all([reader, phone, newest].map(isSignedIn))).toEqual([false, true, true])
  })

  it('are deleted by the sweep once expired', async () => {
    await sweep(env)
    expect(await countSessions(reader)).toBe(2)
    passDays(26)
    const renewed = await renew(phone)
    passDays(5)
    await sweep(env, Date.now())
    expect(await countSessions(reader)).toBe(1)
    expect(await isSignedIn(renewed)).toBe(true)
  })

  it('all end except the current one when the password changes', async () => {
    const [renewed, own] = [await renew(phone), await renew(reader)]
    expect((await reader.patch('/members/me', { password: 'another-password-1' })).status).toBe(200)
    expect(await Promise.all([phone, renewed, reader, own].map(isSignedIn))).toEqual([false, false, true, true])
    expect(await idsOf(reader)).toEqual([sessionIdOf(reader)])
  })

  it('all end when the member withdraws', async () => {
    await reader.delete('/members/me')
    expect(await Promise.all([phone, reader].map(isSignedIn))).toEqual([false, false])
    expect(await countSessions(reader)).toBe(0)
  })
})

it('refuses tokens issued before sessions existed', async () => {
  const { sid, ...claims } = claimsOf(reader.token)
  const secret = env.JWT_SECRET ?? ''
  const as = async (more: object) => readerWith(reader.email, await signClaims({ ...claims, ...more }, secret))
  expect(await isSignedIn(await as({ sid }))).toBe(true)
  expect(await isSignedIn(await as({ ver: 0, jti: crypto.randomUUID() }))).toBe(false)
  expect(await isSignedIn(await as({ ver: 0, jti: sid }))).toBe(false)
})

it('takes one database call for each operation on sessions', async () => {
  const [tablet, laptop] = [await reader.logInAgain(), await reader.logInAgain()]
  const operations = [
    () => reader.get('/sessions'),
    () => reader.post('/sessions/renew', undefined),
    () => reader.get('/members/me/activity'),
    () => reader.delete(`/sessions/${sessionIdOf(phone)}`),
    () => reader.delete(`/sessions/${sessionIdOf(phone)}`),
    () => tablet.post('/logout', undefined),
    () => reader.delete('/sessions'),
  ]
  for (const operation of operations) expect((await measure(operation)).calls).toBe(1)
  expect(await isSignedIn(laptop)).toBe(false)
})
