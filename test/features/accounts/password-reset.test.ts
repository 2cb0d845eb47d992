import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  codeIn,
  type From,
  type Mail,
  mails,
  newNetwork,
  post,
  requestCode,
  requestReset as requestFrom,
  resetCodeIn,
  resetWith as resetFrom,
} from '../../support/accounts/mailed-codes'
import { join, login, newEmail, type Reader, signUp } from '../../support/api'
import { changeDatabase, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { eventually } from '../../support/runtime/clock'
import { claimsOf, insertAccessToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const NEW_PASSWORD = 'another-horse-2'
const MINUTE_MS = 60_000

/** The network of this test's reader. */
let home: string
let reader: Reader
let email: string

const requestReset = (to = email, more: Partial<From> = {}) => requestFrom(to, { from: home, ...more })
const resetWith = (code: string, more: Partial<From> = {}, of = email) =>
  resetFrom(of, code, NEW_PASSWORD, { from: home, ...more })
const codeFor = async (to = email, from = newNetwork()) => {
  expect((await requestReset(to, { from })).status).toBe(202)
  return resetCodeIn(mails.at(-1))
}
const wrong = (n = 0) => `WRNG${n % 10}-${String(n).padStart(5, '0')}`
const memberId = () => Number(claimsOf(reader.token).sub)
const raiseVersion = () =>
  select('update members set credentialsVersion = credentialsVersion + 1 where memberId = ?', memberId())
const passTime = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })

const WRONG_CODE = {
  status: 400,
  body: {
    status: 0,
    fieldErrors: [{ field: 'authenticationCode', reason: 'is wrong, used or expired: request a new code' }],
  },
}

beforeEach(async () => {
  vi.useRealTimers()
  home = newNetwork()
  reader = await signUp()
  email = reader.email
  mails.length = 0
})

/** The bindings of the databases, each call to which goes through `intercept`. */
const interceptDatabases = (intercept: (binding: string) => Promise<unknown>) => {
  const wrap = (binding: string, database: D1Database) =>
    wrapDatabase(database, async (call) => {
      await intercept(binding)
      return call()
    })
  return { DB: wrap('DB', env.DB), ...(env.DB_1 && { DB_1: wrap('DB_1', env.DB_1) }) }
}
const recordCalls = () => {
  const calls: string[] = []
  return { calls, changed: interceptDatabases(async (binding) => calls.push(binding)) }
}

