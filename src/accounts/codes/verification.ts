import { type SQL, sql } from 'drizzle-orm'
import { type Db, firstRow, run, sqlStatement } from '../../db/client'
import {
  type Counted,
  GUESSES,
  insertAttemptIf,
  isAllowed,
  limitNetwork,
  MAILS,
  selectUsage,
  toAttempt,
} from '../../db/limits/attempts'
import { afterAttempt, isReached, type RateLimitHeaders, tooManyAttempts } from '../../db/limits/rate-limit'
import type { Variables } from '../../env'
import { ApiError, fieldError, retryAfter } from '../../errors'
import type { Mark } from '../../slots/marks'
import { DAY_MS } from '../../values/time'
import { claimIf, isAbandoned, isConfirmed } from '../addresses/claims'
import { type Address, type AddressEntry, isEmail, isFreeOrAbandoned, selectHolder } from '../addresses/directory'
import { requireIntact, selectMarks } from '../addresses/marks'
import { CODE_LIFETIME_MS } from './account-codes'
import { createIssuer } from './issuer'
import { DAILY_MAILS_SENT, dayOf, hashFor, hashMailbox, isBelowDailyMails, limitMails } from './mail-limits'

const TRIES_PER_CODE = 5

/** Six random digits. The modulo bias of 64 random bits is below one part in 10^13. */
const randomCode = () => {
  const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1))
  return String(random % 1_000_000n).padStart(6, '0')
}

const replaceCode = sqlStatement<{ subject: string }>`
  insert into joinCodes (subject, address, codeHash, issuedAt, expiresAt)
  select :subject, :address, :codeHash, :now, :expiresAt
  where ${isAllowed} and ${isBelowDailyMails} and ${isFreeOrAbandoned}
  on conflict (subject) do update
    set codeHash = excluded.codeHash, issuedAt = excluded.issuedAt, expiresAt = excluded.expiresAt
  returning subject`

const isIssued = sql`subject = :subject and codeHash = :codeHash`
const codes = createIssuer({
  insert: replaceCode,
  remove: sqlStatement`delete from joinCodes where ${isIssued}`,
  isIssued: sql`exists (select 1 from joinCodes where ${isIssued} and issuedAt = :now)`,
})

/**
 * Issues a verification code, which replaces the one that the same network requested before for the address, and passes
 * it to `deliver`. If delivery fails, the code is deleted and the mail is not counted.
 * @throws MEMBER_EXISTS, TOO_MANY_REQUESTS when a limit of the network or the address is reached, UNAVAILABLE when
 * MAILS_PER_DAY is reached, and the errors of `deliver`
 */
export const issueCode = async (
  { db, config }: Variables,
  owner: Address,
  network: string,
  deliver: (code: string) => Promise<void>,
): Promise<RateLimitHeaders> => {
  const now = Date.now()
  const day = dayOf(now)
  const code = randomCode()
  const hash = hashFor(config, owner.email)
  const attempt = toAttempt(now, ...(await limitMails(config, owner.email, network, 'mail')), {
    subject: await hashMailbox(config, owner.email)('mail'),
    limits: MAILS.address,
  })
  const issued = {
    ...attempt,
    ...owner,
    address: await hash('code'),
    subject: await hash('code-network', network),
    codeHash: await hash('code', code),
    expiresAt: now + CODE_LIFETIME_MS,
    day,
    mailsPerDay: config.MAILS_PER_DAY,
  }
  const results = await run(db, {
    marks: selectMarks(owner),
    holder: firstRow(selectHolder(owner, now)),
    ...codes.issue(issued),
  })
  const { holder, usage, counted } = results
  await requireIntact(db, results.marks)
  if (holder && !isAbandoned(holder, now)) throw new ApiError('MEMBER_EXISTS')
  if (usage.some(isReached)) throw tooManyAttempts(usage, now)
  if (!results.issued) {
    const untilTomorrow = retryAfter(((day + 1) * DAY_MS - now) / 1000)
    throw new ApiError('UNAVAILABLE', untilTomorrow, DAILY_MAILS_SENT)
  }
  await codes.mail(db, issued, counted, () => deliver(code))
  return afterAttempt(usage, now)
}

/** A verified code, which a sign-up consumes. */
type VerifiedCode = { address: string; codeHash: string; counted: Counted; rateLimit: RateLimitHeaders }

