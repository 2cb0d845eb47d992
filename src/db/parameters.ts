import { sql } from 'drizzle-orm'

// SQLite inspects the value of a bare parameter in LIMIT or in a comparison with the column of a partial index, and
// therefore recompiles the statement for each execution, which takes longer than running it. An expression around the
// parameter prevents that, such as `(:isbn || '')` for text.

/** The `limit` and `offset` of a page. */
export const limit = sql`(:limit + 0)`
export const offset = sql`(:offset + 0)`

/** A number in the text of a statement, not a parameter. */
export const number = (value: number) => sql.raw(String(value))