describe('POST /email/password-reset', () => {
  it('mails a member a code, in any case of the address, which sets a new password', async () => {
    expect(await requestReset(email.toUpperCase())).toMatchObject({ status: 202, body: null })
    expect(mails).toMatchObject([
      { to: email, subject: 'Your Reading Library password reset code / 비밀번호 재설정 코드' },
    ])
    const code = resetCodeIn(mails[0])
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
    expect(mails[0]?.html).toContain(code)
    expect(mails[0]?.subject).not.toContain(code)
    const reset = await resetWith(code)
    expect(reset).toMatchObject({ status: 204, body: null })
    expect(reset.headers.get('Authorization')).toBeNull()
    expect((await login(email, NEW_PASSWORD)).status).toBe(200)
    expect((await login(email)).status).toBe(401)
  })

  it('answers the same for a member, for anyone else, and at the mail limit of an address', async () => {
    const visible = async (to: string) => {
      const { status, headers, body } = await requestReset(to, { from: newNetwork() })
      return [status, body, ...[...headers].filter(([name]) => !/^x-(?:request-id|d1-bookmark)$/.test(name))]
    }
    const first = await visible(email)
    for (const to of [email, email, newEmail(), 'someone@example.com']) expect(await visible(to)).toEqual(first)
    expect(mails).toHaveLength(2)
  })

  it('answers after one database call, then makes the same calls for members and for others', async () => {
    const callsFor = async (to: string) => {
      const { promise: held, resolve } = Promise.withResolvers<void>()
      const calls: string[] = []
      const changed = interceptDatabases((binding) => (calls.push(binding) > 1 ? held : Promise.resolve()))
      // `send` waits for what runs after the response.
      const answered = requestReset(to, changed)
      await eventually(() => expect(calls).toHaveLength(2))
      expect(mails).toEqual([])
      resolve()
      expect((await answered).status).toBe(202)
      return calls
    }
    const ofStranger = await callsFor(newEmail())
    expect(await callsFor(email)).toEqual(ofStranger)
    expect(ofStranger).toEqual(memberSlot() > 0 ? ['DB', 'DB', 'DB_1', 'DB'] : ['DB', 'DB', 'DB'])
    expect(mails).toHaveLength(1)
  })

  it('writes as much for others as for members', async () => {
    await requestReset(newEmail())
    const { calls, written } = await measure(() => requestReset(newEmail()))
    expect(await measure(() => requestReset())).toMatchObject({ calls, written })
    expect(mails).toHaveLength(1)
    const mailsOf = async () => (await select('select sum(mails) as n from dailyMails'))[0]?.n
    const before = await mailsOf()
    await requestReset(newEmail())
    expect(await mailsOf()).toBe(before)
  })

  it('mails at most two codes to an address in ten minutes, both of which are valid until then', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => requestReset(email, { from: newNetwork() })))
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(202))
    expect(mails).toHaveLength(2)
    passTime(10 * MINUTE_MS - 5000)
    await requestReset()
    expect(mails).toHaveLength(2)
    expect((await resetWith(resetCodeIn(mails[0]))).status).toBe(204)
    passTime(6000)
    await requestReset()
    // The third mail reports the reset.
    expect(mails).toHaveLength(4)
  })

  it('keeps the first code valid when a stranger requests another', async () => {
    const code = await codeFor()
    await codeFor(email, newNetwork())
    expect((await resetWith(code)).status).toBe(204)
  })

  const from = (toNetwork: (n: number) => string) => (n: number) => [newEmail(), toNetwork(n)] as const
  const to = (address: string, toNetwork: (n: number) => string) => (n: number) => [address, toNetwork(n)] as const
  const requestLimits: [allowed: number, what: string, seconds: number, (n: number) => readonly [string, string]][] = [
    [5, 'an hour from a network for an address', 3600, to(newEmail(), () => '203.0.113.11')],
    [16, 'a day from an IPv6 /48 for an address', 86_400, to(newEmail(), (n) => `2001:db8:13:${n}::1`)],
    [30, 'an hour from a network', 3600, from(() => '203.0.113.12')],
    [90, 'an hour from an IPv6 /48', 3600, from((n) => `2001:db8:14:${n}::1`)],
  ]
  for (const [allowed, what, seconds, request] of requestLimits)
    it(`accepts ${allowed} requests ${what}, also for an unknown address`, {
      tags: allowed > 50 ? ['slow'] : [],
    }, async () => {
      const requestAs = (n: number) => requestReset(request(n)[0], { from: request(n)[1] })
      const answers = await Promise.all(Array.from({ length: allowed + 10 }, (_, n) => requestAs(n)))
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(allowed)
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(10)
      const wait = Number(refused[0]?.headers.get('Retry-After'))
      expect(wait).toBeGreaterThan(seconds - 60)
      expect((await requestReset(request(0)[0], { from: newNetwork() })).status).toBe(202)
      expect(mails).toEqual([])
    })

  it('shows the limits of the network for the address', async () => {
    const { headers } = await requestReset()
    expect(headers.get('RateLimit-Policy')).toBe('"mail-hour";q=5;w=3600, "mail-day";q=8;w=86400')
    expect(headers.get('RateLimit')).toBe('"mail-hour";r=4;t=3600')
  })

  it('shares the limit of mails from a network with verification codes', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => requestCode(newEmail(), { from: home })))
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201))
    expect((await requestReset()).status).toBe(429)
  })

  it('mails twice MAILS_PER_DAY codes, sign-ups included, then none, and logs it', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.useFakeTimers({ now: new Date('2030-01-01T12:00:00Z'), toFake: ['Date'] })
    const limited = { MAILS_PER_DAY: '1' }
    const signUpCode = async () => (await requestCode(newEmail(), { from: newNetwork(), ...limited })).status
    expect([await signUpCode(), await signUpCode()]).toEqual([201, 503])
    error.mockClear()
    expect((await requestReset(email, limited)).status).toBe(202)
    expect(mails).toHaveLength(2)
    expect(error).not.toHaveBeenCalled()
    expect((await requestReset(email, limited)).status).toBe(202)
    expect(mails).toHaveLength(2)
    expect(error.mock.calls.join()).toContain('MAILS_PER_DAY')
  })

  it('stores no code and counts no mail if the mail cannot be sent', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const stored = () => Promise.all(['accountCodes', 'dailyMails'].map((table) => select(`select * from ${table}`)))
    await codeFor()
    const before = await stored()
    const send = vi.fn((mail: Mail) => Promise.reject(new Error(`550 ${mail.to} is over quota`)))
    expect((await requestReset(email, { EMAIL: { send } })).status).toBe(202)
    expect(await stored()).toEqual(before)
    expect(error.mock.calls.join()).toContain('over quota')
    expect(error.mock.calls.join()).not.toContain(email)
    expect(await resetWith(resetCodeIn(send.mock.calls[0]?.[0]))).toMatchObject(WRONG_CODE)
    await codeFor()
    expect(mails).toHaveLength(2)
  })

  it('stores neither the code nor the address', async () => {
    const code = await codeFor()
    const stored = JSON.stringify(
      await Promise.all(['accountCodes', 'attempts'].map((table) => select(`select * from ${table}`))),
    )
    for (const text of [email, code, code.replace('-', '')]) expect(stored).not.toContain(text)
  })

  it('responds with 503 without a mailer, even if addresses are not verified', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const code = await codeFor()
    for (const missing of [{ MAIL_FROM: undefined }, { EMAIL: undefined }]) {
      const changed = { ...missing, EMAIL_VERIFICATION: 'off' }
      expect((await requestReset(email, changed)).status).toBe(503)
      expect(
        (await post('/email/password-change', { tempPasswordEmail: email }, { from: home, ...changed })).status,
      ).toBe(503)
      expect((await resetWith(code, changed)).status).toBe(503)
    }
    expect(mails).toHaveLength(1)
  })

  it('rejects an invalid address', async () => {
    expect(await requestReset('word')).toMatchObject({ status: 400, body: { fieldErrors: [{ field: 'email' }] } })
  })
})