const isLive = sql`address = :address and expiresAt > :now`
/** Matches if a code was verified and has not expired. */
export const hasValidCode = sql`exists (select 1 from joinCodes where ${isLive} and codeHash = :codeHash)`
const deleteCodesIf = (condition: SQL) => sqlStatement`delete from joinCodes where address = :address and ${condition}`
/** Deletes all codes of a member's e-mail address. */
export const deleteCodes = deleteCodesIf(sql`exists (select 1 from members where ${isEmail})`)
/** The same for the member of a confirmed claim. */
export const deleteClaimedCodes = deleteCodesIf(isConfirmed)

/** Matches the codes that the network may still try. */
const isOpen = sql`${isLive} and ${sql.raw(String(TRIES_PER_CODE))} > (
  select count(*) from attempts where attempts.subject = :guesser and attempts.at >= joinCodes.issuedAt
)`
const isMatch = sql`${isOpen} and codeHash = :codeHash`
const selectMatch = sqlStatement<{ subject: string }>`select subject from joinCodes where ${isMatch}`
// Clocks differ between Workers, so a try is dated no earlier than the codes.
const insertGuess = insertAttemptIf(
  sql`${isAllowed} and exists (select 1 from joinCodes where ${isOpen})`,
  sql`max(:now, (select max(issuedAt) from joinCodes where ${isLive}))`,
)

/** The code is matched before the guess is counted, which could be its last. */
const claimVerified = claimIf(sql`${isAllowed} and exists (select 1 from joinCodes where ${isMatch})`)
const claimUnverified = claimIf(sql`true`)

export const invalidCodeError = (code: string) =>
  fieldError('authenticationCode', code, 'is wrong or expired, or was tried too often: request a new code')

/**
 * The code, if one is required, and the claim, unless the slot is 0, where the members are in the same database as the
 * codes. `abandoned`: must be settled before a new check. `marks`: those in slot 0.
 */
export type Checked = { code?: VerifiedCode; claimId?: number; abandoned?: AddressEntry; marks: Mark[] }

const checkUnverified = async (db: Db, owner: Address, slot: number): Promise<Checked> => {
  const now = Date.now()
  const { marks, holder, entries } = await run(db, {
    marks: selectMarks(owner),
    holder: firstRow(selectHolder(owner, now)),
    ...(slot > 0 && claimUnverified(owner, slot, now)),
  })
  await requireIntact(db, marks)
  if (holder && !isAbandoned(holder, now)) throw new ApiError('MEMBER_EXISTS')
  return { claimId: entries?.[0]?.claimId, abandoned: holder, marks }
}

/**
 * Checks the code of a sign-up against every code that is valid for the address, whichever network requested it. Each
 * check counts as a try before its outcome is known, so that of a thousand concurrent guesses from one network only
 * five are evaluated. In a slot other than 0, claims the address in the same transaction; if that fails because of an
 * abandoned claim, it must be settled first.
 * @throws MEMBER_EXISTS regardless of the code; INVALID_FIELDS for a wrong, expired or used code; TOO_MANY_REQUESTS
 * after twenty tries in a day from the network, or a hundred from all
 */
export const checkCode = async (
  { slots: { directory: db }, config }: Variables,
  owner: Address,
  { code, network, slot }: { code: string; network: string; slot: number },
): Promise<Checked> => {
  if (config.EMAIL_VERIFICATION === 'off') return checkUnverified(db, owner, slot)
  const now = Date.now()
  const hash = hashFor(config, owner.email)
  const attempt = toAttempt(now, ...(await limitNetwork(network, (source) => hash('guess', source), GUESSES)), {
    subject: await hash('guess'),
    limits: GUESSES.address,
  })
  const [address, codeHash] = [await hash('code'), await hash('code', code)]
  const guess = { ...attempt, address, codeHash, guesser: await hash('guess', network) }
  // One transaction: the guess is matched only if it is counted.
  const { marks, holder, usage, match, entries, counted } = await run(db, {
    marks: selectMarks(owner),
    holder: firstRow(selectHolder(owner, now)),
    usage: selectUsage(attempt),
    match: firstRow(selectMatch(guess)),
    ...(slot > 0 && claimVerified(owner, slot, now, guess)),
    counted: insertGuess(guess),
  })
  await requireIntact(db, marks, counted)
  if (holder && !isAbandoned(holder, now)) throw new ApiError('MEMBER_EXISTS')
  if (usage.some(isReached)) throw tooManyAttempts(usage, now)
  // Without RateLimit headers, which would show whether the attempt counted, and so whether anyone requested a code.
  if (!match || counted.length === 0) throw invalidCodeError(code)
  const verified = { address, codeHash, counted, rateLimit: afterAttempt(usage, now) }
  return { code: verified, claimId: entries?.[0]?.claimId, abandoned: holder, marks }
}
