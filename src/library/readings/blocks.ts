// The building blocks of all changes of readings. The row of a book is its current reading, `readings` has the past ones:
// docs/decisions/0025-readings.md. Each takes a set of books of one owner (SQL that selects their identifiers), so it
// serves one book as well as a chunk of an import. Between `keep` and the block that gives the book another reading, the
// current one also has a past row: `isKept` finds such books.
import { type SQL, sql } from 'drizzle-orm'
import { lastReadingId } from '../../db/next-id'
import { isOwnBook } from '../../db/own-book'
import { currentId as currentIdOf } from '../../db/schema/shown-reading'
import { MAX_READINGS } from './schema'

/** The book of the parameter `bookId`, if it is the caller's: a set of at most one. */
export const OWN_BOOK = sql`select bookId from books where ${isOwnBook}`
const isIn = (table: 'books' | 'c', books: SQL) => sql`${sql.raw(table)}.bookId in (${books})`

const PAST_COLUMNS = sql.raw('createdAt, startedAt, finishedAt, outcome, quarters, format, note')
/** Begins the insertion of past readings. */
export const insertPast = sql`insert into readings (readingId, memberId, bookId, ${PAST_COLUMNS})`

/** Latest first, as far as the dates are known. */
export const NEWEST_FIRST = sql.raw(`coalesce(finishedAt, startedAt, '') desc, readingId desc`)
/** The identifier of the current reading of `books`. */
export const currentId = sql.raw(currentIdOf())
export const starsOf = (quarters: SQL) => sql`max(1, (${quarters} + 2) >> 2)`

/** A full date as a timestamp, with the book's time of day if the book has the same date. Null for a partial date. */
const toTimestamp = (date: SQL, stored: SQL) => sql`iif(
  length(${date}) = 10, iif(substr(${stored}, 1, 10) = ${date}, ${stored}, ${date} || 'T00:00:00'), null
)`
/** A date as far as it is partial. */
const partial = (date: SQL) => sql`iif(length(${date}) = 10, null, ${date})`
const now = sql.raw(`cast(unixepoch('subsec') * 1000 as integer)`)
/** The `activityAt` of a book that is active now. Where a statement sets it with the status, no trigger has to. */
export const activeNow = sql`max(${now}, coalesce(activityAt, 0))`

/** Clears what refines the current reading. */
const CLEAR = sql.raw(
  'startedAt = null, finishedAt = null, isStopped = 0, quarters = null, readingFormat = null, note = null, isPaused = 0',
)
/** What the book shows becomes that of the current reading, but for `archivedStar`. */
const unarchived = (archivedStar = sql`null`) =>
  sql`archivedId = null, archivedStart = null, archivedEnd = null, archivedStar = ${archivedStar}`
const starred = (quarters: SQL) => sql`star = coalesce(${starsOf(quarters)}, books.star), quarters = ${quarters},
  ${unarchived(sql`iif(${quarters} is null, books.star, null)`)}`
/** Makes a book unread, and gives it an identifier for its next reading. `place` numbers the books of the statement. */
export const unread = (place = sql`1`) => sql`bookStatus = 'YET', readStartDate = null, readEndDate = null,
  readingId = ${lastReadingId} + ${place}, readingSince = 0, ${CLEAR}, ${unarchived()}`
/** Discards open readings: they do not become past ones. The condition is on `books`. */
export const discard = (books: SQL, condition: SQL) => sql`
  update books set bookStatus = 'YET', readingId = ${lastReadingId} + place, readingSince = 0, ${CLEAR}
  from (
    select bookId as openId, row_number() over (order by bookId) as place from books
    where ${isIn('books', books)} and bookStatus = 'ING' and ${condition}
  ) as open where books.bookId = openId`

/** The number of past readings of `book`, a table with `memberId` and `bookId`. */
export const pastCount = (book = 'books') =>
  sql.raw(`(select count(*) from readings as n where n.memberId = ${book}.memberId and n.bookId = ${book}.bookId)`)
export const hasRoom = (book = 'books') => sql`${pastCount(book)} < ${sql.raw(String(MAX_READINGS))}`
/** Whether the current reading of `books` also has a past row. */
export const isKept = sql`exists (select 1 from readings as k where k.readingId = ${currentId})`
/** Whether more is known of the reading of `book` than the contract's columns show. */
export const isRefined = (book = 'books') =>
  sql.raw(
    `(coalesce(${['note', 'startedAt', 'quarters', 'readingFormat'].map((name) => `${book}.${name}`).join(', ')}) is not null)`,
  )
/** Whether the current reading `c` has ended, but a past one is later. */
export const isOvertaken = sql.raw(`(c.outcome is not null and exists (
  select 1 from readings as later where later.memberId = c.memberId and later.bookId = c.bookId
    and coalesce(later.finishedAt, later.startedAt, '') > coalesce(c.finishedAt, c.startedAt, '')
))`)

