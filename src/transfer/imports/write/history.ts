import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../../db/client'
import { lastReadingId } from '../../../db/next-id'
import * as blocks from '../../../library/readings/blocks'
import { MAX_READINGS } from '../../../library/readings/schema'
import { fieldsOf } from '../../../values/book-fields'
import { SET_COLUMNS } from '../plan/current-reading'
import { readingColumns } from '../undo/snapshot'
import { isClaimed, items, itemsOfBooks, jsonOf, value, values } from './chunk-claim'

// The statements of a chunk that write readings and progress.

const assignCurrent = (names: readonly string[], item: string) =>
  sql.raw(names.map((name) => `${name} = ${item}.value -> 'current' ->> '${name}'`).join(', '))
/** Whether the reading of the book is as it was when the row was planned. */
const isAsPlanned = sql`${readingColumns} = ${value('planned')}`
const bookIds = (condition = sql`true`) => sql`select ${value('bookId')} from ${items} where ${condition}`
const hasOpen = sql`${jsonOf('open')} is not null`

/** Two statements: the reading of a book that moves back becomes a past one, if there is room. */
export const keepMovedBack = sqlStatement`
  ${blocks.keep(sql`select books.bookId from ${itemsOfBooks} where ${isAsPlanned}`, sql`${blocks.hasRoom('c')} and ${isClaimed}`)}`
const kept = sql`
  select keptId, item.value as value from (${blocks.keptOf(bookIds())}) cross join ${items} on ${value('bookId')} = keptId`
export const moveBack = sqlStatement`${blocks.renew(kept, sql`${assignCurrent(fieldsOf('reading'), 'kept')},`)}`
/** `importId` keeps the trigger from adding a progress event of today. */
export const updateReadings = sqlStatement`
  update books set ${assignCurrent(SET_COLUMNS, 'item')}, importId = :importId
  from ${items}
  where books.bookId = ${value('bookId')} and +books.memberId = :memberId and ${isAsPlanned} and ${isClaimed}`
export const rateReadings = sqlStatement`
  update readings set quarters = ${value('quarters')} from ${items}
  where readings.readingId = ${value('readingId')} and +readings.memberId = :memberId
    and readings.quarters is ${value('before')} and ${isClaimed}`
export const insertReadings = sqlStatement`
  ${blocks.insertPast}
  select ${lastReadingId} + row_number() over (order by key), :memberId, bookId, coalesce(${value('createdAt')}, :now),
    ${values('startedAt', 'finishedAt', 'outcome', 'quarters', 'format', 'note')}
  from (
    select books.bookId, item.key, item.value,
      ${blocks.pastCount()} + row_number() over (partition by books.bookId order by item.key) as number
    from ${itemsOfBooks}
  ) as item
  where number <= ${sql.raw(String(MAX_READINGS))} and ${isClaimed}`

/** Three statements: readings that begin take the place of ended ones, and then so do past ones that are later. */
export const keepOvertaken = sqlStatement`
  ${blocks.keep(
    bookIds(),
    sql`(
      (${blocks.isOvertaken} and c.bookId in (${bookIds(value('hasReadings'))}))
      or (c.outcome is not null and c.bookId in (${bookIds(hasOpen)}) and ${blocks.hasRoom('c')})
    ) and +c.memberId = :memberId and ${isClaimed}`,
  )}`
const ofOpen = (name: string) => sql.raw(`item.value -> 'open' ->> '${name}'`)
export const beginReadings = sqlStatement`
  update books set ${blocks.describe(ofOpen)}, readingSince = coalesce(${ofOpen('createdAt')}, :now), importId = :importId,
    readingId = iif(${blocks.isKept}, ${lastReadingId} + place, readingId)
  from (select value, row_number() over (order by key) as place from ${items} where ${hasOpen}) as item
  where books.bookId = ${value('bookId')} and +books.memberId = :memberId and ${isClaimed} and (
    (${blocks.isKept} and ${blocks.pastCount()} <= ${sql.raw(String(MAX_READINGS))}) or (bookStatus = 'YET' and ${blocks.hasRoom()})
  )`
export const promoteReadings = sqlStatement`
  ${blocks.promote(
    bookIds(),
    sql`(${blocks.isKept} or (bookStatus = 'YET' and books.bookId in (${bookIds(value('hasPast'))})))
      and +books.memberId = :memberId and ${isClaimed}`,
  )}`

const changedBooks = sql`(select value from ${items})`
/** Whether the book has no event at the time of the item. */
const isFree = sql`not exists (
  select 1 from progress
  where progress.memberId = :memberId and progress.bookId = books.bookId and progress.at = ${value('at')}
)`
/** The events that the books lack, in order: the triggers keep the number of events in the latest one. */
export const insertProgress = sqlStatement`
  insert into progress (memberId, bookId, at, page, kind, minutes, seconds, total)
  select :memberId, bookId, at, page, kind, minutes, seconds, number + coalesce((
    select total from progress where progress.memberId = :memberId and progress.bookId = added.bookId
    order by progress.at desc limit 1
  ), 0)
  from (
    select books.bookId, ${value('at')} as at, ${value('page')} as page, ${value('kind')} as kind,
      ${value('minutes')} as minutes, ${value('seconds')} as seconds,
      row_number() over (partition by books.bookId order by ${value('at')}) as number
    from ${itemsOfBooks}
    where ${isFree}
  ) as added
  where ${isClaimed} order by bookId, number`
const eventBefore = (condition = sql`true`) => sql`(
  select json_array(page, seconds, total) from progress
  where progress.memberId = :memberId and progress.bookId = books.bookId and ${condition} order by progress.at desc limit 1
)`
/**
 * Events with the minutes of sittings. They keep the page of the event before; a first event would add pages, unless
 * it is a correction.
 */
export const insertSittings = sqlStatement`
  insert into progress (memberId, bookId, at, page, kind, minutes, seconds, total)
  select :memberId, bookId, at, coalesce(before ->> 0, iif(latest is null, currentPage, 0)),
    iif(latest is null and currentPage > 0, 'CORRECTION', 'PROGRESS'), minutes, before ->> 1,
    number + coalesce(latest ->> 2, 0)
  from (
    select books.bookId, currentPage, ${value('at')} as at, ${value('minutes')} as minutes,
      row_number() over (partition by books.bookId order by ${value('at')}) as number,
      ${eventBefore(sql`progress.at < ${value('at')}`)} as before, ${eventBefore()} as latest
    from ${itemsOfBooks}
    where ${isFree}
  ) as added
  where ${isClaimed} order by bookId, number`
const latest = (column: 'at' | 'page') => sql`(
  select ${sql.raw(column)} from progress where progress.memberId = :memberId and progress.bookId = books.bookId
  order by at desc limit 1
)`
// As in progress/store.ts.
export const syncPages = sqlStatement`
  update books set currentPage = ${latest('page')}, activityAt = max(${latest('at')}, coalesce(activityAt, 0))
  where +memberId = :memberId and bookId in ${changedBooks}
    and (currentPage <> ${latest('page')} or coalesce(activityAt, 0) < ${latest('at')}) and ${isClaimed}`
