import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { counter } from './column-rules'
import { ownerId } from './member-tables'

// Not WITHOUT ROWID: SQLite reads whole rows, of up to a megabyte, to compare the keys of such a table.

/**
 * What members have deleted, for 30 days: a book with all that belongs to it, or a memo. The row is its JSON, from which
 * it is restored under the same identifiers.
 */
export const trash = sqliteTable(
  'trash',
  {
    /** The bookId, or the negative memoId. Only within a deletion or a restore, the book is in the library, too. */
    trashId: integer().primaryKey(),
    memberId: ownerId(),
    /** Milliseconds since 1970. */
    deletedAt: integer().notNull(),
    /** The book, or that of the memo, and its title. */
    bookId: integer().notNull(),
    title: text().notNull(),
    memoCount: counter(),
    /** How many rows of trashParts belong to it. */
    parts: counter(),
    /** What it counts towards the quota: `trashPrice`. Triggers add it when the object is deleted. */
    bytes: integer().notNull(),
    /** What it counted in the library. */
    price: integer().notNull(),
    /** JSON. The last column, because SQLite reads a row up to the last column that it needs. */
    data: text().notNull(),
  },
  (entry) => [index('trash_by_time').on(entry.memberId, entry.deletedAt)],
)

/**
 * Past readings and memos of deleted books: JSON arrays of about 64 KiB, because a row of D1 has at most 2 MB. A trigger
 * deletes them with the row of the book.
 */
export const trashParts = sqliteTable(
  'trashParts',
  {
    partId: integer().primaryKey(),
    memberId: ownerId(),
    bookId: integer().notNull(),
    kind: text({ enum: ['readings', 'memos'] }).notNull(),
    data: text().notNull(),
  },
  (part) => [index('trashParts_by_book').on(part.memberId, part.bookId)],
)
