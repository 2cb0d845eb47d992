import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { isOwnBook, progressSource, selectBook, selectOwnBook } from '../../db/own-book'
import { limit } from '../../db/parameters'
import type { CallerRequest } from '../../env'
import { fieldError } from '../../errors'
import { type List, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { localTime } from '../../values/time'
import { restoreFor } from '../books/status'
import { viewOf } from '../books/store'
import type { AddedProgress, ProgressEvent } from './responses'
import type { NewProgress, ProgressQuery } from './schema'

type Row = Omit<ProgressEvent, 'at'> & { at: number }
const toEvent = ({ at, page, kind, source }: Row): ProgressEvent => ({ at: toInstant(at), page, kind, source })
const eventColumns = sql.raw(`at, page, kind, ${progressSource} as source`)

const isOfBook = (name: string) => sql.raw(`${name}.memberId = book.memberId and ${name}.bookId = book.bookId`)
/** The latest of the events at the time `at`: in the second that begins there, if it has no fraction. */
const latestAt = sql`(
  select max(at) from progress where ${isOfBook('progress')} and at between :at and :at + iif(:at % 1000 = 0, 999, 0)
)`
/** The first millisecond after these events that has none. Null if there are none. */
const freeAt = sql`(
  select at + 1 from progress as taken where ${isOfBook('taken')} and at >= ${latestAt} and not exists (
    select 1 from progress as next where ${isOfBook('next')} and next.at = taken.at + 1
  ) order by at limit 1
)`
const sameAt = sql`(
  select at from progress where ${isOfBook('progress')} and at >= :at and at < ${freeAt} and page = newPage limit 1
)`

const newPage = sql.raw('coalesce(:page, round(itemPage * :percent / 100.0))')

// No event replaces another one, but the one with the same page at its time: a retry adds nothing. Without `at`, the event
// becomes the latest: at `now`, or just after the latest event if that is not before it. A page before that of the
// previous event (for the first event, of the book) is a correction, as in the trigger books_progressed, unless the event
// begins a reading.
const insertEvent = sqlStatement<Row>`
  with book as materialized (
    select memberId, bookId, currentPage, itemPage, bookStatus, readingSince, ${newPage} as newPage
    from books where ${isOwnBook}
  ), event as materialized (
    select book.*, total, at as latestAt, iif(
      :at is null,
      iif(at >= :now, at + (page <> newPage), :now),
      coalesce(${sameAt}, ${freeAt}, :at)
    ) as newAt
    from book left join (
      select at, page, total from progress
      where (memberId, bookId) = (select memberId, bookId from book) order by at desc limit 1
    )
  )
  insert into progress (memberId, bookId, at, page, kind, total)
  select event.memberId, event.bookId, newAt, newPage,
    iif(
      newPage < coalesce(previous.page, iif(event.total is null, currentPage, 0))
        and readingSince <= coalesce(max(previous.at, 0), 0)
        and not (bookStatus = 'YET' and newPage > 0 and newAt >= coalesce(latestAt, newAt)),
      'CORRECTION',
      'PROGRESS'
    ),
    coalesce(event.total, 0) + 1
  from event left join (
    select at, page from progress
    where (memberId, bookId) = (select memberId, bookId from event) and at < (select newAt from event)
    order by at desc limit 1
  ) as previous
  where newPage <= coalesce(itemPage, newPage)
  on conflict do update set page = excluded.page
  returning ${eventColumns}`

const updateCurrentPage = sqlStatement`
  update books set currentPage = latest.page, activityAt = max(latest.at, coalesce(activityAt, 0))
  from (
    select at, page from progress
    where memberId = ${callerId} and bookId = :bookId order by at desc limit 1
  ) as latest
  where ${isOwnBook} and (currentPage <> latest.page or coalesce(activityAt, 0) < latest.at)`

/** Matches the caller's book, unless the page is refused. */
const isAccepted = sql`${isOwnBook} and ${newPage} <= coalesce(itemPage, ${newPage})`
const isBegun = sql`${isAccepted} and bookStatus = 'YET' and currentPage > 0 and currentPage = ${newPage}`
/** What a change of the status to ING does. A book that is YET has no reading to archive. */
const BEGIN = [
  sqlStatement`${restoreFor(sql`select bookId from books where ${isBegun}`, { bookStatus: 'ING' })}`,
  sqlStatement`update books set bookStatus = 'ING', isStopped = 0 where ${isBegun}`,
]
const isUnfinished = sql`${isAccepted} and not exists (
  select 1 from currentReadings as c where c.bookId = books.bookId and c.outcome = 'FINISHED'
)`
const endDate = sql.raw(`iif(substr(readEndDate, 1, 10) = :date, readEndDate, :date || 'T00:00:00')`)
// The date is that of this reading, also if the book shows the same one of a reading before.
const FINISH = [
  sqlStatement`${restoreFor(sql`select bookId from books where ${isUnfinished}`, { bookStatus: 'DONE', readEndDate: sql.raw(':date') }, endDate)}`,
  sqlStatement`
    update books set bookStatus = 'DONE', readEndDate = ${endDate}, archivedEnd = null, isStopped = 0 where ${isUnfinished}`,
]

const selectItemPage = selectOwnBook('itemPage')
const { select: selectReading } = viewOf('bookStatus', 'readEndDate')

/**
 * Adds an event to the progress of a book, unless it has the same one. The latest event sets the book's current page,
 * and begins an unread book; `finish` ends it. Returns undefined if the caller has no such book.
 * @throws INVALID_FIELDS for a page beyond the last one, and for a percentage if the book has no number of pages
 */
export const addProgress = async (
  { db, caller, config }: Pick<CallerRequest, 'db' | 'caller' | 'config'>,
  bookId: number,
  { at, finish, date = localTime(config.TIME_ZONE).slice(0, 10), ...reached }: NewProgress,
): Promise<AddedProgress | undefined> => {
  const now = Date.now()
  const values = { bookId, page: null, percent: null, ...reached, date, now, at: at != null && at <= now ? at : null }
  const changes = finish ? FINISH : (reached.page ?? reached.percent) ? BEGIN : []
  const { guard, event, reading } = await runAsCaller(db, caller, {
    guard: selectItemPage({ bookId }),
    event: firstRow(idempotent(insertEvent(values))),
    updated: idempotent(updateCurrentPage({ bookId })),
    changed: changes.map((change) => idempotent(change(values))),
    reading: firstRow(selectReading({ bookId })),
  })
  if (guard.bookId === null) return undefined
  if (event && reading) return { ...toEvent(event), ...reading }
  if (guard.itemPage === null) {
    throw fieldError('percent', reached.percent, 'must not be sent for a book without itemPage: send page')
  }
  throw fieldError(
    'page',
    reached.page,
    `must be at most the itemPage of the book, ${guard.itemPage}: update that first if the book is longer`,
  )
}

/** Whether a book had been finished on another day than the one that was sent. */
export const isOtherDay = ({ finish, date }: NewProgress, { readEndDate }: AddedProgress) =>
  finish === true && date !== undefined && readEndDate?.slice(0, 10) !== date

const selectEvents = sqlStatement<Row>`
  select ${eventColumns} from progress where memberId = ${callerId} and bookId = :bookId and at < :before
  order by at desc limit ${limit}`

/** The progress of a book, newest first. Returns undefined if the caller has no such book. */
export const listProgress = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { cursor = Number.MAX_SAFE_INTEGER, size }: ProgressQuery,
): Promise<List<ProgressEvent> | undefined> => {
  const { guard, events } = await runAsCaller(db, caller, {
    guard: selectBook({ bookId }),
    events: selectEvents({ bookId, before: cursor, limit: size + 1 }),
  })
  if (guard.bookId === null) return undefined
  const item = events.slice(0, size)
  return { item: item.map(toEvent), next: events.length > size ? toCursor(item.at(-1)?.at) : null }
}
