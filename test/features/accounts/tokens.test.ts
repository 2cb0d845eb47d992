import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { MAX_TOKENS } from '../../../src/accounts/tokens/schema'
import { createAccessToken, slotOfToken } from '../../../src/auth/access-token'
import { DEVICE_TOKENS } from '../../../src/db/limits/attempts'
import { sweep } from '../../../src/sweep'
import { ALL_SCOPES, DEVICE_SCOPES, SCOPES } from '../../../src/values/contract'
import { type Reader, send, signUp } from '../../support/api'
import { changeDatabase, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { ABSENT, BLANK, itRejects, NULL, notText, values } from '../../support/inputs/invalid-values'
import { refusing } from '../../support/rate-limits'
import { eventually } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'

const ALL = Object.keys(SCOPES)
const ME = '/members/me'
const NEW = { name: 'Backup script', scopes: ['profile:read'] }
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const UNKNOWN = '00000000-0000-4000-8000-000000000000'

let reader: Reader
beforeAll(async () => {
  reader = await signUp()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Created = { tokenId: string; token: string; addresses: unknown }
const create = async (owner = reader, token: object = {}): Promise<Created> =>
  (await owner.post('/tokens', { ...NEW, ...token })).body
const list = async (owner = reader) => (await owner.get('/tokens')).body
const use = (token: string, method = 'GET', path = ME, options: Parameters<typeof send>[2] = {}) =>
  send(method, path, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } })
const expire = (tokenId: string) => select('update accessTokens set expiresAt = 1 where tokenId = ?', tokenId)

describe('POST /tokens', () => {
  it('returns the token, which no cache may store', async () => {
    const { status, body, headers } = await reader.post('/tokens', NEW)
    expect(status).toBe(201)
    expect(body).toEqual({
      tokenId: expect.any(String),
      ...NEW,
      createdAt: expect.stringMatching(INSTANT),
      expiresAt: null,
      startsBooks: false,
      token: expect.stringMatching(/^rl_[\dA-Za-z]{36}$/),
      addresses: null,
    })
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(slotOfToken(body.token)).toBe(memberSlot())
  })

  it('stores nothing that the token could be recovered from', async () => {
    const { token, tokenId } = await create()
    const [row] = await select('select * from accessTokens where tokenId = ?', tokenId)
    expect(row).toMatchObject({ hint: token.slice(0, 10) })
    expect(JSON.stringify(row)).not.toContain(token.slice(10))
  })

  it.each([
    ['2999-01-01T00:00:00Z', '2999-01-01T00:00:00Z'],
    ['2999-01-01T00:00:00.999Z', '2999-01-01T00:00:00Z'],
    ['2999-01-01T08:30:00+09:00', '2998-12-31T23:30:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    [null, null],
  ])('accepts %j as expiresAt and returns %j', async (expiresAt, expected) => {
    const owner = await signUp()
    expect((await owner.post('/tokens', { ...NEW, expiresAt })).body).toMatchObject({ expiresAt: expected })
    expect(await list(owner)).toMatchObject([{ expiresAt: expected }])
  })

  it('returns the scopes in the order of the documentation', async () => {
    expect((await reader.post('/tokens', { ...NEW, scopes: ALL.toReversed() })).body.scopes).toEqual(ALL)
  })

  it('makes the token of a device shorter, and says what to type', async () => {
    const device = { name: 'Kobo', scopes: Object.keys(DEVICE_SCOPES), startsBooks: true }
    const { status, body } = await reader.post('/tokens', device)
    expect(status).toBe(201)
    const slot = memberSlot()
    expect(body).toMatchObject({
      ...device,
      token: expect.stringMatching(/^rld[2-9a-hjkmnp-z]{27}$/),
      addresses: {
        username: slot === 0 ? 'reader' : `reader${slot}`,
        koreader: expect.stringMatching(/^http.*\/koreader$/),
        webdav: expect.stringMatching(/\/dav\/$/),
        readwise: expect.stringMatching(/\/readwise\/api\/v2$/),
        moonReader: expect.stringMatching(/\/readwise\/api\/v2\/highlights$/),
      },
    })
    expect(slotOfToken(body.token)).toBe(slot)
    expect(await list()).toContainEqual(expect.objectContaining({ ...device, hint: body.token.slice(0, 10) }))
    expect(await use(body.token)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('profile:read') },
    })
    await reader.delete(`/tokens/${body.tokenId}`)
    expect((await use(body.token)).status).toBe(401)
  })

  it.each([
    [{ scopes: ['intake:write', 'library:read'] }, 'scopes'],
    [{ startsBooks: true }, 'startsBooks'],
  ])('refuses %j', async (token, field) => {
    const { status, body } = await reader.post('/tokens', { ...NEW, ...token })
    expect(status).toBe(400)
    expect(body.fieldErrors).toEqual([expect.objectContaining({ field })])
  })

  itRejects(
    {
      startsBooks: values('"true"', '1'),
      name: { ...ABSENT, ...NULL, ...BLANK, ...notText(100) },
      scopes: { ...ABSENT, ...values('null', '[]', '"memos:read"', '{}', '["memos:read","memos:read"]') },
      expiresAt: {
        ...values('"2020-01-01T00:00:00Z"', '"2999-01-01"', '"2999-01-01T00:00:00"', '"2999-01-01T00:00Z"'),
        ...values('"2999-02-29T00:00:00Z"', '"2999-01-01T24:00:00Z"', '"2999-01-01T00:00:00+24:00"', '""'),
        // In the year 10000.
        ...values('"9999-12-31T23:59:59-00:01"', '"tomorrow"', '32472144000000', '[]'),
      },
    },
    NEW,
    (body) => reader.send('POST', '/tokens', body),
    list,
  )

  it.each(['memos:delete', 'MEMOS:READ', 'memos:read ', '', '*', null, 1])('rejects %j as a scope', async (scope) => {
    const answer = await reader.post('/tokens', { ...NEW, scopes: ['library:read', scope] })
    const reason = `must be one of ${Object.keys(ALL_SCOPES).join(', ')}`
    expect(answer.body.fieldErrors).toEqual([{ field: 'scopes.1', rejectedValue: scope, reason }])
  })

  it('makes a limited number of tokens for devices a day, also if others are deleted', async () => {
    const owner = await signUp()
    const [limit] = DEVICE_TOKENS
    const device = { ...NEW, scopes: ['intake:write'] }
    Object.assign(limit as object, { max: 2 })
    try {
      const answers = await Promise.all([1, 2, 3].map(() => owner.post('/tokens', device)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429])
      await owner.delete('/tokens')
      const refused = await owner.post('/tokens', device)
      expect([refused.status, Number(refused.headers.get('Retry-After')) > 86_000]).toEqual([429, true])
      expect((await owner.post('/tokens', NEW)).status).toBe(201)
      expect(await list(owner)).toHaveLength(1)
    } finally {
      Object.assign(limit as object, { max: 50 })
    }
  })

  it(`allows a member ${MAX_TOKENS} tokens, even if more are requested at once`, async () => {
    const owner = await signUp()
    const answers = await Promise.all(Array.from({ length: MAX_TOKENS + 10 }, () => owner.post('/tokens', NEW)))
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused.map(({ headers }) => headers.get('X-Error-Code'))).toEqual(Array(10).fill('MAX_TOKENS'))
    const tokens = await list(owner)
    expect(tokens).toHaveLength(MAX_TOKENS)

    // Expired ones do not count, and are deleted at the next opportunity.
    await expire(tokens[3].tokenId)
    expect(await list(owner)).toHaveLength(MAX_TOKENS - 1)
    expect((await owner.post('/tokens', NEW)).status).toBe(201)
    expect((await owner.post('/tokens', NEW)).status).toBe(409)
    const stored = await select('select tokenId from accessTokens where memberId = ?', await memberIdOf(owner))
    expect(stored).toHaveLength(MAX_TOKENS)
  })
})

