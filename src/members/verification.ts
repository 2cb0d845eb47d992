import { and, eq, gt, sql } from 'drizzle-orm'
import { type Db, run, sqlStatement, statement } from '../db/client'
import { attempts, joinCodes, members } from '../db/schema'
import type { Config } from '../env'
import { ApiError, fieldError, tooManyRequests } from '../errors'
import { keyedHash } from '../keyed-hash'
import {
  CODE_TRIES,
  countSince,
  deleteAttempt,
  insertAttempt,
  isBelowLimit,
  MAILS,
  secondsUntilAllowed,
  selectAttempts,
  toWindow,
} from './attempts'
import { selectExisting } from './store'

const LIFETIME_MS = 600_000
const TRIES_PER_CODE = 5

const { placeholder } = sql

// Keyed hashes: the database stores no address of a person who is not a member.
const toCodeSubject = (config: Config, email: string) => keyedHash(config.JWT_SECRET, 'code', email.toLowerCase())
const toMailSubject = (config: Config, email: string) => keyedHash(config.JWT_SECRET, 'mail', email.toLowerCase())
const toCodeHash = (config: Config, email: string, code: string) =>
  keyedHash(config.JWT_SECRET, 'code', email.toLowerCase(), code)

/** Six random digits. The modulo bias of 64 random bits is below one part in 10^13. */
const randomCode = () => {
  const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1))
  return String(random % 1_000_000n).padStart(6, '0')
}

const replaceCode = sqlStatement<{ subject: string }>(sql`
  insert into joinCodes (subject, codeHash, issuedAt, expiresAt)
  select ${placeholder('codeSubject')}, ${placeholder('codeHash')}, ${placeholder('now')}, ${placeholder('expiresAt')}
  where ${isBelowLimit}
    and not exists (select 1 from ${members} where lower(${members.email}) = lower(${placeholder('email')}))
  on conflict (subject) do update
    set codeHash = excluded.codeHash, issuedAt = excluded.issuedAt, expiresAt = excluded.expiresAt
  returning subject`)

/** A verified code, which a sign-up consumes. */
type VerifiedCode = { codeSubject: string; codeHash: string; attemptId: number }

const isSameCode = and(
  eq(joinCodes.subject, placeholder('codeSubject')),
  eq(joinCodes.codeHash, placeholder('codeHash')),
)
export const deleteCode = statement((db) =>
  db.delete(joinCodes).where(isSameCode).returning({ subject: joinCodes.subject }),
)
/** Matches a verified code that has not expired. */
export const isValidCode = and(isSameCode, gt(joinCodes.expiresAt, placeholder('now')))

/**
 * Issues a verification code, which replaces an earlier one for the address, and passes it to `deliver`. If delivery
 * fails, the code is deleted and the mail is not counted.
 * @throws MEMBER_EXISTS, TOO_MANY_REQUESTS after five mails in an hour, and the errors of `deliver`
 */
export const issueCode = async (db: Db, config: Config, email: string, deliver: (code: string) => Promise<void>) => {
  const now = Date.now()
  const code = randomCode()
  const issued = { codeSubject: await toCodeSubject(config, email), codeHash: await toCodeHash(config, email, code) }
  const window = toWindow(MAILS, await toMailSubject(config, email), now)
  const [[member], [replaced], [counted], [sent]] = await run(
    db,
    selectExisting({ email }),
    replaceCode({ ...window, ...issued, email, expiresAt: now + LIFETIME_MS }),
    insertAttempt(window),
    selectAttempts(window),
  )
  if (member) throw new ApiError('MEMBER_EXISTS')
  if (!replaced || !counted) throw tooManyRequests(secondsUntilAllowed(MAILS, sent?.oldest, now))
  try {
    await deliver(code)
  } catch (error) {
    await run(db, deleteCode(issued), deleteAttempt(counted))
    throw error
  }
}

// Clocks differ between Workers, so a try is dated no earlier than its code. countSince is exclusive, hence - 1.
/** Counts a try of the current code and returns the code's hash; no row when there is no code or no try left. */
const tryCode = sqlStatement<{ attemptId: number; codeHash: string }>(sql`
  insert into attempts (subject, at)
  select ${placeholder('subject')}, max(${placeholder('now')}, ${joinCodes.issuedAt})
  from ${joinCodes}
  where ${joinCodes.subject} = ${placeholder('subject')} and ${joinCodes.expiresAt} > ${placeholder('now')}
    and ${countSince(sql`${joinCodes.issuedAt} - 1`)} < ${sql.raw(String(TRIES_PER_CODE))} and ${isBelowLimit}
  returning attemptId, (select ${joinCodes.codeHash} from ${joinCodes} where ${joinCodes.subject} = ${attempts.subject}) as codeHash`)

export const invalidCodeError = (code: string) =>
  fieldError('authenticationCode', code, 'is wrong or expired, or was tried too often: request a new code')

/**
 * Checks the code of a sign-up. Each check counts as a try before its outcome is known, so that of a thousand concurrent
 * guesses only five are evaluated. Returns undefined where no code is required.
 * @throws MEMBER_EXISTS regardless of the code; INVALID_FIELDS for a wrong, expired or used code; TOO_MANY_REQUESTS after
 * twenty tries in a day
 */
export const checkCode = async (
  db: Db,
  config: Config,
  email: string,
  code: string,
): Promise<VerifiedCode | undefined> => {
  if (config.EMAIL_VERIFICATION === 'off') {
    const [[member]] = await run(db, selectExisting({ email }))
    if (member) throw new ApiError('MEMBER_EXISTS')
    return undefined
  }
  const codeSubject = await toCodeSubject(config, email)
  const codeHash = await toCodeHash(config, email, code)
  const now = Date.now()
  const window = toWindow(CODE_TRIES, codeSubject, now)
  const [[member], [tries], [current]] = await run(
    db,
    selectExisting({ email }),
    selectAttempts(window),
    tryCode(window),
  )
  if (member) throw new ApiError('MEMBER_EXISTS')
  if (tries && tries.count >= CODE_TRIES.max) throw tooManyRequests(secondsUntilAllowed(CODE_TRIES, tries.oldest, now))
  if (current?.codeHash !== codeHash) throw invalidCodeError(code)
  return { codeSubject, codeHash, attemptId: current.attemptId }
}
