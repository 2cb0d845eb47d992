import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, queryAll, runAsCaller } from '../../db/caller'
import { type Db, firstRow, type Statement, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import { isFinished, isPaused, isUnread } from '../../db/schema/book-tables'
import { isCounted, isDated, isTimed } from '../../db/schema/reading-tables'
import { shownReading } from '../../db/schema/shown-reading'
import { ApiError } from '../../errors'
import { createZone, HOUR_MS } from '../../values/time'
import type { StatsRow } from './responses'
import { MAX_ROWS } from './schema'
import { type EventRow, type MemoRow, type ReadingRow, type SittingRow, toYear } from './year'

export const rowLimit = sql.raw(String(MAX_ROWS + 1))
/** The most characters of titles, authors and tags that a query loads; of rows to list, which have covers, four times. */
const MAX_TEXT = 1024 * 1024
const MAX_LISTED_TEXT = 4 * MAX_TEXT
/** `characters`: those of this row and all before. */
type Limited<Row> = Row & { characters: number }
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const isCut = (rows: { characters: number }[], maxText: number) =>
  rows.length > MAX_ROWS || (rows.at(-1)?.characters ?? 0) > maxText
// Keys are dates: yyyy, yyyy-MM, yyyy-MM-dd, or timestamps. In ASCII, the colon follows the digits.
const isInYear = (key: SQL) => sql`${key} >= (:year || '') and ${key} < (:year || ':')`
const columns = sql.raw('bookId, readingId, startedAt, finishedAt, outcome, quarters, format')
const ofCaller = sql`memberId = ${callerId}`
// Otherwise SQLite takes the index of all books that are being read.
export const pausedBooks = sql`select bookId from books indexed by books_paused where ${ofCaller} and ${isPaused}`
// The first two are disjoint: the date that the book shows, and another one. `readEndDate` may be of an earlier reading.
const shownEnd = sql.raw('substr(readEndDate, 1, 10)')
/** What ended in the year, or began and is paused. */
export const readingsOfYear = sql`(
  select ${columns}, 1 as isCurrent from currentReadings
  where ${ofCaller} and ${isFinished} and ${isInYear(sql`readEndDate`)} and ${shownEnd} is not archivedEnd
  union all
  select ${columns}, 1 from currentReadings
  where ${ofCaller} and bookStatus = 'DONE' and ${isInYear(sql`ownFinish`)} and nullif(${shownEnd}, archivedEnd) is null
  union all
  select ${columns}, 1 from currentReadings
  where bookId in (${pausedBooks}) and ${isInYear(sql`startedAt`)}
  union all
  select ${columns}, 0 from readings where ${ofCaller} and ${isCounted} and ${isInYear(sql`finishedAt`)}
)`
/** Sorts finishes by date as text, then by identifier: the space precedes all characters of dates. */
const finishKey = (finishedAt = 'finishedAt', readingId = 'readingId') =>
  `coalesce(${finishedAt}, '') || printf(' %016d', ${readingId})`
/** The first of the past finishes of each book of `reading`. Reads each past reading of these books, but only once. */
const firstFinishes = sql`(
  select bookId, count(*) as pastReadings, min(iif(outcome = 'FINISHED', ${sql.raw(finishKey())}, null)) as firstKey
  from readings where ${ofCaller} and bookId in (select bookId from reading) group by bookId
)`
const shown = shownReading('books.')
const key = finishKey('reading.finishedAt', 'reading.readingId')
const isReread = sql.raw(`coalesce(${key} > firstKey, 0) or (
  not reading.isCurrent and ${shown.outcome} is 'FINISHED' and ${key} > ${finishKey(shown.finishedAt, shown.readingId)}
)`)
/** Limits what a query loads: to one row more than `MAX_ROWS`, and to those that begin before the limit of text. */
const limited = (query: SQL, texts: SQL) => sql`
  select * from (select *, sum(${texts}) over (rows unbounded preceding) as characters from (${query} limit ${rowLimit}))
  where characters - ${texts} < :maxText`
const readingsWithBooks = sql`
  with reading as materialized (select * from ${readingsOfYear} limit ${rowLimit})
  select reading.bookId, reading.readingId, reading.startedAt, reading.finishedAt, outcome,
    reading.quarters / 4.0 as rating,
    ${isReread} as isReread, coalesce(pastReadings, 0) as pastReadings,
    coalesce(reading.format, books.format) as format, title, author, iif(:isListed, cover, null) as cover, itemPage as pages, language, iif(outcome = 'FINISHED', (
      select json_group_array(tag) from bookTags cross join tags using (memberId, tagId)
      where bookTags.memberId = books.memberId and bookTags.bookId = books.bookId
    ), '[]') as tags
  from reading cross join books on books.bookId = reading.bookId
    left join ${firstFinishes} as first on first.bookId = reading.bookId`
const textOfReading = sql`length(concat(title, author, cover, tags))`
const selectReadings = sqlStatement<
  Limited<ReadingRow & { pastReadings: number }>
>`${limited(readingsWithBooks, textOfReading)}`

/** Joins the book of each row, for lists of rows only: otherwise it compares with null, and reads no book. */
const joinBook = (table: string) =>
  sql.raw(`${table} left join books on books.bookId = iif(:isListed, ${table}.bookId, null)`)
const textOfBook = sql`length(concat(title, cover))`
const events = sql`
  select at, progress.bookId, page, kind, minutes, title, cover, (
    select page from progress as previous
    where previous.memberId = ${callerId} and previous.bookId = progress.bookId and previous.at < progress.at
    order by at desc limit 1
  ) as previous
  from ${joinBook('progress')}
  where progress.memberId = ${callerId} and ${isDated} and at >= (:from + 0) and at < (:to + 0) order by at`
const selectEvents = sqlStatement<Limited<EventRow>>`${limited(events, textOfBook)}`
/** Only those with minutes, and without what pages need. */
const selectTimed = sqlStatement<Limited<EventRow>>`
  select at, bookId, page, kind, minutes, null as title, null as cover, null as previous, 0 as characters from progress
  where memberId = ${callerId} and ${isTimed} and at >= (:from + 0) and at < (:to + 0) order by at limit ${rowLimit}`
/**
 * What devices read, by day and book, or null for documents without a book in the library. `sittings`: how many rows
 * that are, of at most one more than `MAX_ROWS` of the year.
 */
const devices = sql`
  select day as date, books.bookId, sum(sitting.seconds) as seconds, sum(sittings) as sittings,
    iif(:isListed, books.title, null) as title, iif(:isListed, cover, null) as cover
  from (
    select day, document, sum(seconds) as seconds, count(*) as sittings from (
      select day, document, seconds from sittings
      where memberId = ${callerId} and ${isInYear(sql`day`)} order by day, document limit ${rowLimit}
    ) group by day, document
  ) as sitting
    left join documents on documents.memberId = ${callerId} and documents.document = sitting.document
    left join books on books.bookId = documents.bookId and books.memberId = documents.memberId
  group by day, books.bookId`
const selectDevices = sqlStatement<Limited<SittingRow & { sittings: number }>>`${limited(devices, textOfBook)}`
const memos = sql`
  select memoId, memos.bookId, memoType, memos.createdAt, title, cover from ${joinBook('memos')}
  where memos.memberId = ${callerId} and memos.createdAt >= (:first || '') and memos.createdAt < (:last || '')
  order by memos.createdAt`
const selectMemos = sqlStatement<Limited<MemoRow>>`${limited(memos, textOfBook)}`

type Backlog = { books: number; oldestCreatedAt: string | null }
const selectBacklog = sqlStatement<Backlog & { timeZone: string | null; undated: number }>`
  select timeZone, undatedBooks as undated, yetBooks as books, (
    select createdAt from books where books.memberId = members.memberId and ${isUnread} order by createdAt limit 1
  ) as oldestCreatedAt
  from members where ${isCaller}`

/**
 * Which rows to read: readings; these and how long books were read; events, memos and sittings; or all. To list rows, with
 * the titles and covers of their books.
 */
type Kinds = 'picture' | 'readingRows' | 'activityRows' | 'all'

/** Further than any two time zones are apart. */
const ZONES_MS = 27 * HOUR_MS

/**
 * `serviceZone`: the time zone of members without one. `onRead` receives how many rows a year takes to read: its own, and
 * the past readings of its books.
 */
export type Context = { db: Db; caller: Caller; serviceZone: string; onRead: (rows: number) => void }

/**
 * Reads what the statistics of a year count. `extra`: one more query in the same call, of which the first row is
 * returned. The database does not know time zones: it returns events of 14 hours more on both sides, and memos, whose
 * times are those of the service, of a little more than a day.
 * @throws MAX_STATS_ROWS
 */
export const loadYear = async <Row = undefined>(
  { db, caller, serviceZone, onRead }: Context,
  year: number,
  kinds: Kinds = 'all',
  extraQuery?: Statement<Row>,
) => {
  const [starts, ends] = [Date.UTC(year), Date.UTC(year + 1)]
  const toDateTime = (time: number) => new Date(time).toISOString().slice(0, 19)
  const times = { from: starts - 14 * HOUR_MS, to: ends + 14 * HOUR_MS }
  const range = { ...times, first: toDateTime(starts - ZONES_MS), last: toDateTime(ends + ZONES_MS) }
  const isListed = kinds.endsWith('Rows')
  const maxText = isListed ? MAX_LISTED_TEXT : MAX_TEXT
  const values = { ...range, year: String(year), isListed: Number(isListed), maxText }
  const [hasReadings, hasActivity] = [kinds !== 'activityRows', kinds === 'activityRows' || kinds === 'all']
  const { guard, extra, ...loaded } = await runAsCaller(db, caller, {
    guard: selectBacklog(),
    readings: hasReadings ? selectReadings(values) : undefined,
    events: hasActivity ? selectEvents(values) : kinds === 'picture' ? selectTimed(values) : undefined,
    memos: hasActivity ? selectMemos(values) : undefined,
    devices: kinds === 'readingRows' ? undefined : selectDevices(values),
    extra: extraQuery && firstRow(extraQuery),
  })
  const { readings = [], events = [], memos = [], devices = [] } = loaded
  const sittings = sum(devices.map(({ sittings }) => sittings))
  const lists = [readings, events, memos, devices]
  const pastReadings = new Map(readings.map((reading) => [reading.bookId, reading.pastReadings]))
  onRead(sum([readings.length, events.length, memos.length, sittings, ...pastReadings.values()]))
  if (sittings > MAX_ROWS || lists.some((list) => isCut(list, maxText))) throw new ApiError('MAX_STATS_ROWS')
  const { timeZone, undated, ...backlog } = guard
  const zone = createZone(timeZone ?? serviceZone)
  const counted = toYear(year, { readings, events, memos, devices }, zone, createZone(serviceZone))
  return { ...counted, undated, backlog, today: zone.toDate(Date.now()), extra: extra as Row | undefined }
}

type UnreadRow = Pick<StatsRow, 'bookId' | 'title' | 'cover'> & { createdAt: string; key: string }
const selectUnread = sqlStatement<UnreadRow>`
  select bookId, title, cover, createdAt, createdAt || printf('|%016d', bookId) as key from books
  where memberId = ${callerId} and ${isUnread} and createdAt >= substr(:after, 1, 19)
    and createdAt || printf('|%016d', bookId) > :after
  order by createdAt, bookId limit ${limit}`

/** A page of the unread books, oldest registration first. */
export const loadUnread = ({ db, caller }: Context, after: string, size: number) =>
  queryAll(db, caller, selectUnread({ after, limit: size }))
