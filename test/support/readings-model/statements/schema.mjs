// The tables of the readings of books. The row of a book is its current reading; the table `readings` has the past ones,
// and nothing else. The contract's columns come first. The others refine the current reading, and each counts only while
// it agrees with the contract's columns (the view says how), so that no write of the contract has to touch them.

/** The most past readings of a book. */
export const LIMIT = 3

/** The columns of a book that show or refine its current reading. */
export const COLUMNS = [
  ...['bookStatus', 'readStartDate', 'readEndDate', 'star', 'readingId', 'startedAt', 'finishedAt', 'isStopped'],
  ...['quarters', 'note', 'isPaused', 'archivedId', 'archivedStart', 'archivedEnd', 'archivedStar', 'importId'],
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

/** What a book shows of its current reading, given the prefix of its columns. */
const showsOf = (broken) => {
  const day = (column, archived) => `nullif(substr(${column}, 1, 10), ${archived})`
  const start = (row) =>
    broken('hide') ? `substr(${row}readStartDate, 1, 10)` : day(`${row}readStartDate`, `${row}archivedStart`)
  const end = (row) => day(`${row}readEndDate`, `${row}archivedEnd`)
  return {
    readingId: (row) => `coalesce(${row}readingId, ${row}bookId)`,
    startedAt: (row) => `coalesce(${start(row)}, ${row}startedAt)`,
    finishedAt: (row) => `iif(${row}bookStatus = 'DONE', coalesce(${end(row)}, ${row}finishedAt), null)`,
    outcome: (row) =>
      `iif(${row}bookStatus = 'DONE', iif(${row}isStopped and ${end(row)} is null, 'STOPPED', 'FINISHED'), null)`,
    quarters: (row) => `iif(${stars(`${row}quarters`)} = ${row}star, ${row}quarters,
      iif(${row}star is ${row}archivedStar, null, nullif(${row}star * 4, 0)))`,
    note: (row) => `${row}note`,
    isPaused: (row) => `(${row}isPaused and ${row}bookStatus = 'ING')`,
  }
}

/**
 * The triggers of the log, which lists the readings that have changed. A move between the book and `readings` lists
 * nothing if it shows the same: the row is in both places meanwhile. A past row that has become current is deleted.
 */
const triggersOf = (broken, shown) => {
  const all = (row) => VALUES.map((name) => shown[name](row)).join(', ')
  const past = (row) => `${of(row, VALUES.slice(0, -1))}, 0`
  const [from, to] = [shown.readingId('OLD.'), shown.readingId('NEW.')]
  const list = (id, condition = 'true') =>
    `insert into changes (readingId) select ${id} where ${broken('log') ? 'false' : condition};`
  const isCurrent = (row) => `select 1 from books where bookId = ${row}.bookId and bookStatus <> 'YET'`
  const take = `delete from readings where readingId = ${to} and bookId = NEW.bookId and ${to} <> ${from};`
  return `
create trigger books_reading_left after update of bookStatus, readingId on books
when OLD.bookStatus <> 'YET' and (NEW.bookStatus = 'YET' or ${to} <> ${from})
  and not exists (select 1 from readings where readingId = ${from})
begin ${list(from)} end;
create trigger books_reading_changed after update of ${COLUMNS.join(', ')} on books
when (OLD.bookStatus, ${all('OLD.')}) is not (NEW.bookStatus, ${all('NEW.')})
begin
  ${list(to, `NEW.bookStatus <> 'YET' and not exists (select 1 from readings r where readingId = ${to} and (${past('r')}) is (${all('NEW.')}))`)}
  ${broken('taken') ? '' : take}
end;
create trigger books_finished after update of bookStatus on books
when NEW.bookStatus = 'DONE' and OLD.bookStatus <> 'DONE' and NEW.isStopped = 0 and ${to} = ${from}
  ${broken('finish') ? '' : 'and NEW.importId is OLD.importId'}
begin insert into finishes (bookId) values (NEW.bookId); end;
create trigger books_reading_inserted after insert on books when NEW.bookStatus <> 'YET'
begin ${list(to)} end;
create trigger readings_insert_logged after insert on readings
when not exists (${isCurrent('NEW')} and (${all('')}) is (${past('NEW')}))
begin ${list('NEW.readingId')} end;
create trigger readings_update_logged after update on readings
when (NEW.bookId, ${past('NEW')}) is not (OLD.bookId, ${past('OLD')})
begin ${list('NEW.readingId')} end;
create trigger readings_delete_logged after delete on readings
when exists (select 1 from books where bookId = OLD.bookId)
  and not exists (${isCurrent('OLD')} and ${shown.readingId('')} = OLD.readingId)
begin ${list('OLD.readingId')} end;`
}

/** @param broken whether a part of the design is left out, to show that the model finds it */
export const createSchema = (broken) => {
  const shown = showsOf(broken)
  return `
create table books (
  bookId integer primary key, memberId integer not null,
  bookStatus text not null default 'YET', readStartDate text, readEndDate text, star integer not null default 0,
  readingId integer, startedAt text, finishedAt text, isStopped integer not null default 0, quarters integer,
  isPaused integer not null default 0, archivedId integer, archivedStart text, archivedEnd text, archivedStar integer, importId integer, note text
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
create table changes (readingId integer not null);
create table finishes (bookId integer not null);
create view currentReadings as select bookId, memberId, ${VALUES.map((name) => `${shown[name]('')} as ${name}`).join(',\n  ')}
from books where bookStatus <> 'YET';
create view allReadings as
  select memberId, bookId, ${VALUES.join(', ')}, 1 as isCurrent from currentReadings
  union all select memberId, bookId, readingId, startedAt, finishedAt, outcome, quarters, note, 0, 0 from readings;
${triggersOf(broken, shown)}
`
}
