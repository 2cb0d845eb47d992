import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { sweep } from '../../../src/sweep'
import {
  change,
  codeIn,
  confirmChange,
  fieldError,
  findProblems,
  lastCodeTo,
  mailsTo,
  requestChange,
  undo,
} from '../../support/accounts/email-changes'
import { mails } from '../../support/accounts/mailed-codes'
import { join, login, newEmail, PASSWORD, type Reader, send, signUp } from '../../support/api'
import { memberDatabase, memberSlot, select } from '../../support/database'
import { eventually } from '../../support/runtime/clock'
import { claimsOf, insertAccessToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const MINUTE_MS = 60_000

let reader: Reader
let oldEmail: string
let email: string

beforeEach(async () => {
  vi.useRealTimers()
  await env.DB.prepare('delete from attempts').run()
  reader = await signUp()
  oldEmail = reader.email
  email = newEmail()
  mails.length = 0
})

const memberId = () => Number(claimsOf(reader.token).sub)
const passTime = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
const profile = async () => (await reader.get('/members/me')).body
const kinds = async () => (await reader.get('/members/me/activity')).body.map(({ kind }: { kind: string }) => kind)
const WRONG_CODE = fieldError('authenticationCode', 'is wrong, used or expired: request a new code')
const codeFor = async (to = email, member: { token: string } = reader) => {
  expect((await requestChange(member, to)).status).toBe(202)
  return lastCodeTo(to)
}
const checkDirectory = async () => expect(await findProblems()).toEqual([])

/** The databases, each call to which goes through `intercept`. */
const interceptDatabases = (intercept: (call: () => Promise<unknown>) => Promise<unknown>) => {
  const wrap = (database: D1Database) => wrapDatabase(database, intercept as never)
  return { DB: wrap(env.DB), ...(env.DB_1 && { DB_1: wrap(env.DB_1) }) }
}

describe('POST /email/change', () => {
  it('mails a code to the new address, which confirms it', async () => {
    expect(await requestChange(reader, email)).toMatchObject({ status: 202, body: null })
    expect(mails).toMatchObject([
      { to: email, subject: 'Confirm your new Reading Library e-mail address / 새 이메일 주소 확인 코드' },
    ])
    const code = codeIn(mails[0])
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
    expect(await profile()).toEqual({ email: oldEmail, name: 'Reader' })
    expect(await confirmChange(reader, email, code)).toMatchObject({ status: 200, body: { email, name: 'Reader' } })
    expect(await profile()).toEqual({ email, name: 'Reader' })
    expect((await login(email)).status).toBe(200)
    expect((await login(oldEmail)).status).toBe(401)
    await checkDirectory()
  })

  it('rejects a wrong password, lists it in the activity and mails nothing', async () => {
    expect(await requestChange(reader, email, {}, 'wrong-horse-1')).toMatchObject(fieldError('password', 'is wrong'))
    expect(mails).toEqual([])
    expect(await kinds()).toEqual(['LOGIN_FAILED'])
  })

  it('counts a wrong password like a failed login to the account from the network', async () => {
    const from = '10.9.0.2'
    for (let tries = 0; tries < 10; tries++) {
      expect((await requestChange(reader, email, { from }, 'wrong-horse-1')).status).toBe(400)
    }
    expect((await requestChange(reader, email, { from })).status).toBe(429)
    const body = { email: oldEmail, password: PASSWORD }
    expect((await send('POST', '/login', { body, headers: { 'CF-Connecting-IP': from } })).status).toBe(429)
    expect((await requestChange(reader, email, { from: '10.9.0.3' })).status).toBe(202)
  })

  it('does not count a right password', async () => {
    for (let tries = 0; tries < 5; tries++) {
      expect((await requestChange(reader, newEmail(), { from: '10.9.0.4' })).status).toBe(202)
    }
    const body = { email: oldEmail, password: 'wrong-horse-1' }
    const headers = { 'CF-Connecting-IP': '10.9.0.4' }
    expect((await send('POST', '/login', { body, headers })).headers.get('RateLimit')).toContain('r=9;')
  })

  it('rejects your own address, regardless of case', async () => {
    const own = await requestChange(reader, oldEmail.toUpperCase())
    expect(own).toMatchObject(fieldError('email', 'is already your address'))
    expect(mails).toEqual([])
  })

  it('responds the same for an address that another member has, and informs that member', async () => {
    const other = await signUp()
    const free = await requestChange(reader, email)
    const taken = await requestChange(reader, other.email.toUpperCase())
    const toComparable = ({ status, body, headers }: typeof free) => [status, body, [...headers.keys()].sort()]
    expect(toComparable(taken)).toEqual(toComparable(free))
    expect(mailsTo(other.email.toUpperCase())).toMatchObject([
      { subject: 'Request to change a Reading Library e-mail address / 이메일 주소 변경 요청' },
    ])
    expect(lastCodeTo(other.email.toUpperCase())).toBe('')
  })

  it('makes as many calls for a taken address as for a free one', async () => {
    const other = await signUp()
    const countCalls = async (to: string) => {
      let calls = 0
      const changed = interceptDatabases((call) => {
        calls += 1
        return call()
      })
      expect((await requestChange(reader, to, { changed })).status).toBe(202)
      return calls
    }
    expect(await countCalls(other.email)).toBe(await countCalls(email))
  })

  it('treats the reserved address of another member as taken', async () => {
    await change(reader, oldEmail, email)
    const other = await signUp()
    mails.length = 0
    expect((await requestChange(other, oldEmail)).status).toBe(202)
    expect(mailsTo(oldEmail)).toMatchObject([
      { subject: 'Request to change a Reading Library e-mail address / 이메일 주소 변경 요청' },
    ])
  })

  it('mails an address at most twice in ten minutes for a member, with any tags, silently', async () => {
    const tagged = email.replace('@', '+tag@')
    for (const to of [email, tagged, email]) expect((await requestChange(reader, to)).status).toBe(202)
    expect([mailsTo(email).length, mailsTo(tagged).length]).toEqual([1, 1])
    passTime(11 * MINUTE_MS)
    expect((await requestChange(reader, email)).status).toBe(202)
    expect(mailsTo(email)).toHaveLength(2)
  })

  it('mails an address although another member has reached the limit for it', async () => {
    const other = await signUp()
    for (let n = 0; n < 2; n++) expect((await requestChange(other, email, { from: '10.9.3.1' })).status).toBe(202)
    expect(mailsTo(email)).toHaveLength(2)
    expect((await confirmChange(reader, email, await codeFor())).status).toBe(200)
  })

  it('mails an address at most twenty times a day for all members, silently', async () => {
    const others = [await signUp(), await signUp(), await signUp(), await signUp()]
    for (const requests of [2, 2, 1]) {
      for (const [n, other] of others.entries()) {
        for (let request = 0; request < requests; request++) {
          expect((await requestChange(other, email, { from: `10.9.4.${n}` })).status).toBe(202)
        }
      }
      passTime(11 * MINUTE_MS)
    }
    expect(mailsTo(email)).toHaveLength(20)
    expect((await requestChange(reader, email)).status).toBe(202)
    expect(mailsTo(email)).toHaveLength(20)
    passTime(24 * 60 * MINUTE_MS)
    expect((await requestChange(reader, email)).status).toBe(202)
    expect(mailsTo(email)).toHaveLength(21)
  })

  it('mails at most five addresses of a member in an hour', async () => {
    for (let n = 0; n < 5; n++) {
      const { status, headers } = await requestChange(reader, newEmail(), { from: `10.9.1.${n}` })
      expect([status, headers.get('RateLimit')]).toEqual([202, expect.stringContaining('"email-change"')])
    }
    expect((await requestChange(reader, newEmail(), { from: '10.9.1.9' })).status).toBe(429)
    expect(mails).toHaveLength(5)
  })

  it('mails at most five times to an address from a network in an hour', async () => {
    const from = '10.9.2.1'
    for (let n = 0; n < 5; n++) {
      const member = await signUp()
      expect((await requestChange(member, email, { from })).status).toBe(202)
    }
    expect((await requestChange(reader, email, { from })).status).toBe(429)
  })

  it('takes the code back if the mail cannot be sent', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const failing = { send: () => Promise.reject(new Error('down')) } as unknown as SendEmail
    for (let n = 0; n < 3; n++) {
      expect((await requestChange(reader, email, { changed: { EMAIL: failing } })).status).toBe(202)
    }
    expect(error.mock.calls.join()).toContain('mail: Error: down')
    expect(await select('select * from accountCodes where memberId = ?', memberId())).toEqual([])
    expect((await requestChange(reader, email)).status).toBe(202)
    expect(mailsTo(email)).toHaveLength(1)
  })

  it('mails nothing above MAILS_PER_DAY', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect((await requestChange(reader, email, { changed: { MAILS_PER_DAY: '0' } })).status).toBe(202)
    expect(mails).toEqual([])
    expect(error.mock.calls.join()).toContain('MAILS_PER_DAY')
  })

  it.each(['required', 'off'])('responds with 503 without a mailer, with EMAIL_VERIFICATION=%s', async (mode) => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const changed = { MAIL_FROM: '', EMAIL_VERIFICATION: mode }
    expect((await requestChange(reader, email, { changed })).status).toBe(503)
    expect((await confirmChange(reader, email, '00000-00000', { changed })).status).toBe(503)
  })

  it('requires a session', async () => {
    const token = await insertAccessToken(memberDatabase(), memberId(), ['profile:read'], memberSlot())
    expect((await requestChange({ token }, email)).headers.get('X-Error-Code')).toBe('SESSION_REQUIRED')
    const code = await codeFor()
    expect((await confirmChange({ token }, email, code)).headers.get('X-Error-Code')).toBe('SESSION_REQUIRED')
    await reader.post('/logout', undefined)
    expect((await requestChange(reader, email)).status).toBe(401)
    expect((await confirmChange(reader, email, code)).status).toBe(401)
    expect((await login(oldEmail)).status).toBe(200)
    await checkDirectory()
  })
})

