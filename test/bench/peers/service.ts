// The service's bundle on Node, with an adapter from D1 to better-sqlite3.
import { serve } from '@hono/node-server'
import type { Statement } from 'better-sqlite3'
import { openDatabase } from './database.ts'

const bundle = new URL('../../../dist/test/service/index.js', import.meta.url)
const worker: { fetch: (request: Request, env: object, context: object) => Response | Promise<Response> } = (
  await import(bundle.href)
).default

const database = openDatabase()
const prepared = new Map<string, Statement<unknown[], unknown>>()

const prepareOnce = (query: string) => {
  const statement = prepared.get(query) ?? database.prepare<unknown[], unknown>(query)
  prepared.set(query, statement)
  return statement
}

const bind = (query: string, values: unknown[]) => ({
  query,
  run: () => {
    const statement = prepareOnce(query)
    if (statement.reader) return { results: statement.all(...values), success: true, meta: {} }
    const { changes } = statement.run(...values)
    return { results: [], success: true, meta: { changes } }
  },
})
type Bound = ReturnType<typeof bind>
const runAll = (statements: Bound[]) => statements.map((statement) => statement.run())
const runInTransaction = database.transaction(runAll)
// Synchronous reads need no transaction; the peers do not start one either.
const batch = (statements: Bound[]) =>
  statements.every(({ query }) => prepareOnce(query).readonly) ? runAll(statements) : runInTransaction(statements)

// The part of D1 that the service uses, without latency.
const methods = {
  prepare: (query: string) => ({ bind: (...values: unknown[]) => bind(query, values), ...bind(query, []) }),
  batch: async (statements: Bound[]) => batch(statements),
}
const unlimited = { limit: async () => ({ success: true }) }
const env = {
  DB: { ...methods, withSession: () => ({ ...methods, getBookmark: () => null }) },
  VERSION: { id: '' },
  NETWORK_LIMIT: unlimited,
  MEMBER_LIMIT: unlimited,
  SEARCH_LIMIT: unlimited,
  DEVICE_LIMIT: unlimited,
  JWT_SECRET: process.env.JWT_SECRET,
  EMAIL_VERIFICATION: 'off',
  CATALOGUE_PROVIDER: 'sample',
}
const context = { waitUntil: () => {}, passThroughOnException: () => {} }

// The peers do not log requests either.
const print = console.log
console.log = () => {}
console.info = () => {}

serve({ fetch: (request) => worker.fetch(request, env, context), port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  print(port),
)
