import { type Placeholder, sql } from 'drizzle-orm'

// SQLite inspects the value of a bare parameter in LIMIT or in a comparison with the column of a partial index, and
// therefore recompiles the statement for each execution, which takes longer than running it. An expression around the
// parameter prevents that.

/** The `limit` and `offset` of a page. Typed as Drizzle's `limit` and `offset` want them; they accept any SQL. */
export const limit = sql`(:limit + 0)` as unknown as Placeholder
export const offset = sql`(:offset + 0)` as unknown as Placeholder

/** A text parameter to compare with the column of a partial index. */
export const comparedText = (name: string) => sql<string>`(${sql.raw(`:${name}`)} || '')`
