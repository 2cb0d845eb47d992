import { sql } from 'drizzle-orm'
import { blob, check, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { ownerId } from './member-tables'

/**
 * What requests with an `Idempotency-Key` created. Without an index by day: each sweep reads a range of members.
 * WITHOUT ROWID.
 */
export const idempotencyKeys = sqliteTable(
  'idempotencyKeys',
  {
    memberId: ownerId(),
    /** 16 bytes of SHA-256 each: of the key, and of the method, URL and body (of a form, its file). */
    keyHash: blob().notNull(),
    requestHash: blob().notNull(),
    /** The identifier of the book, memo, reading or image, which the request tells apart. */
    id: integer().notNull(),
    /** The name of the image. Unlike its identifier, it is never given again. */
    name: text(),
    /** The UTC day, counted from 1970. */
    day: integer().notNull(),
  },
  (key) => [primaryKey({ columns: [key.memberId, key.keyHash] })],
)

/** The kinds of objects in `changes`, by code. START is the entry with which a log begins. */
export const CHANGE_KINDS = { START: 0, book: 1, memo: 2, tag: 3, reading: 4 } as const

/**
 * Which objects of a member have changed: a log, which begins with the first request for changes. While it is empty,
 * the triggers write nothing. It grows at the end, and is trimmed from the beginning, so it has no gaps. WITHOUT ROWID.
 */
export const changes = sqliteTable(
  'changes',
  {
    memberId: ownerId(),
    seq: integer().notNull(),
    kind: integer().notNull(),
    id: integer().notNull(),
    /** Random. A cursor has that of the newest entry that was visible, so that it is refused after a restore. */
    proof: integer().notNull(),
  },
  (change) => [
    primaryKey({ columns: [change.memberId, change.seq] }),
    check('changes_kind', sql`${change.kind} between 0 and 4`),
  ],
)
