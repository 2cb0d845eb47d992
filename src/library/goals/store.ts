import { sql } from 'drizzle-orm'
import { callerId, isCaller, queryOne, runAsCaller } from '../../db/caller'
import { firstRow, idempotent, sqlStatement } from '../../db/client'
import { ApiError } from '../../errors'
import { DAY_MS, localTime } from '../../values/time'
import { MAX_ROWS } from '../stats/schema'
import { type Context, readingsOfYear, rowLimit } from '../stats/store'
import type { Goal } from './responses'
import type { NewGoal } from './schema'

const isOwnGoal = sql`memberId = ${callerId} and year = :year`
type Stored = NewGoal & { done: number; rows: number; timeZone: string | null }
// The year is a text, which SQLite converts to compare it with the column: D1 would make 2026.0 of the number.
const selectGoal = sqlStatement<Stored>`
  select metric, target, iif(metric = 'BOOKS', books, pages) as done, rows, (select timeZone from members where ${isCaller}) as timeZone
  from goals cross join (
    select count(*) as rows, count(distinct reading.bookId) filter (where outcome = 'FINISHED') as books,
      coalesce(sum(itemPage) filter (where outcome = 'FINISHED'), 0) as pages
    from (select bookId, outcome from ${readingsOfYear} limit ${rowLimit}) as reading cross join books on books.bookId = reading.bookId
  ) where goals.memberId = ${callerId} and goals.year = :year`
const someReadings = sql`(select 1 from ${readingsOfYear} limit ${rowLimit})`
const countReadings = sqlStatement<{ rows: number }>`select count(*) as rows from ${someReadings}`
const upsertGoal = sqlStatement`
  insert into goals (memberId, year, metric, target)
  select id, :year, :metric, :target from (select ${callerId} as id limit 1)
  where id is not null and (select count(*) from ${someReadings}) < ${rowLimit}
  on conflict do update set metric = excluded.metric, target = excluded.target`
const removeGoal = sqlStatement<{ year: number }>`delete from goals where ${isOwnGoal} returning year`

/** The share of the days of a year that have begun on a date. */
const elapsedShare = (year: number, today: string) => {
  const [starts, ends] = [Date.UTC(year), Date.UTC(year + 1)]
  return Math.min(Math.max((Date.parse(today) + DAY_MS - starts) / (ends - starts), 0), 1)
}

const checkRows = ({ onRead }: Context, rows = 0) => {
  onRead(rows)
  if (rows > MAX_ROWS) throw new ApiError('MAX_STATS_ROWS')
}

const toGoal = ({ serviceZone }: Context, year: number, { metric, target, done, timeZone }: Stored): Goal => {
  const today = localTime(timeZone ?? serviceZone).slice(0, 10)
  const expected = Math.round(target * elapsedShare(year, today))
  return { year, metric, target, done, expected, ahead: done - expected }
}

/**
 * @returns undefined if the caller has no goal for the year
 * @throws MAX_STATS_ROWS
 */
export const getGoal = async (context: Context, year: number) => {
  const stored = await queryOne(context.db, context.caller, selectGoal({ year: String(year) }))
  checkRows(context, stored?.rows)
  return stored && toGoal(context, year, stored)
}

/** @throws MAX_STATS_ROWS */
export const setGoal = async (context: Context, year: number, goal: NewGoal) => {
  const { counted, stored } = await runAsCaller(context.db, context.caller, {
    counted: firstRow(countReadings({ year: String(year) })),
    set: idempotent(upsertGoal({ ...goal, year: String(year) })),
    stored: firstRow(selectGoal({ year: String(year) })),
  })
  checkRows(context, counted?.rows)
  return stored && toGoal(context, year, stored)
}

/** @returns undefined if the caller has no goal for the year */
export const deleteGoal = ({ db, caller }: Context, year: number) =>
  queryOne(db, caller, removeGoal({ year: String(year) }))
