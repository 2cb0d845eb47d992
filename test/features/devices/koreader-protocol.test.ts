import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createAccessToken } from '../../../src/auth/access-token'
import { type Reader, send, signUp } from '../../support/api'
import { brokenDatabase, changeDatabase, measure, memberDatabase } from '../../support/database'
import { addDevice, DOCUMENT } from '../../support/devices/device'
import { fillIn, RECORDED, type Recorded, textOf } from '../../support/devices/recorded'
import { refusing } from '../../support/rate-limits'
import { holdClock } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'

let reader: Reader
let device: Awaited<ReturnType<typeof addDevice>>
let other: Awaited<ReturnType<typeof addDevice>>
beforeAll(async () => {
  reader = await signUp()
  device = await addDevice(reader)
  other = await addDevice(reader, { name: 'Phone' })
})

const UNKNOWN = 'rld222222222222222222222222222'
const REFUSING = { DEVICE_LIMIT: refusing, NETWORK_LIMIT: refusing, CREDENTIAL_LIMIT: refusing, WRITE_LIMIT: refusing }

/** The token with which a recorded request got its answer. */
const tokenFor = ({ method, url, acceptedAnswer: { status, body } }: Recorded) => {
  if (status === 401) return UNKNOWN
  return method === 'GET' && url.includes('/syncs/') && body !== '{}' ? other.token : device.token
}

const sendRecorded = async (recorded: Recorded) => {
  const fill = (text: string) => fillIn(text, device.addresses.username, tokenFor(recorded))
  const headers: Record<string, string> = {}
  for (const [name, value] of recorded.headers) headers[name] = await fill(value)
  return send(recorded.method, recorded.url, { headers, ...(recorded.body && { raw: await fill(textOf(recorded)) }) })
}

it('answers what the clients of KOReader and Readest sent as they accept it', async () => {
  const recorded = RECORDED.filter(({ url }) => url.startsWith('/koreader/'))
  expect(recorded.length).toBeGreaterThan(20)
  for (const each of recorded) {
    const { status, headers, body } = await sendRecorded(each)
    const accepted = JSON.parse(each.acceptedAnswer.body)
    if (accepted.timestamp) accepted.timestamp = expect.any(Number)
    const answer = { status, type: headers.get('Content-Type'), body }
    expect(answer, `${each.method} ${each.url}`).toEqual({
      status: each.acceptedAnswer.status,
      type: 'application/json',
      body: accepted,
    })
  }
})

it('reports its health without a token', async () => {
  expect(await send('GET', '/koreader/healthcheck')).toMatchObject({ status: 200, body: { state: 'OK' } })
})

it('allows the headers of the protocol to browsers', async () => {
  const headers = { Origin: 'https://web.readest.com', 'Access-Control-Request-Headers': 'x-auth-key,x-auth-user' }
  const { status, headers: answered } = await send('OPTIONS', '/koreader/syncs/progress', { headers })
  expect(status).toBe(204)
  expect(answered.get('Access-Control-Allow-Headers')).toContain('X-Auth-Key,X-Auth-User')
})

describe('a push', () => {
  it.each<[string, object]>([
    ['document: must not be empty', { document: '' }],
    ['percentage: must be a number between 0 and 1', { percentage: 1.1 }],
    ['progress: must be at most 1000 characters', { progress: 'x'.repeat(1001) }],
  ])('is refused with 403 and code 2003: %s', async (message, invalid) => {
    expect(await device.push({ percentage: 0.5, ...invalid })).toMatchObject({
      status: 403,
      body: { code: 2003, message },
    })
  })

  it('is refused with 403, not 400, if it is no JSON', async () => {
    const answer = await device.request('PUT', '/koreader/syncs/progress', { raw: '{' })
    expect(answer).toMatchObject({ status: 403, body: { code: 2003 } })
  })

  it('needs a token that may write, a pull one that may read', async () => {
    const [reading, writing] = [
      await addDevice(reader, { scopes: ['intake:read'] }),
      await addDevice(reader, { scopes: ['intake:write'] }),
    ]
    expect(await reading.push({ percentage: 0.5 })).toMatchObject({ status: 403, body: { code: 2003 } })
    expect(await writing.request('GET', `/koreader/syncs/progress/${DOCUMENT}`)).toMatchObject({ status: 403 })
    const session = await reader.send('PUT', '/koreader/syncs/progress', { body: {} })
    expect(session.status).toBe(403)
  })

  it('is refused with 401 once its token is deleted', async () => {
    const lost = await addDevice(reader)
    expect((await lost.push({ percentage: 0.5 })).status).toBe(200)
    await reader.delete(`/tokens/${lost.tokenId}`)
    expect(await lost.push({ percentage: 0.6 })).toMatchObject({ status: 401, body: { code: 2001 } })
  })

  it('is one database call', async () => {
    await reader.createBook({ title: 'One call', author: 'A B', itemPage: 100, bookStatus: 'ING' })
    const metadata = { title: 'One call', authors: 'A B' }
    await device.push({ document: 'one-call', percentage: 0.1, metadata })
    const { calls, read, written } = await measure(() =>
      device.push({ document: 'one-call', percentage: 0.2, metadata }),
    )
    expect(calls).toBe(1)
    expect(read).toBeLessThan(100)
    expect(written).toBeLessThan(20)
  })

  it('is never refused by a limit, in a replay of any length', async () => {
    const replay = { percentage: 0.5 }
    for (let n = 0; n < 20; n++) {
      const { status } = await device.push({ ...replay, document: `replay-${n}` }, { changed: REFUSING })
      expect(status).toBe(200)
    }
  })

  it('is repeated if the database fails for a moment, and answered 503 if it keeps failing', async () => {
    let failures = 1
    const failing = wrapDatabase(memberDatabase(), (call) =>
      failures-- > 0 ? Promise.reject(new Error('Network connection lost')) : call(),
    )
    expect((await device.push({ percentage: 0.7 }, { changed: changeDatabase(failing) })).status).toBe(200)
    expect((await other.pull()).percentage).toBe(0.7)
    const broken = { changed: changeDatabase(brokenDatabase('Network connection lost')) }
    expect(await device.push({ percentage: 0.8 }, broken)).toMatchObject({ status: 503, body: { code: 2000 } })
    expect((await other.pull()).percentage).toBe(0.7)
  })
})

it('does not make a device pay for others in its network that fail to sign in, once it has signed in itself', async () => {
  const network = { 'CF-Connecting-IP': '2001:db8:5::1' }
  const signIn = (token: string) =>
    send('GET', '/koreader/users/auth', {
      headers: { Authorization: `Bearer ${token}`, ...network },
      changed: { NETWORK_LIMIT: refusing },
    })
  const [known, ...others] = [device.token, createAccessToken(0, true), createAccessToken(0, true)]
  expect((await signIn(known)).status).toBe(200)
  holdClock(61_000)
  const statuses = []
  for (const token of [...others, known]) statuses.push((await signIn(token)).status)
  vi.useRealTimers()
  vi.restoreAllMocks()
  expect(statuses).toEqual([401, 429, 200])
})

it('answers the newest position of another device, not that of the caller', async () => {
  await device.push({ document: 'pulled', percentage: 0.2, progress: '/body/p[2]' })
  expect(await device.pull('pulled')).toEqual({})
  const own = { document: 'pulled', percentage: 0.2, progress: '/body/p[2]', device: 'Kobo', device_id: 'K1' }
  expect(await other.pull('pulled')).toEqual({ ...own, timestamp: expect.any(Number) })
  const stranger = await addDevice(await signUp())
  expect(await stranger.pull('pulled')).toEqual({})
})
