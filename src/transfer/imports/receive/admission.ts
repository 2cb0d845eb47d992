import { sql } from 'drizzle-orm'
import { keyedHash } from '../../../auth/keyed-hash'
import { type Caller, callerId, runAsCaller } from '../../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../../db/client'
import { ApiError, tooManyRequests } from '../../../errors'
import { insertAttemptIf, isAllowed, type Limit, selectUsage, toAttempt } from '../../../limits/attempts'
import { isReached, tooManyAttempts } from '../../../limits/rate-limit'
import { DAY_MS } from '../../../values/time'
import { MAX_FILES_PER_DAY, MAX_PER_DAY } from '../schema'

// What is checked before a file is read, which costs more than all else: anyone can make up access tokens.

const { placeholder } = sql
const dayAgo = placeholder('dayAgo')

const isRunning = sql`exists (select 1 from imports where memberId = ${callerId} and isDeleted = 0 and status = 'RUNNING')`
/** Whether the caller may start an import: none runs, and fewer than twenty began within a day. */
export const mayStart = sql`not ${isRunning} and (
  select count(*) from imports where memberId = ${callerId} and importId > ${dayAgo}
) < ${sql.raw(String(MAX_PER_DAY))}`

type Limits = { isRunning: number; limitedSince: number | null }
/** When the twentieth last import began, if that was within a day: the next one may begin a day later. */
export const selectLimits = sqlStatement<Limits>`
  select ${isRunning} as isRunning, (
    select importId from imports where memberId = ${callerId} and importId > ${dayAgo}
    order by importId desc limit 1 offset ${sql.raw(String(MAX_PER_DAY - 1))}
  ) as limitedSince`

/** Why `mayStart` was false. */
export const refusal = (limits: Limits | undefined, now: number) =>
  limits?.limitedSince
    ? tooManyRequests(Math.ceil((limits.limitedSince + DAY_MS - now) / 1000))
    : new ApiError('IMPORT_RUNNING')

const FILES: Limit[] = [{ max: MAX_FILES_PER_DAY, windowMs: DAY_MS }]
const countFile = insertAttemptIf(sql`${isAllowed} and ${callerId} is not null and ${mayStart}`)

/**
 * Checks that the caller, who was confirmed before the file was read, may start an import now, and counts the file. An
 * import can still be refused when it starts.
 * @throws UNAUTHORIZED; IMPORT_RUNNING while another one runs; TOO_MANY_REQUESTS after twenty imports or sixty files in a day
 */
export const admitFile = async (db: Db, caller: Caller, secret: string) => {
  const now = Date.now()
  const subject = await keyedHash(secret, 'import file', String(caller.memberId))
  const values = { ...toAttempt(now, { subject, limits: FILES }), dayAgo: now - DAY_MS }
  const { limits, usage, counted } = await runAsCaller(db, caller, {
    limits: firstRow(selectLimits(values)),
    usage: selectUsage(values),
    counted: countFile(values),
  })
  if (counted.length > 0) return
  throw usage.some(isReached) ? tooManyAttempts(usage, now) : refusal(limits, now)
}
