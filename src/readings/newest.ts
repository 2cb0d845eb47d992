import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../db/caller'
import { sqlStatement } from '../db/client'

const { placeholder } = sql

/** Open readings first, then by date as far as it is known. */
export const NEWEST_FIRST = sql.raw(`outcome is null desc, coalesce(finishedAt, startedAt, '') desc, readingId desc`)

const isMoved = sql`books.newestReadingId is not newest.readingId`
const stars = sql`max(1, (newest.quarters + 2) / 4)`
const sets = (field: 'Start' | 'End' | 'Outcome' | 'Star') => placeholder(`sets${field}`)

/** A date as the book has it: with the book's time of day if it is that day, and only if it is complete. */
const toTimestamp = (date: SQL, stored: SQL) => sql`iif(
  length(${date}) = 10, iif(substr(${stored}, 1, 10) = ${date}, ${stored}, ${date} || 'T00:00:00'), null
)`

const DEFAULTS = { setsStart: 0, setsEnd: 0, setsOutcome: 0, setsStar: 0, deletedId: null }
type Values = Partial<Record<keyof typeof DEFAULTS, number>> & { reorders: number; readingId?: number; bookId?: number }

/**
 * Updates the book of a reading after a change of the reading, or before its deletion. If the reading becomes the newest, or
 * no longer is, the book takes all values of the newest; if it is the newest as before, only those that were set.
 * newestReadingId always changes, so that the triggers do not pass the update on to the reading: if the newest stays the
 * same, it is negative until `settleNewest`.
 */
export const followNewest = (readingId: SQL, bookId: SQL) => {
  const follow = sqlStatement(sql`
    update books set
      newestReadingId = iif(${isMoved}, newest.readingId, -newest.readingId),
      bookStatus = iif(
        newest.outcome is null, 'ING',
        iif(${isMoved} or books.bookStatus = 'ING' or ${sets('Outcome')}, 'DONE', books.bookStatus)
      ),
      readStartDate = iif(
        ${isMoved} or ${sets('Start')} or (${sets('Outcome')} and books.bookStatus = 'YET'),
        ${toTimestamp(sql`newest.startedAt`, sql`books.readStartDate`)}, books.readStartDate
      ),
      readEndDate = iif(
        ${isMoved} or ${sets('End')},
        iif(newest.outcome = 'FINISHED', ${toTimestamp(sql`newest.finishedAt`, sql`books.readEndDate`)}, null),
        books.readEndDate
      ),
      star = iif(${isMoved}, coalesce(${stars}, books.star), iif(${sets('Star')}, coalesce(${stars}, 0), books.star))
    from (
      select bookId, readingId, startedAt, finishedAt, outcome, quarters from books join readings using (memberId, bookId)
      where books.bookId = ${bookId} and books.memberId = ${callerId}
        and readings.readingId is not ${placeholder('deletedId')}
        and (${placeholder('reorders')} or readings.readingId = ${readingId})
      order by ${NEWEST_FIRST} limit 1
    ) as newest
    where books.bookId = newest.bookId
      and (books.newestReadingId is ${readingId} or (${placeholder('reorders')} and newest.readingId = ${readingId}))
      and (${placeholder('deletedId')} is not null or changes() > 0)`)
  return (values: Values) => follow({ ...DEFAULTS, ...values })
}

/** Ends the change that `followNewest` began. */
export const settleNewest = (bookId: SQL) =>
  sqlStatement(
    sql`update books set newestReadingId = -newestReadingId where bookId = ${bookId} and newestReadingId < 0`,
  )
