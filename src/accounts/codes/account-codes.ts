import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../db/client'
import { isAllowed } from '../../db/limits/attempts'
import type { RateLimitHeaders } from '../../db/limits/rate-limit'
import { fieldError } from '../../errors'
import { MINUTE_MS } from '../../values/time'
import { isBelowDailyMails } from './mail-limits'

// What the codes that reset a password and those that confirm a new e-mail address have in common.

// Crockford's base32 has no letters that look like a digit or another letter: https://www.crockford.com/base32.html
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 10

/** A code of 50 random bits, to be read and typed, such as `K7QM2-9FXTR`. */
export const randomCode = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH))
  const code = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
}

/** Enough for any code, however it is spaced. Normalising a megabyte would take as long as hashing a password. */
const MAX_TYPED = 200

/** Normalises a typed code: upper case, without spaces and hyphens, `O` read as 0, `I` and `L` as 1. */
export const normaliseCode = (text: string) =>
  text
    .slice(0, MAX_TYPED)
    .replace(/[\s\p{Dash_Punctuation}]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')

export const CODE_LIFETIME_MS = 10 * MINUTE_MS

/** Stores a code if neither a limit of the attempt nor that of the day is reached. */
const insertCode = sqlStatement<{ codeHash: string }>`
  insert into accountCodes (codeHash, subject, memberId, slot, credentialsVersion, expiresAt)
  select :codeHash, :subject, :memberId, :slot, :credentialsVersion, :expiresAt
  where ${isAllowed} and ${isBelowDailyMails}
  returning codeHash`

/** Deletes a code. Of concurrent calls, only one returns a row. */
export const deleteCode = sqlStatement<{ codeHash: string }>`
  delete from accountCodes where codeHash = :codeHash returning codeHash`

/** How the codes are issued. */
export const accountCode = {
  insert: insertCode,
  remove: deleteCode,
  isIssued: sql`exists (select 1 from accountCodes where codeHash = :codeHash)`,
}

export const invalidCodeError = (code: string, rateLimit?: RateLimitHeaders) =>
  fieldError('authenticationCode', code, 'is wrong, used or expired: request a new code', rateLimit)
