import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../../db/caller'
import { type Statement, sqlStatement, type Values } from '../../../db/client'
import { number } from '../../../db/parameters'
import { rowsOfBook } from '../../../library/books/many/delete-many'
import { pastCount } from '../../../library/readings/blocks'
import { bookToTrash, evictNewest, memoToTrash } from '../../../library/trash/removal'
import { PRICED_ROWS } from '../../../values/prices'
import { tagRowsOfBook } from '../../book-columns'
import { isOwnReportRow } from '../store'
import { MAX_CHANGES } from '../write/remaining-memos'
import { removableMemos } from './restore'
import { isUnchanged } from './snapshot'

// How an undo removes what an import made: for good, or into the trash.

/** An undo of 10,000 rows then takes fewer than the 1,000 statements that D1 allows, but for rows with many memos. */
const MAX_ROWS = 250
/**
 * The last of the next rows of the report that one batch undoes: together, they change at most `most` rows. Null if none is
 * left.
 */
export const selectLastOf = (condition: SQL, changes: SQL, most = MAX_CHANGES) => sql`
  select max(row) as last from (
    select row, row_number() over (order by row) as number, sum(coalesce(${changes}, 1)) over (order by row) as changes
    from (
      select * from importRows where ${isOwnReportRow} and row > :after and ${condition} order by row limit ${number(MAX_ROWS)}
    ) as importRows left join books on books.bookId = importRows.bookId and +books.memberId = importRows.memberId
  ) where changes <= ${number(most)} or number = 1`
export type Last = { last: number | null }

const isCreated = sql.raw(`outcome = 'created'`)
// The unary plus keeps SQLite from reading all books of the member.
const isUnchangedUpTo = (last: SQL) => sql`+memberId = ${callerId} and bookId in (
  select books.bookId from importRows join books using (memberId, bookId)
  where ${isOwnReportRow}
    and row > :after and row <= (${last})
    and ${isCreated} and mergedBooks = 0 and undo is not null and ${isUnchanged}
)`

type Removed<Id extends string> = { before?: Statement[]; removed: Statement<Record<Id, number>>; after?: Statement }
export type Removal = {
  selectLast: (values: Values) => Statement<Last>
  /** Removes the books that the next rows created and that were not changed since. */
  books: (values: Values) => Removed<'bookId'>
  /** Removes the first `mostMemos` of the memos that a range of rows added to other books. */
  memos: (values: Values) => Removed<'memoId'>
  mostMemos: number
}

/** Counts all rows of a book. Deleting a memo also changes the last one, which moves into its place. */
const lastDeleted = selectLastOf(
  isCreated,
  sql`20 + 2 * memoCount + ${number(PRICED_ROWS)} * (1 + eventBlocks)
  + ${pastCount()} + 4 * (select count(*) from ${tagRowsOfBook})`,
)
const deleteBooks = sqlStatement<{ bookId: number }>`
  delete from books where ${isUnchangedUpTo(lastDeleted)} returning bookId`
/** Each changes six rows: also the last memo, the book, the member, and the log twice. */
const MOST_DELETED = 1500
const deleteMemos = sqlStatement<{ memoId: number }>`
  delete from memos where ${removableMemos(MOST_DELETED)} returning memoId`
export const forGood: Removal = {
  selectLast: sqlStatement<Last>`${lastDeleted}`,
  books: (values) => ({ removed: deleteBooks(values) }),
  memos: (values) => ({ removed: deleteMemos(values) }),
  mostMemos: MOST_DELETED,
}

/** The rest of the 10,000 rows of a batch is for entries that `evictNewest` deletes. */
const lastTrashed = selectLastOf(isCreated, rowsOfBook, 8000)
/** Selects what this batch has put into the trash. */
const trashedNow = sql`select trashId from trash where memberId = ${callerId} and deletedAt = :callerNow`
const booksToTrash = bookToTrash(isUnchangedUpTo(lastTrashed))
const deleteTrashedBooks = sqlStatement<{ bookId: number }>`
  delete from books where bookId in (${trashedNow}) returning bookId`
/** Each also has a row in the trash. */
const MOST_TRASHED = 1000
const memosToTrash = memoToTrash(removableMemos(MOST_TRASHED))
const deleteTrashedMemos = sqlStatement<{ memoId: number }>`
  delete from memos where memoId in (select -trashId from (${trashedNow})) returning memoId`
export const intoTrash: Removal = {
  selectLast: sqlStatement<Last>`${lastTrashed}`,
  books: (values) => ({
    before: booksToTrash(values),
    removed: deleteTrashedBooks(values),
    after: evictNewest(values),
  }),
  memos: (values) => ({
    before: [memosToTrash(values)],
    removed: deleteTrashedMemos(values),
    after: evictNewest(values),
  }),
  mostMemos: MOST_TRASHED,
}
