import { ok } from 'node:assert/strict'
import { answers, error, fieldErrors } from './answer.ts'
import { check, each } from './check.ts'
import { newEmail, type Service } from './client.ts'

const MAILS_AN_HOUR = 5

/** Verification codes, as far as can be seen without a mailbox. */
export const checkCodes = async ({ send, signUp }: Service) => {
  const ask = (joinAuthCodeEmail: unknown) => send('POST', '/email/join', { joinAuthCodeEmail })

  await check('POST /email/join: 201 without a body, and 429 after five mails in an hour', async () => {
    const email = newEmail()
    for (let n = 0; n < MAILS_AN_HOUR; n++) answers(await ask(email), 201, null)
    // The client does not send again what it would have to wait for so long.
    const sixth = await ask(email)
    answers(sixth, 429, error(429))
    ok(Number(sixth.headers.get('Retry-After')) > 3000)
  })

  await check('POST /email/join: an address that is none is a field error', () =>
    each(['nobody', '', null, 5], async (email) =>
      answers(await ask(email), 400, fieldErrors(['joinAuthCodeEmail', email])),
    ),
  )

  await check('POST /email/join: an existing member is 409, whatever the case', async () => {
    const { email } = await signUp()
    answers(await ask(email.toUpperCase()), 409, error(409, 'Member already exists'))
  })
}