describe('POST /email/password-change', () => {
  const requestChange = (tempPasswordEmail: string) =>
    post('/email/password-change', { tempPasswordEmail }, { from: home })

  it('mails a code, and does not change the password', async () => {
    expect(await requestChange(email)).toMatchObject({ status: 202, body: null })
    expect((await login(email)).status).toBe(200)
    expect((await reader.get('/members/me')).status).toBe(200)
    expect((await resetWith(resetCodeIn(mails[0]))).status).toBe(204)
  })

  it('has the limits of /email/password-reset', async () => {
    for (let n = 0; n < 3; n++) await requestReset()
    for (let n = 0; n < 2; n++) expect((await requestChange(email)).status).toBe(202)
    expect((await requestChange(email)).status).toBe(429)
    expect(await requestChange('word')).toMatchObject({ body: { fieldErrors: [{ field: 'tempPasswordEmail' }] } })
  })
})

describe('POST /password-reset', () => {
  it('accepts the code as people type it', async () => {
    const code = await codeFor()
    expect((await resetWith(` ${code.toLowerCase().replace('-', ' ')} `)).status).toBe(204)
  })

  it('ends all sessions and access tokens of the member, and of nobody else', async () => {
    const [second, other] = [await reader.logInAgain(), await signUp()]
    const scripts = [await insertAccessToken(memberDatabase(), memberId(), ['profile:read'], memberSlot())]
    const headers = { Authorization: `Bearer ${scripts[0]}` }
    expect((await other.send('GET', '/members/me', { headers })).status).toBe(200)
    expect((await resetWith(await codeFor())).status).toBe(204)
    for (const { get } of [reader, second]) expect((await get('/members/me')).status).toBe(401)
    expect((await other.send('GET', '/members/me', { headers })).status).toBe(401)
    expect((await other.get('/members/me')).status).toBe(200)
  })

  it('mails the member, and lists the reset in the activity', async () => {
    const code = await codeFor()
    expect((await resetWith(code)).status).toBe(204)
    expect(mails[1]).toMatchObject({
      to: email,
      subject: 'Your Reading Library password was reset / 비밀번호가 재설정되었습니다',
    })
    const kinds = await select('select kind from activity where memberId = ?', memberId())
    expect(kinds).toEqual([{ kind: 'PASSWORD_RESET' }])
  })

  it('answers the same for a wrong, expired, used or void code, another purpose and another address', async () => {
    const other = await signUp()
    const ofOther = await codeFor(other.email)
    const stranger = newEmail()
    await requestCode(stranger, { from: home })
    const joinCode = codeIn(mails.at(-1))
    const expired = await codeFor()
    const visible = async (code: string, of = email) => {
      const { status, headers, body } = await resetWith(code, { from: newNetwork() }, of)
      const shown = [...headers].filter(([name]) => !/^x-(?:request-id|d1-bookmark)$/.test(name))
      const rejected = body.fieldErrors?.[0]?.rejectedValue
      return JSON.stringify([status, shown, body]).replace(JSON.stringify(rejected), 'the code')
    }
    const answer = await visible('00000-00000')
    expect(JSON.parse(answer.replace('the code', '""'))[0]).toBe(400)
    for (const [code, of] of [
      [ofOther, email],
      [joinCode, stranger],
      [joinCode, email],
      ['00000-00000', newEmail()],
    ]) {
      expect(await visible(code ?? '', of)).toBe(answer)
    }
    passTime(10 * MINUTE_MS)
    expect(await visible(expired)).toBe(answer)
    const [used, second] = [await codeFor(), await codeFor()]
    expect((await resetWith(used)).status).toBe(204)
    for (const code of [used, second]) expect(await visible(code)).toBe(answer)
    expect((await login(email, NEW_PASSWORD)).status).toBe(200)
  })

  it('does not accept a code issued before a change of the e-mail address', async () => {
    const [code, after] = [await codeFor(), newEmail()]
    await raiseVersion()
    await select('update members set email = ? where memberId = ?', after, memberId())
    expect(await resetWith(code)).toMatchObject(WRONG_CODE)
    expect(await resetWith(code, {}, after)).toMatchObject(WRONG_CODE)
  })

  it('does not accept the code of a withdrawn member, nor for the next one with the address', async () => {
    const code = await codeFor()
    expect((await reader.delete('/members/me')).status).toBe(204)
    expect(await resetWith(code)).toMatchObject(WRONG_CODE)
    const again = await signUp(email)
    expect(await resetWith(code)).toMatchObject(WRONG_CODE)
    expect((await again.get('/members/me')).status).toBe(200)
    expect((await login(email)).status).toBe(200)
  })

  it('sets the password of a member who has none after an undone change of e-mail', async () => {
    await select(`update members set passwordHash = '' where memberId = ?`, memberId())
    expect((await login(email)).status).toBe(401)
    expect((await resetWith(await codeFor())).status).toBe(204)
    expect((await login(email, NEW_PASSWORD)).status).toBe(200)
  })

  it('rejects an invalid password before it counts a try', async () => {
    const code = await codeFor()
    for (let n = 0; n < 6; n++) {
      const answer = await resetFrom(email, code, 'short', { from: home })
      expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field: 'password' }] } })
    }
    expect((await resetWith(code)).status).toBe(204)
  })

  const tryLimits: [allowed: number, what: string, seconds: number, (n: number) => string, () => string][] = [
    [5, 'for an address from a network', 600, () => '203.0.113.21', () => email],
    [15, 'for an address from an IPv6 /48', 600, (n: number) => `2001:db8:21:${n}::1`, () => email],
    [30, 'from a network', 3600, () => '203.0.113.22', () => newEmail()],
    [90, 'from an IPv6 /48', 3600, (n: number) => `2001:db8:22:${n}::1`, () => newEmail()],
  ]
  for (const [allowed, what, seconds, toNetwork, toAddress] of tryLimits)
    it(`allows ${allowed} tries ${what}, and the right code from elsewhere`, {
      tags: allowed > 50 ? ['slow'] : [],
    }, async () => {
      const code = await codeFor()
      const tries = Array.from({ length: allowed + 5 }, (_, n) =>
        resetWith(wrong(n), { from: toNetwork(n) }, toAddress()),
      )
      const answers = await Promise.all(tries)
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(allowed)
      const refused = await resetWith(code, { from: toNetwork(99) })
      expect(refused.status).toBe(429)
      const wait = Number(refused.headers.get('Retry-After'))
      expect(wait).toBeGreaterThan(seconds - 60)
      expect(wait).toBeLessThanOrEqual(seconds)
      expect((await resetWith(code)).status).toBe(204)
    })

  it('shows how many tries are left, even with a wrong code', async () => {
    const { headers } = await resetWith(wrong())
    expect(headers.get('RateLimit-Policy')).toBe('"reset-attempt";q=5;w=600')
    expect(headers.get('RateLimit')).toBe('"reset-attempt";r=4;t=600')
    const answer = await resetWith(await codeFor())
    expect(answer.headers.get('RateLimit')).toMatch(/^"reset-attempt";r=3;t=/)
  })

  it('evaluates five of 300 guesses from a network, sent a hundred at a time', { tags: ['slow'] }, async () => {
    const code = await codeFor()
    const statuses: number[] = []
    for (let batch = 0; batch < 3; batch++) {
      const guesses = Array.from({ length: 100 }, (_, n) => resetWith(wrong(batch * 100 + n)))
      statuses.push(...(await Promise.all(guesses)).map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 400)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(295)
    expect((await resetWith(code)).status).toBe(429)
    expect((await login(email)).status).toBe(200)
    expect((await resetWith(code, { from: newNetwork() })).status).toBe(204)
  })

  it('accepts only one of twenty concurrent resets with the same code', { tags: ['slow'] }, async () => {
    const code = await codeFor()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => resetFrom(email, code, `password-${n % 2}`, { from: newNetwork() })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(19)
    expect((await login(email, `password-${statuses.indexOf(204) % 2}`)).status).toBe(200)
    expect(mails).toHaveLength(2)
  })

  it('hashes nothing for a wrong code, and gives the try back if hashing fails', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    using derive = vi.spyOn(crypto.subtle, 'deriveBits')
    expect(await resetWith(wrong())).toMatchObject(WRONG_CODE)
    expect(derive).not.toHaveBeenCalled()
    const code = await codeFor()
    derive.mockRejectedValueOnce(new Error('out of order'))
    expect((await resetWith(code)).status).toBe(500)
    expect(error).toHaveBeenCalled()
    const { status, headers } = await resetWith(code)
    expect([status, headers.get('RateLimit')]).toEqual([204, expect.stringContaining('r=3;')])
  })

  const calls = memberSlot() > 0 ? ['DB', 'DB', 'DB_1', 'DB'] : ['DB', 'DB']
  it('takes one database call for a wrong code, and two in slot 0 for the right one', async () => {
    const failing = recordCalls()
    await resetWith(wrong(), failing.changed)
    expect(failing.calls).toEqual(['DB'])
    const code = await codeFor()
    const succeeding = recordCalls()
    await resetWith(code, succeeding.changed)
    expect(succeeding.calls).toEqual(calls)
  })
})

