import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { accountPrefix } from '../../../src/auth/keyed-hash'
import { codeIn, joinWith, mails, newNetwork, otherCode, requestCode } from '../../support/accounts/mailed-codes'
import { type Answer, join, newEmail, PASSWORD, send, signUp } from '../../support/api'
import { select } from '../../support/database'
import { refusing } from '../../support/rate-limits'

const passTime = (seconds: number) => vi.useFakeTimers({ now: Date.now() + seconds * 1000, toFake: ['Date'] })
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]

/** Sends from one network. */
let from: string
beforeEach(() => {
  from = newNetwork()
  vi.useRealTimers()
  // Stops the clock, so that the seconds are exact.
  passTime(0)
})

const limitOf = ({ status, headers }: Answer) => [status, headers.get('RateLimit')]
const waitOf = ({ headers }: Answer) => Number(headers.get('Retry-After'))
const withoutLimit = (status: number) => ({ status, headers: expect.toSatisfy(hasNoLimit) })
const hasNoLimit = (headers: Headers) => !headers.has('RateLimit') && !headers.has('RateLimit-Policy')

const logIn = (email: string, password = 'wrong', network = from) =>
  send('POST', '/login', { body: { email, password }, headers: { 'CF-Connecting-IP': network } })

describe('the limit of failed logins', () => {
  it('counts down, refuses, and restores one attempt at a time', async () => {
    const email = newEmail()
    const first = await logIn(email)
    expect(limitOf(first)).toEqual([401, '"failed-login";r=9;t=900'])
    expect(first.headers.get('RateLimit-Policy')).toBe('"failed-login";q=10;w=900')
    passTime(MINUTE)
    for (let left = 8; left >= 0; left--) {
      expect(limitOf(await logIn(email))).toEqual([401, `"failed-login";r=${left};t=840`])
    }
    passTime(0.5)
    const refused = await logIn(email)
    expect(limitOf(refused)).toEqual([429, '"failed-login";r=0;t=840'])
    expect(refused.headers.get('RateLimit-Policy')).toBe('"failed-login";q=10;w=900')
    expect(waitOf(refused)).toBe(840)
    passTime(840)
    expect(limitOf(await logIn(email))).toEqual([401, '"failed-login";r=0;t=60'])
    passTime(60)
    expect(limitOf(await logIn(email))).toEqual([401, '"failed-login";r=8;t=840'])
  })

  it('is reset by a successful login', async () => {
    const { email } = await signUp()
    expect(limitOf(await logIn(email, PASSWORD))).toEqual([200, '"failed-login";r=10;t=900'])
    await logIn(email)
    passTime(MINUTE)
    expect(limitOf(await logIn(email, PASSWORD))).toEqual([200, '"failed-login";r=10;t=900'])
    expect(limitOf(await logIn(email))).toEqual([401, '"failed-login";r=9;t=900'])
  })

  it('is the same for existing and unknown accounts', async () => {
    const readLimits = async (email: string) => {
      const answers = []
      for (let n = 0; n < 11; n++) answers.push(await logIn(email))
      const names = ['RateLimit', 'RateLimit-Policy', 'Retry-After']
      return answers.map(({ status, headers }) => [status, ...names.map((name) => headers.get(name))])
    }
    expect(await readLimits((await signUp()).email)).toEqual(await readLimits(newEmail()))
  })

  it('is under the account, like reset codes and requested mails, so that operators can find it', async () => {
    const email = newEmail()
    const headers = { 'CF-Connecting-IP': from }
    await logIn(email)
    await send('POST', '/email/password-reset', { body: { email }, headers })
    await send('POST', '/password-reset', {
      body: { email, authenticationCode: 'ABCDE-FGHJK', password: PASSWORD },
      headers,
    })
    const prefix = await accountPrefix(env.JWT_SECRET ?? '', email.toUpperCase())
    const found = await select('select subject from attempts where subject glob ?', `${prefix}*`)
    expect(found.map(({ subject }) => String(subject).split(' ')[1]).sort()).toEqual(['login', 'reset', 'reset-mail'])
  })

  it('does not show the attempts of other networks', async () => {
    const { email } = await signUp()
    const other = newNetwork()
    for (let n = 0; n < 3; n++) await logIn(email, 'wrong', other)
    expect(limitOf(await logIn(email))).toEqual([401, '"failed-login";r=9;t=900'])
  })

  it('does not show the limit of the IPv6 /48', async () => {
    const email = newEmail()
    for (let n = 0; n < 20; n++) await logIn(email, 'wrong', `2001:db8:8:${n % 2}::1`)
    passTime(MINUTE)
    for (let n = 0; n < 10; n++) await logIn(email, 'wrong', '2001:db8:8:2::1')
    const other = await logIn(email, 'wrong', '2001:db8:8:3::1')
    expect(other).toMatchObject(withoutLimit(429))
    expect(waitOf(other)).toBe(840)
    // This network has to wait for its own limit, and longer.
    const refused = await logIn(email, 'wrong', '2001:db8:8:2::1')
    expect(limitOf(refused)).toEqual([429, '"failed-login";r=0;t=900'])
    expect(waitOf(refused)).toBe(900)
  })
})