describe('PATCH /members/me/email', () => {
  it('accepts the code in lower case, with spaces and look-alike letters', async () => {
    const code = (await codeFor()).toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l').replace('-', ' ')
    expect((await confirmChange(reader, email.toUpperCase(), code)).body.email).toBe(email.toUpperCase())
  })

  it('accepts the code once', async () => {
    const code = await codeFor()
    expect((await confirmChange(reader, email, code)).status).toBe(200)
    expect(await confirmChange(reader, email, code)).toMatchObject(WRONG_CODE)
    expect(await select('select * from accountCodes where memberId = ?', memberId())).toEqual([])
  })

  it('rejects the code with another address, and that of another member', async () => {
    const code = await codeFor()
    expect(await confirmChange(reader, newEmail(), code)).toMatchObject(WRONG_CODE)
    const other = await signUp()
    expect(await confirmChange(other, email, code)).toMatchObject(WRONG_CODE)
    expect((await confirmChange(reader, email, code)).status).toBe(200)
  })

  it('rejects the code after ten minutes', async () => {
    const code = await codeFor()
    passTime(10 * MINUTE_MS)
    expect(await confirmChange(reader, email, code)).toMatchObject(WRONG_CODE)
  })

  it('accepts the code after a change of password, which ends the other sessions', async () => {
    const code = await codeFor()
    const other = await reader.logInAgain()
    expect((await other.patch('/members/me', { password: 'another-horse-2' })).status).toBe(200)
    expect((await confirmChange(reader, email, code)).status).toBe(401)
    expect((await confirmChange(other, email, code)).status).toBe(200)
  })

  it('rejects the code after a change to another address', async () => {
    const code = await codeFor()
    await change(reader, oldEmail, newEmail())
    expect(await confirmChange(reader, email, code)).toMatchObject(WRONG_CODE)
    await checkDirectory()
  })

  it('evaluates at most twenty guesses of a member from a network in a day, even at once', async () => {
    const code = await codeFor()
    const guesses = Array.from({ length: 60 }, (_, n) => confirmChange(reader, email, String(n).padStart(10, '0')))
    const answers = await Promise.all(guesses)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40)
    expect((await confirmChange(reader, email, code)).status).toBe(429)
    expect((await confirmChange(reader, email, code, { from: '10.9.0.7' })).status).toBe(200)
  })

  it('reveals only with the right code that the address was taken meanwhile', async () => {
    const code = await codeFor()
    await signUp(email)
    expect(await confirmChange(reader, email, 'AAAAA-AAAAA')).toMatchObject(WRONG_CODE)
    const taken = await confirmChange(reader, email, code)
    expect([taken.status, taken.headers.get('X-Error-Code')]).toEqual([409, 'MEMBER_EXISTS'])
    expect(await profile()).toMatchObject({ email: oldEmail })
    await checkDirectory()
  })

  it('keeps all sessions and access tokens, and lists the change', async () => {
    const other = await reader.logInAgain()
    const token = await insertAccessToken(memberDatabase(), memberId(), ['profile:read'], memberSlot())
    await change(reader, oldEmail, email)
    for (const used of [reader.token, other.token, token]) {
      const headers = { Authorization: `Bearer ${used}` }
      expect((await send('GET', '/members/me', { headers })).body.email).toBe(email)
    }
    expect(await kinds()).toEqual(['EMAIL_CHANGED', 'LOGIN'])
  })

  it('updates the time of the last change', async () => {
    await select(`update members set updatedAt = '2020-01-01T00:00:00' where memberId = ?`, memberId())
    await change(reader, oldEmail, email)
    const [member] = await select('select updatedAt, credentialsVersion from members where memberId = ?', memberId())
    expect(member).toMatchObject({ updatedAt: expect.stringMatching(/^202[5-9]/), credentialsVersion: 1 })
  })

  it('mails the former address, with the new one masked, and an undo code that names the slot', async () => {
    const code = await change(reader, oldEmail, email)
    const mail = mailsTo(oldEmail).at(-1)
    expect(mail?.subject).toBe('Your Reading Library e-mail address was changed / 이메일 주소가 변경되었습니다')
    expect(mail?.text).not.toContain(email)
    expect(code).toMatch(new RegExp(`^000${memberSlot()}(-[0-9A-HJKMNP-TV-Z]{5}){6}$`))
    const stored = JSON.stringify(await select('select * from emailUndos where memberId = ?', memberId()))
    expect(stored).not.toContain(code.slice(-11))
  })

  it('succeeds although the mail to the former address fails', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const code = await codeFor()
    const failing = { send: () => Promise.reject(new Error('down')) } as unknown as SendEmail
    expect((await confirmChange(reader, email, code, { changed: { EMAIL: failing } })).status).toBe(200)
    expect(error.mock.calls.join()).toContain('down')
  })

  it('mails the undo code although the response of the database was lost', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const code = await codeFor()
    const database = wrapDatabase(memberDatabase(), async (call, queries) => {
      const result = await call()
      // The one call that changes the address has far more statements than any other.
      if (queries > 5) throw new Error('D1_ERROR: D1 DB is overloaded.')
      return result
    })
    const changed = env.DB_1 ? { DB_1: database } : { DB: database }
    expect((await confirmChange(reader, email, code, { changed })).status).toBe(503)
    expect((await profile()).email).toBe(email)
    expect((await undo(lastCodeTo(oldEmail))).status).toBe(204)
  })

  it.skipIf(memberSlot() > 0)('takes one database call, and the request three before the response', async () => {
    const calls: string[] = []
    const changed = interceptDatabases((call) => {
      calls.push('call')
      return call()
    })
    expect((await requestChange(reader, email, { changed })).status).toBe(202)
    // The fourth issues the code, after the response.
    expect(calls).toHaveLength(4)
    expect((await confirmChange(reader, email, lastCodeTo(email), { changed })).status).toBe(200)
    expect(calls).toHaveLength(5)
  })

  it('gives an address that two members want to exactly one of them', async () => {
    const other = await signUp()
    const codes = [await codeFor(email, reader), await codeFor(email, other)]
    const answers = await Promise.all([
      confirmChange(reader, email, codes[0] ?? ''),
      confirmChange(other, email, codes[1] ?? ''),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await checkDirectory()
  })

  it('gives an address that a member and a sign-up want to exactly one of them', async () => {
    const code = await codeFor()
    const answers = await Promise.all([confirmChange(reader, email, code), join({ email })])
    expect(answers.map(({ status }) => status).sort()).toEqual(answers[0]?.status === 200 ? [200, 409] : [201, 409])
    await eventually(checkDirectory)
  })

  it('makes only one of two concurrent changes of a member', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const wanted = [newEmail(), newEmail()] as const
    const codes = [await codeFor(wanted[0]), await codeFor(wanted[1])]
    const answers = await Promise.all(wanted.map((to, at) => confirmChange(reader, to, codes[at] ?? '')))
    const succeeded = answers.filter(({ status }) => status === 200)
    expect(succeeded).toHaveLength(1)
    expect((await profile()).email).toBe(succeeded[0]?.body.email)
    await sweep({ ...env } as never, Date.now() + 100_000)
    await checkDirectory()
  })
})
