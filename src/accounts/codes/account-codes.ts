import { eq, sql } from 'drizzle-orm'
import { sqlStatement, statement } from '../../db/client'
import { accountCodes } from '../../db/schema/code-tables'
import { fieldError } from '../../errors'
import { isAllowed } from '../../limits/attempts'
import type { RateLimitHeaders } from '../../limits/rate-limit'
import { MINUTE_MS } from '../../values/time'
import { isBelowDailyMails } from './mail-limits'

// What the codes that reset a password and those that confirm a new e-mail address have in common.

const { placeholder } = sql

export const CODE_LIFETIME_MS = 10 * MINUTE_MS

/** Stores a code if neither a limit of the attempt nor that of the day is reached. */
const insertCode = sqlStatement<{ codeHash: string }>`
  insert into accountCodes (codeHash, subject, memberId, slot, credentialsVersion, issuedAt, expiresAt)
  select ${placeholder('codeHash')}, ${placeholder('subject')}, ${placeholder('memberId')}, ${placeholder('slot')},
    ${placeholder('credentialsVersion')}, ${placeholder('now')}, ${placeholder('expiresAt')}
  where ${isAllowed} and ${isBelowDailyMails}
  returning codeHash`

export const isCode = eq(accountCodes.codeHash, placeholder('codeHash'))
/** Deletes a code. Of concurrent calls, only one returns a row. */
export const deleteCode = statement((db) =>
  db.delete(accountCodes).where(isCode).returning({ codeHash: accountCodes.codeHash }),
)

/** How the codes are issued. */
export const accountCode = {
  insert: insertCode,
  remove: deleteCode,
  isIssued: sql`exists (select 1 from ${accountCodes} where ${isCode})`,
}

export const invalidCodeError = (code: string, rateLimit?: RateLimitHeaders) =>
  fieldError('authenticationCode', code, 'is wrong, used or expired: request a new code', rateLimit)
