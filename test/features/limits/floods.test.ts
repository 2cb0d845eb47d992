import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Answer, newEmail, PASSWORD, type Reader, send, signUp } from '../../support/api'
import { measure, memberSlot } from '../../support/database'
import { addressOf, operations } from '../../support/document/operations'
import { refusing } from '../../support/rate-limits'
import { remote } from '../../support/target'

const loginFrom = (network: string, email: string, password: string) =>
  send('POST', '/login', { body: { email, password }, headers: { 'CF-Connecting-IP': network } })

afterEach(vi.useRealTimers)

describe('failed logins', () => {
  it('block an e-mail from one network after ten, without hashing, for 15 minutes', async () => {
    const { email } = await signUp()
    for (let n = 0; n < 10; n++) expect((await loginFrom('192.0.2.1', email, 'wrong')).status).toBe(401)

    using digest = vi.spyOn(crypto.subtle, 'deriveBits')
    const { calls } = await measure(async () => {
      const refused = await loginFrom('192.0.2.1', email.toUpperCase(), PASSWORD)
      expect(refused).toMatchObject({ status: 429, body: { status: 429 } })
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(800)
      expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(900)
    })
    expect(calls).toBe(1)
    expect(digest).not.toHaveBeenCalled()

    expect((await loginFrom('192.0.2.2', email, PASSWORD)).status).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 901_000, toFake: ['Date'] })
    expect((await loginFrom('192.0.2.1', email, PASSWORD)).status).toBe(200)
  })

  it('are counted exactly when concurrent', async () => {
    const { email } = await signUp()
    const answers = await Promise.all(Array.from({ length: 40 }, () => loginFrom('192.0.2.3', email, 'wrong')))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(30).fill(429)])
  })

  it('are forgotten after a successful login', async () => {
    const { email } = await signUp()
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 9; n++) expect((await loginFrom('192.0.2.4', email, 'wrong')).status).toBe(401)
      expect((await loginFrom('192.0.2.4', email, PASSWORD)).status).toBe(200)
    }
  })

  it('are counted for an unknown e-mail, too', async () => {
    const email = newEmail()
    for (let n = 0; n < 10; n++) expect((await loginFrom('192.0.2.5', email, 'wrong')).status).toBe(401)
    expect((await loginFrom('192.0.2.5', email, 'wrong')).status).toBe(429)
  })

  it('from one IPv6 /64 network are counted together', async () => {
    const { email } = await signUp()
    for (let n = 0; n < 10; n++) await loginFrom(`2001:db8:0:1::${n}`, email, 'wrong')
    expect((await loginFrom('2001:db8::1:a:b:c:d', email, PASSWORD)).status).toBe(429)
    expect((await loginFrom('2001:db8:0:2::1', email, PASSWORD)).status).toBe(200)
  })

  it('from one IPv6 /48 are limited to thirty', async () => {
    const { email } = await signUp()
    const hash = vi.spyOn(crypto.subtle, 'deriveBits').mockResolvedValue(new ArrayBuffer(64))
    for (let n = 0; n < 30; n++) await loginFrom(`2001:db8:1:${n}::1`, email, 'wrong')
    hash.mockRestore()
    expect((await loginFrom('2001:db8:1:ffff::1', email, PASSWORD)).status).toBe(429)
    expect((await loginFrom('2001:db8:2::1', email, PASSWORD)).status).toBe(200)
  })

  it('from one IPv4 address are counted together in every spelling', async () => {
    const { email } = await signUp()
    const spellings = ['192.0.2.6', '::ffff:192.0.2.6', '0:0:0:0:0:ffff:192.0.2.6', '::FFFF:c000:206']
    for (let n = 0; n < 10; n++) await loginFrom(spellings[n % 4] ?? '', email, 'wrong')
    for (const spelling of spellings) expect((await loginFrom(spelling, email, PASSWORD)).status).toBe(429)
    expect((await loginFrom('::ffff:192.0.2.7', email, PASSWORD)).status).toBe(200)
  })
})

