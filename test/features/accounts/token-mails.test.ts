import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import { change, mailsTo } from '../../support/accounts/email-changes'
import { EMAIL, mails, newNetwork, requestCode } from '../../support/accounts/mailed-codes'
import { newEmail, type Reader, signUp } from '../../support/api'
import { memberSlot, select } from '../../support/database'
import { unlimited } from '../../support/rate-limits'
import { wrapDatabase } from '../../support/wrap-database'

const HOUR_MS = 3_600_000

let reader: Reader
beforeEach(async () => {
  vi.useRealTimers()
  await env.DB.batch(['attempts', 'dailyMails'].map((table) => env.DB.prepare(`delete from ${table}`)))
  reader = await signUp()
  mails.length = 0
})

const passTime = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
const create = async (owner = reader, changed: Partial<Bindings> = {}) => {
  const body = { name: 'Script', scopes: ['profile:read'] }
  const { status } = await owner.send('POST', '/tokens', {
    body,
    changed: { EMAIL, WRITE_LIMIT: unlimited, ...changed },
  })
  return status
}
const numberIn = (text = '') => text.match(/now (\d+),/)?.[1]
const countMails = () => select('select mails, tokenMails from dailyMails')

it('informs the member of a new access token, and how many there are', async () => {
  expect(await create()).toBe(201)
  const subject = 'New Reading Library access token or link / 새 액세스 토큰 또는 공유 링크가 만들어졌습니다'
  expect(mails).toMatchObject([{ to: reader.email, subject, text: expect.stringContaining('토큰은 1개') }])
  expect(numberIn(mails[0]?.text)).toBe('1')
})

it('informs a member at most once an hour, even of tokens created concurrently', async () => {
  expect(await Promise.all(Array.from({ length: 10 }, () => create()))).toEqual(Array(10).fill(201))
  expect(mails).toHaveLength(1)
  const other = await signUp()
  await create(other)
  expect(mails.map(({ to }) => to)).toEqual([reader.email, other.email])
  passTime(HOUR_MS + 1000)
  await create()
  expect(mails).toHaveLength(3)
  expect(numberIn(mails[2]?.text)).toBe('11')
})

it('does not count expired tokens', async () => {
  await create()
  await select('update accessTokens set expiresAt = 1')
  passTime(HOUR_MS + 1000)
  await create()
  expect(mails.map(({ text }) => numberIn(text))).toEqual(['1', '1'])
})

it('mails the current address', async () => {
  const email = newEmail()
  await change(reader, reader.email, email)
  await create()
  expect(mailsTo(email).at(-1)?.subject).toContain('New Reading Library access token')
})

it('sends nothing if no token was created', async () => {
  const body = { name: 'Script', scopes: [] }
  expect((await reader.send('POST', '/tokens', { body, changed: { EMAIL } })).status).toBe(400)
  expect(mails).toEqual([])
})

it('sends at most MAILS_PER_DAY of these mails, which do not count as mails with codes', async () => {
  using error = vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.useFakeTimers({ now: new Date('2030-01-01T23:00:00Z'), toFake: ['Date'] })
  const members = [await signUp(), await signUp(), await signUp()]
  const budget = { MAILS_PER_DAY: '2' }
  expect(await Promise.all(members.map((member) => create(member, budget)))).toEqual([201, 201, 201])
  expect(mails).toHaveLength(2)
  expect(await countMails()).toEqual([{ mails: 0, tokenMails: 2 }])
  expect(error.mock.calls.join()).toContain('MAILS_PER_DAY mails about access tokens')

  const from = { from: newNetwork(), ...budget }
  const codes = [await requestCode(newEmail(), from), await requestCode(newEmail(), from)]
  expect(codes.map(({ status }) => status)).toEqual([201, 201])
  expect(await countMails()).toEqual([{ mails: 2, tokenMails: 2 }])
  passTime(HOUR_MS)
  await create(await signUp(), budget)
  expect(mails).toHaveLength(5)
})

it('creates the token and counts no mail if the mail cannot be sent', async () => {
  using error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const failing = { send: () => Promise.reject(new Error('down')) } as unknown as SendEmail
  expect(await create(reader, { EMAIL: failing })).toBe(201)
  expect(error.mock.calls.join()).toContain('mail: Error: down')
  expect(await countMails()).toEqual([{ mails: 0, tokenMails: 0 }])
  expect(await create()).toBe(201)
  expect(numberIn(mails[0]?.text)).toBe('2')
})

it('creates the token and logs nothing if there is no mailer', async () => {
  using error = vi.spyOn(console, 'error')
  expect(await create(reader, { MAIL_FROM: '' })).toBe(201)
  expect(await create(reader, { EMAIL: undefined })).toBe(201)
  expect([mails, error.mock.calls, await countMails()]).toEqual([[], [], []])
})

it('makes one more database call after the response, in slot 0', async () => {
  const calls: string[] = []
  const count = (name: string, database: D1Database) =>
    wrapDatabase(database, (call) => {
      calls.push(name)
      return call()
    })
  await create(reader, { DB: count('DB', env.DB), ...(env.DB_1 && { DB_1: count('DB_1', env.DB_1) }) })
  expect(calls).toEqual([memberSlot() === 0 ? 'DB' : 'DB_1', 'DB'])
})
