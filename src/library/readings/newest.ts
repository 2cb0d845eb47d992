import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { sqlStatement } from '../../db/client'

/** Open readings first, then by date, as far as it is known. */
export const NEWEST_FIRST = sql.raw(`outcome is null desc, coalesce(finishedAt, startedAt, '') desc, readingId desc`)

/** Whether a book has one reading, which has no row: its own status, dates and stars. */
export const hasFirst = sql.raw(`newestReadingId is null and bookStatus <> 'YET'`)
/** The columns of that reading. */
export const firstColumns = sql.raw(`
  substr(readStartDate, 1, 10) as startedAt, iif(bookStatus = 'DONE', substr(readEndDate, 1, 10), null) as finishedAt,
  iif(bookStatus = 'DONE', 'FINISHED', null) as outcome, nullif(star * 4, 0) as quarters`)

/**
 * Selects these readings of books, with the columns of readings.
 * @param condition evaluated before the status of a book, so that another member's book costs the same in any status
 */
export const selectFirstReadings = (condition: SQL) => sql`
  select bookId as readingId, memberId, bookId, 0 as createdAt, ${firstColumns}, null as format, null as note, 0 as isPaused
  from books where ${condition} and ${hasFirst}`

const isReplaced = sql`books.newestReadingId is not newest.readingId`
const stars = sql`max(1, (newest.quarters + 2) / 4)`

/** A full date as a timestamp, with the book's time of day if the book has the same date. Null for a partial date. */
export const toTimestamp = (date: SQL, stored: SQL) => sql`iif(
  length(${date}) = 10, iif(substr(${stored}, 1, 10) = ${date}, ${stored}, ${date} || 'T00:00:00'), null
)`

/** Whether a finished book's newest reading changes, but not its outcome: then no open reading takes its place. */
const staysDone = (readingId: SQL) => sql`(
  books.bookStatus = 'DONE' and books.newestReadingId is ${readingId} and not :setsOutcome and :deletedId is null
)`

const DEFAULTS = { setsStart: 0, setsEnd: 0, setsOutcome: 0, setsStar: 0, deletedId: null }
/** `reorders`: whether the change can make another reading the newest. */
type Values = Partial<Record<keyof typeof DEFAULTS, number>> & { reorders: number; readingId?: number; bookId?: number }

/**
 * Updates the book of a reading after a change of the reading, or before its deletion. If another reading becomes the
 * newest, the book takes all values of that one; otherwise, only those that were changed in the newest. The triggers on
 * books skip an update that increments readingVersion.
 */
export const syncBook = (readingId: SQL, bookId: SQL) => {
  const sync = sqlStatement`
    update books set
      newestReadingId = newest.readingId,
      readingVersion = readingVersion + 1,
      bookStatus = iif(
        newest.outcome is null, 'ING',
        iif(${isReplaced} or books.bookStatus = 'ING' or :setsOutcome, 'DONE', books.bookStatus)
      ),
      readStartDate = iif(
        ${isReplaced} or :setsStart or (:setsOutcome and books.bookStatus = 'YET'),
        ${toTimestamp(sql`newest.startedAt`, sql`books.readStartDate`)}, books.readStartDate
      ),
      readEndDate = iif(
        ${isReplaced} or :setsEnd,
        iif(newest.outcome = 'FINISHED', ${toTimestamp(sql`newest.finishedAt`, sql`books.readEndDate`)}, null),
        books.readEndDate
      ),
      star = iif(${isReplaced}, coalesce(${stars}, books.star), iif(:setsStar, coalesce(${stars}, 0), books.star))
    from (
      select bookId, readingId, startedAt, finishedAt, outcome, quarters from books join readings using (memberId, bookId)
      where books.bookId = ${bookId} and books.memberId = ${callerId}
        and readings.readingId is not :deletedId
        and (:reorders or readings.readingId = ${readingId})
        and (readings.outcome is not null or not ${staysDone(readingId)} or readings.readingId = ${readingId})
      order by ${NEWEST_FIRST} limit 1
    ) as newest
    where books.bookId = newest.bookId
      and (books.newestReadingId is ${readingId} or (:reorders and newest.readingId = ${readingId}))
      and (:deletedId is not null or changes() > 0)`
  return (values: Values) => sync({ ...DEFAULTS, ...values })
}