/** The current reading `c` as a past one: what follows `insertPast`. An open one was stopped. */
export const selectCurrent = (condition: SQL, bookId = sql`c.bookId`) => sql`
  select c.readingId, c.memberId, ${bookId}, c.createdAt, c.startedAt, c.finishedAt, coalesce(c.outcome, 'STOPPED'),
    c.quarters, c.format, c.note
  from currentReadings as c where ${condition}`

/** Archives, first step: the current readings become past ones, and keep their identifiers. The condition is on `c`. */
export const keep = (books: SQL, condition: SQL) => sql`
  ${insertPast} ${selectCurrent(sql`${isIn('c', books)} and ${condition}`)}`

/** The books of a set that were kept, for `renew`. */
export const keptOf = (books: SQL) =>
  sql`select bookId as keptId from books where ${isIn('books', books)} and ${isKept}`
/**
 * Archives, second step: each book gets a blank reading. Its dates and stars stay, and are not those of the new reading
 * until they change.
 * @param source selects the `keptId` of each book, and what the further assignments need
 */
export const renew = (source: SQL, others = sql``) => sql`
  update books set ${others} archivedId = ${currentId}, archivedStart = substr(books.readStartDate, 1, 10),
    archivedEnd = substr(books.readEndDate, 1, 10), archivedStar = books.star,
    readingId = ${lastReadingId} + place, readingSince = ${now}, ${CLEAR}
  from (select source.*, row_number() over (order by keptId) as place from (${source}) as source) as kept
  where books.bookId = keptId`

/** The assignments by which a book takes what refines a past reading, `p`. A trigger deletes the row of that one. */
const taken = (isStopped: SQL) => sql`
  readingId = p.readingId, readingSince = p.createdAt, startedAt = ${partial(sql`p.startedAt`)},
  finishedAt = iif(p.outcome = 'FINISHED', ${partial(sql`p.finishedAt`)}, p.finishedAt), isStopped = ${isStopped},
  readingFormat = p.format, note = p.note, isPaused = 0`

/**
 * The archived readings become the current ones again. The condition is on `books`, and on the reading, `p`.
 * @param set assignments of the status, and of what else changes with it
 */
export const restore = (books: SQL, set: SQL, condition: SQL) => sql`
  update books set ${set}, ${taken(sql`0`)}, quarters = p.quarters,
    ${unarchived(sql`iif(p.quarters is null, books.archivedStar, null)`)}
  from readings as p
  where ${isIn('books', books)} and p.readingId = books.archivedId and not ${isRefined()} and ${condition}`

/** The newest past readings become the current ones. The condition is on `books`. */
export const promote = (books: SQL, condition: SQL) => sql`
  update books set bookStatus = 'DONE', readStartDate = ${toTimestamp(sql`p.startedAt`, sql`books.readStartDate`)},
    readEndDate = iif(p.outcome = 'FINISHED', ${toTimestamp(sql`p.finishedAt`, sql`books.readEndDate`)}, null),
    ${taken(sql`p.outcome = 'STOPPED'`)}, ${starred(sql`p.quarters`)}
  from readings as p
  where ${isIn('books', books)} and ${condition} and p.readingId = (
    select readingId from readings as n where n.memberId = books.memberId and n.bookId = books.bookId
    order by ${NEWEST_FIRST} limit 1
  )`

/**
 * Two statements: if a past reading is later than the ended current one, they change places.
 * @param among the books to update: where the two change places, and where `orIf` holds
 */
export const settle = (books: SQL, { among = books, orIf = sql`false` } = {}) =>
  [keep(books, isOvertaken), promote(among, sql`(${isKept} or ${orIf})`)] as const

/** SQL of the values of a reading by name. */
type Values = (name: string) => SQL
/** The assignments by which a book shows when its reading began. */
export const describeStart = (value: Values) => sql`
  readStartDate = ${toTimestamp(value('startedAt'), sql`books.readStartDate`)},
  startedAt = ${partial(value('startedAt'))}`
/** How and when it ended, if it has. */
export const describeEnd = (value: Values) => sql`
  bookStatus = iif(${value('outcome')} is null, 'ING', 'DONE'),
  readEndDate = iif(${value('outcome')} = 'FINISHED', ${toTimestamp(value('finishedAt'), sql`books.readEndDate`)}, null),
  finishedAt = iif(${value('outcome')} = 'FINISHED', ${partial(value('finishedAt'))}, ${value('finishedAt')}),
  isStopped = ${value('outcome')} is 'STOPPED'`
/** All of a reading but its identifier and `readingSince`. */
export const describe = (value: Values) => sql`
  ${describeStart(value)}, ${describeEnd(value)}, isPaused = ${value('isPaused')},
  readingFormat = ${value('format')}, note = ${value('note')}, ${starred(value('quarters'))}`

/** The dates and stars that archived readings left become those of the current ones. The condition is on `books`. */
export const clearArchived = (books: SQL, condition: SQL) =>
  sql`update books set ${unarchived()} where ${isIn('books', books)} and ${condition}`
/** The same, where the archived reading was deleted. */
export const forget = (books: SQL) =>
  clearArchived(
    books,
    sql`archivedId is not null and not exists (select 1 from readings as k where k.readingId = archivedId)`,
  )
