import { type SQL, sql } from 'drizzle-orm'
import { keyedHash } from '../../auth/keyed-hash'
import { afterResponse, run, sqlStatement } from '../../db/client'
import { EMAIL_CHANGES, isAllowed, toAttempt } from '../../db/limits/attempts'
import { isReached } from '../../db/limits/rate-limit'
import type { Config, Variables } from '../../env'
import { unavailable } from '../../errors'
import { isAbandoned } from '../addresses/claims'
import { selectHolder, toAddress } from '../addresses/directory'
import { accountCode, CODE_LIFETIME_MS, normaliseCode, randomCode } from '../codes/account-codes'
import { createIssuer } from '../codes/issuer'
import { DAILY_MAILS_SENT, dayOf, hashFor, hashMailbox } from '../codes/mail-limits'
import type { Mail } from '../mail/texts'

// The codes that confirm a new e-mail address. Each is bound to the member and to the address it was mailed to.

const PURPOSE = 'email change'

/** The stored hash of a code. */
export const hashCode = (config: Config, memberId: number, email: string, code: string) =>
  keyedHash(config.JWT_SECRET, PURPOSE, String(memberId), email.toLowerCase(), normaliseCode(code))

const codes = createIssuer(accountCode)

/** Selects a valid code of the member: not expired, and not voided. `version`: the `credentialsVersion`. */
const rightCode = (version: SQL) => sql`
  select codeHash from accountCodes
  where codeHash = :codeHash and memberId = :memberId and expiresAt > :now and credentialsVersion = ${version}`
export const hasRightCode = (version: SQL) => sql`exists (${rightCode(version)})`
export const selectRightCode = (version: SQL) =>
  sqlStatement<{ codeHash: string }>`${rightCode(version)} and ${isAllowed}`

/** Who asked for a code. `returnExpiresAt`: when the undo that restores the address expires, if it is a former one. */
export type Requester = { memberId: number; slot: number; credentialsVersion: number; returnExpiresAt: number | null }

/**
 * Issues a code for a new address, and passes a mail with it to `deliver`; if the address is taken, a mail that informs
 * its owner instead. Does nothing when a limit of the address is reached. If delivery fails, the code is deleted and
 * not counted. Call it after the response, which must not reveal whether the address is taken.
 * @throws UNAVAILABLE when MAILS_PER_DAY is reached, and the errors of `deliver`
 */
export const issueCode = async (
  { slots, config }: Variables,
  requester: Requester,
  email: string,
  deliver: (mail: Mail) => Promise<void>,
) => {
  const directory = afterResponse(slots.directory)
  const now = Date.now()
  const [code, day, hash] = [randomCode(), dayOf(now), hashFor(config, email)]
  const hashForMails = hashMailbox(config, email)
  const ofMember = await hashForMails('change mail of member', String(requester.memberId))
  const issued = {
    ...toAttempt(
      now,
      { subject: ofMember, limits: EMAIL_CHANGES.memberAddress },
      { subject: await hashForMails('change mail'), limits: EMAIL_CHANGES.address },
    ),
    ...requester,
    day,
    mailsPerDay: config.MAILS_PER_DAY,
    subject: await hash(PURPOSE, String(requester.memberId)),
    codeHash: await hashCode(config, requester.memberId, email, code),
    // A code for a return must not outlive the undo: it would then confirm an ordinary change.
    expiresAt: Math.min(now + CODE_LIFETIME_MS, requester.returnExpiresAt ?? Infinity),
  }
  const holders = selectHolder(await toAddress(slots, config, email), now)
  const results = await run(directory, { holders, ...codes.issue(issued) })
  const { usage, counted } = results
  if (usage.some(isReached)) return
  if (!results.issued) throw unavailable(DAILY_MAILS_SENT)
  const isTaken = results.holders.some((holder) => holder.memberId !== requester.memberId && !isAbandoned(holder, now))
  const mail: Mail = isTaken
    ? { kind: 'emailTaken' }
    : { kind: 'emailChange', code, isReturn: requester.returnExpiresAt !== null }
  await codes.mail(directory, issued, counted, () => deliver(mail))
}
