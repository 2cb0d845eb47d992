import { type Expected, findWrong, notOfSlot, recordKey, selectMarks, toExpected } from '../../accounts/addresses/marks'
import { asService, type Db, run, uninterrupted } from '../../db/client'
import type { Bindings, Config } from '../../env'
import { ApiError, retryAfter } from '../../errors'
import { forEachConcurrent, MAX_CONNECTIONS } from '../../runtime/concurrently'
import { DEADLINES } from '../../runtime/deadlines'
import { createLimiter } from '../../runtime/limiter'
import { log } from '../../runtime/log'
import { withTimeout } from '../../runtime/retry'
import { isOfSlot } from '../../slots/marks'
import type { Slots } from '../../slots/slots'
import { headObject } from '../../storage/bucket'
import { HOUR_MS, MINUTE_MS } from '../../values/time'

const KEY = 'sweep'
/** Sweeps are hourly, and KV may return a value that is a minute old. */
const LATE_MS = 3 * HOUR_MS

/** Records a sweep without failures. In KV, because one that deletes nothing would have nothing else to write. */
export const recordSweep = (kv: KVNamespace, at: number) =>
  withTimeout(DEADLINES.lastSweep, () => kv.put(KEY, String(at)))

/** When the last sweep without failures ended, in milliseconds; null if none has, undefined if KV does not answer. */
const readLastSweep = async (kv: KVNamespace) => {
  try {
    const at = await withTimeout(DEADLINES.lastSweep, () => kv.get(KEY))
    return at === null ? null : Number(at)
  } catch (error) {
    log('warn', `last sweep: ${error}`)
    return undefined
  }
}

/**
 * What is wrong although requests are served.
 * @param uploadedAt when this version was uploaded: a new service has an hour or more until its first sweep
 */
export const describeSweep = (at: number | null | undefined, uploadedAt: string) => {
  if (at === undefined) return ['KV does not answer: the time of the last sweep is unknown']
  const since = at ?? (Date.parse(uploadedAt) || 0)
  return Date.now() - since > LATE_MS ? ['No sweep has succeeded within the last three hours'] : []
}

/** How long the result of a check is reused in this isolate. */
const FRESH_MS = 5000
/** Of more databases, each check asks some at random: each has a second to answer, from wherever it is. */
const MAX_ASKED = 10 * MAX_CONNECTIONS
const RETRY_SECONDS = 5

/** What is wrong with a slot, and what to do. */
type Problem = readonly [what: string, remedy?: string]
type Place = number | 'bucket'
type Problems = ReadonlyMap<Place, Problem>
type Result = { problems: Problems; lastSweep: number | null | undefined; at: number }
const NO_ANSWER: Problem = ['no answer']
const NO_BUCKET: Problem = ['no answer from the bucket']
const results = new WeakMap<D1Database, Result>()
// One check at a time: anyone may send health checks, and they must not use up the database calls of other requests.
const checks = createLimiter({ capacity: 1, leaseMs: DEADLINES.healthCheck, maxWaiting: 64 })

const isFresh = (database: D1Database) => (results.get(database)?.at ?? 0) > Date.now() - FRESH_MS

/** Longer than `FRESH_MS`, since R2 bills each call. */
const BUCKET_FRESH_MS = MINUTE_MS
const bucketErrors = new WeakMap<R2Bucket, { error: string | undefined; at: number }>()

/** Why the bucket does not answer, asked at most once a minute. Undefined if it does, with or without the object. */
const checkBucket = async (bucket: R2Bucket) => {
  const known = bucketErrors.get(bucket)
  if (known && known.at > Date.now() - BUCKET_FRESH_MS) return known.error
  const error = await headObject(bucket, 'health').then(
    () => undefined,
    (error: Error) => String(error.cause),
  )
  bucketErrors.set(bucket, { error, at: Date.now() })
  return error
}

