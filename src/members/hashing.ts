import { tooManyRequests } from '../errors'
import { createLimiter, type Lease } from '../limiter'

// Hashing is the only work that blocks the isolate's single thread for long. One request hashes at a time, in short
// rounds, and pauses between them while others wait: a flood of logins slows down logins, not reads.

/** About fifteen seconds of hashing. */
const MAX_WAITING = 64
const PAUSE_MS = 25
const RETRY_AFTER_SECONDS = 5

const limiter = createLimiter({ capacity: 1, leaseMs: 2000, maxWaiting: MAX_WAITING, maxWaitMs: 60_000 })

/**
 * Checks for capacity before a request does anything else.
 * @param source the fairness key: the client's network
 * @throws TOO_MANY_REQUESTS when too many callers are waiting
 */
export const requireHashingCapacity = (source: string) => {
  if (limiter.isFull(source)) throw tooManyRequests(RETRY_AFTER_SECONDS)
}

// The wait of 0 lets requests that arrived during the round enter the queue before it is checked.
const pauseFor = async (lease: Lease) => {
  await scheduler.wait(0)
  if (limiter.hasWaiters()) await scheduler.wait(PAUSE_MS)
  lease.renew()
}

/**
 * Waits for its turn, then runs `hash`, which must call `pause` after each round.
 * @param source the fairness key: the client's network
 * @throws TOO_MANY_REQUESTS when too many callers are waiting, or after a minute
 */
export const withHashingLease = async <T>(source: string, hash: (pause: () => Promise<void>) => Promise<T>) => {
  const lease = await limiter.acquire(1, source)
  if (!lease) throw tooManyRequests(RETRY_AFTER_SECONDS)
  return hash(() => pauseFor(lease)).finally(lease.release)
}
