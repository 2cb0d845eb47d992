import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller, selectMember } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { hasFormat, hasSeries, isRated } from '../../db/schema/book-tables'
import { selectTags } from '../tags/store'
import type { BookCounts } from './responses'
import { MAX_COUNTED_SERIES } from './schema'

const countBy = <Name extends 'format' | 'star'>(name: Name, hasValue: typeof isRated) =>
  sqlStatement<BookCounts[Name extends 'star' ? 'ratings' : 'formats'][number]>`
  select ${sql.raw(name)}, count(*) as bookCount from books where memberId = ${callerId} and ${hasValue}
  group by ${sql.raw(name)} order by ${sql.raw(name)}`
const countFormats = countBy('format', hasFormat)
const countRatings = countBy('star', isRated)
const countSeries = sqlStatement<BookCounts['series'][number] & { total: number }>`
  select series, bookCount, count(*) over () as total from (
    select series, count(*) as bookCount from books where memberId = ${callerId} and ${hasSeries} group by series
  ) order by bookCount desc, series limit ${number(MAX_COUNTED_SERIES)}`

const selectStatuses = selectMember('yetBooks', 'ingBooks', 'doneBooks')

/**
 * How many of the caller's books have each status, format, rating, tag and series. Reads an index entry of each book with
 * a format, rating or series.
 */
export const countBooks = async (db: Db, caller: Caller): Promise<BookCounts> => {
  const { guard, formats, ratings, tags, series } = await runAsCaller(db, caller, {
    guard: selectStatuses(),
    formats: countFormats(),
    ratings: countRatings(),
    tags: selectTags(),
    series: countSeries(),
  })
  const { yetBooks, ingBooks, doneBooks } = guard
  return {
    statuses: { YET: yetBooks, ING: ingBooks, DONE: doneBooks },
    formats,
    ratings,
    tags,
    series: series.map(({ total: _, ...each }) => each),
    seriesCount: series[0]?.total ?? 0,
  }
}
