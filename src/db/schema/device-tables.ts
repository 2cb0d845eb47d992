import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { counter } from './column-rules'
import { ownerId } from './member-tables'

// What devices push: docs/decisions/0037-devices.md. Triggers delete the oldest rows beyond a limit.

const hasBook = sql.raw(`"bookId" is not null`)
/** The condition of the index by which uploads of reading statistics find documents that wait for a book. */
export const isWaiting = sql.raw(
  `"bookId" is null and "isByHand" = 0 and "seconds" > 0 and "title" is not null and "authors" is not null`,
)
const isLinkedByPush = sql.raw(`"tokenId" is not null`)
const flag = () => integer({ mode: 'boolean' }).notNull().default(false)

/** The documents of devices, and their books. WITHOUT ROWID. */
export const documents = sqliteTable(
  'documents',
  {
    memberId: ownerId(),
    /** As devices name it: mostly a partial MD5 of the file. */
    document: text().notNull(),
    /** When it was first pushed, in milliseconds since 1970. */
    createdAt: integer().notNull(),
    title: text(),
    /** One a line. */
    authors: text(),
    filename: text(),
    /** Its book. Ignored unless that is in the library: one in the trash may be restored. */
    bookId: integer(),
    /** Whether the member has set the book, or that it has none: then no push changes that. */
    isByHand: flag(),
    /** The token whose push has found the book, and when. */
    tokenId: text(),
    linkedAt: integer(),
    /** The sum of its sittings. */
    seconds: counter(),
  },
  (document) => [
    primaryKey({ columns: [document.memberId, document.document] }),
    index('documents_by_time').on(document.memberId, document.createdAt),
    index('documents_by_token').on(document.memberId, document.tokenId, document.linkedAt).where(isLinkedByPush),
    index('documents_waiting').on(document.memberId, document.document).where(isWaiting),
    index('documents_by_book').on(document.memberId, document.bookId).where(hasBook),
  ],
)

/** The latest position of each device in a document. WITHOUT ROWID. */
export const positions = sqliteTable(
  'positions',
  {
    memberId: ownerId(),
    document: text().notNull(),
    tokenId: text().notNull(),
    /** When it was pushed, in milliseconds since 1970. */
    at: integer().notNull(),
    /** From 0 to 1. */
    percentage: real().notNull(),
    /** Whether it was pushed with others, from a queue, so that its day is not known. */
    isReplayed: flag(),
    /** What only the devices understand. */
    progress: text().notNull(),
    device: text().notNull(),
    deviceId: text().notNull(),
  },
  (position) => [
    primaryKey({ columns: [position.memberId, position.document, position.tokenId] }),
    index('positions_by_token').on(position.memberId, position.tokenId, position.at),
    check('positions_percentage', sql`${position.percentage} between 0 and 1`),
  ],
)

/** How long a document was read on a day: what one upload of reading statistics has added. WITHOUT ROWID. */
export const sittings = sqliteTable(
  'sittings',
  {
    memberId: ownerId(),
    tokenId: text().notNull(),
    /** When it was uploaded, in milliseconds since 1970. */
    at: integer().notNull(),
    document: text().notNull(),
    /** yyyy-MM-dd, in the time zone that the member had then. */
    day: text().notNull(),
    seconds: integer().notNull(),
  },
  (sitting) => [
    primaryKey({ columns: [sitting.memberId, sitting.tokenId, sitting.at, sitting.document, sitting.day] }),
    index('sittings_by_document').on(sitting.memberId, sitting.document, sitting.day, sitting.seconds),
    index('sittings_by_day').on(sitting.memberId, sitting.day, sitting.document, sitting.seconds),
    check('sittings_seconds', sql`${sitting.seconds} > 0`),
  ],
)

/** The file of reading statistics that the devices of a member share: docs/decisions/0040-reading-time.md. */
export const statisticsFiles = sqliteTable(
  'statisticsFiles',
  {
    memberId: ownerId(),
    /** The name of its object in the bucket. Null until the first file is counted as a whole. */
    file: text(),
    /** The SHA-256 of the file. */
    hash: text(),
    bytes: counter(),
    /** The name of the object with the rows that were counted and are not in the file. Null if there are none. */
    missing: text(),
    missingBytes: counter(),
    /** How many rows of `sittings` the member has. */
    sittings: counter(),
    uploadedAt: integer().notNull(),
  },
  (file) => [primaryKey({ columns: [file.memberId] })],
)
