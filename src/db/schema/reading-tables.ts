import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { BOOK_FORMATS, GOAL_METRICS, PROGRESS_KINDS, READING_OUTCOMES } from '../../values/contract'
import { isOneOf, isPage } from './column-rules'
import { ownerId } from './member-tables'

// A trigger deletes the rows of readings and progress with the book, as those of bookTags.

/** The condition of the index by which the statistics find a reading. */
export const isCounted = sql.raw(`"finishedAt" is not null`)

/** Finished, on a known day: the condition of the index that calendars read. */
export const isFinishedOnKnownDay = sql.raw(`"outcome" = 'FINISHED' and length("finishedAt") = 10`)

/** The condition of the index by which the statistics find an event. */
export const isDated = sql.raw(`"kind" <> 'UNDATED'`)
/** The condition of the index by which the picture of a year finds how long books were read. */
export const isTimed = sql.raw(`"minutes" is not null and "kind" <> 'UNDATED'`)
const isOfDevice = sql.raw(`"tokenId" is not null`)

/** The past readings of books. A trigger deletes the row of a reading that becomes the current one of its book. */
export const readings = sqliteTable(
  'readings',
  {
    /** That of the book, or one in the upper half of the slot's range. */
    readingId: integer().primaryKey(),
    memberId: ownerId(),
    bookId: integer().notNull(),
    /** Milliseconds since 1970; 0 for the first reading. */
    createdAt: integer().notNull(),
    /** A date: yyyy, yyyy-MM or yyyy-MM-dd, like finishedAt. */
    startedAt: text(),
    finishedAt: text(),
    outcome: text({ enum: READING_OUTCOMES }).notNull(),
    /** The rating, in quarter stars. */
    quarters: integer(),
    format: text({ enum: BOOK_FORMATS }),
    note: text(),
  },
  (reading) => [
    index('readings_by_book').on(reading.memberId, reading.bookId),
    index('readings_by_date').on(reading.memberId, reading.finishedAt).where(isCounted),
    index('readings_finished').on(reading.memberId, reading.finishedAt).where(isFinishedOnKnownDay),
    check('readings_outcome', isOneOf(reading.outcome, READING_OUTCOMES)),
    check('readings_quarters', sql`${reading.quarters} between 1 and 20`),
    check('readings_format', isOneOf(reading.format, BOOK_FORMATS)),
  ],
)

/** Changes of a book's current page. A trigger merges the oldest beyond MAX_EVENTS of a book. WITHOUT ROWID. */
export const progress = sqliteTable(
  'progress',
  {
    memberId: ownerId(),
    bookId: integer().notNull(),
    /** Milliseconds since 1970. The latest event has the book's current page. */
    at: integer().notNull(),
    page: integer().notNull(),
    kind: text({ enum: PROGRESS_KINDS }).notNull(),
    /**
     * In the latest event of a book: the number of its events. Kept here, because a counter elsewhere would be another
     * row.
     */
    total: integer().notNull(),
    /** How long the sitting was that ended with it. */
    minutes: integer(),
    /** The second of an audiobook that was reached. */
    seconds: integer(),
    /** The token of the device that pushed it. */
    tokenId: text(),
    /** What an undo of that restores: the page before, and whether the book was unread. */
    pageBefore: integer(),
    begins: integer({ mode: 'boolean' }),
  },
  (event) => [
    primaryKey({ columns: [event.memberId, event.bookId, event.at] }),
    index('progress_by_time').on(event.memberId, event.at).where(isDated),
    index('progress_timed').on(event.memberId, event.at).where(isTimed),
    index('progress_by_token').on(event.memberId, event.tokenId, event.at).where(isOfDevice),
    check('progress_page', isPage(event.page)),
    check('progress_minutes', sql`${event.minutes} between 1 and 1440`),
    check('progress_kind', isOneOf(event.kind, PROGRESS_KINDS)),
  ],
)

/** What a member wants to read in a year. WITHOUT ROWID. */
export const goals = sqliteTable(
  'goals',
  {
    memberId: ownerId(),
    year: integer().notNull(),
    metric: text({ enum: GOAL_METRICS }).notNull(),
    target: integer().notNull(),
  },
  (goal) => [
    primaryKey({ columns: [goal.memberId, goal.year] }),
    check('goals_metric', isOneOf(goal.metric, GOAL_METRICS)),
    check('goals_target', sql`${goal.target} > 0`),
  ],
)
