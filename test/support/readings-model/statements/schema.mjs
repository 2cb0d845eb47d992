// The tables of the readings of books. The row of a book is its current reading; the table `readings` has the past ones,
// and nothing else. The contract's columns come first. The others refine the current reading, and each counts only while
// it agrees with the contract's columns (the view says how), so that no write of the contract has to touch them.

/** The most past readings of a book. */
export const LIMIT = 3

/** The columns of a book that show or refine its current reading. */
export const COLUMNS = [
  ...['bookStatus', 'readStartDate', 'readEndDate', 'star', 'readingId', 'startedAt', 'finishedAt', 'isStopped'],
  ...['quarters', 'note', 'isPaused', 'archivedId', 'archivedStart', 'archivedEnd', 'archivedStar'],
]
/** The values of a reading. */
export const VALUES = ['readingId', 'startedAt', 'finishedAt', 'outcome', 'quarters', 'note', 'isPaused']
export const of = (table, names) => names.map((name) => `${table}.${name}`).join(', ')

/** The highest identifier that any reading has had. */
export const LAST = `(select max(
  1000, coalesce((select max(readingId) from readings), 0),
  coalesce((select max(readingId) from books where readingId is not null), 0),
  coalesce((select id from retiredIds where tableName = 'readings'), 0)))`
export const NEWEST = `coalesce(finishedAt, startedAt, '') desc, readingId desc`
/** Nothing refines the current reading. */
export const CLEAR = 'startedAt = null, finishedAt = null, isStopped = 0, quarters = null, note = null, isPaused = 0'
export const UNARCHIVED = 'archivedId = null, archivedStart = null, archivedEnd = null, archivedStar = null'
export const currentId = (book = 'books') => `coalesce(${book}.readingId, ${book}.bookId)`
/** Whole stars of a rating in quarters. */
export const stars = (quarters) => `max(1, (${quarters} + 2) >> 2)`
/** A full date as a timestamp; a time of day that the book has stays while its date does. */
export const stamp = (date, stored) =>
  `iif(length(${date}) = 10, iif(substr(${stored}, 1, 10) = ${date}, ${stored}, ${date} || 'T00:00:00'), null)`
export const partial = (date) => `iif(length(${date}) = 10, null, ${date})`

/** Remembers the highest identifier that was given, so that none is given twice. */
const retire = (name, event, condition) => `
create trigger ${name} after ${event} when OLD.readingId > ${LAST} ${condition} begin
  insert or replace into retiredIds (tableName, id) values ('readings', OLD.readingId);
end;`

/** @param broken whether a part of the design is left out, to show that the model finds it */
export const createSchema = (broken) => `
create table books (
  bookId integer primary key, memberId integer not null,
  bookStatus text not null default 'YET', readStartDate text, readEndDate text, star integer not null default 0,
  readingId integer, startedAt text, finishedAt text, isStopped integer not null default 0, quarters integer,
  isPaused integer not null default 0, archivedId integer, archivedStart text, archivedEnd text, archivedStar integer, note text
);
create index books_by_status on books (memberId, bookStatus);
create index books_by_reading on books (readingId) where readingId is not null;
create table readings (
  readingId integer primary key, memberId integer not null, bookId integer not null,
  startedAt text, finishedAt text, outcome text not null, quarters integer, note text
);
create index readings_by_book on readings (memberId, bookId);
create table retiredIds (tableName text primary key, id integer not null);
-- What undoes a row of an import, or a merge.
create table undos (
  memberId integer, importId integer, row integer, bookId integer not null, kind text not null, undo text not null,
  primary key (memberId, importId, row)
) without rowid;
create table trash (
  memberId integer, trashId integer, bookId integer not null, book text not null, readings text not null, importId integer, back text,
  primary key (memberId, trashId)
) without rowid;
${
  broken('retire')
    ? ''
    : retire('readings_retired', 'delete on readings', '') +
      retire('books_reading_retired', 'update of readingId on books', '') +
      retire('books_retired', 'delete on books', '')
}
create view currentReadings as select
  coalesce(readingId, bookId) as readingId, bookId, memberId,
  coalesce(${broken('hide') ? 'substr(readStartDate, 1, 10)' : 'nullif(substr(readStartDate, 1, 10), archivedStart)'}, startedAt) as startedAt,
  iif(bookStatus = 'DONE', coalesce(nullif(substr(readEndDate, 1, 10), archivedEnd), finishedAt), null) as finishedAt,
  iif(bookStatus = 'DONE', iif(isStopped and nullif(substr(readEndDate, 1, 10), archivedEnd) is null, 'STOPPED', 'FINISHED'), null) as outcome,
  iif(${stars('quarters')} = star, quarters, iif(star is archivedStar, null, nullif(star * 4, 0))) as quarters,
  note, isPaused and bookStatus = 'ING' as isPaused
from books where bookStatus <> 'YET';
create view allReadings as
  select memberId, bookId, ${VALUES.join(', ')}, 1 as isCurrent from currentReadings
  union all select memberId, bookId, readingId, startedAt, finishedAt, outcome, quarters, note, 0, 0 from readings;
`
