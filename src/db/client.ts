import { fillPlaceholders, type Query, sql } from 'drizzle-orm'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'

export type Db = DrizzleD1Database & { $client: D1Database }

export const connect = (database: D1Database): Db => drizzle(database)

/** Asks the database for nothing but an answer. */
export const ping = (db: Db) => db.$client.prepare('select 1').run()

type Buildable = { toSQL(): Query }
type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never
type Values = Record<string, unknown>

/** A query with its values, ready for a batch; `Row` is what it selects or returns. */
export type Statement<Row = unknown> = { query: (db: Db) => Query; values: Values; row?: Row }

/** A query that is built anew for each request, since its shape depends on what was sent. */
export const dynamic = <Q extends Buildable>(build: (db: Db) => Q, values: Values = {}): Statement<RowOf<Q>> => ({
  query: (db) => build(db).toSQL(),
  values,
})

/** A query of fixed shape: built at its first use in an isolate, then only its placeholders are filled. */
export const statement = <Q extends Buildable>(build: (db: Db) => Q) => {
  let built: Query | undefined
  const query = (db: Db) => {
    built ??= build(db).toSQL()
    return built
  }
  return (values: Values = {}): Statement<RowOf<Q>> => ({ query, values })
}

/** A value that a statement is given under this name, as a column of a selection: what an INSERT … SELECT inserts. */
export const given = <T>(name: string) => sql<T>`${sql.placeholder(name)}`.as(name)

type RowsOf<Statements extends readonly Statement[]> = {
  -readonly [K in keyof Statements]: Statements[K] extends Statement<infer Row> ? Row[] : never
}

/**
 * Runs the statements as one transaction in one round trip. Rows come as D1 gives them, keyed by column name: so a
 * query's selection keys are the column names, or are given by `.as()`.
 */
export const run = async <const Statements extends readonly Statement[]>(db: Db, ...statements: Statements) => {
  const results = await db.$client.batch(
    statements.map((each) => {
      const { sql, params } = each.query(db)
      return db.$client.prepare(sql).bind(...fillPlaceholders(params, each.values))
    }),
  )
  return results.map((result) => result.results) as RowsOf<Statements>
}
