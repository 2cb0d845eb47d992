import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../../db/client'
import { nextId, READING_ID_OFFSET } from '../../../db/next-id'
import { readings } from '../../../db/schema/reading-tables'
import { firstColumns, hasFirst, NEWEST_FIRST, toTimestamp } from '../../../library/readings/newest'
import { isClaimed, items, itemsOfBooks, value, values } from './chunk-claim'

// The statements of a chunk that write readings and progress.

/** The last identifier of readings. First readings of books have the identifier of the book instead. */
export const lastReadingId = sql`${nextId(readings.readingId, READING_ID_OFFSET)} - 1`

/** The books of the library to which readings or progress are added. */
const changedBooks = sql`(select value from ${items})`
// As `storeFirst` in readings/store.ts, unless `insertReadings` inserts the row, with values of the file. If the book was
// changed since the row was planned, it keeps its own values.
export const insertFirstReadings = sqlStatement`
  insert into readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters)
  select bookId, memberId, bookId, 0, ${firstColumns}
  from ${itemsOfBooks}
  where ${hasFirst} and ${value('own')} is not json_array(bookStatus, readStartDate, readEndDate, star) and ${isClaimed}`
// The first reading of a new book has the identifier of the book. The others are numbered in the order of the array.
const isFirst = value('isFirst')
export const insertReadings = sqlStatement`
  insert into readings (
    readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters, isPaused, format, note
  )
  select
    iif(${isFirst}, books.bookId, ${lastReadingId} + sum(not ${isFirst}) over (order by item.key)), :memberId, books.bookId,
    iif(${isFirst}, 0, coalesce(${value('createdAt')}, :now)),
    ${values('startedAt', 'finishedAt', 'outcome', 'quarters', 'isPaused', 'format', 'note')}
  from ${itemsOfBooks}
  where not (${isFirst} and exists (select 1 from readings where readingId = books.bookId)) and ${isClaimed}`
// As `syncBook` in readings/newest.ts, for books whose newest reading has changed.
export const syncBooks = sqlStatement`
  update books set
    newestReadingId = newest.readingId,
    bookStatus = iif(newest.outcome is null, 'ING', 'DONE'),
    readStartDate = ${toTimestamp(sql`newest.startedAt`, sql`books.readStartDate`)},
    readEndDate = iif(newest.outcome = 'FINISHED', ${toTimestamp(sql`newest.finishedAt`, sql`books.readEndDate`)}, null),
    star = coalesce(max(1, (newest.quarters + 2) / 4), books.star)
  from (
    select bookId, readingId, startedAt, finishedAt, outcome, quarters,
      row_number() over (partition by bookId order by ${NEWEST_FIRST}) as place
    from readings where memberId = :memberId and bookId in ${changedBooks}
  ) as newest
  where books.memberId = :memberId and books.bookId = newest.bookId and place = 1
    and books.newestReadingId is not newest.readingId and ${isClaimed}`

/** The events that the books lack, in order: the triggers keep the number of events in the latest one. */
export const insertProgress = sqlStatement`
  insert into progress (memberId, bookId, at, page, kind, total)
  select :memberId, bookId, at, page, kind, number + coalesce((
    select total from progress where progress.memberId = :memberId and progress.bookId = added.bookId
    order by progress.at desc limit 1
  ), 0)
  from (
    select books.bookId, ${value('at')} as at, ${value('page')} as page, ${value('kind')} as kind,
      row_number() over (partition by books.bookId order by ${value('at')}) as number
    from ${itemsOfBooks}
    where not exists (
      select 1 from progress
      where progress.memberId = :memberId and progress.bookId = books.bookId and progress.at = ${value('at')}
    )
  ) as added
  where ${isClaimed} order by bookId, number`
const latestPage = sql`(
  select page from progress where progress.memberId = :memberId and progress.bookId = books.bookId
  order by at desc limit 1
)`
// As in progress/store.ts.
export const syncPages = sqlStatement`
  update books set currentPage = ${latestPage}
  where +memberId = :memberId and bookId in ${changedBooks}
    and currentPage <> ${latestPage} and ${isClaimed}`