const requireHealthy = ({ numbers }: Slots, problems: Problems, cause?: string) => {
  if (problems.size === 0) return
  const down = [...problems].filter(([, problem]) => problem === NO_ANSWER).map(([slot]) => `slot ${slot}`)
  const others = [...problems.values()].filter((problem) => problem !== NO_ANSWER)
  const listed = [...(down.length > 0 ? [`no answer from ${down.join(', ')}`] : []), ...others.map(([what]) => what)]
  const isListed = numbers.length > 1 || others.length > 0
  const details = {
    ...retryAfter(RETRY_SECONDS),
    ...(isListed && { message: `Service unavailable: ${listed.join('; ')}` }),
  }
  throw new ApiError('UNAVAILABLE', details, cause)
}

/** Slot 0, those with problems the last time, and others up to MAX_ASKED. */
const chooseAsked = (numbers: readonly number[], problems: Problems) => {
  const start = numbers.length > MAX_ASKED ? Math.floor(Math.random() * numbers.length) : 0
  const before = numbers.filter((slot) => problems.has(slot))
  const asked = new Set([0, ...before, ...numbers.slice(start), ...numbers.slice(0, start)])
  return [...asked].slice(0, MAX_ASKED)
}

// All health checks share the result.
const readMarks = async (db: Db, expected: Expected) => {
  const { marks } = await run(asService(db), { marks: selectMarks(expected) })
  return marks
}

const check = async ({ DB: database, CATALOGUE: kv, IMAGES: bucket }: Bindings, slots: Slots, config: Config) => {
  const before: Problems = results.get(database)?.problems ?? new Map()
  const asked = chooseAsked(slots.numbers, before)
  const rounds = Math.ceil(asked.length / MAX_CONNECTIONS)
  const expected = await toExpected(slots, config)
  const ask = (slot: number) => withTimeout(DEADLINES.healthCheck / rounds, () => readMarks(slots.open(slot), expected))
  // Before the databases, which take all connections of a Worker.
  const bucketError = await checkBucket(bucket)
  const [lastSweep, outcomes] = await Promise.all([readLastSweep(kv), forEachConcurrent(asked, ask)])
  const [main] = outcomes
  const known = main?.status === 'fulfilled' ? main.value : undefined
  if (known && expected.keyCheck && !known.some(({ slot }) => slot === 0)) await recordKey(slots.directory, expected)
  const problemOf = (slot: number): Problem | undefined => {
    const outcome = outcomes[asked.indexOf(slot)]
    if (!outcome) return before.get(slot)
    if (outcome.status === 'rejected') return NO_ANSWER
    return slot > 0 && known && !isOfSlot(slot, known, outcome.value) ? notOfSlot(slot) : undefined
  }
  const ofBound = slots.numbers.flatMap((slot): [number, Problem][] => {
    const problem = problemOf(slot)
    return problem ? [[slot, problem]] : []
  })
  const ofBucket = bucketError ? [['bucket', NO_BUCKET] as const] : []
  const problems = new Map<Place, Problem>([...ofBound, ...findWrong(known ?? []), ...ofBucket])
  results.set(database, { problems, lastSweep, at: Date.now() })
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
  const reasons = bucketError ? [...failures, bucketError] : failures
  const remedies = [...problems.values()].filter(([, remedy]) => remedy).map((problem) => problem.join(': '))
  requireHealthy(slots, problems, [...reasons, ...remedies].join('; '))
}

/**
 * Checks that the bucket answers, and that all databases answer and are those of their slots, at most once every five
 * seconds. While one request checks, others get the last result; in a new isolate, which has none, they wait. Returns
 * when the last sweep ended, as `readLastSweep` does.
 * @throws UNAVAILABLE, which names the bucket or the databases that do not answer, and a slot or key of the directory that is lost
 */
export const checkHealth = async (env: Bindings, slots: Slots, config: Config) => {
  const { DB: database } = env
  if (!isFresh(database)) {
    const lease = results.has(database) ? checks.tryAcquire() : await checks.acquire(1, ['health'])
    if (lease && !isFresh(database)) {
      await uninterrupted(slots.directory, check(env, slots, config).finally(lease.release))
    }
    lease?.release()
  }
  const result = results.get(database)
  requireHealthy(slots, result?.problems ?? new Map([[0, NO_ANSWER]]))
  return result?.lastSweep
}
