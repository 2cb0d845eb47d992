import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { parseMark } from '../../../src/values/marks'
import { change, confirmChange, lastCodeTo, requestChange, undo } from '../../support/accounts/email-changes'
import { mails, newNetwork, requestReset, resetCodeIn, resetWith } from '../../support/accounts/mailed-codes'
import { newEmail, type Reader, signUp } from '../../support/api'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'

const PASSWORD = 'another-horse-2'

/** Returns the new address, and the code that undoes the change. */
const moveAway = async (reader: Reader) => {
  const email = newEmail()
  return { email, code: await change(reader, reader.email, email) }
}

it.each<[what: string, act: (reader: Reader) => Promise<{ status: number }>]>([
  ['a new password', (reader) => reader.send('PATCH', '/members/me', { body: { password: PASSWORD } })],
  [
    'a password reset',
    async ({ email }) => {
      const from = newNetwork()
      await requestReset(email, { from })
      return resetWith(email, resetCodeIn(mails.at(-1)), PASSWORD, { from })
    },
  ],
  ['an undo of a change of e-mail', async (reader) => undo((await moveAway(reader)).code)],
  [
    'a return to the former address',
    async (reader) => {
      await moveAway(reader)
      await requestChange(reader, reader.email)
      return confirmChange(reader, reader.email, lastCodeTo(reader.email))
    },
  ],
])('%s is marked outside the database', async (_, act) => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  const start = Date.now()
  expect((await act(reader)).status).toBeLessThan(300)
  await eventually(async () => {
    const { objects } = await env.IMAGES.list({ prefix: 'marks/' })
    const marks = objects.map(({ key }) => parseMark(key)).filter((mark) => mark?.memberId === memberId)
    expect(marks).toMatchObject([{ kind: 'password' }])
    expect(marks[0]?.at).toBeGreaterThanOrEqual(start)
  })
})

it('nothing else of the profile is marked', async () => {
  const reader = await signUp()
  await reader.send('PATCH', '/members/me', { body: { name: 'Mina', timeZone: 'Asia/Seoul' } })
  await reader.send('PATCH', '/members/me', { body: { password: PASSWORD } })
  await eventually(async () => {
    const { objects } = await env.IMAGES.list({ prefix: 'marks/' })
    const memberId = await memberIdOf(reader)
    expect(objects.filter(({ key }) => parseMark(key)?.memberId === memberId)).toHaveLength(1)
  })
})
