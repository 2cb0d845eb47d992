import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { afterResponse, run, sqlStatement, statement } from '../db/client'
import { accountCodes } from '../db/schema'
import type { Config } from '../env'
import { fieldError, unavailable } from '../errors'
import { keyedHash } from '../keyed-hash'
import type { Mail } from '../mail/mail'
import { normaliseCode, randomCode } from '../mailed-code'
import { deleteAttempt, EMAIL_CHANGES, insertAttemptIf, isAllowed, selectUsage, toAttempt } from '../members/attempts'
import { isAbandoned } from '../members/claims'
import { selectHolder, toAddress } from '../members/directory'
import {
  countDailyMailIf,
  DAILY_MAILS_SENT,
  dayOf,
  hashFor,
  isBelowDailyMails,
  uncountDailyMail,
} from '../members/mail-limits'
import { isReached, type RateLimitHeaders } from '../members/rate-limit'
import type { Slots } from '../slots'

// The codes that confirm a new e-mail address. Each is bound to the member and to the address it was mailed to.

const LIFETIME_MS = 600_000
const PURPOSE = 'email change'

const { placeholder } = sql

/** The hash of a code as it is stored. */
export const hashCode = (config: Config, memberId: number, email: string, code: string) =>
  keyedHash(config.JWT_SECRET, PURPOSE, String(memberId), email.toLowerCase(), normaliseCode(code))

const insertCode = sqlStatement<{ codeHash: string }>(sql`
  insert into accountCodes (codeHash, subject, memberId, slot, credentialsVersion, issuedAt, expiresAt)
  select ${placeholder('codeHash')}, ${placeholder('subject')}, ${placeholder('memberId')}, ${placeholder('slot')},
    ${placeholder('credentialsVersion')}, ${placeholder('now')}, ${placeholder('expiresAt')}
  where ${isAllowed} and ${isBelowDailyMails}
  returning codeHash`)
const isCode = eq(accountCodes.codeHash, placeholder('codeHash'))
const isIssued = sql`exists (select 1 from ${accountCodes} where ${isCode})`
const countMail = insertAttemptIf(isIssued)
const countDailyMail = countDailyMailIf(isIssued)
/** Deletes a code. Those mailed to other addresses are void as soon as the address is changed. */
export const deleteCode = statement((db) =>
  db.delete(accountCodes).where(isCode).returning({ codeHash: accountCodes.codeHash }),
)

/** @param version SQL for the member's `credentialsVersion` */
const isRight = (version: SQL) =>
  and(
    isCode,
    eq(accountCodes.memberId, placeholder('memberId')),
    gt(accountCodes.expiresAt, placeholder('now')),
    sql`${accountCodes.credentialsVersion} = ${version}`,
  )
/** Matches if a code of the member is right, has not expired and was not voided. */
export const hasRightCode = (version: SQL) => sql`exists (select 1 from ${accountCodes} where ${isRight(version)})`
export const selectRightCode = (version: SQL) =>
  sqlStatement<{ codeHash: string }>(
    sql`select ${accountCodes.codeHash} from ${accountCodes} where ${isRight(version)} and ${isAllowed}`,
  )

export const invalidCodeError = (code: string, rateLimit?: RateLimitHeaders) =>
  fieldError('authenticationCode', code, 'is wrong, used or expired: request a new code', rateLimit)

/** Who asked for a code. */
export type Requester = { memberId: number; slot: number; credentialsVersion: number }

/**
 * Issues a code for a new address, and passes the mail with it to `deliver`; instead, the owner of an address that is taken
 * is informed. Does nothing when the limit of the address is reached. If delivery fails, the code is deleted and not
 * counted. For after the response, as it depends on whether the address is taken.
 * @throws UNAVAILABLE when MAILS_PER_DAY is reached, and the errors of `deliver`
 */
export const issueCode = async (
  slots: Slots,
  config: Config,
  requester: Requester,
  email: string,
  deliver: (mail: Mail) => Promise<void>,
) => {
  const directory = afterResponse(slots.directory)
  const now = Date.now()
  const [code, day, hash] = [randomCode(), dayOf(now), hashFor(config, email)]
  const issued = {
    ...toAttempt(now, { subject: await hash('change mail'), limits: EMAIL_CHANGES.address }),
    ...requester,
    day,
    mailsPerDay: config.MAILS_PER_DAY,
    subject: await hash(PURPOSE, String(requester.memberId)),
    codeHash: await hashCode(config, requester.memberId, email, code),
    expiresAt: now + LIFETIME_MS,
  }
  const [holders, usage, [inserted], counted] = await run(
    directory,
    selectHolder(await toAddress(slots, config, email), now),
    selectUsage(issued),
    insertCode(issued),
    countMail(issued),
    countDailyMail(issued),
  )
  if (usage.some(isReached)) return
  if (!inserted) throw unavailable(DAILY_MAILS_SENT)
  const isTaken = holders.some((holder) => holder.memberId !== requester.memberId && !isAbandoned(holder, now))
  try {
    await deliver(isTaken ? { kind: 'emailTaken' } : { kind: 'emailChange', code })
  } catch (error) {
    await run(directory, deleteCode(issued), deleteAttempt(counted), uncountDailyMail({ day }))
    throw error
  }
}
