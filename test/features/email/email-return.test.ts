import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
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
import { claimsOf, insertAccessToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

// A change back to a former address, which an undo would restore.

const HOUR_MS = 3_600_000

let reader: Reader
let first: string
let second: string
let third: string

beforeEach(async () => {
  vi.useRealTimers()
  reader = await signUp()
  first = reader.email
  second = newEmail()
  third = newEmail()
  mails.length = 0
})

const memberId = () => Number(claimsOf(reader.token).sub)
const addressInUse = async () => (await select('select email from members where memberId = ?', memberId()))[0]?.email
const listUndos = () => select('select email from emailUndos where memberId = ? order by undoId', memberId())
const statusOf = async (token: string) =>
  (await send('GET', '/members/me', { headers: { Authorization: `Bearer ${token}` } })).status
const reset = (email: string, authenticationCode: string, password = 'another-horse-2') =>
  send('POST', '/password-reset', {
    body: { email, authenticationCode, password },
    headers: { 'CF-Connecting-IP': '10.9.8.1' },
    changed: { EMAIL },
  })
const checkConsistency = async () => {
  expect(await findProblems()).toEqual([])
  expect(await findMismatches(memberDatabase())).toEqual([])
}

describe('a return to a former address', () => {
  it('undoes the changes since, and keeps only the session that made it', async () => {
    const other = await reader.logInAgain()
    const token = await insertAccessToken(memberDatabase(), memberId(), ['profile:read'], memberSlot())
    const codes = [await change(reader, first, second), await change(reader, second, third)]
    mails.length = 0
    await requestChange(reader, first)
    const answer = await confirmChange(reader, first, lastCodeTo(first))
    expect(answer).toMatchObject({ status: 200, body: { email: first, name: 'Reader' } })
    expect([await statusOf(reader.token), await statusOf(other.token), await statusOf(token)]).toEqual([200, 401, 401])
    for (const code of codes) {
      expect(await undo(code)).toMatchObject(fieldError('authenticationCode', 'is wrong, used or expired'))
    }
    expect(await listUndos()).toEqual([])
    await checkConsistency()
    for (const address of [second, third]) expect((await join({ email: address })).status).toBe(201)
  })

  it('voids the password, and mails a code to reset it', async () => {
    await change(reader, first, second)
    await change(reader, second, first)
    expect((await login(first)).status).toBe(401)
    const [restored] = mailsTo(first).slice(-1)
    expect(restored?.subject).toBe('Your Reading Library e-mail address was restored / 이메일 주소가 복원되었습니다')
    expect(restored?.text).toContain('no longer works')
    expect((await reset(first, lastCodeTo(first))).status).toBe(204)
    expect((await login(first, 'another-horse-2')).status).toBe(200)
    expect(await statusOf(reader.token)).toBe(401)
  })

  it('informs the restored address even if no more codes can be mailed today', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await change(reader, first, second)
    expect((await requestChange(reader, first)).status).toBe(202)
    const code = lastCodeTo(first)
    mails.length = 0
    expect((await confirmChange(reader, first, code, { changed: { MAILS_PER_DAY: '0' } })).status).toBe(200)
    expect(mailsTo(first)).toMatchObject([{ subject: expect.stringContaining('was restored') }])
    expect(error.mock.calls.join()).toContain('MAILS_PER_DAY')
  })

  it('expires with the undo that it stands for', async () => {
    await change(reader, first, second)
    const undoExpiresAt = Date.now() + 60_000
    await select('update emailUndos set expiresAt = ? where memberId = ?', undoExpiresAt, memberId())
    expect((await requestChange(reader, first)).status).toBe(202)
    vi.useFakeTimers({ now: undoExpiresAt, toFake: ['Date'] })
    expect((await confirmChange(reader, first, lastCodeTo(first))).status).toBe(400)
    expect(await addressInUse()).toBe(second)
    // The directory does not know the other expiry.
    expect((await reader.delete('/members/me')).status).toBe(204)
  })

  it('informs the replaced address, and mails no undo code', async () => {
    await change(reader, first, second)
    mails.length = 0
    expect(await change(reader, second, first)).toBe('')
    expect(mailsTo(second)).toMatchObject([
      { subject: 'The change of your Reading Library address was undone / 이메일 주소 변경이 취소되었습니다' },
    ])
    expect(mails.map(({ text }) => text).join()).not.toMatch(/^\d{4}(?:-[0-9A-Z]{5}){6}$/m)
  })

  it('is announced in the mail with the code', async () => {
    await change(reader, first, second)
    await requestChange(reader, first.toUpperCase())
    expect(mailsTo(first.toUpperCase())[0]?.text).toContain('undoes all changes of address since then')
    await requestChange(reader, third)
    expect(mailsTo(third)[0]?.text).not.toContain('undoes')
  })

  it('does not depend on case', async () => {
    await change(reader, first, second)
    await change(reader, second, first.toUpperCase())
    expect([await addressInUse(), await listUndos()]).toEqual([first.toUpperCase(), []])
    await checkConsistency()
  })

  it('is in the activity', async () => {
    await change(reader, first, second)
    await change(reader, second, first)
    const { body } = await reader.get('/members/me/activity')
    expect(body.map(({ kind }: { kind: string }) => kind)).toEqual(['EMAIL_RESTORED', 'EMAIL_CHANGED'])
  })

  it('leaves earlier changes, their codes and their reservations', async () => {
    const code = await change(reader, first, second)
    await change(reader, second, third)
    await change(reader, third, second)
    expect(await listUndos()).toEqual([{ email: first }])
    expect((await join({ email: first })).status).toBe(409)
    await checkConsistency()
    expect((await undo(code)).status).toBe(204)
    expect(await addressInUse()).toBe(first)
    await checkConsistency()
  })

  it('voids codes that were mailed before', async () => {
    await change(reader, first, second)
    const headers = { 'CF-Connecting-IP': '10.9.8.2' }
    await send('POST', '/email/password-reset', { body: { email: second }, headers, changed: { EMAIL } })
    const resetCode = lastCodeTo(second)
    await requestChange(reader, third)
    await change(reader, second, first)
    expect((await reset(second, resetCode)).status).toBe(400)
    expect((await confirmChange(reader, third, lastCodeTo(third))).status).toBe(400)
  })

  it('is an ordinary change once the undo has expired', async () => {
    const other = await reader.logInAgain()
    await change(reader, first, second)
    vi.useFakeTimers({ now: Date.now() + 72 * HOUR_MS + 1000, toFake: ['Date'] })
    const code = await change(reader, second, first)
    expect(await statusOf(other.token)).toBe(200)
    expect((await undo(code)).status).toBe(204)
    expect(await addressInUse()).toBe(second)
    await sweep({ ...env } as never)
  })

  it('takes effect once if it is sent three times at once', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await change(reader, first, second)
    await requestChange(reader, first)
    const code = lastCodeTo(first)
    const answers = await Promise.all([1, 2, 3].map(() => confirmChange(reader, first, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(mailsTo(first).filter(({ subject }) => subject.includes('restored'))).toHaveLength(1)
    await sweep({ ...env } as never, Date.now() + 100_000)
    await checkConsistency()
  })

  it('restores the address when the undo is sent at the same time', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const undoCode = await change(reader, first, second)
    await requestChange(reader, first)
    await Promise.all([undo(undoCode), confirmChange(reader, first, lastCodeTo(first))])
    expect([await addressInUse(), await listUndos()]).toEqual([first, []])
    await sweep({ ...env } as never, Date.now() + 100_000)
    await checkConsistency()
  })

  it('mails the reset code although the response of the database was lost', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await change(reader, first, second)
    await requestChange(reader, first)
    const database = wrapDatabase(memberDatabase(), async (call, queries) => {
      const result = await call()
      // The one call that changes the address has far more statements than any other.
      if (queries > 8) throw new Error('D1_ERROR: D1 DB is overloaded.')
      return result
    })
    const changed = changeDatabase(database)
    expect((await confirmChange(reader, first, lastCodeTo(first), { changed })).status).toBe(503)
    expect(await addressInUse()).toBe(first)
    expect((await reset(first, lastCodeTo(first))).status).toBe(204)
  })
})
