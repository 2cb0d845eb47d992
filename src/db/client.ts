import { type Column, fillPlaceholders, type Query, type SQL, sql } from 'drizzle-orm'
import { unavailable } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { log } from '../runtime/log'
import { TimeoutError, withRetries } from '../runtime/retry'
import { acquireCall, type Source } from './calls'
import { idRange } from './next-id'

/** What Drizzle's dialect of SQLite does, without its query builder, which would be a tenth of the Worker. */
const DIALECT = {
  casing: { getColumnCasing: ({ name }: Column) => name },
  escapeName: (name: string) => `"${name}"`,
  escapeParam: () => '?',
} as unknown as Parameters<SQL['toQuery']>[0]

declare const isConfirmed: unique symbol
/** The member of a credential that the guard has accepted; only the guard makes one. `scopes`: bits, all for a session. */
export type ConfirmedMember = { readonly memberId: number; readonly scopes: number; readonly [isConfirmed]: true }

/** The connection of one request to one database. */
export type Db = Source & {
  session: D1DatabaseSession
  openPrimary: () => D1DatabaseSession
  /** Whether a replica may answer, which may lack the latest writes. */
  isReplica: boolean
  onBookmark: (bookmark: string) => void
  /** Receives what the guard of each call finds: the member, or that the credential has ended. */
  onGuard?: (found: ConfirmedMember | 'ended') => Promise<void>
  /** Keeps a call running after its client disconnects. */
  waitUntil: (call: Promise<unknown>) => void
}

/** The latest bookmark that this isolate received from each database. */
const bookmarks = new WeakMap<D1Database, string>()

type ConnectOptions = { bookmark?: string } & Partial<Omit<Db, 'session' | 'credential' | 'onGuard'>>

/**
 * Connects a request to a database. With a bookmark, a replica that is at least as recent may answer; without one,
 * the first query goes to the primary, so that clients that send no bookmarks read their own writes. A bookmark later
 * than any that this isolate received from D1 is ignored: it may be from the future, so that no replica would reach it,
 * and the session would return it to the client.
 */
export const connect = (
  database: D1Database,
  { slot = 0, sources = [], bookmark, onBookmark = () => {}, waitUntil = () => {} }: ConnectOptions = {},
): Db => {
  const latestBookmark = () => bookmarks.get(database) ?? ''
  const isReplica = bookmark !== undefined && bookmark <= latestBookmark()
  return {
    slot,
    sources,
    session: database.withSession(isReplica ? bookmark : 'first-primary'),
    openPrimary: () => database.withSession('first-primary'),
    isReplica,
    onBookmark: (latest) => {
      if (latest > latestBookmark()) bookmarks.set(database, latest)
      onBookmark(latest)
    },
    waitUntil,
  }
}

export type Values = Record<string, unknown>

/** A query with the values of its parameters. `Row` is what it selects or returns, and exists only in the type. */
export type Statement<Row = unknown> = {
  build: () => Query
  values: Values
  row?: Row
  /** Running it twice has the same effect, and the same result, as running it once. */
  isIdempotent?: true
  /** Its result is the first row, or undefined, instead of all rows. */
  isFirst?: true
}

/** Replaces the named parameters in the text, such as `:email`, with placeholders. */
const replaceNames = ({ sql: text, params }: Query): Query => {
  const unnamed = params.values()
  const all: unknown[] = []
  const replaced = text.replace(/\?|:([a-z]\w*)/gi, (_, name?: string) => {
    all.push(name ? sql.placeholder(name) : unnamed.next().value)
    return '?'
  })
  return { sql: replaced, params: all }
}

/**
 * A query of fixed shape: built once per isolate, then only filled. The SQL names its parameters: `:email`. Those of the
 * caller (`:caller…`) and of the slot (`:idFloor`, `:idCeiling`) are added when it runs: `runAsCaller`, `run`.
 */
export const sqlStatement = <Row>(text: TemplateStringsArray, ...parts: unknown[]) => {
  let built: Query | undefined
  const build = () => {
    built ??= replaceNames(sql(text, ...parts).toQuery(DIALECT))
    return built
  }
  return (values: Values = {}): Statement<Row> => ({ build, values })
}

/** The SET clause of an update of the columns that have a value. */
export const assignments = (values: Values) => {
  const present = Object.entries(values).filter(([, value]) => value !== undefined)
  return sql.join(
    present.map(([name, value]) => sql`${sql.raw(name)} = ${value}`),
    sql`, `,
  )
}

/** Marks a write as safe to retry when it is unknown whether it took effect. */
export const idempotent = <Row>(write: Statement<Row>): Statement<Row> => ({ ...write, isIdempotent: true })

/** A statement of which only the first row is wanted. */
export const firstRow = <Row>(statement: Statement<Row>): Statement<Row> & { isFirst: true } => ({
  ...statement,
  isFirst: true,
})

