import { is, Param, Placeholder, type Query, sql } from 'drizzle-orm'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { unavailable } from '../http/errors'
import { withRetries, withTimeout } from '../retry'
import { createRoom } from '../room'

/** Builds queries, and runs none. */
export type Builder = DrizzleD1Database

/** The database as one request sees it: `build` builds its queries, `session` runs them, `onBookmark` is told how far. */
export type Db = {
  build: Builder
  session: D1DatabaseSession
  onBookmark: (bookmark: string) => void
  /** Keeps a call alive when the client goes away. */
  waitUntil: (call: Promise<unknown>) => void
}

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
export const connect = (
  database: D1Database,
  bookmark?: string,
  onBookmark: Db['onBookmark'] = () => {},
  waitUntil: Db['waitUntil'] = () => {},
): Db => ({
  build: builderOf(database),
  session: database.withSession(bookmark ?? 'first-primary'),
  onBookmark,
  waitUntil,
})

type Buildable = { toSQL(): Query }
type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never
type Values = Record<string, unknown>

/** A query as it is sent, and what each of its parameters is, given the values of its placeholders. */
type Built = { sql: string; params: ((values: Values) => unknown)[] }

/** A query with its values, ready for a batch; `Row` is what it selects or returns. */
export type Statement<Row = unknown> = {
  query: (builder: Builder) => Built
  values: Values
  row?: Row
  /** A write that may be made twice: the second changes nothing, and answers the same. */
  isRepeatable?: true
}

// As Drizzle's fillPlaceholders does, which asks again at each request what each parameter is.
const toFill = (param: unknown): Built['params'][number] => {
  if (is(param, Placeholder)) return (values) => values[param.name]
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param
  const { name } = param.value
  return (values) => param.encoder.mapToDriverValue(values[name])
}

const toBuilt = ({ sql, params }: Query): Built => ({ sql, params: params.map(toFill) })

/** A query that is built anew for each request, since its shape depends on what was sent. */
export const dynamic = <Q extends Buildable>(build: (db: Builder) => Q, values: Values = {}): Statement<RowOf<Q>> => ({
  query: (builder) => toBuilt(build(builder).toSQL()),
  values,
})

/** A query of fixed shape: built at its first use in an isolate, then only its placeholders are filled. */
export const statement = <Q extends Buildable>(build: (db: Builder) => Q) => {
  let built: Built | undefined
  const query = (builder: Builder) => {
    built ??= toBuilt(build(builder).toSQL())
    return built
  }
  return (values: Values = {}): Statement<RowOf<Q>> => ({ query, values })
}

/** A value that a statement is given under this name, as a column of a selection: what an INSERT … SELECT inserts. */
export const given = <T>(name: string) => sql<T>`${sql.placeholder(name)}`.as(name)

/** The statement, as one that may be made again when it is unknown whether it was made. */
export const repeatable = <Row>(each: Statement<Row>): Statement<Row> => ({ ...each, isRepeatable: true })

type RowsOf<Statements extends readonly Statement[]> = {
  -readonly [K in keyof Statements]: Statements[K] extends Statement<infer Row> ? Row[] : never
}

/** So long an answer is waited for, tries and pauses included. */
const LONGEST_MS = 10_000

// D1's words for what passes, of which its documentation says to try again.
const PASSES =
  /Network connection lost|storage caused object to be reset|reset because its code was updated|transient issue on remote node|client disconnected/
// And those of a database that has too much to do: to try again at once would make it worse.
const IS_OVERLOADED = /overloaded|exceeded timeout|exceeded its (?:memory|CPU time) limit|No answer within/

// D1 takes one query at a time: whoever would wait behind more than these is better told to come back.
const CALLS_AT_ONCE = 128
const enter = createRoom(CALLS_AT_ONCE, LONGEST_MS)

const isRead = (sql: string) => sql.startsWith('select')

/** What D1 answers to a batch, or an Error when it is something else. */
const toRows = (results: D1Result[], count: number) => {
  const rows = results.map((result) => result.results)
  if (rows.length !== count || !rows.every(Array.isArray)) throw new Error('D1 gave an answer of another shape')
  return rows
}

/**
 * Runs the statements as one transaction in one round trip. Rows come as D1 gives them, keyed by column name: so a
 * query's selection keys are the column names, or are given by `.as()`. What only reads, or is `repeatable`, is tried
 * again when D1 says that its failure will pass.
 * @throws UNAVAILABLE when D1 fails in a way that passes, does not answer in time, or has too many calls before it
 */
export const run = async <const Statements extends readonly Statement[]>(
  { build, session, onBookmark, waitUntil }: Db,
  ...statements: Statements
) => {
  const queries = statements.map((each) => each.query(build))
  const prepared = queries.map(({ sql, params }, at) =>
    session.prepare(sql).bind(...params.map((fill) => fill(statements[at]?.values ?? {}))),
  )
  const isWorthIt = ({ message }: Error) =>
    PASSES.test(message) && statements.every((each, at) => each.isRepeatable || isRead(queries[at]?.sql ?? ''))
  const leave = enter(1)
  if (!leave) throw unavailable()
  const call = withTimeout(LONGEST_MS, () => withRetries(() => session.batch(prepared), isWorthIt))
  // Or it would be ended with its client, and its place be taken for as long as a call may take.
  waitUntil(call.then(leave, leave))
  const results = await call.catch((error: Error) => {
    throw PASSES.test(error.message) || IS_OVERLOADED.test(error.message) ? unavailable(error) : error
  })
  const bookmark = session.getBookmark()
  if (bookmark) onBookmark(bookmark)
  return toRows(results, statements.length) as RowsOf<Statements>
}

/** Asks the database for nothing but an answer. */
export const ping = (db: Db) => run(db, { query: () => ({ sql: 'select 1', params: [] }), values: {} })
