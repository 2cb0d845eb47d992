import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  codeIn,
  type From,
  joinWith as joinFrom,
  type Mail,
  mails,
  newNetwork,
  otherCode,
  requestCode as requestCodeFrom,
} from '../../support/accounts/mailed-codes'
import { login, newEmail, signUp } from '../../support/api'
import { measure, memberSlot, select } from '../../support/database'

/** The network of this test's reader. */
let home: string

const requestCode = (email: string, more: Partial<From> = {}) => requestCodeFrom(email, { from: home, ...more })
const joinWith = (email: string, code: string, more: Partial<From> = {}) =>
  joinFrom(email, code, { from: home, ...more })
const codeFor = async (email: string, from = home) => {
  expect((await requestCode(email, { from })).status).toBe(201)
  return codeIn(mails.at(-1))
}

const storedCodes = () =>
  Promise.all(['joinCodes', 'attempts', 'dailyMails'].map((table) => select(`select * from ${table}`)))

const passTime = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
const HOUR_MS = 3_600_000

beforeEach(() => {
  mails.length = 0
  home = newNetwork()
  vi.useRealTimers()
})

const EXISTS = { status: 409, body: { status: 409, message: 'Member already exists' } }
const WRONG_CODE = { status: 400, body: { status: 0, fieldErrors: [{ field: 'authenticationCode' }] } }

describe('POST /email/join', () => {
  it('mails six digits, in text and HTML', async () => {
    const email = newEmail()
    expect(await requestCode(email)).toMatchObject({ status: 201, body: null })
    expect(mails).toHaveLength(1)
    const [mail] = mails
    const code = codeIn(mail)
    expect(code).toMatch(/^\d{6}$/)
    expect(mail).toMatchObject({ to: email, from: { email: 'library@library.test' } })
    expect(mail?.subject).toMatch(/^\d{6} /)
    for (const phrase of [code, 'verification code', '인증 코드']) {
      expect(mail).toMatchObject({ text: expect.stringContaining(phrase), html: expect.stringContaining(phrase) })
    }
    expect((await joinWith(email, code)).status).toBe(201)
    expect((await login(email)).status).toBe(200)
  })

  it('stores neither the code nor the address', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    const kept = JSON.stringify(await storedCodes())
    expect(kept).not.toContain(email)
    expect(kept).not.toContain(`"${code}"`)
  })

  it('mails nothing to a member, in any case, or to an invalid address', async () => {
    const { email } = await signUp()
    expect(await requestCode(email.toUpperCase())).toMatchObject(EXISTS)
    const answer = await requestCode('word')
    expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field: 'joinAuthCodeEmail' }] } })
    expect(mails).toEqual([])
  })

  it('invalidates the previous code of the same network only', async () => {
    const email = newEmail()
    const kept = await codeFor(email, newNetwork())
    const [first, second] = [await codeFor(email), await codeFor(email)]
    if (first !== second && first !== kept) expect(await joinWith(email, first)).toMatchObject(WRONG_CODE)
    expect((await joinWith(email, kept)).status).toBe(201)
  })

  const from = (toNetwork: (n: number) => string) => (n: number) => [newEmail(), toNetwork(n)] as const
  const to = (email: string, toNetwork: (n: number) => string) => (n: number) => [email, toNetwork(n)] as const
  const one = '203.0.113.1'
  const mailLimits: [allowed: number, what: string, hours: number, (n: number) => readonly [string, string]][] = [
    [5, 'an hour from a network to an address', 1, to(newEmail(), () => one)],
    [20, 'a day to an address', 24, to(newEmail(), (n) => `203.0.114.${n}`)],
    [20, 'a day to an address with different tags', 24, (n) => [`tagged+${n}@example.com`, `203.0.116.${n}`]],
    [16, 'a day from an IPv6 /48 to an address', 24, to(newEmail(), (n) => `2001:db8:3:${n}::1`)],
    [30, 'an hour from a network', 1, from(() => '203.0.113.2')],
    [90, 'an hour from an IPv6 /48', 1, from((n) => `2001:db8:4:${n}::1`)],
  ]
  for (const [allowed, what, hours, request] of mailLimits)
    it(`sends ${allowed} mails ${what}, also for concurrent requests`, {
      tags: allowed > 50 ? ['slow'] : [],
    }, async () => {
      const requestAs = (n: number) => requestCode(request(n)[0], { from: request(n)[1] })
      const answers = await Promise.all(Array.from({ length: allowed + 10 }, (_, n) => requestAs(n)))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(allowed)
      expect(mails).toHaveLength(allowed)
      const refused = answers.find(({ status }) => status === 429)
      const wait = Number(refused?.headers.get('Retry-After'))
      expect(wait).toBeGreaterThan(hours * 3600 - 60)
      expect(wait).toBeLessThanOrEqual(hours * 3600)
      passTime((wait + 1) * 1000)
      expect((await requestAs(0)).status).toBe(201)
    })

  it('sends eight mails a day from a network to an address, and does not count refused ones', async () => {
    const email = newEmail()
    const request = (count: number) => Promise.all(Array.from({ length: count }, () => requestCode(email)))
    await request(7)
    passTime(HOUR_MS + 1000)
    await request(30)
    expect(mails).toHaveLength(8)
    const wait = Number((await requestCode(email)).headers.get('Retry-After'))
    expect(wait).toBeGreaterThan(22 * 3600)
    for (let n = 0; n < 12; n++) await codeFor(email, newNetwork())
    expect((await requestCode(email, { from: newNetwork() })).status).toBe(429)
  })

  it('sends MAILS_PER_DAY mails per UTC day, also for concurrent requests', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.useFakeTimers({ now: new Date('2030-01-01T23:00:00Z'), toFake: ['Date'] })
    const request = () => requestCode(newEmail(), { from: newNetwork(), MAILS_PER_DAY: '3' })
    const answers = await Promise.all(Array.from({ length: 10 }, request))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(7).fill(503)])
    const wait = Number(answers.find(({ status }) => status === 503)?.headers.get('Retry-After'))
    expect(wait).toBe(3600)
    expect(error.mock.calls.join()).toContain('MAILS_PER_DAY')
    passTime(HOUR_MS)
    expect((await request()).status).toBe(201)
  })

  it('stores no code and counts no mail if the mail cannot be sent', async () => {
    const email = newEmail()
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await codeFor(newEmail())
    const send = vi.fn((mail: Mail) => Promise.reject(new Error(`550 ${mail.to} is over quota`)))
    const before = await storedCodes()
    expect(await requestCode(email, { EMAIL: { send } })).toMatchObject({ status: 503, body: { status: 503 } })
    expect(await storedCodes()).toEqual(before)
    expect((await requestCode(email, { MAIL_FROM: undefined })).status).toBe(503)
    const lines = error.mock.calls.join()
    expect(lines).toContain('over quota')
    expect(lines).toContain('MAIL_FROM')
    expect(lines).not.toContain(email)
    expect(await joinWith(email, codeIn(send.mock.calls[0]?.[0]))).toMatchObject(WRONG_CODE)
  })
})

