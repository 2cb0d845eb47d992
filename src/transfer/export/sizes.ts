import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { isWithMemos } from '../../db/schema/book-tables'

// The sizes of books in files, and the books that an export has.

const { placeholder } = sql

const ofBook = sql.raw('memberId = books.memberId and bookId = books.bookId')
const text = sql.raw('octet_length(concat(title, cover, author, publisher, language, series, sourceIds))')
const tags = sql`(select count(*) from bookTags where ${ofBook})`
const memos = sql.raw('memoBytes + 240 * memoCount')
const notes = sql`(select coalesce(sum(220 + octet_length(concat(note))), 0) from readings where ${ofBook})`
// The latest event has the number of all events.
const events = sql`coalesce((select total from progress where ${ofBook} order by at desc limit 1), 0)`

/** The size of an empty book. It keeps parts below the 10,000 books that an imported file may have. */
const book = sql`840`

/** The caller. No row if the batch did not count the export, because of the limit: then no book is read. */
export const countedCaller = sql`caller(id) as materialized (
  select ${callerId} where ${placeholder('isCounted')} or changes() > 0
)`
const owner = sql.raw('(select id from caller)')
const isNext = sql`bookId > ${placeholder('after')} and bookId <= ${placeholder('last')}`
const ownBooks = (condition: SQL) =>
  sql`select bookId from books where memberId = ${owner} and ${condition} and ${isNext}`
// No index has all books of a member by bookId, but one has those of each status. Their rows are merged.
const isOfStatus = ['YET', 'ING', 'DONE'].map((status) => sql.raw(`bookStatus = '${status}'`))
/** Selects the books after `after`, up to `last`. */
export const allBooks = sql.join(isOfStatus.map(ownBooks), sql` union all `)
export const booksWithMemos = ownBooks(isWithMemos)

const newestOf = (condition: SQL) =>
  sql`select max(bookId) as bookId from books where memberId = ${owner} and ${condition}`
/** The caller's newest book, or null. */
export const newestBook = sql`(select max(bookId) from (${sql.join(isOfStatus.map(newestOf), sql` union all `)}))`

/** The approximate sizes of a book: its texts in UTF-8, and a fixed number for the rest of each row. For queries on `books`. */
export const BYTES = {
  all: sql`${book} + ${text} + 64 * ${tags} + ${memos} + ${notes} + 70 * ${events}`,
  withReadings: sql`${book} + ${text} + 64 * ${tags} + ${notes}`,
  withMemos: sql`100 + ${text} + ${memos}`,
}
