// The service's own Worker on Node: the bundle that would be deployed, with a D1-shaped adapter over better-sqlite3.
import { serve } from '@hono/node-server'
import type { Statement } from 'better-sqlite3'
import { openDatabase } from './database.ts'

const bundle = new URL('../.build/service/index.js', import.meta.url)
const { default: worker } = (await import(bundle.href)) as {
  default: { fetch: (request: Request, env: object, context: object) => Response | Promise<Response> }
}

const database = openDatabase()
const prepared = new Map<string, Statement<unknown[], unknown>>()

const prepareOnce = (query: string) => {
  const statement = prepared.get(query) ?? database.prepare<unknown[], unknown>(query)
  prepared.set(query, statement)
  return statement
}

type Bound = { query: string; run: () => { results: unknown[]; success: true; meta: object } }

const bind = (query: string, values: unknown[]): Bound => ({
  query,
  run: () => {
    const statement = prepareOnce(query)
    if (statement.reader) return { results: statement.all(...values), success: true, meta: {} }
    const { changes } = statement.run(...values)
    return { results: [], success: true, meta: { changes } }
  },
})
const runAll = (statements: Bound[]) => statements.map((statement) => statement.run())
const runInTransaction = database.transaction(runAll)
// Reads that run without a pause between them need no transaction to be one: nor do the peers begin any.
const batch = (statements: Bound[]) =>
  statements.every(({ query }) => prepareOnce(query).readonly) ? runAll(statements) : runInTransaction(statements)

// What the service uses of D1; all of it answers at once, as it would across no distance at all.
const calls = {
  prepare: (query: string) => ({ bind: (...values: unknown[]) => bind(query, values), ...bind(query, []) }),
  batch: async (statements: Bound[]) => batch(statements),
}
const env = {
  DB: { ...calls, withSession: () => ({ ...calls, getBookmark: () => null }) },
  JWT_SECRET: process.env.JWT_SECRET,
  EMAIL_VERIFICATION: 'off',
  CATALOGUE_PROVIDER: 'sample',
}
const context = { waitUntil: () => {}, passThroughOnException: () => {} }

// The peers log no requests either.
const tell = console.log
console.log = () => {}
console.info = () => {}

serve({ fetch: (request) => worker.fetch(request, env, context), port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  tell(port),
)