describe('a code', () => {
  it('is valid for its address only, in any case', async () => {
    const email = newEmail()
    expect(await joinWith(email, '000000')).toMatchObject(WRONG_CODE)
    const code = await codeFor(email)
    expect(await joinWith(newEmail(), code)).toMatchObject(WRONG_CODE)
    expect((await joinWith(email.toUpperCase(), code)).status).toBe(201)
  })

  it('expires after ten minutes', async () => {
    const [early, late] = [newEmail(), newEmail()]
    const codes = [await codeFor(early), await codeFor(late)]
    vi.useFakeTimers({ now: Date.now() + 595_000, toFake: ['Date'] })
    expect((await joinWith(early, codes[0] ?? '')).status).toBe(201)
    vi.useFakeTimers({ now: Date.now() + 10_000, toFake: ['Date'] })
    expect(await joinWith(late, codes[1] ?? '')).toMatchObject(WRONG_CODE)
  })

  it('is valid from any network, even after a stranger’s network requests codes and guesses', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    const stranger = newNetwork()
    for (let n = 0; n < 4; n++) {
      await codeFor(email, stranger)
      for (let m = 1; m <= 5; m++) await joinWith(email, otherCode(code, n * 5 + m), { from: stranger })
    }
    expect((await joinWith(email, code, { from: stranger })).status).toBe(429)
    expect((await joinWith(email, code, { from: newNetwork() })).status).toBe(201)
  })

  const tryLimits: [allowed: number, what: string, (n: number) => string, refused: string, stillAllowed?: string][] = [
    [20, 'from a network', () => '203.0.113.3', '203.0.113.3', '203.0.113.4'],
    [60, 'from an IPv6 /48', (n: number) => `2001:db8:5:${n % 12}::1`, '2001:db8:5:ff::1', '2001:db8:6::1'],
    [100, 'from all networks', (n: number) => `203.0.115.${n % 20}`, '203.0.115.99'],
  ]
  for (const [allowed, what, toNetwork, refused, stillAllowed] of tryLimits)
    it(`allows ${allowed} tries a day ${what}`, { tags: allowed > 50 ? ['slow'] : [] }, async () => {
      const email = newEmail()
      let code = await codeFor(email)
      for (let n = 0; n < allowed; n++) {
        // A network has five tries per code.
        if (allowed === 20 && n % 5 === 0) code = await codeFor(email, newNetwork())
        expect(await joinWith(email, otherCode(code, n + 1), { from: toNetwork(n) })).toMatchObject(WRONG_CODE)
      }
      const answer = await joinWith(email, code, { from: refused })
      expect(answer.status).toBe(429)
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(86_000)
      if (stillAllowed) expect((await joinWith(email, code, { from: stillAllowed })).status).toBe(201)
      else {
        passTime(24 * HOUR_MS + 1000)
        expect((await joinWith(email, await codeFor(email), { from: refused })).status).toBe(201)
      }
    })

  it('creates one member from ten concurrent sign-ups', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    const answers = await Promise.all(Array.from({ length: 10 }, () => joinWith(email, code)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect([201, 400, 409]).toEqual(expect.arrayContaining(statuses))
    expect(await select('select memberId from members where email = ?', email)).toHaveLength(1)
    for (const again of [code, '000000']) expect(await joinWith(email, again)).toMatchObject(EXISTS)
  })

  it('is invalid for a network after five of 300 guesses, sent a hundred at a time', { tags: ['slow'] }, async () => {
    const email = newEmail()
    const code = await codeFor(email)
    const before = (await select('select * from attempts')).length
    const guess = (n: number) => joinWith(email, otherCode(code, n + 1))
    for (let batch = 0; batch < 3; batch++) {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => guess(batch * 100 + n)))
      expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(400))
    }
    // Each is counted for the network and for the address.
    expect((await select('select * from attempts')).length - before).toBe(2 * 5)
    expect(await joinWith(email, code)).toMatchObject(WRONG_CODE)
    expect((await joinWith(email, await codeFor(email))).status).toBe(201)
  })

  // Three in slot 1: slots-sign-up.test.ts.
  it.skipIf(memberSlot() > 0)('is consumed by the sign-up, in two database calls', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    expect((await measure(() => joinWith(email, code))).calls).toBe(2)
    await login(email)
    await select('delete from members where email = ?', email)
    expect(await joinWith(email, code)).toMatchObject(WRONG_CODE)
  })
})