describe.skipIf(remote)('the limit on writes', () => {
  // Counted the same for members of all databases.
  it.skipIf(memberSlot() > 0)(
    'refuses a member’s writes above 1,000 a minute, but not reads or other members',
    { tags: ['slow'] },
    async () => {
      const [eager, other] = [await signUp(), await signUp()]
      let written = 0
      let refused: Answer | undefined
      // A new minute may start meanwhile and reset the count.
      while (written < 2100 && !refused) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => eager.patch('/members/me', {})))
        written += answers.filter(({ status }) => status === 200).length
        refused = answers.find(({ status }) => status !== 200)
      }
      expect(refused).toMatchObject({ status: 429, body: { status: 429 } })
      expect(refused?.headers.get('Retry-After')).toBe('60')
      expect(written).toBeGreaterThanOrEqual(1000)
      expect((await eager.get('/members/me')).status).toBe(200)
      expect((await other.patch('/members/me', {})).status).toBe(200)
    },
  )

  const writes = operations.filter(({ needsToken, method }) => needsToken && method !== 'GET')
  it('refuses every write', async () => {
    const eager = await signUp()
    const changed = { WRITE_LIMIT: refusing }
    // The first write is answered before it is counted. Those of account management count per session.
    expect((await eager.send('POST', '/books', { body: { title: 'Demian' }, changed })).status).toBe(201)
    expect((await eager.send('PATCH', '/members/me', { body: {}, changed })).status).toBe(200)
    const statuses = writes.map(async (operation) => [
      `${operation.method} ${operation.template}`,
      (await eager.send(operation.method, addressOf(operation))).status,
    ])
    expect(await Promise.all(statuses)).toEqual(writes.map(({ method, template }) => [`${method} ${template}`, 429]))
    const other = await eager.logInAgain()
    expect((await other.patch('/members/me', {})).status).toBe(200)
    expect((await other.post('/books', { title: 'Demian' })).status).toBe(429)
  })
})

describe('password changes', () => {
  const change = (reader: Reader) => reader.patch('/members/me', { password: PASSWORD })

  it('are limited to exactly ten an hour per session; others are refused without hashing', async () => {
    const reader = await signUp()
    const answers = await Promise.all(Array.from({ length: 15 }, () => change(reader)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(10).fill(200), ...Array(5).fill(429)])

    using digest = vi.spyOn(crypto.subtle, 'deriveBits')
    const refused = await change(reader)
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(3500)
    expect(digest).not.toHaveBeenCalled()
    expect((await reader.patch('/members/me', { name: 'Renamed' })).status).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 3_601_000, toFake: ['Date'] })
    expect((await change(reader)).status).toBe(200)
  })

  it('are not counted with a revoked token', async () => {
    const reader = await signUp()
    const other = await reader.logInAgain()
    expect((await change(reader)).status).toBe(200)
    const { written } = await measure(async () => expect((await change(other)).status).toBe(401))
    expect(written).toBe(0)
  })

  it('that cannot be hashed do not count', async () => {
    const reader = await signUp()
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const broken = vi.spyOn(crypto.subtle, 'deriveBits').mockRejectedValue(new Error('Out of memory'))
    for (let n = 0; n < 11; n++) expect((await change(reader)).status).toBe(500)
    broken.mockRestore()
    expect((await change(reader)).status).toBe(200)
  })
})

// It counts requests before the database of the member is known.
describe.skipIf(memberSlot() > 0)('the rate limit of a network', () => {
  it.each(['/login', '/join', '/email/join'])(
    'answers 429 with Retry-After on %s',
    { tags: ['slow'] },
    async (path) => {
      const headers = { 'CF-Connecting-IP': '198.51.100.7' }
      let answered = 0
      let refused: Answer | undefined
      // A new minute may start in between and reset the count.
      while (answered < 1300 && !refused) {
        const answer = await send('POST', path, { body: {}, headers })
        if (answer.status === 400) answered++
        else refused = answer
      }
      expect(refused).toMatchObject({ status: 429, body: { status: 429 } })
      expect(refused?.headers.get('Retry-After')).toBe('60')
      expect(answered).toBeGreaterThanOrEqual(600)
      expect((await send('POST', path, { body: {}, headers: { 'CF-Connecting-IP': '198.51.100.8' } })).status).toBe(400)
    },
  )

  it('lets requests through if the limiter fails', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const NETWORK_LIMIT = { limit: () => Promise.reject(new Error('unreachable')) } as RateLimit
    expect((await send('POST', '/login', { body: {}, changed: { NETWORK_LIMIT } })).status).toBe(400)
    expect(error.mock.calls.join()).toContain('unreachable')
  })
})
