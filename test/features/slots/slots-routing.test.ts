import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { idRange } from '../../../src/db/next-id'
import type { Bindings } from '../../../src/env'
import { chooseSlot } from '../../../src/slots/slots'
import { type Reader, send, signUp } from '../../support/api'
import { brokenDatabase } from '../../support/database'
import { eventually } from '../../support/runtime/clock'
import { migrateSlots, recordCalls, SLOTS } from '../../support/slots'
import { claimsOf, insertAccessToken, insertMemberRow, signClaims, signToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const SECRET = env.JWT_SECRET ?? ''
// Not the first: an isolate remembers for a minute which sessions ended, also those of another file's first member.
const IN_SLOT_1 = idRange(1).idFloor + 901

let reader: Reader
let token: string
beforeAll(async () => {
  reader = await signUp()
  await migrateSlots()
  await insertMemberRow(env.SPARE_1, 'one@library.test', '-', IN_SLOT_1)
  token = await signToken(IN_SLOT_1, SECRET, 1)
})

const call = (path: string, { as = token, ...changed }: Partial<Bindings> & { as?: string } = {}, headers = {}) =>
  send('GET', path, { headers: { Authorization: `Bearer ${as}`, ...headers }, changed: { ...SLOTS, ...changed } })
const ME = '/members/me'

describe('a request', () => {
  it('goes to the database that the token names, in one call', async () => {
    const calls: string[] = []
    const count = (name: string, database: D1Database) =>
      wrapDatabase(database, (call) => {
        calls.push(name)
        return call()
      })
    const counted = { DB: count('DB', env.DB), DB_1: count('DB_1', env.SPARE_1) }
    expect(await call(ME, counted)).toMatchObject({ status: 200, body: { email: 'one@library.test' } })
    expect(calls).toEqual(['DB_1'])
    expect(await call(ME, { ...counted, as: reader.token })).toMatchObject({ status: 200 })
    expect(calls).toEqual(['DB_1', 'DB'])
  })

  it('goes to the database that the access token names, in one call', async () => {
    const access = await insertAccessToken(env.SPARE_1, IN_SLOT_1, ['profile:read'], 1)
    // The first use is recorded in a second call, after the response.
    expect((await call(ME, { as: access })).status).toBe(200)
    const { calls, changed } = recordCalls()
    expect(await call(ME, { ...changed, as: access })).toMatchObject({
      status: 200,
      body: { email: 'one@library.test' },
    })
    expect(calls).toEqual(['DB_1'])
  })

  it('answers 401 to an access token in another slot', async () => {
    expect((await call(ME, { as: await insertAccessToken(env.SPARE_1, IN_SLOT_1, ['profile:read'], 2) })).status).toBe(
      401,
    )
    expect((await call(ME, { as: await insertAccessToken(env.SPARE_1, IN_SLOT_1, ['profile:read'], 0) })).status).toBe(
      401,
    )
  })

  it('answers 401 to the key of a device in another slot, and still takes it in its own', async () => {
    const access = await insertAccessToken(env.SPARE_1, IN_SLOT_1, ['intake:write'], 1)
    const key = new Uint8Array(await crypto.subtle.digest('MD5', new TextEncoder().encode(access))).toHex()
    const signIn = (user: string) =>
      send('GET', '/koreader/users/auth', { headers: { 'x-auth-user': user, 'x-auth-key': key }, changed: SLOTS })
    expect((await signIn('reader')).status).toBe(401)
    expect((await signIn('reader1')).status).toBe(200)
    expect((await signIn('reader')).status).toBe(401)
  })

  it('answers 401 when the slot of the token was changed', async () => {
    const [header, , signature] = token.split('.')
    for (const slot of [undefined, 0, 2, 3]) {
      const [, changed] = (await signClaims({ ...claimsOf(token), slot }, SECRET)).split('.')
      expect((await call(ME, { as: `${header}.${changed}.${signature}` })).status).toBe(401)
    }
  })

  it.each([-1, 0, 1.5, '1', null, 8192])('answers 401 when the slot is %j, even if it is signed', async (slot) => {
    expect((await call(ME, { as: await signClaims({ ...claimsOf(token), slot }, SECRET) })).status).toBe(401)
  })

  it('answers 401 in a slot that does not have the member', async () => {
    expect((await call(ME, { as: await signToken(IN_SLOT_1, SECRET) })).status).toBe(401)
    expect((await call(ME, { as: await signToken(IN_SLOT_1, SECRET, 2) })).status).toBe(401)
  })

  it('answers 503 when the slot is not bound, and logs an error', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await call(ME, { as: await signToken(IN_SLOT_1, SECRET, 7) })
    expect(answer).toMatchObject({ status: 503, body: { status: 503 } })
    expect(error.mock.calls.join()).toContain('add the binding DB_7')
  })

  it('fails only for members of a slot that is down, and logs the slot', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB_1 = brokenDatabase('D1_ERROR: D1 DB is overloaded.')
    expect((await call(ME, { DB_1 })).status).toBe(503)
    const line = JSON.parse(String(error.mock.calls[0]?.[0]))
    expect(line).toMatchObject({ slot: 1, message: expect.stringContaining('slot 1: D1_ERROR') })
    expect((await call(ME, { DB_1, as: reader.token })).status).toBe(200)
  })

  it('has the slot in its log line, unless it is 0', async () => {
    using info = vi.spyOn(console, 'info').mockImplementation(() => {})
    await call(ME)
    await call(ME, { as: reader.token })
    const lines = info.mock.calls.map(([line]) => JSON.parse(String(line)))
    expect(lines.map(({ slot }) => slot)).toEqual([1, undefined])
  })

  it('is not refused because another slot has too many calls in flight', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const DB_1 = wrapDatabase(env.SPARE_1, async (call) => {
      await held
      return call()
    })
    let refused = 0
    const running = Array.from({ length: 90 }, async () => {
      if ((await call(ME, { DB_1 })).status === 503) refused++
    })
    // 16 calls of the session run, 64 wait.
    await eventually(() => expect(refused).toBe(10))
    expect((await call(ME)).status).toBe(503)
    expect((await call(ME, { as: reader.token })).status).toBe(200)
    release()
    await Promise.all(running)
  })
})

