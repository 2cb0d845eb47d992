import { keyedHash } from '../../auth/keyed-hash'
import { afterResponse, run } from '../../db/client'
import type { Config } from '../../env'
import { unavailable } from '../../errors'
import { deleteAttempt, selectUsage, TOKEN_MAILS, toAttempt } from '../../limits/attempts'
import { isReached } from '../../limits/rate-limit'
import type { Mail } from '../../mail/mail'
import type { Slots } from '../../slots/slots'
import {
  countDailyTokenMail,
  DAILY_TOKEN_MAILS_SENT,
  dayOf,
  insertTokenMail,
  uncountDailyTokenMail,
} from '../codes/mail-limits'

/** The owner of a new access token or link, and how many of both the owner has now. */
export type Owner = { memberId: number; email: string; tokens: number; links: number }

/**
 * Informs the owner of a new access token or link by mail, unless such a mail was sent to this address within the last hour. If
 * delivery fails, the mail is not counted. Call it after the response.
 * @throws UNAVAILABLE when MAILS_PER_DAY of these mails have been sent today, and the errors of `deliver`
 */
export const informOwner = async (
  slots: Slots,
  config: Config,
  { memberId, email, tokens, links }: Owner,
  deliver: (email: string, mail: Mail) => Promise<void>,
) => {
  const directory = afterResponse(slots.directory)
  const now = Date.now()
  const day = dayOf(now)
  const subject = await keyedHash(config.JWT_SECRET, 'token mail', String(memberId), email.toLowerCase())
  const attempt = { ...toAttempt(now, { subject, limits: TOKEN_MAILS }), day, mailsPerDay: config.MAILS_PER_DAY }
  const { usage, counted } = await run(directory, {
    usage: selectUsage(attempt),
    counted: insertTokenMail(attempt),
    countedToday: countDailyTokenMail({ day }),
  })
  if (usage.some(isReached)) return
  if (counted.length === 0) throw unavailable(DAILY_TOKEN_MAILS_SENT)
  try {
    await deliver(email, { kind: 'tokenCreated', tokens, links })
  } catch (error) {
    await run(directory, { uncounted: deleteAttempt(counted), uncountedToday: uncountDailyTokenMail({ day }) })
    throw error
  }
}