describe('a stranger', () => {
  it('with a stolen session cannot void the code by changing the password again and again', async () => {
    const code = await codeFor()
    const stolen = await reader.logInAgain()
    for (const password of ['stolen-horse-3', 'stolen-horse-4']) {
      expect((await stolen.patch('/members/me', { password })).status).toBe(200)
    }
    expect((await resetWith(code)).status).toBe(204)
    expect((await stolen.get('/members/me')).status).toBe(401)
  })

  it('with many networks cannot keep the member from resetting the password by logins that queue for hashing', {
    tags: ['slow'],
  }, async () => {
    const code = await codeFor()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    using derive = vi.spyOn(crypto.subtle, 'deriveBits')
    derive.mockImplementation(async () => {
      await held
      return new ArrayBuffer(64)
    })
    const logins = Array.from({ length: 70 }, () => post('/login', { email, password: 'x' }, { from: newNetwork() }))
    await eventually(async () => {
      const refused = await post('/login', { email, password: 'x' }, { from: newNetwork() })
      expect(refused.status).toBe(429)
    })
    const answer = resetWith(code)
    release()
    expect((await answer).status).toBe(204)
    // Ends the logins that are left.
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    derive.mockRejectedValue(new Error('out of order'))
    await Promise.all(logins)
  })

  it('who requested codes for a reserved address cannot delay the reset after it is restored', async () => {
    const after = newEmail()
    await select('update members set email = ? where memberId = ?', after, memberId())
    for (const from of [newNetwork(), newNetwork()]) await requestReset(email, { from })
    await select('update members set email = ? where memberId = ?', email, memberId())
    await raiseVersion()
    expect((await resetWith(await codeFor())).status).toBe(204)
  })
})

