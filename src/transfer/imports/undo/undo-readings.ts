import { sql } from 'drizzle-orm'
import { callerId } from '../../../db/caller'
import { sqlStatement } from '../../../db/client'
import { lastReadingId } from '../../../db/next-id'
import { READING_COLUMNS } from '../../../db/schema/shown-reading'
import * as blocks from '../../../library/readings/blocks'
import { readingsOfOuter } from '../../../library/readings/lookup'
import { isOwnReportRow } from '../store'
import { currentValues, pastValues, readingColumns, reported } from './snapshot'

// The undo of readings. The fate says what becomes of the current one. `restore`: the book is as the import left it, so
// its columns are restored. `drop`: it is not, but its current reading was added, and is removed. `stay`: it stays.
// Past readings that were added are deleted, unless they were changed since.

/** The rows of updated books in a range of the report. */
export const isInRange = sql`${isOwnReportRow} and row > :after and row <= :to and importRows.outcome = 'updated'`
const [statusBefore, idBefore] = [reported('before', 'bookStatus'), reported('before', 'readingId')]
const pastBefore = sql.raw(`undo -> 'reading' ->> 'past'`)
const added = sql.raw(`json_each(undo, '$.reading.added') as added`)
const addedIds = sql`(select value ->> 0 from ${added})`
const unchangedPast = sql`${added} cross join readings as r on r.readingId = added.value ->> 0
  and r.memberId = importRows.memberId and r.bookId = importRows.bookId and ${pastValues('r')} = added.value`
const isAddedCurrent = sql`exists (
  select 1 from currentReadings as c, ${added} where c.bookId = books.bookId and ${currentValues('c')} = added.value
)`
/**
 * Whether the current reading from before the import is still there. If the book was unread: whether it has no past
 * readings but those of the import and from before it, one of which may be the current one now.
 */
const isReadingBeforeThere = sql`iif(
  ${statusBefore} = 'YET',
  ${blocks.pastCount()} - (select count(*) from ${unchangedPast})
    + (bookStatus <> 'YET' and undo -> '$.reading.newest' ->> 0 is ${blocks.currentId}) <= ${pastBefore},
  ${idBefore} = ${blocks.currentId} or exists (
    select 1 from readings as k
    where k.readingId = ${idBefore} and k.bookId = books.bookId and ${pastValues('k')} = undo -> '$.reading.kept'
  )
)`
/** The fate of the reading of a row of the report, in a query on its book. */
export const fate = sql`iif(
  undo -> 'reading' is null, null,
  ${readingColumns} = undo -> '$.reading.after' and ${isReadingBeforeThere}, 'restore',
  ${isAddedCurrent}, 'drop',
  'stay'
)`

const hasFate = (fate: 'restore' | 'drop' | 'stay') => sql.raw(`undo ->> 'fate' = '${fate}'`)
const booksOf = (condition = sql`undo ->> 'fate' is not null`) =>
  sql`select importRows.bookId from importRows where ${isInRange} and ${condition}`

export const deleteAdded = sqlStatement`
  delete from readings where readingId in (
    select r.readingId from importRows cross join ${unchangedPast} where ${isInRange} and undo ->> 'fate' is not null
  )`
/** A past reading that had become the current one, with the stars that it had. */
export const insertNewest = sqlStatement`
  ${blocks.insertPast}
  select c.readingId, c.memberId, c.bookId, c.createdAt, c.startedAt, c.finishedAt, c.outcome,
    undo -> '$.reading.newest' ->> 1, c.format, c.note
  from importRows cross join currentReadings as c on c.bookId = importRows.bookId and +c.memberId = ${callerId}
  where ${isInRange} and ${hasFate('restore')}
    and c.readingId = undo -> '$.reading.newest' ->> 0 and c.readingId <> ${idBefore}`

/** If an unread book got a reading, the identifier of that one is not used again. */
const restoredId = sql`iif(
  ${statusBefore} = 'YET' and ${idBefore} in ${addedIds}, ${lastReadingId} + place, nullif(${idBefore}, books.bookId)
)`
/** Assignments to `books`, given the row of the report, and `place`: its number among those of the statement. */
export const columnsBefore = sql.join(
  READING_COLUMNS.map((name) => {
    const before = name === 'readingId' ? restoredId : reported('before', name)
    return sql`${sql.raw(name)} = iif(${hasFate('restore')}, ${before}, books.${sql.raw(name)})`
  }),
  sql`, `,
)

const hasOthers = sql`(${hasFate('stay')} or (${hasFate('restore')} and ${blocks.pastCount('importRows')} > ${pastBefore}))`
export const keepOvertaken = sqlStatement`${blocks.keep(booksOf(hasOthers), blocks.isOvertaken)}`
const isDropped = sql`books.bookId in (${booksOf(hasFate('drop'))})`
export const promoteNewest = sqlStatement`${blocks.promote(booksOf(), sql`(${blocks.isKept} or ${isDropped})`)}`
/** Without past readings, the book is unread again. */
export const clearDropped = sqlStatement`
  update books set ${blocks.unread(sql`place`)}
  from (
    select importRows.bookId as droppedFrom, undo ->> 'dropped' as dropped, row_number() over (order by row) as place
    from importRows where ${isInRange} and ${hasFate('drop')}
  )
  where books.bookId = droppedFrom and +books.memberId = ${callerId} and bookStatus <> 'YET' and ${blocks.currentId} = dropped`
export const forgetArchived = sqlStatement`${blocks.forget(booksOf())}`

/** Once all other statements have run: whether a row of the report leaves something of its readings. */
export const isLeft = sql`(
  exists (select 1 from ${readingsOfOuter} as a where a.readingId in ${addedIds})
  or (
    ${hasFate('stay')} and undo -> '$.reading.before' <> undo -> '$.reading.after'
    and ${reported('after', 'readingId')} not in ${addedIds}
  )
)`
