import { ping, uninterrupted } from '../../db/client'
import { ApiError, retryAfter } from '../../errors'
import { forEachConcurrent, MAX_CONNECTIONS } from '../../runtime/concurrently'
import { createLimiter } from '../../runtime/limiter'
import { withTimeout } from '../../runtime/retry'
import type { Slots } from '../../slots/slots'

/** How long the result of a check is reused in this isolate. */
const FRESH_MS = 5000
/** Timeout for checking all databases. */
const CHECK_MS = 10_000
/** Of more databases, each check asks some at random: each has a second to answer, from wherever it is. */
const MAX_ASKED = 10 * MAX_CONNECTIONS
const RETRY_SECONDS = 5

/** `down`: the slots that did not answer. */
type Result = { down: readonly number[]; at: number }
const results = new WeakMap<D1Database, Result>()
// One check at a time: anyone may send health checks, and they must not use up the database calls of other requests.
const checks = createLimiter({ capacity: 1, leaseMs: CHECK_MS, maxWaiting: 64 })

const isFresh = (database: D1Database) => (results.get(database)?.at ?? 0) > Date.now() - FRESH_MS

const requireUp = ({ numbers }: Slots, down: readonly number[], cause?: unknown) => {
  if (down.length === 0) return
  const message = `Service unavailable: no answer from ${down.map((slot) => `slot ${slot}`).join(', ')}`
  const details = { ...retryAfter(RETRY_SECONDS), ...(numbers.length > 1 && { message }) }
  throw new ApiError('UNAVAILABLE', details, cause)
}

/** Those that did not answer last time, and others up to MAX_ASKED. */
const chooseAsked = (numbers: readonly number[], down: readonly number[]) => {
  const start = numbers.length > MAX_ASKED ? Math.floor(Math.random() * numbers.length) : 0
  const asked = new Set([...down, ...numbers.slice(start), ...numbers.slice(0, start)])
  return [...asked].slice(0, MAX_ASKED)
}

const check = async (database: D1Database, slots: Slots) => {
  const wereDown = results.get(database)?.down ?? []
  const asked = chooseAsked(slots.numbers, wereDown)
  const rounds = Math.ceil(asked.length / MAX_CONNECTIONS)
  const pingSlot = (slot: number) => withTimeout(CHECK_MS / rounds, () => ping(slots.open(slot)))
  const outcomes = await forEachConcurrent(asked, pingSlot)
  const failed = asked.filter((_, at) => outcomes[at]?.status === 'rejected')
  const down = slots.numbers.filter((slot) => (asked.includes(slot) ? failed : wereDown).includes(slot))
  results.set(database, { down, at: Date.now() })
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  requireUp(slots, down, reasons.join('; '))
}

/**
 * Checks that all databases answer, at most once every five seconds. While one request checks, others get the last
 * result; in a new isolate, which has none, they wait.
 * @param database that of slot 0
 * @throws UNAVAILABLE when a database does not answer; with several, the message names their slots
 */
export const checkDatabases = async (database: D1Database, slots: Slots) => {
  if (!isFresh(database)) {
    const lease = results.has(database) ? checks.tryAcquire() : await checks.acquire(1, ['health'])
    if (lease && !isFresh(database)) {
      return uninterrupted(slots.directory, check(database, slots).finally(lease.release))
    }
    lease?.release()
  }
  requireUp(slots, results.get(database)?.down ?? [0])
}
