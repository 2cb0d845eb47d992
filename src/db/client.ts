import { fillPlaceholders, type Query, sql } from 'drizzle-orm'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'

/** Builds queries, and runs none. */
export type Builder = DrizzleD1Database

/** The database as one request sees it: `build` builds its queries, `session` runs them, `onBookmark` is told how far. */
export type Db = { build: Builder; session: D1DatabaseSession; onBookmark: (bookmark: string) => void }

const builders = new WeakMap<D1Database, Builder>()

const builderOf = (database: D1Database) => {
  const builder = builders.get(database) ?? drizzle(database)
  builders.set(database, builder)
  return builder
}

/**
 * Connects a request to the database. A replica may answer that has seen what the bookmark stands for; without one the
 * first query goes to the primary, so that whoever knows nothing of bookmarks reads their own writes.
 */
export const connect = (database: D1Database, bookmark?: string, onBookmark: Db['onBookmark'] = () => {}): Db => ({
  build: builderOf(database),
  session: database.withSession(bookmark ?? 'first-primary'),
  onBookmark,
})

/** Asks the database for nothing but an answer. */
export const ping = ({ session }: Db) => session.prepare('select 1').run()

type Buildable = { toSQL(): Query }
type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never
type Values = Record<string, unknown>

/** A query with its values, ready for a batch; `Row` is what it selects or returns. */
export type Statement<Row = unknown> = { query: (builder: Builder) => Query; values: Values; row?: Row }

/** A query that is built anew for each request, since its shape depends on what was sent. */
export const dynamic = <Q extends Buildable>(build: (db: Builder) => Q, values: Values = {}): Statement<RowOf<Q>> => ({
  query: (builder) => build(builder).toSQL(),
  values,
})

/** A query of fixed shape: built at its first use in an isolate, then only its placeholders are filled. */
export const statement = <Q extends Buildable>(build: (db: Builder) => Q) => {
  let built: Query | undefined
  const query = (builder: Builder) => {
    built ??= build(builder).toSQL()
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
export const run = async <const Statements extends readonly Statement[]>(
  { build, session, onBookmark }: Db,
  ...statements: Statements
) => {
  const results = await session.batch(
    statements.map((each) => {
      const { sql, params } = each.query(build)
      return session.prepare(sql).bind(...fillPlaceholders(params, each.values))
    }),
  )
  const bookmark = session.getBookmark()
  if (bookmark) onBookmark(bookmark)
  return results.map((result) => result.results) as RowsOf<Statements>
}
