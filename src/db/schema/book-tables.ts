import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { BOOK_FORMATS, BOOK_STATUSES } from '../../values/contract'
import { counter, isOneOf, isPage, isTimestamp } from './column-rules'
import { ownerId } from './member-tables'

/** The conditions of the partial indexes. SQLite uses such an index only for a query with the same condition. */
export const isFinished = sql.raw(`"bookStatus" = 'DONE' and "readEndDate" is not null`)
export const isUnread = sql.raw(`"bookStatus" = 'YET'`)
export const isWithMemos = sql.raw(`"hasMemos" = 1`)
export const hasAuthor = sql.raw(`"author" is not null`)
export const isRated = sql.raw(`"star" > 0`)
/** Finished on a date that readEndDate may not show. */
export const isFinishedApart = sql.raw(`"bookStatus" = 'DONE' and "finishedAt" is not null`)
/** Used since it was registered or imported: `activityAt`. */
export const isActive = sql.raw(`"activityAt" is not null`)
export const isPaused = sql.raw(`"bookStatus" = 'ING' and "isPaused" = 1`)
const hasReadingId = sql.raw(`"readingId" is not null`)
const hasIsbn = sql.raw(`"isbn" is not null`)
export const hasFormat = sql.raw(`"format" is not null`)
export const hasSeries = sql.raw(`"series" is not null`)
const flag = () => integer({ mode: 'boolean' }).notNull().default(false)

/** A folded text, as `toSortKey` in fold.ts returns it. */
export const folded = (name: string) => sql.raw(`coalesce("${name}Folded", lower("${name}"))`)
// Both are indexed.
export const titleKey = folded('title')
export const authorKey = folded('author')

