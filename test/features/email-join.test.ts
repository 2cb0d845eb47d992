import { expect, it } from 'vitest'
import { newEmail, send, sharedReader } from '../support/api'
import { fieldError } from '../support/invalid-values'
import { remote } from '../support/target'

const changed = remote ? undefined : { MAIL_FROM: 'library@library.test' }
const requestCode = (joinAuthCodeEmail: unknown) =>
  send('POST', '/email/join', { body: { joinAuthCodeEmail }, changed })

it('answers 201 without a body, and 429 after five mails to an address within an hour', async () => {
  const email = newEmail()
  for (let n = 0; n < 5; n++) expect(await requestCode(email)).toMatchObject({ status: 201, body: null })
  const sixth = await requestCode(email)
  expect(sixth).toMatchObject({ status: 429, body: { status: 429, fieldErrors: null } })
  expect(Number(sixth.headers.get('Retry-After'))).toBeGreaterThan(3000)
})

it.each(['nobody', '', null, 5])('rejects %j as an address', async (email) => {
  expect(await requestCode(email)).toMatchObject(fieldError('joinAuthCodeEmail', JSON.stringify(email)))
})

it('rejects the address of a member, in any case', async () => {
  const { email } = await sharedReader()
  const exists = { status: 409, body: { status: 409, message: 'Member already exists' } }
  expect(await requestCode(email.toUpperCase())).toMatchObject(exists)
})