describe('GET /tokens', () => {
  it('lists the tokens of the member, newest first, without the tokens themselves', async () => {
    const owner = await signUp()
    const [first, second] = [await create(owner), await create(owner, { name: 'Second' })]
    await select('update accessTokens set createdAt = createdAt - 5000 where tokenId = ?', first.tokenId)
    const { token, addresses, ...created } = second
    expect(addresses).toBeNull()
    const tokens = await list(owner)
    expect(tokens).toMatchObject([{ name: 'Second' }, { name: 'Backup script' }])
    expect(tokens[0]).toEqual({ ...created, hint: token.slice(0, 10), lastUsedAt: null })
    expect(JSON.stringify(tokens)).not.toContain(token)
  })
})

describe('DELETE /tokens/{token-id}', () => {
  it('ends the token at once', async () => {
    const { tokenId, token } = await create()
    expect((await use(token)).status).toBe(200)
    expect((await reader.delete(`/tokens/${tokenId}`)).status).toBe(204)
    expect((await use(token)).status).toBe(401)
    expect((await reader.delete(`/tokens/${tokenId}`)).status).toBe(404)
  })

  it('answers 404 for unknown and expired tokens and for those of other members, which stay valid', async () => {
    const { tokenId, token } = await create(await signUp())
    const expired = await create()
    await expire(expired.tokenId)
    for (const id of [tokenId, expired.tokenId, UNKNOWN]) {
      expect((await reader.delete(`/tokens/${id}`)).status).toBe(404)
    }
    expect((await use(token)).status).toBe(200)
  })
})

