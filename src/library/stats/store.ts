import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, queryAll, runAsCaller } from '../../db/caller'
import { type Db, firstRow, type Statement, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import { isFinished, isFinishedApart, isPaused, isUnread } from '../../db/schema/book-tables'
import { isCounted, isDated } from '../../db/schema/reading-tables'
import { shownReading } from '../../db/schema/shown-reading'
import { ApiError } from '../../errors'
import { createZone, HOUR_MS, type Zone } from '../../values/time'
import type { StatsRow } from './responses'
import { MAX_ROWS, MAX_YEAR, MIN_YEAR } from './schema'
import { type EventRow, type MemoRow, type ReadingRow, toYear } from './year'

export const rowLimit = sql.raw(String(MAX_ROWS + 1))
/** The most characters of titles, authors and tags that a query loads; of rows to list, which have covers, four times. */
const MAX_TEXT = 1024 * 1024
const MAX_LISTED_TEXT = 4 * MAX_TEXT
/** `characters`: those of this row and all before. */
type Limited<Row> = Row & { characters: number }
const isCut = (rows: { characters: number }[], maxText: number) =>
  rows.length > MAX_ROWS || (rows.at(-1)?.characters ?? 0) > maxText
// Keys are dates: yyyy, yyyy-MM, yyyy-MM-dd, or timestamps. In ASCII, the colon follows the digits.
const isInYear = (key: SQL) => sql`${key} >= (:year || '') and ${key} < (:year || ':')`
const columns = sql.raw('bookId, readingId, startedAt, finishedAt, outcome, quarters, format')
const ofCaller = sql`memberId = ${callerId}`
// Otherwise SQLite takes the index of all books that are being read.
const pausedBooks = sql`select bookId from books indexed by books_paused where ${ofCaller} and ${isPaused}`
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
  select at, progress.bookId, page, kind, title, cover, (
    select page from progress as previous
    where previous.memberId = ${callerId} and previous.bookId = progress.bookId and previous.at < progress.at
    order by at desc limit 1
  ) as previous
  from ${joinBook('progress')}
  where progress.memberId = ${callerId} and ${isDated} and at >= (:from + 0) and at < (:to + 0) order by at`
const selectEvents = sqlStatement<Limited<EventRow>>`${limited(events, textOfBook)}`
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

/** Which rows to read: readings, events and memos, or all; to list them, with the titles and covers of their books. */
type Kinds = 'readings' | 'readingRows' | 'activityRows' | 'all'

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
    events: hasActivity ? selectEvents(values) : undefined,
    memos: hasActivity ? selectMemos(values) : undefined,
    extra: extraQuery && firstRow(extraQuery),
  })
  const rows = { readings: loaded.readings ?? [], events: loaded.events ?? [], memos: loaded.memos ?? [] }
  const lists = Object.values(rows)
  const pastReadings = new Map(rows.readings.map((reading) => [reading.bookId, reading.pastReadings]))
  onRead([...lists.map(({ length }) => length), ...pastReadings.values()].reduce((sum, read) => sum + read, 0))
  if (lists.some((list) => isCut(list, maxText))) throw new ApiError('MAX_STATS_ROWS')
  const { timeZone, undated, ...backlog } = guard
  const zone = createZone(timeZone ?? serviceZone)
  const counted = toYear(year, rows, zone, createZone(serviceZone))
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

/** Walks through an index: the first and last key of each span. `end`: where the span of the key `at` ends. */
const spansOf = <Key>(table: string, key: SQL, where: SQL, end: SQL) => {
  const seek = (condition: SQL, order: string) => sql`(
    select ${key} from ${sql.raw(table)} where memberId = ${callerId} and ${where} ${condition}
    order by ${key} ${sql.raw(order)} limit 1
  )`
  return sqlStatement<{ first: Key; last: Key }>`
    with recursive spans(at) as (
      select ${seek(sql``, 'asc')} union all select ${seek(sql`and ${key} >= ${end}`, 'asc')} from spans where at is not null
    )
    select at as first, ${seek(sql`and ${key} < ${end}`, 'desc')} as last from spans where at is not null`
}
const endOfYear = sql.raw(`substr(spans.at, 1, 4) || ':'`)
const selectFinished = spansOf<string>('books', sql`readEndDate`, isFinished, endOfYear)
const selectFinishedApart = spansOf<string>('books', sql`finishedAt`, isFinishedApart, endOfYear)
const selectRead = spansOf<string>('readings', sql`finishedAt`, isCounted, endOfYear)
const selectPaused = sqlStatement<{ first: string; last: string }>`
  select min(startedAt) as first, max(startedAt) as last from currentReadings where bookId in (${pausedBooks})
    and startedAt is not null group by substr(startedAt, 1, 4)`
// The hours around the turn of a year are a span of their own, whose years are those of its first and last key.
const yearOf = (modifier: string) =>
  `unixepoch((spans.at + 50400000) / 1000, 'unixepoch', 'start of year'${modifier}) * 1000`
const selectActive = spansOf<number>(
  'progress',
  sql`progress.at`,
  isDated,
  sql.raw(`iif(spans.at < ${yearOf('')} + 50400000, ${yearOf('')} + 50400000, ${yearOf(`, '+1 year'`)} - 50400000)`),
)
const memoYear = `substr(date(spans.at, '+2 days'), 1, 4)`
const selectWritten = spansOf<string>(
  'memos',
  sql`createdAt`,
  sql`true`,
  // Two days after the last days of 9999, `date` returns null.
  sql.raw(`coalesce(iif(spans.at < ${memoYear} || '-01-03', ${memoYear} || '-01-03', ${memoYear} || '-12-30'), ':')`),
)
const selectZone = sqlStatement<{ timeZone: string | null }>`select timeZone from members where ${isCaller}`

/** The years that have anything to count, newest first. */
export const listYears = async ({ db, caller, serviceZone }: Context) => {
  const { guard, finished, apart, paused, read, active, written } = await runAsCaller(db, caller, {
    guard: selectZone(),
    finished: selectFinished(),
    apart: selectFinishedApart(),
    paused: selectPaused(),
    read: selectRead(),
    active: selectActive(),
    written: selectWritten(),
  })
  const zone: Zone = createZone(guard.timeZone ?? serviceZone)
  const { toTime } = createZone(serviceZone)
  const ends = <Key>(spans: { first: Key; last: Key }[]) => spans.flatMap(({ first, last }) => [first, last])
  const dates = [
    ...[finished, apart, paused, read].flatMap(ends),
    ...ends(active).map(zone.toDate),
    ...ends(written).map((local) => zone.toDate(toTime(local))),
  ]
  const years = new Set(dates.map((date) => Number(date.slice(0, 4))))
  return { years: [...years].filter((year) => year >= MIN_YEAR && year <= MAX_YEAR).sort((a, b) => b - a) }
}