describe('a reset at the same time', () => {
  /** Runs `interrupt` before a call of the request to the members' database. */
  const interrupting = (call: number, interrupt: () => Promise<unknown>) => {
    let count = 0
    return changeDatabase(
      wrapDatabase(memberDatabase(), async (run) => {
        count += 1
        if (count === call) await interrupt()
        return run()
      }),
    )
  }
  /** The call that sets the password. */
  const last = memberSlot() > 0 ? 1 : 2

  it('as a login with the old password leaves no session', async () => {
    const code = await codeFor()
    const reset = async () => expect((await resetWith(code)).status).toBe(204)
    const changed = interrupting(2, reset)
    const answer = await post('/login', { email, password: 'correct-horse-1' }, { from: home, ...changed })
    expect(answer.status).toBe(401)
    expect(await select('select * from sessions where memberId = ?', memberId())).toEqual([])
  })

  it('as a change of the password wins if it comes first', async () => {
    const code = await codeFor()
    const reset = async () => expect((await resetWith(code)).status).toBe(204)
    const body = { password: 'changed-horse-3' }
    expect((await reader.send('PATCH', '/members/me', { body, changed: interrupting(2, reset) })).status).toBe(401)
    expect((await login(email, NEW_PASSWORD)).status).toBe(200)
  })

  it('as a change of the password wins even if it comes second', async () => {
    const code = await codeFor()
    const change = async () =>
      expect((await reader.patch('/members/me', { password: 'changed-horse-3' })).status).toBe(200)
    expect((await resetWith(code, interrupting(last, change))).status).toBe(204)
    expect((await login(email, NEW_PASSWORD)).status).toBe(200)
    expect((await reader.get('/members/me')).status).toBe(401)
  })

  it('as a withdrawal leaves nothing', async () => {
    const code = await codeFor()
    const withdraw = async () => expect((await reader.delete('/members/me')).status).toBe(204)
    expect(await resetWith(code, interrupting(last, withdraw))).toMatchObject(WRONG_CODE)
    expect((await join({ email })).status).toBe(201)
    expect((await login(email, NEW_PASSWORD)).status).toBe(401)
  })
})
