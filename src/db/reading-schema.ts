import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { BOOK_FORMATS, PROGRESS_KINDS, READING_OUTCOMES } from '../contract'
import { isOneOf, isPage, ownerId } from './schema'

// What members record about their books beyond the contract. A trigger deletes these rows with the book: a foreign key to
// it would need an index that begins with bookId, and so a further row for each write.

/**
 * The readings of a book. Without any, the book's own status and dates are its only reading; a row for it is inserted as
 * soon as there is another one. The newest reading and the book agree: triggers.sql has the changes of the book,
 * readings/store.ts those of the reading.
 */
export const readings = sqliteTable(
  'readings',
  {
    /** That of the first reading is the book's. Others are in the upper half of the slot's range. */
    readingId: integer().primaryKey(),
    memberId: ownerId(),
    bookId: integer().notNull(),
    /** Milliseconds since 1970; 0 for the first reading. */
    createdAt: integer().notNull(),
    /** A date: yyyy, yyyy-MM or yyyy-MM-dd, like finishedAt. */
    startedAt: text(),
    finishedAt: text(),
    outcome: text({ enum: READING_OUTCOMES }),
    /** In quarters of a star. */
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
    /** That of the book's latest event is the number of its events, so that counting them writes no further row. */
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
    /** 1 … among the member's tags. */
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
    /** As written in the first of the books. */
    author: text().notNull(),
    bookCount: integer().notNull(),
  },
  (author) => [primaryKey({ columns: [author.memberId, author.authorKey] })],
)
