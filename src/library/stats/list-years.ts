import { type SQL, sql } from 'drizzle-orm'
import { callerId, isCaller, runAsCaller } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { isFinished, isFinishedApart } from '../../db/schema/book-tables'
import { isCounted, isDated } from '../../db/schema/reading-tables'
import { createZone } from '../../values/time'
import { MAX_YEAR, MIN_YEAR } from './schema'
import { type Context, pausedBooks } from './store'

/** Walks through an index: the first and last key of each span. `end`: where the span of the key `at` ends. */
const spansOf = <Key>(table: string, key: SQL, where: SQL, end: SQL) => {
  const seek = (condition: SQL, order: string) => sql`(
    select ${key} from ${sql.raw(table)} where memberId = ${callerId} and ${where} ${condition}
    order by ${key} ${sql.raw(order)} limit 1
  )`
  return sqlStatement<{ first: Key; last: Key }>`
    with recursive spans(at) as (
      select ${seek(sql``, 'asc')} union all select ${seek(sql`and ${key} >= ${end}`, 'asc')} from spans where at is not null
    )
    select at as first, ${seek(sql`and ${key} < ${end}`, 'desc')} as last from spans where at is not null`
}
const endOfYear = sql.raw(`substr(spans.at, 1, 4) || ':'`)
const selectFinished = spansOf<string>('books', sql`readEndDate`, isFinished, endOfYear)
const selectFinishedApart = spansOf<string>('books', sql`finishedAt`, isFinishedApart, endOfYear)
const selectRead = spansOf<string>('readings', sql`finishedAt`, isCounted, endOfYear)
const selectPaused = sqlStatement<{ first: string; last: string }>`
  select min(startedAt) as first, max(startedAt) as last from currentReadings where bookId in (${pausedBooks})
    and startedAt is not null group by substr(startedAt, 1, 4)`
// The hours around the turn of a year are a span of their own, whose years are those of its first and last key.
const yearOf = (modifier: string) =>
  `unixepoch((spans.at + 50400000) / 1000, 'unixepoch', 'start of year'${modifier}) * 1000`
const selectActive = spansOf<number>(
  'progress',
  sql`progress.at`,
  isDated,
  sql.raw(`iif(spans.at < ${yearOf('')} + 50400000, ${yearOf('')} + 50400000, ${yearOf(`, '+1 year'`)} - 50400000)`),
)
const memoYear = `substr(date(spans.at, '+2 days'), 1, 4)`
const selectWritten = spansOf<string>(
  'memos',
  sql`createdAt`,
  sql`true`,
  // Two days after the last days of 9999, `date` returns null.
  sql.raw(`coalesce(iif(spans.at < ${memoYear} || '-01-03', ${memoYear} || '-01-03', ${memoYear} || '-12-30'), ':')`),
)
/** The most years of documents that are read: ten of each, if there are as many as possible. */
const MAX_TIMED_YEARS = 20_000
/** The years of each document with a book in the library, by its index: others may have any number of rows. */
const selectTimedYears = sqlStatement<{ first: string; last: string }>`
  with recursive spans(document, at) as (
    select document, ${sql.raw(`(
      select min(day) from sittings where sittings.memberId = documents.memberId and sittings.document = documents.document
    )`)} from documents cross join books using (memberId, bookId)
    where memberId = ${callerId} and documents.seconds > 0
    union all
    select document, (
      select min(day) from sittings
      where memberId = ${callerId} and sittings.document = spans.document and day >= ${endOfYear}
    ) from spans where at is not null
    limit ${number(MAX_TIMED_YEARS)}
  )
  select distinct substr(at, 1, 4) as first, substr(at, 1, 4) as last from spans where at is not null`
const selectZone = sqlStatement<{ timeZone: string | null }>`select timeZone from members where ${isCaller}`

/** The years that have anything to count, newest first. */
export const listYears = async ({ db, caller, serviceZone }: Context) => {
  const { guard, finished, apart, paused, read, active, written, timed } = await runAsCaller(db, caller, {
    guard: selectZone(),
    finished: selectFinished(),
    apart: selectFinishedApart(),
    paused: selectPaused(),
    read: selectRead(),
    active: selectActive(),
    written: selectWritten(),
    timed: selectTimedYears(),
  })
  const zone = createZone(guard.timeZone ?? serviceZone)
  const { toTime } = createZone(serviceZone)
  const ends = <Key>(spans: { first: Key; last: Key }[]) => spans.flatMap(({ first, last }) => [first, last])
  const dates = [
    ...[finished, apart, paused, read, timed].flatMap(ends),
    ...ends(active).map(zone.toDate),
    ...ends(written).map((local) => zone.toDate(toTime(local))),
  ]
  const years = new Set(dates.map((date) => Number(date.slice(0, 4))))
  return { years: [...years].filter((year) => year >= MIN_YEAR && year <= MAX_YEAR).sort((a, b) => b - a) }
}