describe('X-D1-Bookmark', () => {
  const sessionsOf = async (bookmark: string, as = token) => {
    using sessions = vi.spyOn(Object.getPrototypeOf(env.DB), 'withSession')
    expect((await call(ME, { as }, { 'X-D1-Bookmark': bookmark })).status).toBe(200)
    return sessions.mock.calls.at(-1)
  }

  it('names its slot, and has no effect on other slots', async () => {
    const bookmark = (await call(ME)).headers.get('X-D1-Bookmark') ?? ''
    expect(bookmark).toMatch(/^1:[\da-f-]{59}$/)
    expect(await sessionsOf(bookmark)).toEqual([bookmark.slice(2)])
    for (const other of [bookmark.slice(2), `2:${bookmark.slice(2)}`, `0:${bookmark.slice(2)}`]) {
      expect(await sessionsOf(other)).toEqual(['first-primary'])
    }
    expect(await sessionsOf(bookmark, reader.token)).toEqual(['first-primary'])
  })
})

describe('NEW_MEMBERS', () => {
  const choose = (NEW_MEMBERS: string | undefined, continent?: string) =>
    chooseSlot({ ...env, ...SLOTS, NEW_MEMBERS }, continent)

  it.each<[string | undefined, string | undefined, number[]]>([
    [undefined, 'EU', [0]],
    [' ', 'EU', [0]],
    ['EU:1 *:2', 'EU', [1]],
    ['EU:1 *:2', 'AS', [2]],
    ['EU:1 *:2', undefined, [2]],
    ['EU:1', 'AS', [0]],
    ['*:0,2', 'EU', [0, 2]],
  ])('%j places members from %s in %j', (setting, continent, expected) => {
    const chosen = new Set(Array.from({ length: 100 }, () => choose(setting, continent)))
    expect([...chosen].sort()).toEqual(expected)
  })

  it.each(['1', 'EU', 'EU:', 'EU:x', 'XX:1', 'eu:1', 'EU:1 EU:2', 'EU:1, 2', '*:1;EU:2', '*:3', 'EU:1 *:9'])(
    'is refused if it is %j',
    (setting) => expect(() => choose(setting)).toThrow(/NEW_MEMBERS: /),
  )
})

it('requires ADDRESS_KEY if a second database is bound', async () => {
  using error = vi.spyOn(console, 'error').mockImplementation(() => {})
  for (const ADDRESS_KEY of ['', 'short']) {
    error.mockClear()
    expect((await call('/health', { ADDRESS_KEY })).status).toBe(500)
    expect(error.mock.calls.join()).toContain('ADDRESS_KEY')
  }
  expect((await send('GET', '/health', { changed: { ADDRESS_KEY: '' } })).status).toBe(200)
})
