import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../db/client'
import { isAllowed } from '../../db/limits/attempts'
import type { RateLimitHeaders } from '../../db/limits/rate-limit'
import { fieldError } from '../../errors'
import { MINUTE_MS } from '../../values/time'
import { isBelowDailyMails } from './mail-limits'

// What the codes that reset a password and those that confirm a new e-mail address have in common.

export const CODE_LIFETIME_MS = 10 * MINUTE_MS

/** Stores a code if neither a limit of the attempt nor that of the day is reached. */
const insertCode = sqlStatement<{ codeHash: string }>`
  insert into accountCodes (codeHash, subject, memberId, slot, credentialsVersion, issuedAt, expiresAt)
  select :codeHash, :subject, :memberId, :slot, :credentialsVersion, :now, :expiresAt
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
