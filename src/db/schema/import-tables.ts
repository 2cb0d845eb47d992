import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { IMPORT_OUTCOMES, IMPORT_STATUSES, MERGE_RULES } from '../../values/contract'
import { counter, isOneOf } from './column-rules'
import { ownerId } from './member-tables'

/** The condition of the index of imports that are running, or whose file is still to be deleted. */
export const hasFile = sql.raw(`"file" is not null`)

/** Files that members import. The file itself is in R2 until the import ends. WITHOUT ROWID. */
export const imports = sqliteTable(
  'imports',
  {
    memberId: ownerId(),
    /** When it was created, in milliseconds since 1970: unique among the member's. */
    importId: integer().notNull(),
    status: text({ enum: IMPORT_STATUSES }).notNull(),
    isDryRun: integer({ mode: 'boolean' }).notNull(),
    merge: text({ enum: MERGE_RULES }).notNull(),
    format: text().notNull(),
    encoding: text().notNull(),
    /** The token of the device that sent the file. Null if the member started the import. */
    tokenId: text(),
    /** SHA-256 of the file that a device sent, in base64: the same file again changes nothing. */
    fileHash: text(),
    /** The name of that file. */
    fileName: text(),
    /** A JSON array: the names of columns that the format does not know, and the `UnreadColumn`s. Null without any. */
    unknownColumns: text(),
    /** A JSON array of the columns of the table of failed rows. Null once the import is undone. */
    columns: text(),
    /** JSON: what the member said about the file, for reading it again. */
    options: text().notNull(),
    /** The last part of the file's key in R2. Null once it is deleted. */
    file: text(),
    /** Rows of the file, and how many of them are done. */
    total: integer().notNull(),
    done: counter(),
    created: counter(),
    updated: counter(),
    unchanged: counter(),
    skipped: counter(),
    failed: counter(),
    /** About what its report takes in the database. */
    reportBytes: counter(),
    /** Why the status is FAILED. */
    reason: text(),
    /**
     * One run at a time works on an import, until then; 0 while it waits behind another one. A random number tells the runs
     * apart.
     */
    leaseEndsAt: counter(),
    lease: counter(),
    /** How often it was continued since rows were last committed. */
    continuations: counter(),
    /**
     * Undone, cancelled, or older than the last that are kept. The row stays for 30 days, and counts towards the limit of a
     * day; that of a device goes with its report.
     */
    isDeleted: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (each) => [
    primaryKey({ columns: [each.memberId, each.importId] }),
    index('imports_with_file').on(each.importId).where(hasFile),
    index('imports_by_time').on(each.importId),
    check('imports_status', isOneOf(each.status, IMPORT_STATUSES)),
    check('imports_merge', isOneOf(each.merge, MERGE_RULES)),
  ],
)

/** Result of importing each row of a file. Kept for 30 days. WITHOUT ROWID. */
export const importRows = sqliteTable(
  'importRows',
  {
    memberId: ownerId(),
    importId: integer().notNull(),
    /** 1 … n in the order of the file. */
    row: integer().notNull(),
    line: integer().notNull(),
    title: text(),
    outcome: text({ enum: IMPORT_OUTCOMES }).notNull(),
    code: text(),
    /** A JSON array of what could not be kept: objects with code and field. Null if there is nothing. */
    losses: text(),
    bookId: integer(),
    /** JSON: the cells of a failed row. */
    cells: text(),
    /** JSON: what an undo needs, see src/transfer/imports/undo/snapshot.ts. */
    undo: text(),
    /**
     * A JSON array of memos with the texts that it replaced. The last column, because SQLite reads a row up to the last
     * one it needs.
     */
    texts: text(),
  },
  (row) => [
    primaryKey({ columns: [row.memberId, row.importId, row.row] }),
    check('importRows_outcome', isOneOf(row.outcome, IMPORT_OUTCOMES)),
  ],
)