describe('DELETE /tokens', () => {
  it('ends all tokens of the member at once', async () => {
    const [owner, other] = [await signUp(), await signUp()]
    const tokens = [await create(owner), await create(owner), await create(owner)]
    const kept = await create(other)
    expect(await owner.delete('/tokens')).toMatchObject({ status: 204, body: null })
    for (const { token } of tokens) expect((await use(token)).status).toBe(401)
    expect(await list(owner)).toEqual([])
    expect((await use(kept.token)).status).toBe(200)
  })

  it('is recorded, unless the member has no token', async () => {
    const owner = await signUp()
    expect((await owner.delete('/tokens')).status).toBe(204)
    const kinds = async () => (await owner.get('/members/me/activity')).body.map(({ kind }: { kind: string }) => kind)
    expect(await kinds()).toEqual([])
    await create(owner)
    await owner.delete('/tokens')
    expect(await kinds()).toEqual(['TOKEN_DELETED', 'TOKEN_CREATED'])
  })
})

it('records the creation and the deletion of a token, but no failed attempt', async () => {
  const owner = await signUp()
  const { tokenId } = await create(owner)
  await owner.delete(`/tokens/${UNKNOWN}`)
  await owner.post('/tokens', { ...NEW, scopes: [] })
  await owner.delete(`/tokens/${tokenId}`)
  const { body } = await owner.get('/members/me/activity')
  expect(body.map(({ kind }: { kind: string }) => kind)).toEqual(['TOKEN_DELETED', 'TOKEN_CREATED'])
})

it('takes one database call to create, list or delete tokens', async () => {
  // Otherwise, a mail would follow.
  const creation = () => reader.send('POST', '/tokens', { body: NEW, changed: { MAIL_FROM: '' } })
  const { tokenId } = (await creation()).body
  const deletions = [() => reader.delete(`/tokens/${tokenId}`), () => reader.delete('/tokens')]
  for (const request of [creation, () => list(), ...deletions]) {
    expect((await measure(request)).calls).toBe(1)
  }
})