describe('the limits of mailed codes', () => {
  it('show the tighter of the two windows', async () => {
    const email = newEmail()
    const request = () => requestCode(email, { from })
    const first = await request()
    expect(limitOf(first)).toEqual([201, '"mail-hour";r=4;t=3600'])
    const policies = '"mail-hour";q=5;w=3600, "mail-day";q=8;w=86400'
    expect(first.headers.get('RateLimit-Policy')).toBe(policies)
    passTime(MINUTE)
    for (let left = 3; left >= 0; left--) {
      expect(limitOf(await request())).toEqual([201, `"mail-hour";r=${left};t=3540`])
    }
    const refused = await request()
    expect(limitOf(refused)).toEqual([429, '"mail-hour";r=0;t=3540'])
    expect(refused.headers.get('RateLimit-Policy')).toBe(policies)
    expect(waitOf(refused)).toBe(3540)

    passTime(HOUR)
    const day = DAY - HOUR - MINUTE
    for (let left = 2; left >= 0; left--) {
      expect(limitOf(await request())).toEqual([201, `"mail-day";r=${left};t=${day}`])
    }
    const refusedAgain = await request()
    expect(limitOf(refusedAgain)).toEqual([429, `"mail-day";r=0;t=${day}`])
    expect(waitOf(refusedAgain)).toBe(day)
  })

  it('do not show the mails that other networks requested', async () => {
    const email = newEmail()
    for (let n = 0; n < 19; n++) await requestCode(email, { from: newNetwork() })
    expect(limitOf(await requestCode(email, { from }))).toEqual([201, '"mail-hour";r=4;t=3600'])
    const refused = await requestCode(email, { from })
    expect(refused).toMatchObject(withoutLimit(429))
    expect(waitOf(refused)).toBe(DAY)
  })

  it('are not shown while the limit of the address requires a longer wait', async () => {
    const email = newEmail()
    for (let n = 0; n < 15; n++) await requestCode(email, { from: newNetwork() })
    for (let left = 4; left >= 0; left--) {
      expect(limitOf(await requestCode(email, { from }))).toEqual([201, `"mail-hour";r=${left};t=3600`])
    }
    const refused = await requestCode(email, { from })
    expect(refused).toMatchObject(withoutLimit(429))
    expect(waitOf(refused)).toBe(DAY)
  })

  it('do not show the mails to other addresses', async () => {
    for (let n = 0; n < 29; n++) await requestCode(newEmail(), { from })
    expect(limitOf(await requestCode(newEmail(), { from }))).toEqual([201, '"mail-hour";r=4;t=3600'])
    expect(await requestCode(newEmail(), { from })).toMatchObject(withoutLimit(429))
  })

  it('are not shown if no mail was sent', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { email } = await signUp()
    expect(await requestCode(email, { from })).toMatchObject(withoutLimit(409))
    const address = newEmail()
    expect(await requestCode(address, { from, MAIL_FROM: undefined })).toMatchObject(withoutLimit(503))
    expect(await requestCode(address, { from, MAILS_PER_DAY: '0' })).toMatchObject(withoutLimit(503))
    expect(limitOf(await requestCode(address, { from }))).toEqual([201, '"mail-hour";r=4;t=3600'])
  })
})

