import { beforeEach, describe, expect, it, vi } from 'vitest'
import { newNetwork } from '../../support/accounts/mailed-codes'
import { login, PASSWORD, type Reader, send, signUp } from '../../support/api'
import { changeDatabase, memberDatabase, memberSlot, select } from '../../support/database'
import { claimsOf } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const NEW_PASSWORD = 'another-horse-2'

let reader: Reader
let network: string
beforeEach(async () => {
  reader = await signUp()
  network = newNetwork()
})

type Patch = { currentPassword?: unknown; password?: string; name?: string }
const change = (patch: Patch, changed = {}) => {
  const body = { password: NEW_PASSWORD, ...patch }
  return reader.send('PATCH', '/members/me', { body, changed, headers: { 'CF-Connecting-IP': network } })
}
const loginAs = (password: string, from = network) =>
  send('POST', '/login', { body: { email: reader.email, password }, headers: { 'CF-Connecting-IP': from } })

const fieldError = (reason: string) => ({
  status: 400,
  body: { status: 0, fieldErrors: [{ field: 'currentPassword', reason }] },
})

describe('PATCH /members/me', () => {
  it('changes the password without the current one by default', async () => {
    expect((await change({})).status).toBe(200)
    expect((await login(reader.email, NEW_PASSWORD)).status).toBe(200)
  })

  it('changes the password with the current one', async () => {
    expect((await change({ currentPassword: PASSWORD })).status).toBe(200)
    expect((await login(reader.email, NEW_PASSWORD)).status).toBe(200)
    expect((await login(reader.email)).status).toBe(401)
  })

  it('changes nothing if the current password is wrong', async () => {
    const other = await reader.logInAgain()
    expect(await change({ currentPassword: 'wrong', name: 'Changed' })).toMatchObject(fieldError('is wrong'))
    expect((await other.get('/members/me')).body).toEqual({ email: reader.email, name: 'Reader' })
    expect((await login(reader.email)).status).toBe(200)
  })

  it('requires the current password with REQUIRE_CURRENT_PASSWORD=on, for a new password only', async () => {
    const on = { REQUIRE_CURRENT_PASSWORD: 'on' }
    expect(await change({}, on)).toMatchObject(fieldError('is required'))
    expect((await change({ password: undefined, name: 'Changed' }, on)).status).toBe(200)
    expect((await change({ currentPassword: PASSWORD }, on)).status).toBe(200)
    expect((await login(reader.email, NEW_PASSWORD)).status).toBe(200)
  })

  it('does not check the current password if only the name changes', async () => {
    expect((await change({ password: undefined, name: 'Changed', currentPassword: 'wrong' })).status).toBe(200)
  })

  it.each([
    ['null', null, 'must be a string'],
    ['empty', '', 'is required'],
    ['too long', 'x'.repeat(129), 'is wrong'],
  ])('rejects a current password that is %s', async (_, currentPassword, reason) => {
    expect(await change({ currentPassword })).toMatchObject(fieldError(reason))
  })
})

describe('a wrong current password', () => {
  it('counts as a failed login of the account and network', async () => {
    for (let n = 0; n < 4; n++) expect((await loginAs('wrong')).status).toBe(401)
    for (let n = 0; n < 6; n++) expect(await change({ currentPassword: 'wrong' })).toMatchObject(fieldError('is wrong'))
    expect((await loginAs(PASSWORD)).status).toBe(429)
    const refused = await change({ currentPassword: PASSWORD })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('RateLimit')).toMatch(/^"failed-login";r=0;t=\d+$/)
    expect((await loginAs(PASSWORD, newNetwork())).status).toBe(200)
  })

  it('shows how many attempts are left', async () => {
    const { headers } = await change({ currentPassword: 'wrong' })
    expect(headers.get('RateLimit-Policy')).toBe('"password-change";q=10;w=3600, "failed-login";q=10;w=900')
    expect(headers.get('RateLimit')).toMatch(/^"password-change";r=9;/)
  })

  it('is evaluated at most ten times of forty concurrent ones', async () => {
    using derive = vi.spyOn(crypto.subtle, 'deriveBits')
    const answers = await Promise.all(Array.from({ length: 40 }, () => change({ currentPassword: 'wrong' })))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
    // Three rounds each.
    expect(derive).toHaveBeenCalledTimes(30)
  })

  it('is listed in the activity as a failed login', async () => {
    await change({ currentPassword: 'wrong' }, { LOG_SAMPLE_RATE: '1' })
    const { body } = await reader.get('/members/me/activity')
    expect(body).toMatchObject([{ kind: 'LOGIN_FAILED' }])
  })
})

describe('a right current password', () => {
  it('does not count as a failed login', async () => {
    for (let n = 0; n < 9; n++) await loginAs('wrong')
    expect((await change({ currentPassword: PASSWORD }, { LOG_SAMPLE_RATE: '1' })).status).toBe(200)
    expect((await loginAs(NEW_PASSWORD)).status).toBe(200)
  })

  it('gives the attempts back if hashing fails', async () => {
    using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const countAttempts = async () => (await select('select count(*) as n from attempts'))[0]?.n
    const before = await countAttempts()
    using derive = vi.spyOn(crypto.subtle, 'deriveBits')
    derive.mockRejectedValueOnce(new Error('out of order'))
    expect((await change({ currentPassword: PASSWORD }, { LOG_SAMPLE_RATE: '1' })).status).toBe(500)
    expect(await countAttempts()).toBe(before)
  })

  it('is refused if the password was changed since it was verified', async () => {
    const other = await reader.logInAgain()
    let calls = 0
    const database = wrapDatabase(memberDatabase(), async (call) => {
      calls += 1
      // The first call reads the hash. In slot 0, the second one counts the attempt.
      if (calls === (memberSlot() > 0 ? 2 : 3)) {
        const memberId = Number(claimsOf(reader.token).sub)
        await select(
          `update members set passwordHash = replace(passwordHash, 'r=3', 'r=4') where memberId = ?`,
          memberId,
        )
      }
      return call()
    })
    expect(await change({ currentPassword: PASSWORD }, changeDatabase(database))).toMatchObject(fieldError('is wrong'))
    expect((await other.get('/members/me')).status).toBe(200)
    expect((await reader.get('/members/me/activity')).body).toMatchObject([{ kind: 'LOGIN' }])
  })
})
