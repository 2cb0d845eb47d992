import { sql } from 'drizzle-orm'
import { profileColumns } from '../../accounts/members/store'
import { keyedHash } from '../../auth/keyed-hash'
import { type Caller, isCaller, queryOne, runAsCaller } from '../../db/caller'
import { type Db, idempotent, sqlStatement, statement } from '../../db/client'
import type { LoadPart } from '../../db/parts'
import { members } from '../../db/schema/member-tables'
import type { Config } from '../../env'
import { ApiError } from '../../errors'
import { EXPORT_PARTS, EXPORTS, insertCallerAttempt, selectUsage, toAttempt } from '../../limits/attempts'
import { afterAttempt, tooManyAttempts } from '../../limits/rate-limit'
import { toCursor } from '../../values/cursor'
import { firstPage, type Kind } from './book-pages'
import type { ExportQuery, Plan } from './schema'
import { type Contents, countedCaller, newestBook, SIZES } from './sizes'

/** The largest part, except for a single larger book. JSON takes more space than the text, and imports accept 10 MiB. */
const PART_BYTES = 8 * 1024 * 1024

const selectMember = statement((db) => db.select(profileColumns).from(members).where(isCaller))

/** `newest`: the caller's newest book. `lastOfPart`: the last book of the part, or null if no books follow the part. */
type Ends = { newest: number | null; lastOfPart: number | null }

// Only the sizes of the books of the part are read.
const selectEndsOf = ({ bytes, source }: (typeof SIZES)[Contents]) =>
  sqlStatement<Ends>(
    () => sql`
  with ${countedCaller},
  sized as (select bookId, ${bytes} as bytes from (${source} order by bookId) cross join books using (bookId)),
  added as (
    select lag(bookId) over (order by bookId) as previous, sum(bytes) over (order by bookId rows unbounded preceding) as total
    from sized
  )
  select ${newestBook} as newest, (
    select previous from added where total > ${sql.raw(String(PART_BYTES))} and previous is not null limit 1
  ) as lastOfPart`,
  )

const SELECT_ENDS = {
  library: selectEndsOf(SIZES.library),
  books: selectEndsOf(SIZES.books),
  memos: selectEndsOf(SIZES.memos),
}

/** A part of an export: the books after `after`, up to `last`. */
export type Part = {
  number: number
  /** Milliseconds since 1970. */
  exportedAt: number
  after: number
  last: number
  /** Undefined for the last part. */
  next: Plan | undefined
}

const toPart = ({ part, exportedAt, after, last }: Plan, ends: Ends | undefined): Part => {
  const { newest, lastOfPart } = ends ?? { newest: null, lastOfPart: null }
  const lastOfAll = Math.min(last, newest ?? 0)
  const next = lastOfPart === null ? undefined : { part: part + 1, exportedAt, after: lastOfPart, last: lastOfAll }
  return { number: part, exportedAt, after, last: lastOfPart ?? lastOfAll, next }
}

const invalid = (propertyPath: string, rejectedValue: string, reason: string) =>
  new ApiError('INVALID_PARAMETERS', { violationErrors: [{ propertyPath, rejectedValue, reason }] })

/** Finds a further part that was requested without a plan. Takes a call for each part before it. */
const findPart = async (db: Db, caller: Caller, contents: Contents, first: Part, number: number, load: LoadPart) => {
  let part = first
  while (part.next && part.number < number) {
    const plan = part.next
    const ends = await load(() => queryOne(db, caller, idempotent(SELECT_ENDS[contents]({ isCounted: 1, ...plan }))))
    part = toPart(plan, ends)
  }
  if (part.number < number) throw invalid('part', String(number), `must be at most ${part.number}, the number of parts`)
  return part
}

/** A request for an export. */
export type Requested = {
  db: Db
  caller: Caller
  memberId: number
  config: Config
  query: ExportQuery
}

/**
 * Counts a request for an export or, with a plan, for a further part, and finds where the part ends. The same call loads
 * the first page, unless the part has to be found first.
 * @throws TOO_MANY_REQUESTS beyond the limit; INVALID_PARAMETERS if there is no such part
 */
export const startExport = async <Row, Book>(
  { db, caller, memberId, config, query }: Requested,
  { contents, select }: Kind<Row, Book>,
  load: LoadPart,
) => {
  const { part: number, plan } = query
  if (plan && plan.part !== number) throw invalid('plan', toCursor(plan), 'must belong to the requested part')
  const now = Date.now()
  // Without a plan, a further part costs as much as all those before it.
  const [action, limits] = plan ? (['export part', EXPORT_PARTS] as const) : (['export', EXPORTS] as const)
  // Apart, so that a leaked access token does not keep the member from exporting.
  const kind = 'tokenHash' in caller ? 'by token' : 'by session'
  const attempt = toAttempt(now, {
    subject: await keyedHash(config.JWT_SECRET, action, kind, String(memberId)),
    limits,
  })
  const start = plan ?? { part: 1, exportedAt: now, after: 0, last: Number.MAX_SAFE_INTEGER }
  const [member, usage, counted, [ends], page] = await load(() =>
    runAsCaller(
      db,
      caller,
      selectMember(),
      selectUsage(attempt),
      insertCallerAttempt(attempt),
      // After the statement that counts the export, so that a request beyond the limit reads no books.
      SELECT_ENDS[contents]({ isCounted: 0, ...start }),
      ...(start.part === number ? [firstPage(select, start)] : []),
    ),
  )
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const part = await findPart(db, caller, contents, toPart(start, ends), number, load)
  return { member, part, page, rateLimit: afterAttempt(usage, now) }
}