describe('an access token', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'Token', 'token', 'tOkEn', 'Token   '])(
    'is accepted after %j',
    async (scheme) => {
      const { token } = await create()
      expect(await use(token, 'GET', ME, { headers: { Authorization: `${scheme} ${token}` } })).toMatchObject({
        status: 200,
        body: { email: reader.email },
      })
    },
  )

  it.each(['', 'Basic ', 'Bearer', 'Tokens ', 'Token: ', 'Bearer Token ', 'Token="'])(
    'is refused after %j',
    async (scheme) => {
      const { token } = await create()
      expect((await send('GET', ME, { headers: { Authorization: `${scheme}${token}` } })).status).toBe(401)
    },
  )

  it('is the only kind of token accepted with the scheme Token', async () => {
    expect((await send('GET', ME, { headers: { Authorization: `Token ${reader.token}` } })).status).toBe(401)
  })

  it('with a typo is refused without a database call', async () => {
    const { token } = await create()
    const typos = [...token].map(
      (character, at) => token.slice(0, at) + (character === 'x' ? 'y' : 'x') + token.slice(at + 1),
    )
    const swapped = [...token].map((_, at) => token.slice(0, at) + token[at + 1] + token[at] + token.slice(at + 2))
    const cut = [token.slice(0, -1), `${token}0`, token.toLowerCase(), token.replace('rl_', 'rl-')]
    const others = [...typos, ...swapped, ...cut].filter((other) => other !== token && !other.includes('undefined'))
    const { calls } = await measure(async () => {
      for (const other of others) expect((await use(other)).status, other).toBe(401)
    })
    expect(calls).toBe(0)
    expect(others.length).toBeGreaterThan(70)
  })

  it('that does not exist is refused in one database call', async () => {
    let status = 0
    const cost = await measure(async () => {
      ;({ status } = await use(createAccessToken(memberSlot())))
    })
    expect([status, cost]).toEqual([401, { calls: 1, read: 0, written: 0 }])
  })

  it('that names a slot that is not bound is refused without an error in the log', async () => {
    const error = vi.spyOn(console, 'error')
    const { calls } = await measure(async () => {
      for (const slot of [memberSlot() + 1, 7, 8191]) expect((await use(createAccessToken(slot))).status).toBe(401)
    })
    expect([calls, error.mock.calls]).toEqual([0, []])
  })

  it('ends when it expires, and is then swept', async () => {
    const { token, tokenId } = await create(reader, { expiresAt: '2999-01-01T00:00:00Z' })
    expect((await use(token)).status).toBe(200)
    await expire(tokenId)
    expect((await use(token)).status).toBe(401)
    expect(await list()).not.toContainEqual(expect.objectContaining({ tokenId }))
    await sweep(env)
    expect(await select('select * from accessTokens where tokenId = ?', tokenId)).toEqual([])
  })

  it('outlives a password change, but not the account', async () => {
    const owner = await signUp()
    const { token } = await create(owner)
    expect((await owner.patch(ME, { password: 'another-horse-2' })).status).toBe(200)
    expect((await use(token)).status).toBe(200)
    expect((await owner.delete('/sessions')).status).toBe(204)
    expect((await use(token)).status).toBe(200)
    const memberId = await memberIdOf(owner)
    expect((await owner.delete(ME)).status).toBe(204)
    expect((await use(token)).status).toBe(401)
    expect(await select('select * from accessTokens where memberId = ?', memberId)).toEqual([])
  })

  it.each([
    [401, true],
    [200, false],
  ])('gets %i after a password change with deleteAccessTokens: %s', async (status, deleteAccessTokens) => {
    const [owner, other] = [await signUp(), await signUp()]
    const [{ token }, kept] = [await create(owner), await create(other)]
    expect((await owner.patch(ME, { password: 'another-horse-2', deleteAccessTokens })).status).toBe(200)
    expect((await use(token)).status).toBe(status)
    expect((await use(kept.token)).status).toBe(200)
  })

  it('survives a password change that is refused', async () => {
    const owner = await signUp()
    const { token } = await create(owner)
    const patch = { password: 'another-horse-2', currentPassword: 'wrong', deleteAccessTokens: true }
    expect((await owner.patch(ME, patch)).status).toBe(400)
    expect((await use(token)).status).toBe(200)
  })

  it.each([
    [{ deleteAccessTokens: true }, 'must not be true without password'],
    [{ deleteAccessTokens: true, name: 'Renamed' }, 'must not be true without password'],
    [{ deleteAccessTokens: null, password: 'another-horse-2' }, 'must be true or false'],
    [{ deleteAccessTokens: 'true', password: 'another-horse-2' }, 'must be true or false'],
  ])('cannot be deleted with %o', async (patch, reason) => {
    const { token } = await create()
    const answer = await reader.patch(ME, patch)
    expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field: 'deleteAccessTokens', reason }] } })
    expect((await use(token)).status).toBe(200)
  })

  it('without the scope is refused with its name', async () => {
    const { token } = await create()
    const { status, body, headers } = await use(token, 'GET', '/books/1?memoAuthority=ALL')
    expect([status, body.message]).toEqual([403, 'The access token must have the scopes library:read and memos:read'])
    expect(headers.get('WWW-Authenticate')).toBe('Bearer error="insufficient_scope", scope="library:read memos:read"')
    expect(headers.get('X-Error-Code')).toBe('INSUFFICIENT_SCOPE')
  })

  it('cannot manage the account, whatever its scopes', async () => {
    const { token, tokenId } = await create(reader, { scopes: ALL })
    const { headers } = await use(token, 'POST', '/tokens', { body: NEW })
    expect(headers.get('X-Error-Code')).toBe('SESSION_REQUIRED')
    expect((await use(token, 'DELETE', `/tokens/${tokenId}`)).status).toBe(403)
    expect((await use(token, 'DELETE', '/tokens')).status).toBe(403)
    expect((await use(token)).status).toBe(200)
  })

  it('reads at most its own row more than a session, in as many calls', async () => {
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId)
    const { token } = await create(reader, { scopes: ALL })
    await use(token)
    await eventually(async () => expect((await list())[0].lastUsedAt).not.toBeNull())
    const paths = [
      ME,
      `/books/${bookId}?memoAuthority=ALL`,
      `/memos/${memoId}`,
      '/memos/random',
      '/books/memo-books?page=1&size=10',
    ]
    for (const path of paths) {
      const session = await measure(() => reader.get(path))
      const access = await measure(() => use(token, 'GET', path))
      expect(access, path).toEqual({ calls: 1, read: session.read + 1, written: 0 })
    }
    const session = await measure(() => reader.patch(`/books/${bookId}`, { star: 3 }))
    const access = await measure(() => use(token, 'PATCH', `/books/${bookId}`, { body: { star: 4 } }))
    expect(access).toEqual({ ...session, read: session.read + 1 })
  })
})

