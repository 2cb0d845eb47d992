import { type Db, ping, uninterrupted } from '../db/client'
import { ApiError, unavailable } from '../errors'
import { createLimiter } from '../limiter'

/** How long the result of a check is reused in this isolate. */
const FRESH_MS = 5000
/** The timeout of a database call. */
const CHECK_MS = 10_000

const answers = new WeakMap<D1Database, { isUp: boolean; at: number }>()
// One check at a time: anyone may send health checks, and they must not use up the database calls of other requests.
const checks = createLimiter({ capacity: 1, leaseMs: CHECK_MS, maxWaiting: 64 })

const isFresh = (database: D1Database) => (answers.get(database)?.at ?? 0) > Date.now() - FRESH_MS

const check = async (database: D1Database, db: Db) => {
  const answered = (isUp: boolean) => answers.set(database, { isUp, at: Date.now() })
  try {
    await ping(db)
    answered(true)
  } catch (error) {
    answered(false)
    throw error instanceof ApiError ? error : unavailable(error)
  }
}

/**
 * Checks that the database answers, at most once every five seconds. While one request checks, others get the last
 * result; in a new isolate, which has none, they wait.
 * @throws UNAVAILABLE when the database does not answer
 */
export const checkDatabase = async (database: D1Database, db: Db) => {
  if (!isFresh(database)) {
    const lease = answers.has(database) ? checks.tryAcquire() : await checks.acquire(1, ['health'])
    if (lease && !isFresh(database)) {
      return uninterrupted(db, check(database, db).finally(lease.release))
    }
    lease?.release()
  }
  if (!answers.get(database)?.isUp) throw unavailable()
}
