// A D1 database each call of which passes through `around`: to be counted, or to be held up.

type Around = <T>(call: () => Promise<T>) => Promise<T>
const inner = Symbol()
type Wrapped = D1PreparedStatement & { [inner]: D1PreparedStatement }

const wrapStatement = (statement: D1PreparedStatement, around: Around): D1PreparedStatement =>
  ({
    [inner]: statement,
    bind: (...values: unknown[]) => wrapStatement(statement.bind(...values), around),
    first: (column: string) => around(() => statement.first(column)),
    run: () => around(() => statement.run()),
    all: () => around(() => statement.all()),
    raw: () => around(() => statement.raw()),
  }) as unknown as Wrapped

type Callable = Pick<D1Database, 'prepare' | 'batch'>

const wrapCalls = (database: Callable, around: Around): Callable => ({
  prepare: (query) => wrapStatement(database.prepare(query), around),
  batch: (statements) => around(() => database.batch(statements.map((each) => (each as Wrapped)[inner]))),
})

export const wrapDatabase = (database: D1Database, around: Around) =>
  ({
    ...wrapCalls(database, around),
    withSession: (bookmark: string) => {
      const session = database.withSession(bookmark)
      return { ...wrapCalls(session, around), getBookmark: () => session.getBookmark() }
    },
  }) as D1Database
