import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { sweep } from '../../../src/sweep'
import {
  change,
  confirmChange,
  fieldError,
  findProblems,
  lastCodeTo,
  mailsTo,
  requestChange,
  undo,
} from '../../support/accounts/email-changes'
import { EMAIL, mails } from '../../support/accounts/mailed-codes'
import { join, login, newEmail, type Reader, send, signUp } from '../../support/api'
import { changeDatabase, memberDatabase, memberSlot, select } from '../../support/database'
import { eventually } from '../../support/runtime/clock'
import { claimsOf, insertAccessToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

let reader: Reader
let oldEmail: string
let email: string

const forgetAttempts = () => env.DB.prepare('delete from attempts').run()

beforeEach(async () => {
  vi.useRealTimers()
  await forgetAttempts()
  reader = await signUp()
  oldEmail = reader.email
  email = newEmail()
  mails.length = 0
})

const memberId = () => Number(claimsOf(reader.token).sub)
const passTime = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
const WRONG_UNDO = fieldError('authenticationCode', 'is wrong, used or expired')
const checkDirectory = async () => expect(await findProblems()).toEqual([])

describe('the former address', () => {
  const isReserved = async (address: string) => {
    expect((await join({ email: address.toUpperCase() })).status).toBe(409)
    const body = { joinAuthCodeEmail: address }
    const headers = { 'CF-Connecting-IP': '10.9.5.1' }
    expect((await send('POST', '/email/join', { body, headers, changed: { EMAIL } })).status).toBe(409)
    expect((await login(address)).status).toBe(401)
  }

  it('is reserved for 72 hours against sign-ups, code requests and changes of others', async () => {
    const other = await signUp()
    expect((await requestChange(other, email)).status).toBe(202)
    const code = lastCodeTo(email)
    await change(reader, oldEmail, email)
    await change(reader, email, newEmail())
    for (const address of [oldEmail, email]) await isReserved(address)
    expect((await confirmChange(other, email, code)).status).toBe(409)
    passTime(72 * HOUR_MS + MINUTE_MS)
    // In slot 1, the sweep deletes the reservation.
    await sweep({ ...env } as never)
    for (const address of [oldEmail, email]) expect((await join({ email: address })).status).toBe(201)
  })

  it('stays reserved through chained changes', async () => {
    const addresses = [oldEmail, email, newEmail(), newEmail()]
    for (let at = 1; at < addresses.length; at++) {
      await change(reader, addresses[at - 1] ?? '', addresses[at] ?? '')
    }
    for (const address of addresses.slice(0, -1)) await isReserved(address)
    await checkDirectory()
  })

  it('is free after a withdrawal', async () => {
    await change(reader, oldEmail, email)
    expect((await reader.delete('/members/me')).status).toBe(204)
    for (const address of [oldEmail, email]) expect((await join({ email: address })).status).toBe(201)
    await eventually(checkDirectory)
  })
})

describe('POST /email/change/undo', () => {
  it('restores the former address, ends all sessions and access tokens, and requires a password reset', async () => {
    const other = await reader.logInAgain()
    const token = await insertAccessToken(memberDatabase(), memberId(), ['profile:read'], memberSlot())
    const code = await change(reader, oldEmail, email)
    expect(await undo(code.toLowerCase().replaceAll('-', ''))).toMatchObject({ status: 204, body: null })
    for (const used of [reader.token, other.token, token]) {
      expect((await send('GET', '/members/me', { headers: { Authorization: `Bearer ${used}` } })).status).toBe(401)
    }
    for (const address of [oldEmail, email]) expect((await login(address)).status).toBe(401)
    expect(mailsTo(oldEmail).at(-1)?.subject).toBe(
      'Your Reading Library e-mail address was restored / 이메일 주소가 복원되었습니다',
    )

    await forgetAttempts()
    const reset = { email: oldEmail }
    const headers = { 'CF-Connecting-IP': '10.9.3.1' }
    expect((await send('POST', '/email/password-reset', { body: reset, headers, changed: { EMAIL } })).status).toBe(202)
    const body = { ...reset, authenticationCode: lastCodeTo(oldEmail), password: 'another-horse-2' }
    expect((await send('POST', '/password-reset', { body, headers, changed: { EMAIL } })).status).toBe(204)
    const again = await login(oldEmail, 'another-horse-2')
    expect([again.status, again.body]).toEqual([200, { email: oldEmail, name: 'Reader' }])
    const session = { Authorization: again.headers.get('Authorization') ?? '' }
    const { body: activity } = await send('GET', '/members/me/activity', { headers: session })
    expect(activity.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(['EMAIL_RESTORED', 'EMAIL_CHANGED']),
    )
    expect((await join({ email })).status).toBe(201)
    await eventually(checkDirectory)
  })

  it('informs the address that it replaces, whose owner may have the code of an earlier change', async () => {
    const [second, third] = [email, newEmail()]
    const first = await change(reader, oldEmail, second)
    const later = await change(reader, second, third)
    mails.length = 0
    expect((await undo(later)).status).toBe(204)
    expect(mailsTo(third)).toMatchObject([
      { subject: 'The change of your Reading Library address was undone / 이메일 주소 변경이 취소되었습니다' },
    ])
    expect((await undo(first)).status).toBe(204)
    expect(await select('select email from members where memberId = ?', memberId())).toEqual([{ email: oldEmail }])
  })

  it.each(['a change', 'a reset'])('works after %s of the password', async (kind) => {
    const code = await change(reader, oldEmail, email)
    if (kind === 'a change') {
      expect((await reader.patch('/members/me', { password: 'another-horse-2' })).status).toBe(200)
    } else {
      const headers = { 'CF-Connecting-IP': '10.9.3.3' }
      await send('POST', '/email/password-reset', { body: { email }, headers, changed: { EMAIL } })
      const body = { email, authenticationCode: lastCodeTo(email), password: 'another-horse-2' }
      expect((await send('POST', '/password-reset', { body, headers, changed: { EMAIL } })).status).toBe(204)
    }
    expect((await undo(code)).status).toBe(204)
    expect((await login(oldEmail, 'another-horse-2')).status).toBe(401)
    expect(await select('select email from members where memberId = ?', memberId())).toEqual([{ email: oldEmail }])
  })

  it.runIf(memberSlot() > 0)('asks to try again if its claim was settled, as the code is still valid', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const code = await change(reader, oldEmail, email)
    let calls = 0
    const DB_1 = wrapDatabase(memberDatabase(), async (call) => {
      calls += 1
      // The first call finds the undo, the second one restores the address.
      if (calls === 2) {
        const open = env.DB.prepare(`select claimId from addresses where memberId = ? and state = 'CLAIMED'`)
        const claimId = await open.bind(memberId()).first('claimId')
        await select('insert into settledClaims (claimId, settledAt) values (?, ?)', claimId, Date.now())
      }
      return call()
    })
    expect((await undo(code, { changed: { DB_1 } })).status).toBe(503)
    expect((await undo(code)).status).toBe(204)
    await eventually(checkDirectory)
  })

  it('voids codes that were mailed before', async () => {
    const code = await change(reader, oldEmail, email)
    await forgetAttempts()
    const reset = { email }
    const headers = { 'CF-Connecting-IP': '10.9.3.2' }
    await send('POST', '/email/password-reset', { body: reset, headers, changed: { EMAIL } })
    const resetCode = lastCodeTo(email)
    expect((await undo(code)).status).toBe(204)
    const body = { email: oldEmail, authenticationCode: resetCode, password: 'another-horse-2' }
    expect((await send('POST', '/password-reset', { body, headers, changed: { EMAIL } })).status).toBe(400)
  })

  it('works once', async () => {
    const code = await change(reader, oldEmail, email)
    const answers = await Promise.all([undo(code), undo(code), undo(code)])
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(await undo(code)).toMatchObject(WRONG_UNDO)
  })

  it('works until 72 hours are over', async () => {
    const code = await change(reader, oldEmail, email)
    passTime(72 * HOUR_MS - MINUTE_MS)
    expect((await undo(code)).status).toBe(204)
    vi.useRealTimers()
    await checkDirectory()
  })

  it('rejects a code after 72 hours, before and after the sweep', async () => {
    const code = await change(reader, oldEmail, email)
    passTime(72 * HOUR_MS + 1000)
    expect(await undo(code)).toMatchObject(WRONG_UNDO)
    await sweep({ ...env } as never)
    expect(await undo(code)).toMatchObject(WRONG_UNDO)
    expect(await select('select * from emailUndos where memberId = ?', memberId())).toEqual([])
  })

  it('rejects malformed and unknown codes, and those of slots that do not exist', async () => {
    const code = await change(reader, oldEmail, email)
    const wrong = [
      code.slice(0, -1),
      `${code}0`,
      `0009${code.slice(4)}`,
      `9999${code.slice(4)}`,
      'x',
      `${code.slice(0, -1)}é`,
    ]
    for (const each of wrong) expect(await undo(each), each).toMatchObject(WRONG_UNDO)
    expect((await undo(code)).status).toBe(204)
  })

  it('also undoes later changes and frees their addresses', async () => {
    const [second, third] = [email, newEmail()]
    const first = await change(reader, oldEmail, second)
    const later = await change(reader, second, third)
    expect((await undo(first)).status).toBe(204)
    expect(await undo(later)).toMatchObject(WRONG_UNDO)
    expect(await select('select email from members where memberId = ?', memberId())).toEqual([{ email: oldEmail }])
    await checkDirectory()
    for (const address of [second, third]) expect((await join({ email: address })).status).toBe(201)
  })

  it('leaves earlier changes and their reservations', async () => {
    const [second, third] = [email, newEmail()]
    const first = await change(reader, oldEmail, second)
    const later = await change(reader, second, third)
    expect((await undo(later)).status).toBe(204)
    expect(await select('select email from members where memberId = ?', memberId())).toEqual([{ email: second }])
    expect((await join({ email: oldEmail })).status).toBe(409)
    await checkDirectory()
    expect((await undo(first)).status).toBe(204)
    expect(await select('select email from members where memberId = ?', memberId())).toEqual([{ email: oldEmail }])
    await checkDirectory()
  })

  it('does not need a mailer, a token or the network that changed the address', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const code = await change(reader, oldEmail, email)
    expect((await undo(code, { from: '10.9.4.4', changed: { MAIL_FROM: '' } })).status).toBe(204)
  })
})

it('the undo of a change is read from the primary: a replica may not have it yet', async () => {
  const primary = memberDatabase()
  const lagging = {
    withSession: (constraint: string) => {
      const session = primary.withSession('first-primary')
      const batch = async (statements: D1PreparedStatement[]) => {
        const results = await session.batch(statements)
        return constraint === 'first-primary' ? results : results.map((each) => ({ ...each, results: [] }))
      }
      return { prepare: session.prepare.bind(session), getBookmark: () => session.getBookmark(), batch }
    },
  } as unknown as D1Database
  const changed = changeDatabase(lagging)
  const { headers } = await reader.send('GET', '/members/me', { changed })
  const code = await change(reader, oldEmail, email)
  const bookmark = { 'X-D1-Bookmark': headers.get('X-D1-Bookmark') ?? '' }
  const body = { authenticationCode: code }
  expect((await send('POST', '/email/change/undo', { body, headers: bookmark, changed })).status).toBe(204)
})
