import { sql } from 'drizzle-orm'
import { accountSubject, keyedHash } from '../../auth/keyed-hash'
import { afterResponse, type Db, firstRow, run, sqlStatement } from '../../db/client'
import { isAllowed, limitNetwork, RESET_MAILS, RESETS, RESETS_OF_ANYONE, toAttempt } from '../../db/limits/attempts'
import { countOrRefuse, isReached } from '../../db/limits/rate-limit'
import type { accountCodes } from '../../db/schema/code-tables'
import type { Config, Variables } from '../../env'
import { unavailable } from '../../errors'
import type { Slots } from '../../slots/slots'
import { type Address, findSlot, isEmail } from '../addresses/directory'
import { accountCode, CODE_LIFETIME_MS, invalidCodeError, normaliseCode, randomCode } from '../codes/account-codes'
import { createIssuer } from '../codes/issuer'
import { DAILY_MAILS_SENT, dayOf, hashFor, limitMails } from '../codes/mail-limits'

// The codes that reset a password. Several codes of an address may be valid at once: a stranger's request must not void
// the one that the member is typing.

const PURPOSE = 'password reset'
/** The daily limit for resets is twice the one for other codes, so that a flood of sign-ups cannot use up all mails. */
const DAILY_MAILS_FACTOR = 2

/**
 * Counts a request for a code, in one database call that does not depend on whether the address is a member's.
 * @throws TOO_MANY_REQUESTS when a limit of the network is reached
 */
export const countRequest = async (db: Db, config: Config, email: string, network: string) => {
  const attempt = toAttempt(Date.now(), ...(await limitMails(config, email, network, 'reset-mail')))
  const { rateLimit } = await countOrRefuse(db, attempt)
  return rateLimit
}

const selectAddressee = sqlStatement<{ memberId: number; credentialsVersion: number; email: string }>`
  select memberId, credentialsVersion, email from members where ${isEmail} and withdrawnAt is null and blockedAt is null`

/** Finds the member with an address, unless blocked. Makes the same calls for an unknown address. */
const findMember = async (slots: Slots, address: Address) => {
  const { addressHash } = address
  const { slot } = addressHash ? await findSlot(slots, { ...address, addressHash }, {}) : { slot: 0 }
  const { member } = await run(slots.open(slot), { member: firstRow(selectAddressee(address)) })
  return member && { ...member, slot }
}

const codes = createIssuer({ ...accountCode, mails: sql`:memberId > 0` })
/** Stands in for an unknown address. Its code is stored, as the bookmark shows that something was written, not sent. */
const NOBODY = { memberId: 0, slot: 0, credentialsVersion: 0 }

/**
 * Issues a code to the member with an address, if there is one, and passes it to `deliver`, with the address as the
 * member wrote it. Does nothing when the limit of the address is reached: its owner then has valid codes. If delivery
 * fails, the code is deleted and not counted. Call it after the response.
 * @throws UNAVAILABLE when twice MAILS_PER_DAY is reached, and the errors of `deliver`
 */
export const issueCode = async (
  { slots, config }: Variables,
  address: Address,
  deliver: (email: string, code: string) => Promise<void>,
) => {
  const open = (slot: number) => afterResponse(slots.open(slot))
  const directory = open(0)
  const member = await findMember({ ...slots, directory, open }, address)
  const now = Date.now()
  const [code, day, hash] = [randomCode(), dayOf(now), hashFor(config, address.email)]
  const owner = member ?? NOBODY
  // Void codes do not count. Otherwise someone with a stolen session could void them all by changing the address, and
  // the member could not get another one.
  const version = `${owner.memberId} ${owner.credentialsVersion}`
  const issued = {
    ...toAttempt(now, { subject: await hash('reset mail', version), limits: RESET_MAILS }),
    ...owner,
    day,
    mailsPerDay: DAILY_MAILS_FACTOR * config.MAILS_PER_DAY,
    subject: await hash(PURPOSE),
    codeHash: await hash(PURPOSE, normaliseCode(code)),
    expiresAt: now + CODE_LIFETIME_MS,
  }
  const results = await run(directory, codes.issue(issued))
  if (!member || results.usage.some(isReached)) return
  if (!results.issued) throw unavailable(DAILY_MAILS_SENT)
  await codes.mail(directory, issued, results.counted, () => deliver(member.email, code))
}

const isValid = sql`codeHash = :codeHash and expiresAt > :now`
/** Matches if a code has not been used and has not expired. */
export const hasValidCode = sql`exists (select 1 from accountCodes where ${isValid})`
/** A valid code, and the member it belongs to. */
export type ValidCode = Omit<typeof accountCodes.$inferSelect, 'expiresAt'>
// The code is matched before the try is counted, which could be the last.
const selectMatch = sqlStatement<ValidCode>`
  select codeHash, subject, memberId, slot, credentialsVersion from accountCodes where ${isValid} and ${isAllowed}`

/**
 * Checks a code in one database call, in which the try is counted, so that concurrent tries cannot exceed a limit.
 * @throws INVALID_FIELDS, the same for a wrong, expired or used code and for an unknown address; TOO_MANY_REQUESTS when
 * a limit of the network is reached
 */
export const checkCode = async (db: Db, config: Config, email: string, code: string, network: string) => {
  const ofAddress = (source: string, suffix: string) =>
    accountSubject(config.JWT_SECRET, email, `reset${suffix}`, source)
  const ofAnyone = (source: string) => keyedHash(config.JWT_SECRET, 'reset-network', source)
  const attempt = toAttempt(
    Date.now(),
    ...(await limitNetwork(network, ofAddress, RESETS)),
    ...(await limitNetwork(network, ofAnyone, RESETS_OF_ANYONE)),
  )
  const codeHash = await hashFor(config, email)(PURPOSE, normaliseCode(code))
  const match = { valid: firstRow(selectMatch({ ...attempt, codeHash })) }
  const { valid, counted, rateLimit } = await countOrRefuse(db, attempt, match)
  if (!valid) throw invalidCodeError(code, rateLimit)
  return { valid, counted, rateLimit }
}
