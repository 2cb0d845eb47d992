/** `queries`: the statements of the call. */
type Intercept = <T>(call: () => Promise<T>, queries: number) => Promise<T>
const inner = Symbol()
type Wrapped = D1PreparedStatement & { [inner]: D1PreparedStatement }

const wrapStatement = (statement: D1PreparedStatement, intercept: Intercept): D1PreparedStatement =>
  ({
    [inner]: statement,
    bind: (...values: unknown[]) => wrapStatement(statement.bind(...values), intercept),
    first: (column: string) => intercept(() => statement.first(column), 1),
    run: () => intercept(() => statement.run(), 1),
    all: () => intercept(() => statement.all(), 1),
    raw: () => intercept(() => statement.raw(), 1),
  }) as unknown as Wrapped

type Callable = Pick<D1Database, 'prepare' | 'batch'>

const wrapCalls = (database: Callable, intercept: Intercept): Callable => ({
  prepare: (query) => wrapStatement(database.prepare(query), intercept),
  batch: (statements) =>
    intercept(() => database.batch(statements.map((each) => (each as Wrapped)[inner])), statements.length),
})

/** A D1 database whose calls all go through `intercept`, which may count, delay or fail them. */
export const wrapDatabase = (database: D1Database, intercept: Intercept) =>
  ({
    ...wrapCalls(database, intercept),
    withSession: (bookmark: string) => {
      const session = database.withSession(bookmark)
      return { ...wrapCalls(session, intercept), getBookmark: () => session.getBookmark() }
    },
  }) as D1Database

/** Wraps the databases of all slots once per env object, as the platform creates a binding once. */
export const wrapEnv = <Env extends { DB: D1Database }>(toIntercept: (env: Env, binding: string) => Intercept) => {
  const wrapped = new WeakMap<Env, Env>()
  return (env: Env) => {
    const known = wrapped.get(env) ?? { ...env }
    if (!wrapped.has(env)) {
      for (const [binding, value] of Object.entries(env)) {
        if (!/^DB(?:_\d+)?$/.test(binding)) continue
        Object.assign(known, { [binding]: wrapDatabase(value as D1Database, toIntercept(env, binding)) })
      }
      wrapped.set(env, known)
    }
    return known
  }
}
