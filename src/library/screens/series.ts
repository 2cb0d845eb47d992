import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { limit, number } from '../../db/parameters'
import { hasSeries } from '../../db/schema/book-tables'
import { toCursor } from '../../values/cursor'
import { LIBRARY_COLUMNS } from '../books/store'
import type { SeriesBook, SeriesPage } from './responses'
import { MAX_MISSING, MAX_NUMBERS, type SeriesQuery } from './schema'

const ofSeries = sql`books where memberId = ${callerId} and ${hasSeries} and series = (:series || '')`
const range = (condition: SQL, order: SQL) => sql`
  select * from (
    select ${LIBRARY_COLUMNS}, seriesNumber from ${ofSeries} and ${condition} order by ${order} limit ${limit}
  )`
const byId = sql`bookId`
// Books with the number of the cursor, with higher ones, and without one. SQLite reads each part only if those before it do
// not fill the page.
const selectBooks = sqlStatement<SeriesBook>`
  ${range(sql`seriesNumber = (:number + 0) and bookId > (:bookId + 0)`, byId)}
  union all ${range(sql`seriesNumber > (:number + 0)`, sql`seriesNumber, bookId`)}
  union all ${range(sql`seriesNumber is null and bookId > (:unnumbered + 0)`, byId)} limit ${limit}`
const selectNumbers = sqlStatement<{ number: number }>`
  select seriesNumber as number from ${ofSeries} and seriesNumber >= 1 order by seriesNumber
  limit ${number(MAX_NUMBERS)}`

/** The whole numbers below the highest that are not among the sorted ones. */
const findMissing = (sorted: number[]) => {
  const numbers = new Set(sorted)
  const missing: number[] = []
  for (let n = 1; n < (sorted.at(-1) ?? 0) && missing.length < MAX_MISSING; n++) if (!numbers.has(n)) missing.push(n)
  return missing
}

/** Positions before and after all numbers. */
const [BEFORE, AFTER] = [-1, Number.MAX_SAFE_INTEGER]

/** The caller's books of a series, by number, then those without one. */
export const getSeries = async (
  db: Db,
  caller: Caller,
  series: string,
  { cursor, size }: SeriesQuery,
): Promise<SeriesPage> => {
  const [seriesNumber, bookId] = cursor ?? [BEFORE, 0]
  const position =
    seriesNumber === null
      ? { number: AFTER, bookId, unnumbered: bookId }
      : { number: seriesNumber, bookId, unnumbered: 0 }
  const { books, numbers } = await runAsCaller(db, caller, {
    books: selectBooks({ series, ...position, limit: size + 1 }),
    numbers: selectNumbers({ series }),
  })
  const item = books.slice(0, size)
  const last = item.at(-1)
  return {
    series,
    missing: findMissing(numbers.map((each) => each.number)),
    item,
    next: last && books.length > size ? toCursor([last.seriesNumber, last.bookId]) : null,
  }
}