describe('the limit of code attempts', () => {
  const codeFor = async (email: string, network = from) => {
    await requestCode(email, { from: network })
    return codeIn(mails.at(-1))
  }

  it('is shown after sign-up', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    passTime(MINUTE)
    for (let n = 1; n <= 2; n++) await joinWith(email, otherCode(code, n), { from })
    passTime(MINUTE)
    const joined = await joinWith(email, code, { from })
    expect(limitOf(joined)).toEqual([201, `"code-attempt";r=17;t=${DAY - MINUTE}`])
    expect(joined.headers.get('RateLimit-Policy')).toBe('"code-attempt";q=20;w=86400')
  })

  it('is not shown with a wrong code, which would reveal whether another network requested one', async () => {
    const [requested, unknown] = [newEmail(), newEmail()]
    const code = await codeFor(requested, newNetwork())
    const answers = []
    for (const email of [requested, unknown]) {
      const { status, headers, body } = await joinWith(email, otherCode(code), { from })
      answers.push([status, body, [...headers].filter(([name]) => name !== 'x-request-id')])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(await joinWith(requested, otherCode(code), { from })).toMatchObject(withoutLimit(400))
  })

  it('is shown when the network has reached it', async () => {
    const email = newEmail()
    for (let round = 0; round < 4; round++) {
      const code = await codeFor(email, newNetwork())
      for (let n = 1; n <= 5; n++) await joinWith(email, otherCode(code, n), { from })
      passTime(1)
    }
    const refused = await joinWith(email, '000000', { from })
    expect(limitOf(refused)).toEqual([429, `"code-attempt";r=0;t=${DAY - 4}`])
    expect(waitOf(refused)).toBe(DAY - 4)
  })

  it('is not shown when the address has reached its own', async () => {
    const email = newEmail()
    const code = await codeFor(email, newNetwork())
    for (let n = 0; n < 100; n++) await joinWith(email, otherCode(code, n + 1), { from: `203.0.116.${n % 20}` })
    expect(await joinWith(email, code, { from })).toMatchObject(withoutLimit(429))
  })

  it('is not shown when no code is required', async () => {
    expect(await join()).toMatchObject(withoutLimit(201))
  })
})

describe('the limit of password changes', () => {
  it('counts down and refuses', { tags: ['slow'] }, async () => {
    const reader = await signUp()
    const change = (n: number) => reader.patch('/members/me', { password: `new-password-${n}` })
    const first = await change(0)
    expect(limitOf(first)).toEqual([200, '"password-change";r=9;t=3600'])
    expect(first.headers.get('RateLimit-Policy')).toBe('"password-change";q=10;w=3600')
    passTime(MINUTE)
    for (let left = 8; left >= 0; left--) {
      expect(limitOf(await change(left))).toEqual([200, `"password-change";r=${left};t=3540`])
    }
    const refused = await change(10)
    expect(limitOf(refused)).toEqual([429, '"password-change";r=0;t=3540'])
    expect(waitOf(refused)).toBe(3540)
    passTime(3540)
    expect(limitOf(await change(11))).toEqual([200, '"password-change";r=0;t=60'])
  })

  it('is not shown to other requests, and ignores other members', async () => {
    const [reader, other] = [await signUp(), await signUp()]
    await other.patch('/members/me', { password: 'new-password-1' })
    expect(await reader.patch('/members/me', { name: 'Renamed' })).toMatchObject(withoutLimit(200))
    const changed = await reader.patch('/members/me', { password: 'new-password-1' })
    expect(limitOf(changed)).toEqual([200, '"password-change";r=9;t=3600'])
  })
})

it('shows no approximate limits', async () => {
  const changed = { NETWORK_LIMIT: refusing }
  const refused = await send('POST', '/login', { body: { email: newEmail(), password: 'wrong' }, changed })
  expect(refused).toMatchObject(withoutLimit(429))
})
