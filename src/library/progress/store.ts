import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { isOwnBook, ofBook, percent, progressSource, selectBook, selectOwnBook } from '../../db/own-book'
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
const toEvent = ({ at, ...event }: Row): ProgressEvent => ({ at: toInstant(at), ...event })
const eventColumns = sql.raw(`at, page, kind, minutes, progress.seconds, ${progressSource} as source`)

const isOfBook = (name: string) => sql.raw(`${name}.memberId = book.memberId and ${name}.bookId = book.bookId`)
/** Events at the time `at`: in the second that begins there, if it has no fraction. */
const isAtTime = sql`${isOfBook('progress')} and at between :at and :at + iif(:at % 1000 = 0, 999, 0)`
const latestAt = sql`(select max(at) from progress where ${isAtTime})`
/** The first millisecond after these events that has none. Null if there are none. */
const freeAt = sql`(
  select at + 1 from progress as taken where ${isOfBook('taken')} and at >= ${latestAt} and not exists (
    select 1 from progress as next where ${isOfBook('next')} and next.at = taken.at + 1
  ) order by at limit 1
)`
/** Whether an event has what was sent. */
const isSame = sql.raw('(newPage is null or page = newPage) and (newSeconds is null or seconds is newSeconds)')
/** The same event at the time `at`. If only minutes were sent, the one at that time which has some, or else the latest. */
const sameAt = sql`iif(
  newPage is null and newSeconds is null,
  (select at from progress where ${isAtTime} order by minutes is null, at desc limit 1),
  (select at from progress where ${isOfBook('progress')} and at >= :at and at < ${freeAt} and ${isSame} limit 1)
)`

/** The page that was sent, if there is any. */
const newPage = sql.raw(
  'coalesce(:page, round(itemPage * :percent / 100.0), round(1.0 * itemPage * :seconds / books.seconds))',
)
const newSeconds = sql.raw('coalesce(:seconds, iif(itemPage is null, round(books.seconds * :percent / 100.0)))')
/** Whether an event begins an unread book, if it is the latest. */
const isReading = sql.raw('coalesce(newPage > 0 or newSeconds > 0 or :minutes > 0, false)')
/** Matches the caller's book, unless what was sent is refused. */
const isAccepted = sql`${isOwnBook} and case
  when :page is not null then :page <= coalesce(itemPage, :page)
  when :percent is not null then coalesce(itemPage, books.seconds) is not null
  when :seconds is not null then :seconds <= books.seconds
  else true
end`
const selectAccepted = sql`
  select memberId, bookId, currentPage, bookStatus, readingSince, ${newPage} as newPage, ${newSeconds} as newSeconds
  from books where ${isAccepted}`

// No event replaces another one, but the same one at its time: a retry adds nothing. Without `at`, the event
// becomes the latest: at `now`, or just after the latest event if that is not before it. Without a page, it has that of the
// previous event (for the first event, of the book), or 0 in another reading. What is before the previous event is a
// correction, as in the trigger books_progressed, unless the event begins a reading; so is a page that was not sent and that
// the statistics would count from 0. The end of the book, another event, does not get the minutes of a retry.
const insertEvent = sqlStatement<Row>`
  with book as materialized (${selectAccepted}), event as materialized (
    select book.*, total, at as latestAt, iif(
      :at is null,
      iif(at >= :now, at + iif(${isSame}, 0, 1), :now),
      coalesce(${sameAt}, ${freeAt}, :at)
    ) as newAt
    from book left join (
      select at, page, seconds, total from progress
      where (memberId, bookId) = (select memberId, bookId from book) order by at desc limit 1
    )
  ), reached as (
    select event.*, seconds as secondsBefore, coalesce(page, iif(total is null, currentPage, 0)) as pageBefore,
      readingSince > coalesce(max(at, 0), 0) as isNewReading,
      bookStatus = 'YET' and ${isReading} and newAt >= coalesce(latestAt, newAt) as begins
    from event left join (
      select at, page, seconds from progress
      where (memberId, bookId) = (select memberId, bookId from event) and at < (select newAt from event)
      order by at desc limit 1
    ) as previous
  )
  insert into progress (memberId, bookId, at, page, kind, total, minutes, seconds)
  select memberId, bookId, newAt, coalesce(newPage, iif(isNewReading and total > 0, 0, pageBefore)),
    iif(
      iif(newPage is null and total is null, pageBefore > 0, not begins and not isNewReading and (
        newPage < pageBefore or (coalesce(newPage, pageBefore) = pageBefore and newSeconds < secondsBefore)
      )),
      'CORRECTION',
      'PROGRESS'
    ),
    coalesce(total, 0) + 1, :minutes, coalesce(newSeconds, iif(newPage is null, iif(isNewReading, 0 * secondsBefore, secondsBefore)))
  from reached where not :clears or newPage is not null or newSeconds is not null or exists (
    select 1 from progress where (memberId, bookId, at) = (reached.memberId, reached.bookId, newAt)
  )
  on conflict do update
  set minutes = iif(:finish and kind = 'FINISHED', minutes, iif(:clears, null, coalesce(excluded.minutes, minutes)))
  returning ${eventColumns}, (select ${percent} from books where bookId = progress.bookId) as percent`

