import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { BOOK_FORMATS, PROGRESS_KINDS, READING_OUTCOMES } from '../values/contract'
import { isOneOf, isPage, ownerId } from './schema'

// Features beyond the contract. A trigger deletes these rows with the book: a foreign key would need an index that starts
// with bookId, and so write one more row each time.

/**
 * The readings of books. A book without rows, unless it is unread, has one reading: its own status and dates. A row for it
 * is inserted when it is changed as a reading, or when another one begins. A book and its newest reading are kept in sync:
 * triggers.sql applies changes of the book, readings/newest.ts those of the reading.
 */
export const readings = sqliteTable(
  'readings',
  {
    /** The book's identifier for its first reading. Others are in the upper half of the slot's range. */
    readingId: integer().primaryKey(),
    memberId: ownerId(),
    bookId: integer().notNull(),
    /** Milliseconds since 1970; 0 for the first reading. */
    createdAt: integer().notNull(),
    /** A date: yyyy, yyyy-MM or yyyy-MM-dd, like finishedAt. */
    startedAt: text(),
    finishedAt: text(),
    outcome: text({ enum: READING_OUTCOMES }),
    /** The rating, in quarter stars. */
    quarters: integer(),
    format: text({ enum: BOOK_FORMATS }),
    note: text(),
    isPaused: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (reading) => [
    index('readings_by_book').on(reading.memberId, reading.bookId),
    check('readings_outcome', isOneOf(reading.outcome, READING_OUTCOMES)),
    check('readings_finished_at', sql`${reading.outcome} is not null or ${reading.finishedAt} is null`),
    check('readings_quarters', sql`${reading.quarters} between 1 and 20`),
    check('readings_format', isOneOf(reading.format, BOOK_FORMATS)),
  ],
)

/** Changes of a book's current page. A trigger merges the oldest beyond 10,000 of a book. WITHOUT ROWID. */
export const progress = sqliteTable(
  'progress',
  {
    memberId: ownerId(),
    bookId: integer().notNull(),
    /** Milliseconds since 1970. The latest event has the book's current page. */
    at: integer().notNull(),
    page: integer().notNull(),
    kind: text({ enum: PROGRESS_KINDS }).notNull(),
    /** In the latest event of a book: the number of its events. Kept here, because a counter elsewhere would be another row. */
    total: integer().notNull(),
  },
  (event) => [
    primaryKey({ columns: [event.memberId, event.bookId, event.at] }),
    check('progress_page', isPage(event.page)),
    check('progress_kind', isOneOf(event.kind, PROGRESS_KINDS)),
  ],
)

/** The tags of a member. A trigger deletes those without books. WITHOUT ROWID. */
export const tags = sqliteTable(
  'tags',
  {
    memberId: ownerId(),
    /** Counts from 1 for each member. */
    tagId: integer().notNull(),
    tag: text().notNull(),
    /** The folded tag. */
    tagKey: text().notNull(),
    bookCount: integer().notNull().default(0),
  },
  (tag) => [
    primaryKey({ columns: [tag.memberId, tag.tagId] }),
    uniqueIndex('tags_by_key').on(tag.memberId, tag.tagKey),
  ],
)

/** Which books have which tags. WITHOUT ROWID. */
export const bookTags = sqliteTable(
  'bookTags',
  { memberId: ownerId(), tagId: integer().notNull(), bookId: integer().notNull() },
  (bookTag) => [
    primaryKey({ columns: [bookTag.memberId, bookTag.tagId, bookTag.bookId] }),
    index('bookTags_by_book').on(bookTag.memberId, bookTag.bookId),
  ],
)

/** The authors of a member's books, counted by triggers. WITHOUT ROWID. */
export const authors = sqliteTable(
  'authors',
  {
    memberId: ownerId(),
    /** The folded author. */
    authorKey: text().notNull(),
    /** As spelled in the first of the books. */
    author: text().notNull(),
    bookCount: integer().notNull(),
  },
  (author) => [primaryKey({ columns: [author.memberId, author.authorKey] })],
)
