import { sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { callerId, isOwnRow } from './caller'
import { sqlStatement } from './client'
import { books } from './schema/book-tables'

/** Matches the book of the parameter `bookId`, if it is the caller's. */
export const isOwnBook = isOwnRow(books.bookId, books.memberId)

const isBookOfCaller = isOwnRow(books.bookId, books.memberId, sql`caller.id`)

type RowOf<Columns extends Record<string, SQLiteColumn>> = { [Name in keyof Columns]: Columns[Name]['_']['data'] }
type Nulls<Row> = { [Name in keyof Row]: null }

/**
 * As the guard of `runAsCaller`: selects columns of the caller's book, `bookId` among them. They are null if the
 * caller has no such book. It saves a statement: a batch takes time for each.
 */
export const selectOwnBook = <Columns extends Record<string, SQLiteColumn>>(columns: Columns) =>
  sqlStatement<RowOf<Columns> | Nulls<RowOf<Columns>>>`
    select ${sql.join(Object.values(columns), sql`, `)}
    from (select ${callerId} as id limit 1) as caller left join ${books} on ${isBookOfCaller} where caller.id is not null`