export const books = sqliteTable(
  'books',
  {
    bookId: integer().primaryKey(),
    memberId: ownerId(),
    title: text().notNull(),
    subtitle: text(),
    cover: text(),
    author: text(),
    publisher: text(),
    createdAt: text().notNull(),
    star: integer().notNull().default(0),
    currentPage: integer().notNull().default(0),
    itemPage: integer(),
    bookStatus: text({ enum: BOOK_STATUSES }).notNull().default('YET'),
    readStartDate: text(),
    readEndDate: text(),
    contentMemos: counter(),
    summaryMemos: counter(),
    thoughtMemos: counter(),
    questionMemos: counter(),
    memoCount: counter(),
    /**
     * 1 while memoCount > 0. Unlike memoCount, it does not change with every memo, so the index on it is rarely
     * written.
     */
    hasMemos: counter(),
    /** UTF-8 bytes of the book's memos. */
    memoBytes: counter(),
    /** The newest memo. Null if there is none. */
    lastMemoId: integer(),
    /** How many blocks of twenty progress events count towards the member's quota. */
    eventBlocks: counter(),
    /** `toFoldedColumn` of the fields that search finds. Titles and authors are also sorted by it. */
    titleFolded: text(),
    subtitleFolded: text(),
    authorFolded: text(),
    publisherFolded: text(),
    /** ISBN-13 without hyphens. */
    isbn: text(),
    language: text(),
    format: text({ enum: BOOK_FORMATS }),
    publishedYear: integer(),
    series: text(),
    seriesNumber: real(),
    /** How long an audiobook is. */
    seconds: integer(),
    /** A JSON array of strings such as `goodreads:123`. Null if there are none. */
    sourceIds: text(),
    /** Books that were merged into it: an undo of the import that created it keeps it. Negative during its own merge. */
    mergedBooks: counter(),
    // The current reading, beside bookStatus, readStartDate, readEndDate and star. A book that is YET has none. Each of
    // these is ignored while it contradicts those four, so that an update of them need not touch it: shown-reading.ts.
    /** Null: the bookId. */
    readingId: integer(),
    /** A date: yyyy, yyyy-MM or the day on which the reading was stopped, like finishedAt. */
    startedAt: text(),
    finishedAt: text(),
    isStopped: flag(),
    /** The rating, in quarter stars. */
    quarters: integer(),
    /** The format in which it is read. `format` is that of the edition. */
    readingFormat: text({ enum: BOOK_FORMATS }),
    isPaused: flag(),
    /** When the reading began here, in milliseconds since 1970; 0 for the first one. */
    readingSince: counter(),
    /** The reading that was archived last, and its dates and stars: while the book shows them, they are not its own. */
    archivedId: integer(),
    archivedStart: text(),
    archivedEnd: text(),
    archivedStar: integer(),
    /** The import that last changed the reading. What it finishes adds no progress event of today. */
    importId: integer(),
    /**
     * The latest of progress, a new memo and a change of status, in milliseconds since 1970. Of what an import writes,
     * only progress counts. It never goes back.
     */
    activityAt: integer(),
    /** The last column, because it can be long and SQLite reads a row up to the last column that it needs. */
    note: text(),
  },
  (book) => [
    index('books_by_status').on(book.memberId, book.bookStatus),
    index('books_finished').on(book.memberId, book.readEndDate).where(isFinished),
    index('books_unread').on(book.memberId, book.createdAt).where(isUnread),
    index('books_with_memos').on(book.memberId).where(isWithMemos),
    index('books_by_title').on(book.memberId, titleKey),
    index('books_by_author').on(book.memberId, authorKey).where(hasAuthor),
    index('books_by_star').on(book.memberId, book.star).where(isRated),
    index('books_by_activity').on(book.memberId, book.bookStatus, book.activityAt).where(isActive),
    index('books_by_reading').on(book.readingId).where(hasReadingId),
    index('books_finished_apart').on(book.memberId, book.finishedAt).where(isFinishedApart),
    index('books_paused').on(book.memberId).where(isPaused),
    index('books_by_isbn').on(book.memberId, book.isbn).where(hasIsbn),
    index('books_by_format').on(book.memberId, book.format).where(hasFormat),
    index('books_by_series').on(book.memberId, book.series, book.seriesNumber).where(hasSeries),
    check('books_status', isOneOf(book.bookStatus, BOOK_STATUSES)),
    check('books_star', sql`${book.star} between 0 and 5`),
    check('books_is_stopped', sql`${book.isStopped} between 0 and 1`),
    check('books_is_paused', sql`${book.isPaused} between 0 and 1`),
    check('books_quarters', sql`${book.quarters} between 1 and 20`),
    // SQLite reads the list for a null, too.
    check('books_reading_format', sql`${book.readingFormat} is null or ${isOneOf(book.readingFormat, BOOK_FORMATS)}`),
    check('books_current_page', isPage(book.currentPage)),
    check('books_item_page', isPage(book.itemPage)),
    check('books_seconds', sql`${book.seconds} > 0`),
    check('books_created_at', isTimestamp(book.createdAt)),
    check('books_read_start_date', isTimestamp(book.readStartDate)),
    check('books_read_end_date', isTimestamp(book.readEndDate)),
    check(
      'books_memo_count',
      sql`${book.memoCount} = ${book.contentMemos} + ${book.summaryMemos} + ${book.thoughtMemos} + ${book.questionMemos}`,
    ),
    check(
      'books_memo_counts',
      sql`min(${book.contentMemos}, ${book.summaryMemos}, ${book.thoughtMemos}, ${book.questionMemos}) >= 0`,
    ),
    check('books_has_memos', sql`${book.hasMemos} = (${book.memoCount} > 0)`),
  ],
)

/** The highest deleted identifier of a table, so that identifiers are never reused. */
export const retiredIds = sqliteTable('retiredIds', { tableName: text().primaryKey(), id: integer().notNull() })

// A trigger deletes the rows below with the book: a foreign key would need an index that starts with bookId, and so
// write one more row each time.

/** The tags of a member. Triggers delete those without books and links. WITHOUT ROWID. */
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
    /** How many blocks of twenty books count towards the member's quota: the most that the tag has had. */
    blocks: counter(),
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
