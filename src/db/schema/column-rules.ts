import { sql } from 'drizzle-orm'
import { type AnySQLiteColumn, integer } from 'drizzle-orm/sqlite-core'
import { MAX_INT } from '../../values/contract'

// Column names are the contract's field names, so that a selected row is the JSON response. Triggers maintain the
// counters (…Books, …Memos, memoCount, imageCount, keyCount, bookCount, hasMemos, …Bytes), the positions, and further
// tables: docs/design.md#triggers. Where the migration creates a table WITHOUT ROWID, which Drizzle cannot express, its
// comment says so.

const literals = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(', '))
export const isOneOf = (column: AnySQLiteColumn, values: readonly string[]) => sql`${column} in (${literals(values)})`
export const isPage = (column: AnySQLiteColumn) => sql`${column} between 0 and ${sql.raw(String(MAX_INT))}`
// IS rather than =: strftime returns null for an invalid date, and a CHECK accepts null.
export const isTimestamp = (column: AnySQLiteColumn) => sql`${column} is strftime('%Y-%m-%dT%H:%M:%S', ${column})`
export const counter = () => integer().notNull().default(0)