describe('lastUsedAt', () => {
  const DAY = 86_400_000
  const usedAt = async (tokenId: string) =>
    (await list()).find((each: { tokenId: string }) => each.tokenId === tokenId).lastUsedAt
  // `handle` waits for what a request with changed bindings does after its response.
  const useOn = async (token: string, day: string) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${day}T12:00:00Z`) })
    const statements: number[] = []
    const database = wrapDatabase(memberDatabase(), (call, queries) => {
      statements.push(queries)
      return call()
    })
    expect((await use(token, 'GET', ME, { changed: changeDatabase(database) })).status).toBe(200)
    return statements
  }

  it('is the day of the last use, written once a day', async () => {
    const { token, tokenId } = await create()
    const today = new Date()
    const tomorrow = new Date(today.getTime() + DAY)
    const [first, second] = [today, tomorrow].map((date) => date.toISOString().slice(0, 10)) as [string, string]
    expect(await usedAt(tokenId)).toBeNull()
    expect(await useOn(token, first)).toEqual([2, 1])
    expect(await useOn(token, first)).toEqual([2])
    vi.useRealTimers()
    expect(await usedAt(tokenId)).toBe(first)
    expect(await useOn(token, second)).toEqual([2, 1])
    // Clocks may differ: the day never goes back.
    expect(await useOn(token, first)).toEqual([2])
    vi.useRealTimers()
    expect(await usedAt(tokenId)).toBe(second)
  })

  it('does not fail the request if it cannot be written', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { token, tokenId } = await create()
    const database = wrapDatabase(memberDatabase(), (call, queries) =>
      queries === 1 ? Promise.reject(new Error('D1 DB is overloaded')) : call(),
    )
    expect(await use(token, 'GET', ME, { changed: changeDatabase(database) })).toMatchObject({ status: 200 })
    expect(error.mock.calls.join()).toContain('access token: ')
    expect(error.mock.calls.join()).not.toContain(token)
    expect(await usedAt(tokenId)).toBeNull()
  })

  it('is not written for a token that is refused', async () => {
    const { token, tokenId } = await create()
    await expire(tokenId)
    await use(token)
    expect(await select('select lastUsedDay from accessTokens where tokenId = ?', tokenId)).toEqual([
      { lastUsedDay: null },
    ])
  })
})

describe('the rate limits', () => {
  /** Records the keys that writes are counted under. */
  const recordWrites = () => {
    const keys: string[] = []
    const limit = async ({ key }: RateLimitOptions) => {
      keys.push(key)
      return { success: true }
    }
    const write = (token: string) =>
      use(token, 'POST', '/books', { body: { title: 'Demian' }, changed: { WRITE_LIMIT: { limit } } })
    return { keys, write }
  }

  it('count the network for credentials that this isolate has not confirmed within a minute', async () => {
    const { token } = await create()
    const changed = { CREDENTIAL_LIMIT: refusing }
    expect((await use(token, 'GET', ME, { changed })).status).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
    expect((await use(token, 'GET', ME, { changed })).status).toBe(429)
    expect((await use(createAccessToken(memberSlot()), 'GET', ME, { changed })).status).toBe(429)
    expect((await use(token)).status).toBe(200)
    expect((await use(token, 'GET', ME, { changed })).status).toBe(200)
    // The token was confirmed for another scope only.
    expect((await use(token, 'GET', '/memos/random', { changed })).status).toBe(429)
    vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
    expect((await use(token, 'GET', ME, { changed })).status).toBe(429)
  })

  it('count a new token with its member from its first use', async () => {
    const { token: first } = await create(reader, { scopes: ['library:read'] })
    const { token: second } = await create(reader, { scopes: ['library:read'] })
    const changed = { SEARCH_LIMIT: refusing }
    expect((await use(first, 'GET', '/books/search?q=ab', { changed })).status).toBe(200)
    expect((await use(second, 'GET', '/books/search?q=ab')).status).toBe(429)
  })

  it('do not count the network for account management', async () => {
    const other = await reader.logInAgain()
    const changed = { CREDENTIAL_LIMIT: refusing }
    expect((await other.send('DELETE', '/sessions', { changed })).status).toBe(204)
    reader = await other.logInAgain()
  })

  it('on writes count the member, after the database has confirmed the token', async () => {
    const { token } = await create(reader, { scopes: ['library:write'] })
    const { keys, write } = recordWrites()
    for (let n = 0; n < 2; n++) expect((await write(token)).status).toBe(201)
    const key = `write ${await memberIdOf(reader)}`
    expect(keys).toEqual([key, key])
  })

  it('count nothing that is sent with an ended session, a deleted token, or one without the scope', async () => {
    const { token, tokenId } = await create(reader, { scopes: ['library:write'] })
    const { token: scopeless } = await create(reader, { scopes: ['library:read'] })
    const other = await reader.logInAgain()
    const { keys, write } = recordWrites()
    for (const used of [token, other.token]) expect((await write(used)).status).toBe(201)
    expect((await reader.delete(`/tokens/${tokenId}`)).status).toBe(204)
    expect((await reader.delete('/sessions')).status).toBe(204)
    keys.length = 0
    for (const used of [token, other.token]) expect((await write(used)).status).toBe(401)
    for (let n = 0; n < 2; n++) expect((await write(scopeless)).status).toBe(403)
    expect(keys).toEqual([])
  })

  it('are not needed for an ended credential: once the isolate knows it, it costs no database call', async () => {
    const other = await reader.logInAgain()
    expect((await reader.delete('/sessions')).status).toBe(204)
    const calls = async () => (await measure(async () => expect((await other.get(ME)).status).toBe(401))).calls
    expect([await calls(), await calls()]).toEqual([1, 0])
  })
})
