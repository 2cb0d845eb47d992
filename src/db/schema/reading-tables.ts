import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { BOOK_FORMATS, GOAL_METRICS, PROGRESS_KINDS, READING_OUTCOMES } from '../../values/contract'
import { counter, isOneOf, isPage } from './column-rules'
import { ownerId } from './member-tables'

// A trigger deletes the rows of readings and progress with the book, as those of bookTags.

/** The date by which the statistics find a reading: its end or, for one that is paused, its start. */
export const countedOn = sql.raw(`coalesce("finishedAt", "startedAt")`)
/** The condition of the index on it, whose keys are never null. */
export const isCounted = sql.raw(`("finishedAt" is not null or ("isPaused" = 1 and "startedAt" is not null))`)

/** Finished, on a known day: the condition of the index that calendars read. */
export const isFinishedOnKnownDay = sql.raw(`"outcome" = 'FINISHED' and length("finishedAt") = 10`)

/**
 * The readings of books. A book without rows, unless it is unread, has one reading: its own status and dates. A row for
 * it is inserted when it is changed as a reading, or when another one begins. A book and its newest reading are kept in
 * sync: triggers.sql applies changes of the book, readings/newest.ts those of the reading.
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
    /** How often the member edited it as a reading. */
    edits: counter(),
  },
  (reading) => [
    index('readings_by_book').on(reading.memberId, reading.bookId),
    index('readings_by_date').on(reading.memberId, countedOn).where(isCounted),
    index('readings_finished').on(reading.memberId, reading.finishedAt).where(isFinishedOnKnownDay),
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
    /**
     * In the latest event of a book: the number of its events. Kept here, because a counter elsewhere would be another
     * row.
     */
    total: integer().notNull(),
  },
  (event) => [
    primaryKey({ columns: [event.memberId, event.bookId, event.at] }),
    index('progress_by_time').on(event.memberId, event.at),
    check('progress_page', isPage(event.page)),
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
