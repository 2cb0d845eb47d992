// The service with an import as one request: its response is sent when the work after it has ended. The results of its
// database calls are recorded: GET /recording returns them. After PUT /recording, they are replayed: no database and no
// bucket run, and what remains is the Worker, with the JSON of its calls.
import service from '../../support/service/service.js'
import type { Call } from '../parts/import-call.ts'
import './silence.ts'

type Env = { DB: D1Database; IMAGES: R2Bucket }
type Query = { sql: string; values: unknown[] }
type RunBatch = (queries: Query[]) => Promise<D1Result[]>

let recorded: Call[] = []
let replayed: Call[] | undefined

/** What the service calls of D1. */
const toDatabase = (batch: RunBatch) => {
  const prepare = (sql: string) => ({ bind: (...values: unknown[]): Query => ({ sql, values }) })
  return { withSession: () => ({ prepare, batch, getBookmark: () => null }) } as unknown as D1Database
}

const record = (database: D1Database): RunBatch => {
  recorded = []
  const session = database.withSession('first-primary')
  return async (queries) => {
    const results = await session.batch(queries.map(({ sql, values }) => session.prepare(sql).bind(...values)))
    const statements = queries.map(({ sql }, at) => {
      const { rows_read = 0, rows_written = 0 } = results[at]?.meta ?? {}
      return { sql, read: rows_read, written: rows_written }
    })
    recorded.push({ statements, results: JSON.stringify(results) })
    return results
  }
}

/** The number of calls that differ from the recorded ones, by request. */
const differences = new WeakMap<Request, number>()

/** Whether a call only confirms the caller. An isolate that knows the caller makes none. */
const isConfirmation = ([first, other]: { sql: string }[]) => !other && /^\s*select memberId\b/.test(first?.sql ?? '')

const replay = (calls: Call[], request: Request): RunBatch => {
  const others = calls.filter(({ statements }) => !isConfirmation(statements))
  const confirmation: D1Result[] = JSON.parse(others[0]?.results ?? '[]').slice(0, 1)
  const left = others.values()
  return async (queries) => {
    if (isConfirmation(queries)) return confirmation
    const { results = '[]', statements = [] } = left.next().value ?? {}
    // As D1's client does.
    const { length } = JSON.stringify(queries)
    const isSame = length > 0 && queries.every(({ sql }, at) => sql === statements[at]?.sql)
    if (!isSame) differences.set(request, (differences.get(request) ?? 0) + 1)
    return JSON.parse(results)
  }
}

const withoutBucket = { put: async () => ({}), delete: async () => {} } as unknown as R2Bucket

export default {
  async fetch(request, env, context) {
    const isRecording = new URL(request.url).pathname === '/recording'
    if (isRecording && request.method === 'GET') return Response.json(recorded)
    if (isRecording) {
      replayed = await request.json<Call[]>()
      return new Response()
    }
    if (request.method !== 'POST') return service.fetch(request, env, context)
    const work: Promise<unknown>[] = []
    const bindings = replayed
      ? { ...env, DB: toDatabase(replay(replayed, request)), IMAGES: withoutBucket }
      : { ...env, DB: toDatabase(record(env.DB)) }
    const waitUntil = (each: Promise<unknown>) => void work.push(each)
    const later = { waitUntil, passThroughOnException: () => {} } as ExecutionContext
    const response = await service.fetch(request, bindings, later)
    // The work after the response may start more of it.
    for (const each of work) await each
    const different = differences.get(request)
    return different ? new Response(`${different} calls differ from the recorded ones`, { status: 500 }) : response
  },
} satisfies ExportedHandler<Env>
