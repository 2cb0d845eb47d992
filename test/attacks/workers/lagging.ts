// The service with slots 0 and 1, whose databases have replicas that lag behind: those of slots 2 and 3. A request with X-Fail-After
// loses its connection to the database after so many calls.
import service from '../../support/service/service.js'
import { wrapDatabase } from '../../support/wrap-database.ts'

type Env = Record<'DB' | 'DB_1' | 'DB_2' | 'DB_3', D1Database>

/** A database whose replica answers those who send a bookmark. */
const withReplica = (primary: D1Database, replica: D1Database) =>
  ({
    withSession: (bookmark: string) => {
      if (bookmark === 'first-primary') return primary.withSession(bookmark)
      const session = replica.withSession()
      return {
        prepare: (query: string) => session.prepare(query),
        batch: session.batch.bind(session),
        getBookmark: () => null,
      }
    },
  }) as D1Database

const failAfter = (database: D1Database, calls: number) => {
  let made = 0
  return wrapDatabase(database, async (call) => {
    if (made++ >= calls) throw new Error('halted')
    return call()
  })
}

const envs = new WeakMap<Env, Partial<Env>>()
const lag = (env: Env) => {
  const { DB, DB_1, DB_2, DB_3, ...others } = env
  const lagging = envs.get(env) ?? { ...others, DB: withReplica(DB, DB_2), DB_1: withReplica(DB_1, DB_3) }
  envs.set(env, lagging)
  return lagging
}

export default {
  fetch: (request, env, context) => {
    const { DB, DB_1, DB_2: _, DB_3: __, ...others } = env
    const calls = request.headers.get('X-Fail-After')
    if (calls === null) return service.fetch(request, lag(env), context)
    return service.fetch(request, { ...others, DB: failAfter(DB, +calls), DB_1: failAfter(DB_1, +calls) }, context)
  },
} satisfies ExportedHandler<Env>
