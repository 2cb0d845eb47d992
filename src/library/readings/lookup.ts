import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { callerId, isOwnRow, isOwnSparseRow } from '../../db/caller'
import { books } from '../../db/schema/book-tables'
import { readings } from '../../db/schema/reading-tables'

// Three keys, asked one by one. Through the view, SQLite would read all books of the member.

const isOwn = (id: SQLiteColumn, owner: SQLiteColumn) => isOwnSparseRow(id, owner, callerId, 'readingId')
const isShown = sql`bookStatus <> 'YET'`
const byOwnId = sql`${isOwn(books.readingId, books.memberId)} and ${isShown}`
const byBookId = sql`${isOwnRow(books.bookId, books.memberId, callerId, 'readingId')} and readingId is null and ${isShown}`

/** The caller's book whose current reading has the identifier of the parameter `readingId`: a set of at most one. */
export const BOOK_OF_CURRENT = sql`
  select bookId from books where ${byOwnId} union all select bookId from books where ${byBookId}`

/** Matches the caller's past reading of the parameter `readingId`. */
export const isOwnPast = isOwn(readings.readingId, readings.memberId)

/** The caller's book with the reading of the parameter `readingId`: a set of at most one. */
export const BOOK_OF_READING = sql`${BOOK_OF_CURRENT} union all select bookId from readings where ${isOwnPast}`

/** Past readings with the columns of `currentReadings`. */
const past = sql.raw('(select *, 0 as isPaused from readings)')

/**
 * A value of the reading with this identifier: of any member, unless the condition restricts it. Null if no such reading exists.
 * @param value an expression of columns of `currentReadings`
 */
export const ofReading = (id: SQL, value: SQL, condition = sql`true`) => sql`coalesce(
  (select ${value} from currentReadings where readingId = ${id} and ${condition} and bookId in (
    select books.bookId from books where books.readingId = ${id}
    union all select books.bookId from books where books.bookId = ${id} and books.readingId is null
  )),
  (select ${value} from ${past} where readingId = ${id} and ${condition})
)`

const columns = 'readingId, createdAt, startedAt, finishedAt, outcome, quarters, format, note'
/** All readings of the row of a common table expression `book`, which has `memberId` and `bookId`. */
export const readingsOfBook = sql.raw(`(
  select ${columns}, isPaused, 1 as isCurrent from book cross join currentReadings as c on c.bookId = book.bookId
  union all
  select ${columns}, 0, 0 from book cross join readings as r on r.memberId = book.memberId and r.bookId = book.bookId
)`)
/** All readings of `books`, in a subquery of it. SQLite would read the whole view `allReadings`. */
export const readingsOfOuter = sql.raw(`(
  select ${columns}, isPaused, 1 as isCurrent from currentReadings as c where c.bookId = books.bookId
  union all
  select ${columns}, 0, 0 from readings as r where r.memberId = books.memberId and r.bookId = books.bookId
)`)