const updateCurrentPage = sqlStatement`
  update books set currentPage = latest.page, activityAt = max(latest.at, coalesce(activityAt, 0))
  from (
    select at, page from progress
    where memberId = ${callerId} and bookId = :bookId order by at desc limit 1
  ) as latest
  where ${isOwnBook} and (currentPage <> latest.page or coalesce(activityAt, 0) < latest.at)`

/** The unread book, if the event is its latest one. */
const begun = sql`
  select bookId from (${selectAccepted}) as book
  where bookStatus = 'YET' and ${isReading} and coalesce(${sameAt} = (select max(at) from progress where ${isOfBook('progress')}), :at is null)`
/** What a change of the status to ING does. A book that is YET has no reading to archive. */
const BEGIN = [
  sqlStatement`${restoreFor(begun, { bookStatus: 'ING' })}`,
  sqlStatement`update books set bookStatus = 'ING', isStopped = 0 where bookId in (${begun})`,
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

const selectLength = selectOwnBook('itemPage', 'seconds')
const { select: selectReading } = viewOf('bookStatus', 'readEndDate')

const toRefusal = (
  { page, percent, seconds, minutes }: NewProgress,
  length: Record<'itemPage' | 'seconds', number | null>,
) => {
  if (percent !== undefined) {
    return fieldError(
      'percent',
      percent,
      'must not be sent for a book with neither itemPage nor edition.seconds: send page',
    )
  }
  if (page === undefined && seconds === undefined) {
    return fieldError('minutes', minutes, 'must not be null if there is no event at this time')
  }
  if (seconds === undefined) {
    const reason = `must be at most the itemPage of the book, ${length.itemPage}: update that first if the book is longer`
    return fieldError('page', page, reason)
  }
  const reason =
    length.seconds === null
      ? 'must not be sent for a book without edition.seconds: update that first'
      : `must be at most the edition.seconds of the book, ${length.seconds}: update that first if the book is longer`
  return fieldError('seconds', seconds, reason)
}

const NOTHING_SENT = { page: null, percent: null, seconds: null, minutes: null }

/**
 * Adds an event to the progress of a book, unless it has the same one. The latest event sets the book's current page,
 * and begins an unread book; `finish` ends it. Returns undefined if the caller has no such book.
 * @throws INVALID_FIELDS for what is beyond the end of the book, and for what its unknown length would be needed for
 */
export const addProgress = async (
  { db, caller, config }: Pick<CallerRequest, 'db' | 'caller' | 'config'>,
  bookId: number,
  sent: NewProgress,
): Promise<AddedProgress | undefined> => {
  const { at, finish, date = localTime(config.TIME_ZONE).slice(0, 10), ...reached } = sent
  const now = Date.now()
  const time = { now, at: at != null && at <= now ? at : null }
  const values = {
    bookId,
    ...NOTHING_SENT,
    ...reached,
    ...time,
    date,
    finish: finish ? 1 : 0,
    clears: sent.minutes === null ? 1 : 0,
  }
  const changes = finish ? FINISH : Object.values(reached).some(Boolean) ? BEGIN : []
  const { guard, event, reading } = await runAsCaller(db, caller, {
    guard: selectLength({ bookId }),
    event: firstRow(idempotent(insertEvent(values))),
    updated: idempotent(updateCurrentPage({ bookId })),
    changed: changes.map((change) => idempotent(change(values))),
    reading: firstRow(selectReading({ bookId })),
  })
  if (guard.bookId === null) return undefined
  if (event && reading) return { ...toEvent(event), ...reading }
  throw toRefusal(sent, guard)
}

/** Whether a book had been finished on another day than the one that was sent. */
export const isOtherDay = ({ finish, date }: NewProgress, { readEndDate }: AddedProgress) =>
  finish === true && date !== undefined && readEndDate?.slice(0, 10) !== date

const selectEvents = sqlStatement<Row>`
  select ${eventColumns}, ${percent} as percent from books cross join progress on ${ofBook('progress')}
  where ${isOwnBook} and at < :before
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
