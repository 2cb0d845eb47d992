import type { Context } from 'hono'
import { sessionOnly } from '../../callers/authenticated'
import { originOf } from '../../callers/origin'
import { throttledByNetwork } from '../../callers/throttle'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { runLater } from '../../http/later'
import { valid } from '../../input/validate'
import { toAddress } from '../addresses/directory'
import { requireMailer, sendMail } from '../mail/send'
import type { Mail } from '../mail/texts'
import { markOwnPassword, markPassword } from '../passwords/mark'
import { issueCode as issueResetCode } from '../recovery/reset-codes'
import { changeEmail, type Inform } from './change'
import { issueCode } from './change-codes'
import { requestChange } from './request'
import { EmailChange, EmailUndo, NewEmail } from './schema'
import { undoChange } from './undo-change'

const mailer = (c: Context<App>) => (to: string, mail: Mail) => sendMail(c.env, c.var.config, to, mail)

export const emailChange = new Hono<App>()
  .post('/email/change', sessionOnly, valid('json', EmailChange), async (c) => {
    requireMailer(c.var.config, c.env)
    const change = c.req.valid('json')
    const { requester, rateLimit } = await requestChange(c.var, change, originOf(c))
    const send = mailer(c)
    runLater(c, () => issueCode(c.var, requester, change.email, (mail) => send(change.email, mail)))
    return c.body(null, 202, rateLimit)
  })
  .patch('/members/me/email', sessionOnly, valid('json', NewEmail), async (c) => {
    const { slots, config } = c.var
    requireMailer(config, c.env)
    const change = c.req.valid('json')
    const send = mailer(c)
    const { email } = change
    const mailResetCode = async () => {
      let isSent = false
      const deliver = (to: string, code: string) => {
        isSent = true
        return send(to, { kind: 'emailRestored', code })
      }
      await issueResetCode(c.var, await toAddress(slots, config, email), deliver).catch(async (error) => {
        // No code can be mailed, for example because MAILS_PER_DAY is reached. The member is informed all the same.
        if (!isSent) await send(email, { kind: 'emailRestored' })
        throw error
      })
    }
    const inform: Inform = {
      changed: (to, undoCode) => runLater(c, () => send(to, { kind: 'emailChanged', undoCode, newEmail: email })),
      returned: (replaced) => {
        runLater(c, () => markOwnPassword(c.env.IMAGES, c.var.caller))
        runLater(c, mailResetCode)
        if (replaced) runLater(c, () => send(replaced, { kind: 'emailReplaced', restoredEmail: email }))
      },
    }
    const { profile, rateLimit } = await changeEmail(c.var, change, originOf(c), inform)
    return c.json(profile, 200, rateLimit)
  })
  .post('/email/change/undo', throttledByNetwork, valid('json', EmailUndo), async (c) => {
    const { authenticationCode } = c.req.valid('json')
    const { memberId, restored, replaced } = await undoChange(c.var, authenticationCode, originOf(c))
    runLater(c, () => markPassword(c.env.IMAGES, memberId))
    const send = mailer(c)
    runLater(c, () => send(restored, { kind: 'emailRestored' }))
    // Its owner may have the code of an earlier change.
    runLater(c, () => send(replaced, { kind: 'emailReplaced', restoredEmail: restored }))
    return c.body(null, 204)
  })
