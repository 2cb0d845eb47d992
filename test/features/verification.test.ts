import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { login, newEmail, PASSWORD, send, signUp } from '../support/api'
import { measure, select } from '../support/database'

type Mail = { to: string; from: { name: string; email: string }; subject: string; text: string; html: string }

/** The mails sent through the real binding. */
const mails: Mail[] = []
const EMAIL = {
  send: (mail: Mail) => {
    mails.push(mail)
    return env.EMAIL.send(mail)
  },
} as unknown as SendEmail
const changed = { EMAIL_VERIFICATION: undefined, MAIL_FROM: 'library@library.test', EMAIL }

let networks = 0
/** A network without any attempts: limits by network are tested in floods.test.ts. */
const newNetwork = () => ({ 'CF-Connecting-IP': `10.0.${networks >> 8}.${networks++ & 255}` })

const post = (path: string, body: object, more: object) =>
  send('POST', path, { body, changed: { ...changed, ...more }, headers: newNetwork() })
const requestCode = (email: string, more = {}) => post('/email/join', { joinAuthCodeEmail: email }, more)
const joinWith = (email: string, authenticationCode: string, more = {}) =>
  post('/join', { email, name: 'Reader', password: PASSWORD, authenticationCode }, more)
const codeIn = (mail: Mail | undefined) => mail?.text.match(/\d{6}/)?.[0] ?? ''
const codeFor = async (email: string) => {
  expect((await requestCode(email)).status).toBe(201)
  return codeIn(mails.at(-1))
}
/** Another code, a different one for each `n` from 1. */
const other = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0')

const storedCodes = async () => [await select('select * from joinCodes'), await select('select * from attempts')]

beforeEach(() => {
  mails.length = 0
  vi.useRealTimers()
})

const EXISTS = { status: 409, body: { status: 409, message: 'Member already exists' } }
const WRONG_CODE = { status: 400, body: { status: 0, fieldErrors: [{ field: 'authenticationCode' }] } }

describe('POST /email/join', () => {
  it('mails six digits, in text and HTML, in Korean and English', async () => {
    const email = newEmail()
    expect(await requestCode(email)).toMatchObject({ status: 201, body: null })
    expect(mails).toHaveLength(1)
    const [mail] = mails
    const code = codeIn(mail)
    expect(code).toMatch(/^\d{6}$/)
    expect(mail).toMatchObject({ to: email, from: { email: 'library@library.test' } })
    for (const phrase of [code, '인증 코드', 'verification code']) {
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

  it('invalidates the previous code', async () => {
    const email = newEmail()
    const [first, second] = [await codeFor(email), await codeFor(email)]
    if (first !== second) expect(await joinWith(email, first)).toMatchObject(WRONG_CODE)
    expect((await joinWith(email, second)).status).toBe(201)
  })

  it('sends five mails an hour to an address, also for concurrent requests', async () => {
    const email = newEmail()
    const answers = await Promise.all(Array.from({ length: 30 }, () => requestCode(email)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(mails).toHaveLength(5)
    const refused = answers.find(({ status }) => status === 429)
    const wait = Number(refused?.headers.get('Retry-After'))
    expect(wait).toBeGreaterThan(3500)
    expect(wait).toBeLessThanOrEqual(3600)

    vi.useFakeTimers({ now: Date.now() + (wait + 1) * 1000, toFake: ['Date'] })
    expect((await requestCode(email)).status).toBe(201)
  })

  it('stores no code and counts no mail if the mail cannot be sent', async () => {
    const email = newEmail()
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
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

  it('allows twenty attempts a day across codes', async () => {
    const email = newEmail()
    for (let n = 0; n < 4; n++) {
      const code = await codeFor(email)
      for (let m = 0; m < 5; m++) await joinWith(email, other(code))
    }
    const refused = await joinWith(email, await codeFor(email))
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(86_000)
    vi.useFakeTimers({ now: Date.now() + 86_401_000, toFake: ['Date'] })
    expect((await joinWith(email, await codeFor(email))).status).toBe(201)
  })

  it('creates one member from fifty concurrent sign-ups', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    const answers = await Promise.all(Array.from({ length: 50 }, () => joinWith(email, code)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect([201, 400, 409]).toEqual(expect.arrayContaining(statuses))
    expect(await select('select memberId from members where email = ?', email)).toHaveLength(1)
    for (const again of [code, '000000']) expect(await joinWith(email, again)).toMatchObject(EXISTS)
  })

  it('is invalid after five of a thousand guesses, a hundred of them concurrent', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    const before = (await select('select * from attempts')).length
    const guess = (n: number) => joinWith(email, other(code, n + 1))
    for (let batch = 0; batch < 10; batch++) {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => guess(batch * 100 + n)))
      expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(400))
    }
    expect((await select('select * from attempts')).length - before).toBe(5)
    expect(await joinWith(email, code)).toMatchObject(WRONG_CODE)
    expect((await joinWith(email, await codeFor(email))).status).toBe(201)
  })

  it('is consumed by the sign-up, in two database calls', async () => {
    const email = newEmail()
    const code = await codeFor(email)
    expect((await measure(() => joinWith(email, code))).calls).toBe(2)
    await login(email)
    await select('delete from members where email = ?', email)
    expect(await joinWith(email, code)).toMatchObject(WRONG_CODE)
  })
})
