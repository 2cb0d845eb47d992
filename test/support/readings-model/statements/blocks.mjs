// The building blocks of all requests. They take a set of books (SQL that lists their identifiers), and mark by
// identifiers: within a batch, a book whose current reading also has a past row was archived, and shows no other reading
// yet.
import { CLEAR, currentId, LAST, LIMIT, NEWEST, partial, stamp, stars, UNARCHIVED } from './schema.mjs'

export const insertPast =
  'insert into readings (readingId, memberId, bookId, startedAt, finishedAt, outcome, quarters, note)'

/** @param broken whether a part of the design is left out */
export const createBlocks = (broken) => {
  const isInSet = (table, books) => `+${table}.memberId = :memberId and ${table}.bookId in (${books})`
  const pastCount = (book) =>
    `(select count(*) from readings n where n.memberId = ${book}.memberId and n.bookId = ${book}.bookId)`
  const hasRoom = (book) => (broken('limit') ? 'true' : `${pastCount(book)} < ${LIMIT}`)
  const isKept = `exists (select 1 from readings k where k.readingId = ${currentId()})`
  const isOvertaken = `c.outcome is not null and exists (
    select 1 from readings r where r.memberId = c.memberId and r.bookId = c.bookId
      and coalesce(r.finishedAt, r.startedAt, '') > coalesce(c.finishedAt, c.startedAt, ''))`
  const isRefined = (book) =>
    `(${book}.note is not null or ${book}.startedAt is not null or ${book}.quarters is not null)`

  /** archive, 1: the current readings become past ones and keep their identifiers; one that is open was stopped. */
  const keep = (books, condition) => `${insertPast}
    select c.readingId, c.memberId, c.bookId, c.startedAt, c.finishedAt, coalesce(c.outcome, 'STOPPED'), c.quarters, c.note
    from currentReadings c where ${isInSet('c', books)} and ${condition}`
  const ARCHIVED = `archivedId = ${currentId()}, archivedStart = substr(readStartDate, 1, 10),
    archivedEnd = substr(readEndDate, 1, 10), archivedStar = star`
  /**
   * archive, 2: the books that were kept get a blank reading. The contract's columns stay.
   * @param others further assignments, from columns of the source
   */
  const renew = (source, others = '') => `update books set ${others} ${ARCHIVED}, readingId = ${LAST} + place, ${CLEAR}
    from (select source.*, row_number() over (order by keptId) as place from (${source}) as source) as kept
    where books.bookId = keptId`
  const keptOf = (books) => `select bookId as keptId from books where ${isInSet('books', books)} and ${isKept}`
  /** What the columns that refine the book's reading take from a past one, p. */
  const taken = (
    isStopped = `p.outcome = 'STOPPED'`,
  ) => `readingId = p.readingId, startedAt = ${partial('p.startedAt')},
    finishedAt = iif(p.outcome = 'FINISHED', ${partial('p.finishedAt')}, p.finishedAt), isStopped = ${isStopped},
    quarters = p.quarters, note = p.note, isPaused = 0, ${UNARCHIVED}`
  /** promote: the newest past readings become the current ones. A trigger deletes their rows. */
  const promote = (books, condition) =>
    `update books set bookStatus = 'DONE', readStartDate = ${stamp('p.startedAt', 'readStartDate')},
       readEndDate = iif(p.outcome = 'FINISHED', ${stamp('p.finishedAt', 'readEndDate')}, null),
       star = coalesce(${stars('p.quarters')}, star), ${taken()}
     from readings as p
     where ${isInSet('books', books)} and ${condition} and p.readingId = (
       select readingId from readings n where n.memberId = books.memberId and n.bookId = books.bookId order by ${NEWEST} limit 1)`
  /** settle: an ended current reading and a past one that is later change places. */
  const settle = (books, orIf = 'false') => [
    ...(broken('settle') ? [] : [keep(books, isOvertaken)]),
    promote(books, `(${isKept} or ${orIf})`),
  ]
  /** The values of a reading as columns of its book: `value` gives the SQL of each. */
  const describe = {
    start: (value) =>
      `readStartDate = ${stamp(value('startedAt'), 'readStartDate')}, startedAt = ${partial(value('startedAt'))}`,
    end: (value) => `bookStatus = iif(${value('outcome')} is null, 'ING', 'DONE'),
      readEndDate = iif(${value('outcome')} = 'FINISHED', ${stamp(value('finishedAt'), 'readEndDate')}, null),
      finishedAt = iif(${value('outcome')} = 'FINISHED', ${partial(value('finishedAt'))}, ${value('finishedAt')}),
      isStopped = ${value('outcome')} is 'STOPPED', isPaused = ${value('isPaused')}`,
    all: (value) => `${describe.start(value)}, ${describe.end(value)},
      star = coalesce(${stars(value('quarters'))}, star), quarters = ${value('quarters')}, note = ${value('note')}, ${UNARCHIVED}`,
  }
  const forget = (books) => `update books set ${UNARCHIVED} where ${isInSet('books', books)}
    and archivedId is not null and not exists (select 1 from readings k where k.readingId = archivedId)`
  /** A book without readings: the identifier of its last one never comes back. */
  const UNREAD = `bookStatus = 'YET', readStartDate = null, readEndDate = null, readingId = ${LAST} + 1, ${CLEAR}, ${UNARCHIVED}`

  return {
    isInSet,
    pastCount,
    hasRoom,
    isKept,
    isOvertaken,
    isRefined,
    keep,
    renew,
    keptOf,
    taken,
    promote,
    settle,
    describe,
    forget,
    UNREAD,
  }
}
