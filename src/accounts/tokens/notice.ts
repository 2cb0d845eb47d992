import { sql } from 'drizzle-orm'
import { keyedHash } from '../../auth/keyed-hash'
import { afterResponse, run, sqlStatement } from '../../db/client'
import {
  deleteAttempt,
  insertAttemptIf,
  isAllowed,
  selectUsage,
  TOKEN_MAILS,
  toAttempt,
} from '../../db/limits/attempts'
import { isReached } from '../../db/limits/rate-limit'
import type { Bindings, Variables } from '../../env'
import { unavailable } from '../../errors'
import { dayOf } from '../codes/mail-limits'
import { sendMail } from '../mail/send'

/** The owner of a new access token or link, and how many of both the owner has now. */
export type Owner = { memberId: number; email: string; tokens: number; links: number }

const tokenMailsToday = sql`coalesce((select tokenMails from dailyMails where day = :day), 0)`
const countMail = insertAttemptIf(sql`${isAllowed} and ${tokenMailsToday} < :mailsPerDay`)
/** Counts the mail for the day if `countMail`, the statement before, counted it. */
const countDailyTokenMail = sqlStatement`
  insert into dailyMails (day, mails, tokenMails) select :day, 0, 1 where changes() > 0
  on conflict (day) do update set tokenMails = tokenMails + 1`
const uncountDailyTokenMail = sqlStatement`update dailyMails set tokenMails = tokenMails - 1 where day = :day`

/**
 * Informs the owner of a new access token or link by mail, if mails can be sent, unless such a mail was sent to this
 * address within the last hour. If delivery fails, the mail is not counted. Call it after the response.
 * @throws UNAVAILABLE when MAILS_PER_DAY of these mails have been sent today, and the errors of `sendMail`
 */
export const informOwner = async (env: Bindings, { slots, config }: Variables, owner: Owner) => {
  const { memberId, email, tokens, links } = owner
  if (!config.MAIL_FROM || !env.EMAIL) return
  const directory = afterResponse(slots.directory)
  const now = Date.now()
  const day = dayOf(now)
  const subject = await keyedHash(config.JWT_SECRET, 'token mail', String(memberId), email.toLowerCase())
  const attempt = { ...toAttempt(now, { subject, limits: TOKEN_MAILS }), day, mailsPerDay: config.MAILS_PER_DAY }
  const { usage, counted } = await run(directory, {
    usage: selectUsage(attempt),
    counted: countMail(attempt),
    countedToday: countDailyTokenMail({ day }),
  })
  if (usage.some(isReached)) return
  if (counted.length === 0) throw unavailable('mail: MAILS_PER_DAY mails about access tokens and links were sent today')
  try {
    await sendMail(env, config, email, { kind: 'tokenCreated', tokens, links })
  } catch (error) {
    await run(directory, { uncounted: deleteAttempt(counted), uncountedToday: uncountDailyTokenMail({ day }) })
    throw error
  }
}
