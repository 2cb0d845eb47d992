import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import type { Caller } from '../../db/caller'
import { isCaller } from '../../db/caller'
import { firstRow, sqlStatement } from '../../db/client'
import { EXPORT_PARTS, EXPORTS, insertCallerAttempt, selectUsage, toAttempt } from '../../db/limits/attempts'
import { afterAttempt, tooManyAttempts } from '../../db/limits/rate-limit'
import { ApiError } from '../../errors'
import { toCursor } from '../../values/cursor'
import type { Runner } from './book-lists'
import type { Ends, Kind } from './kinds'
import type { ExportQuery, Plan } from './schema'

type Member = { email: string; name: string; timeZone: string | null; goals: string }
const selectProfile = sqlStatement<Member>`
  select email, name, timeZone, (
    select json_group_array(json_object('year', year, 'metric', metric, 'target', target)) from goals
    where goals.memberId = members.memberId
  ) as goals
  from members where ${isCaller}`

export const FIRST_PAGE_BOOKS = 50

/** A part of an export: the books after `after`, up to `last`. `next`: undefined for the last part. */
export type Part = Omit<Plan, 'part'> & { number: number; next: Plan | undefined }

const toPart = ({ part, ...plan }: Plan, ends: Ends | undefined): Part => {
  const { newest, lastOfPart } = ends ?? { newest: null, lastOfPart: null }
  const last = Math.min(plan.last, newest ?? 0)
  const next = lastOfPart === null ? undefined : { ...plan, part: part + 1, after: lastOfPart, last }
  return { ...plan, number: part, last: lastOfPart ?? last, next }
}

const invalid = (propertyPath: string, rejectedValue: string, reason: string) =>
  new ApiError('INVALID_PARAMETERS', { violationErrors: [{ propertyPath, rejectedValue, reason }] })

/** Finds a further part that was requested without a plan. Takes a call for each part before it. */
const findPart = async (run: Runner, { selectEnds }: Kind<unknown>, number: number, first: Part) => {
  let part = first
  while (part.next && part.number < number) {
    const plan = part.next
    const { ends } = await run({ ends: firstRow(selectEnds({ isCounted: 1, ...plan })) })
    part = toPart(plan, ends)
  }
  if (part.number === number) return part
  throw invalid('part', String(number), `must be at most ${part.number}, the number of parts`)
}

/**
 * Counts a request for an export or, with a plan, for a further part, and finds where the part ends. The same call
 * loads the first page, unless the part has to be found first.
 * @throws TOO_MANY_REQUESTS beyond the limit; INVALID_PARAMETERS if there is no such part
 */
export const startExport = async (
  run: Runner,
  { secret, memberId, kindOfCaller }: { secret: string; memberId: number; kindOfCaller: Caller['kind'] },
  { part: number, plan }: ExportQuery,
  kind: Kind<unknown>,
) => {
  if (plan && plan.part !== number) throw invalid('plan', toCursor(plan), 'must belong to the requested part')
  const now = Date.now()
  // Without a plan, a further part costs as much as all those before it.
  const [action, limits] = plan ? (['export-part', EXPORT_PARTS] as const) : (['export', EXPORTS] as const)
  const subject = await accountSubject(secret, memberAccount(memberId), action, kindOfCaller)
  const attempt = toAttempt(now, { subject, limits })
  const start = plan ?? { part: 1, exportedAt: now, after: 0, last: Number.MAX_SAFE_INTEGER }
  const { guard, usage, counted, ends, page } = await run({
    guard: selectProfile(),
    usage: selectUsage(attempt),
    counted: insertCallerAttempt(attempt),
    // After the statement that counts the export, so that a request beyond the limit reads no books.
    ends: firstRow(kind.selectEnds({ isCounted: 0, ...start })),
    page: start.part === number ? kind.selectPage({ ...start, isCounted: 0, books: FIRST_PAGE_BOOKS }) : undefined,
  })
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const part = await findPart(run, kind, number, toPart(start, ends))
  return { member: guard, part, page, rateLimit: afterAttempt(usage, now) }
}