/** Statements by name, which run in this order. An array of them has an array of results; undefined is left out. */
export type Batch = Readonly<Record<string, Statement | readonly Statement[] | undefined>>
type ResultOf<Each> = Each extends { isFirst: true; row?: infer Row }
  ? Row | undefined
  : Each extends Statement<infer Row>
    ? Row[]
    : Each extends readonly Statement<infer Row>[]
      ? Row[][]
      : undefined
export type Results<B extends Batch> = { [Name in keyof B]: ResultOf<B[Name]> }

// Transient D1 errors: those that its documentation says to retry, and failures inside D1, which name only a reference.
const TRANSIENT =
  /Network connection lost|storage caused object to be reset|reset because its code was updated|transient issue on remote node|client disconnected|internal error; reference = /
// An overloaded or full database: an immediate retry would make it worse, or fail, too.
const OVERLOADED = /overloaded|exceeded timeout|exceeded its (?:memory|CPU time) limit|SQLITE_FULL|[Mm]aximum DB size/
// A self-hosted database while a command writes to its file: SQLite has rolled the transaction back.
const LOCKED = /SQLITE_BUSY/

const isRead = (sql: string) => /^\s*(?:select|with)\b/.test(sql) && !/\b(?:insert|update|delete)\b/.test(sql)

/** D1 is not trusted to answer in the documented shape. */
class UnexpectedResultError extends Error {
  override message = 'D1 returned results of an unexpected shape'
}

/** Whether D1 answered as documented: with a list of rows for each statement. */
const isComplete = (results: D1Result[], count: number) =>
  Array.isArray(results) && results.length === count && results.every(({ results }) => Array.isArray(results))

/** The error with the slot in its message, for the log. */
const inSlot = (slot: number, error: Error) => {
  if (slot > 0) error.message = `slot ${slot}: ${error.message}`
  return error
}

/**
 * Runs the statements as one transaction in one round trip. Rows are keyed by column name, as D1 returns them. Reads
 * and idempotent writes are retried on transient errors and unexpected answers, all statements on a locked database.
 * @param shared values of parameters of all statements
 * @throws UNAVAILABLE when D1 fails with a transient error, is full or times out, or when the call waits too long for its
 * turn
 */
export const run = async <B extends Batch>(db: Db, batch: B, shared: Values = {}): Promise<Results<B>> => {
  const { slot, session, onBookmark, waitUntil } = db
  const statements = Object.values(batch).flatMap((each) => each ?? [])
  const queries = statements.map(({ build }) => build())
  const range = idRange(slot)
  const prepared = queries.map(({ sql, params }, at) =>
    session.prepare(sql).bind(...fillPlaceholders(params, { ...statements[at]?.values, ...shared, ...range })),
  )
  const ask = async () => {
    const results = await session.batch(prepared)
    if (!isComplete(results, statements.length)) throw new UnexpectedResultError()
    return results
  }
  const isRetryable = (error: Error) =>
    LOCKED.test(error.message) ||
    ((error instanceof UnexpectedResultError || TRANSIENT.test(error.message)) &&
      statements.every((each, at) => each.isIdempotent || isRead(queries[at]?.sql ?? '')))
  const lease = await acquireCall(db)
  if (!lease) throw unavailable()
  const call = withRetries(db.isPush ? DEADLINES.push : DEADLINES.databaseCall, ask, isRetryable)
  // Otherwise a client that disconnects would end the call, and the lease would be held until it expires.
  waitUntil(call.then(lease.release, lease.release))
  const results = await call.catch((error: Error) => {
    const isTemporary =
      error instanceof TimeoutError || [TRANSIENT, OVERLOADED, LOCKED].some((known) => known.test(error.message))
    throw isTemporary ? unavailable(inSlot(slot, error)) : inSlot(slot, error)
  })
  const bookmark = session.getBookmark()
  if (bookmark) onBookmark(bookmark)
  let at = 0
  const take = ({ isFirst }: Statement) => {
    const rows = results[at++]?.results
    return isFirst ? rows?.[0] : rows
  }
  const named = Object.entries(batch).map(([name, each]) => [
    name,
    each && ('build' in each ? take(each) : each.map(take)),
  ])
  return Object.fromEntries(named)
}

/** Keeps work running after its client disconnects, which would otherwise end it half-done, with its leases held. */
export const uninterrupted = <T>(db: Db, work: Promise<T>) => {
  db.waitUntil(work.catch(() => {}))
  return work
}

/** The same connection for work after the response, whose headers can no longer be set. */
export const afterResponse = (db: Db): Db => ({ ...db, onBookmark: () => {} })

/** Runs statements after the response. A failure is only logged. */
export const runAfterResponse = (db: Db, purpose: string, batch: Batch) => {
  const call = run(afterResponse(db), batch)
  db.waitUntil(call.catch((error) => log('error', `${purpose}: ${error}`)))
}

/** The same connection for calls that no replica may answer. */
export const atPrimary = (db: Db): Db => (db.isReplica ? { ...db, session: db.openPrimary(), isReplica: false } : db)

/** The same connection for the service's own calls, which count towards no caller's share and go first. */
export const asService = (db: Db): Db => ({ ...db, sources: [], credential: undefined })
