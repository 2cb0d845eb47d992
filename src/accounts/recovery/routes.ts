import type { Context } from 'hono'
import { networkOf, originOf } from '../../callers/origin'
import { throttledByNetwork } from '../../callers/throttle'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { runLater } from '../../http/later'
import { valid } from '../../input/validate'
import { toAddress } from '../addresses/directory'
import { requireMailer, sendMail } from '../mail/send'
import { requireUncommon } from '../passwords/common-passwords'
import { markPassword } from '../passwords/mark'
import { resetPassword } from './reset'
import { countRequest, issueCode } from './reset-codes'
import { PasswordChangeRequest, PasswordReset, PasswordResetRequest } from './schema'

const requestReset = async (c: Context<App>, email: string) => {
  const { db, slots, config } = c.var
  requireMailer(config, c.env)
  const address = await toAddress(slots, config, email)
  const rateLimit = await countRequest(db, config, email, networkOf(c))
  const deliver = (to: string, code: string) => sendMail(c.env, config, to, { kind: 'passwordReset', code })
  runLater(c, () => issueCode(c.var, address, deliver))
  return c.body(null, 202, rateLimit)
}

export const recovery = new Hono<App>()
  .post('/email/password-reset', throttledByNetwork, valid('json', PasswordResetRequest), (c) =>
    requestReset(c, c.req.valid('json').email),
  )
  .post('/email/password-change', throttledByNetwork, valid('json', PasswordChangeRequest), (c) =>
    requestReset(c, c.req.valid('json').tempPasswordEmail),
  )
  .post('/password-reset', throttledByNetwork, valid('json', PasswordReset), async (c) => {
    const { config } = c.var
    requireMailer(config, c.env)
    const reset = c.req.valid('json')
    await requireUncommon(c.env, config, reset.password)
    const { email, memberId, rateLimit } = await resetPassword(c.var, reset, originOf(c))
    runLater(c, () => markPassword(c.env.IMAGES, memberId))
    runLater(c, () => sendMail(c.env, config, email, { kind: 'passwordWasReset' }))
    return c.body(null, 204, rateLimit)
  })
