import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import type { OpenSlot } from '../../../scripts/data/stores'
import { invite } from '../../../scripts/members/invite'
import { joinWith, mails, newNetwork, requestCode } from '../../support/accounts/mailed-codes'
import { login, newEmail, send } from '../../support/api'
import { select } from '../../support/database'

const INVITED = { SIGN_UP: 'invited' }
const WRONG_CODE = { status: 400, body: { fieldErrors: [{ field: 'authenticationCode' }] } }
const DAY_MS = 86_400_000

const slots = [{ slot: 0, database: env.DB }] as unknown as OpenSlot[]
const bucket = env.IMAGES as unknown as R2Bucket
/** Invites an address, and returns the code. */
const inviteTo = async (email: string) => {
  const { JWT_SECRET } = env as unknown as { JWT_SECRET: string }
  const [line] = await invite({ slots, bucket, settings: { JWT_SECRET } }, email, { isDry: false })
  return /\d{12}$/.exec(line ?? '')?.[0] ?? ''
}
const joinInvited = (email: string, code: string, from = newNetwork()) => joinWith(email, code, { from, ...INVITED })

it('mails no code if sign-up is by invitation, and says why', async () => {
  const answer = await requestCode(newEmail(), { from: newNetwork(), ...INVITED })
  expect(answer).toMatchObject({
    status: 400,
    body: { fieldErrors: [{ field: 'joinAuthCodeEmail', reason: expect.stringContaining('invitation') }] },
  })
  expect([mails, await select('select * from joinCodes')]).toEqual([[], []])
  expect(await joinInvited(newEmail(), '000000')).toMatchObject(WRONG_CODE)
})

it('signs up the invited address only, once, in any case', async () => {
  const email = newEmail()
  const code = await inviteTo(email)
  expect(await joinInvited(newEmail(), code)).toMatchObject(WRONG_CODE)
  expect(await joinInvited(email.toUpperCase(), code)).toMatchObject({ status: 201 })
  const { headers } = await login(email)
  await send('DELETE', '/members/me', { headers: { Authorization: headers.get('Authorization') ?? '' } })
  expect(await joinInvited(email, code)).toMatchObject(WRONG_CODE)
})

it('accepts the last invitation of an address, for a week', async () => {
  const email = newEmail()
  const [replaced, code] = [await inviteTo(email), await inviteTo(email)]
  expect(await joinInvited(email, replaced)).toMatchObject(WRONG_CODE)
  const now = Date.now()
  const joinAt = (at: number) => {
    vi.useFakeTimers({ now: at, toFake: ['Date'] })
    return joinInvited(email, code).finally(() => vi.useRealTimers())
  }
  expect(await joinAt(now + 7 * DAY_MS)).toMatchObject(WRONG_CODE)
  expect(await joinAt(now + 7 * DAY_MS - 60_000)).toMatchObject({ status: 201 })
})

it('refuses every request if any code is accepted although sign-up is by invitation', async () => {
  using error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const changed = { ...INVITED, EMAIL_VERIFICATION: 'off' }
  expect((await send('GET', '/health', { changed })).status).toBe(500)
  expect(String(error.mock.calls[0])).toContain('SIGN_UP')
})
