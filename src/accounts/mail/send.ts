import type { Bindings, Config } from '../../env'
import { unavailable } from '../../errors'
import { DEADLINES } from '../../runtime/deadlines'
import { withTimeout } from '../../runtime/retry'
import { compose } from './compose'
import { type Mail, SENDER_NAME } from './texts'

/**
 * Checks that mails can be sent, for requests that depend on it. Returns the sender's address.
 * @throws UNAVAILABLE without MAIL_FROM or the binding EMAIL
 */
export const requireMailer = (config: Config, env: Bindings) => {
  if (!config.MAIL_FROM)
    throw unavailable('mail: MAIL_FROM is missing: set it to an address of a domain that is set up for sending')
  if (!env.EMAIL) throw unavailable('mail: the binding EMAIL is missing: restore it in wrangler.toml')
  return config.MAIL_FROM
}

/**
 * Sends a mail. Never retried, because a second mail is more confusing than none.
 * @throws UNAVAILABLE when it cannot be sent
 */
export const sendMail = async (env: Bindings, config: Config, to: string, mail: Mail) => {
  const from = { email: requireMailer(config, env), name: SENDER_NAME }
  const content = await compose(env.ASSETS, mail)
  try {
    await withTimeout(DEADLINES.mail, () => env.EMAIL.send({ from, to, ...content }))
  } catch (error) {
    // The mail provider's message may contain the address, which must not be logged.
    throw unavailable(`mail: ${String(error).replaceAll(/\S+@\S+/g, '(address)')}`)
  }
}
