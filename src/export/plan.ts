import { sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, runAsCaller, selectCaller } from '../db/caller'
import { type Db, idempotent, sqlStatement, statement } from '../db/client'
import { members } from '../db/schema'
import type { Config } from '../env'
import { ApiError } from '../errors'
import { keyedHash } from '../keyed-hash'
import { EXPORT_PARTS, EXPORTS, insertCallerAttempt, selectUsage, toAttempt } from '../members/attempts'
import { afterAttempt, type RateLimitHeaders, tooManyAttempts } from '../members/rate-limit'
import type { Profile } from '../members/responses'
import { profileColumns } from '../members/store'
import { toCursor } from '../schema/cursor'
import { type ExportQuery, MAX_PARTS, type Plan } from './schema'
import { type Contents, SIZES } from './sizes'

/**
 * The books of a part end within this many bytes of each other. In JSON, text takes more: the file should have at most
 * 10 MiB, which can be imported.
 */
const PART_BYTES = 8 * 1024 * 1024

const selectMember = statement((db) => db.select(profileColumns).from(members).where(isCaller))

// Reads a row of each book, for the size of the whole export. It follows the statement that counts the export, so that an
// export beyond the limit reads none.
const selectCutsOf = ({ bytes, isIncluded }: (typeof SIZES)[Contents]) =>
  sqlStatement<{ bookId: number }>(
    () => sql`
  with caller(id) as materialized (select ${callerId} where changes() > 0),
  sized as materialized (
    select bookId, sum(${bytes}) over (order by bookId) as total
    from books where memberId = (select id from caller) and ${isIncluded}
  )
  select max(bookId) as bookId from sized
  group by (total - 1) / max(${sql.raw(String(PART_BYTES))}, 1 + (select max(total) from sized) / ${sql.raw(String(MAX_PARTS))})
  order by 1`,
  )

const SELECT_CUTS = {
  library: selectCutsOf(SIZES.library),
  books: selectCutsOf(SIZES.books),
  memos: selectCutsOf(SIZES.memos),
}

/** A part of an export: the books after one, up to another. */
export type Part = {
  number: number
  parts: number
  /** Milliseconds since 1970. */
  exportedAt: number
  /** For the requests of the other parts. */
  plan: string
  after: number
  last: number
}

const toPart = ({ exportedAt, cuts }: Plan, number: number): Part => {
  const parts = Math.max(1, cuts.length)
  if (number > parts) {
    const reason = `must be at most ${parts}, the number of parts`
    throw new ApiError('INVALID_PARAMETERS', {
      violationErrors: [{ propertyPath: 'part', rejectedValue: String(number), reason }],
    })
  }
  const [after = 0, last = 0] = [cuts[number - 2], cuts[number - 1]]
  return { number, parts, exportedAt, plan: toCursor({ exportedAt, cuts }), after, last }
}

/**
 * Counts a request for an export or a further part of one, and cuts the library into parts.
 * @throws TOO_MANY_REQUESTS after too many; INVALID_PARAMETERS if there is no such part
 */
export const startExport = async (
  db: Db,
  caller: Caller,
  config: Config,
  contents: Contents,
  { part, plan: sent }: ExportQuery,
): Promise<{ memberId: number; member: Profile; part: Part; rateLimit: RateLimitHeaders }> => {
  // An access token names no member.
  const memberId = caller.memberId ?? (await runAsCaller(db, caller, selectCaller()))[0].memberId
  const now = Date.now()
  const [action, limits] = part === 1 ? (['export', EXPORTS] as const) : (['export part', EXPORT_PARTS] as const)
  const attempt = toAttempt(now, { subject: await keyedHash(config.JWT_SECRET, action, String(memberId)), limits })
  const [member, usage, counted, cuts = []] = await runAsCaller(
    db,
    caller,
    selectMember(),
    selectUsage(attempt),
    insertCallerAttempt(attempt),
    ...(sent ? [] : [idempotent(SELECT_CUTS[contents]())]),
  )
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const plan = sent ?? { exportedAt: now, cuts: cuts.map(({ bookId }) => bookId) }
  return { memberId, member, part: toPart(plan, part), rateLimit: afterAttempt(usage, now) }
}
