import { tooManyRequests } from '../errors'
import { createLimiter, type Lease } from '../limiter'
import { sourcesOf } from '../network'

// Hashing is the only work that blocks the isolate's single thread for long. One request hashes at a time, in short
// rounds, and pauses between them while others wait: a flood of logins slows down logins, not reads.

/** About fifteen seconds of hashing. */
const MAX_WAITING = 64
const PAUSE_MS = 25
const RETRY_AFTER_SECONDS = 5

const limiter = createLimiter({ capacity: 1, leaseMs: 2000, maxWaiting: MAX_WAITING, maxWaitMs: 60_000 })

/**
 * The keys by which callers take turns.
 * @param account an e-mail address, or a credential
 */
export const hashingKeys = (network: string, account: string) => [...sourcesOf(network), account.toLowerCase()]

/**
 * Checks for capacity before a request does anything else.
 * @throws TOO_MANY_REQUESTS when too many callers are waiting
 */
export const requireHashingCapacity = (keys: string[]) => {
  if (limiter.isFull(keys)) throw tooManyRequests(RETRY_AFTER_SECONDS)
}

// The wait of 0 lets requests that arrived during the round enter the queue before it is checked.
const pauseFor = async (lease: Lease) => {
  await scheduler.wait(0)
  if (limiter.hasWaiters()) await scheduler.wait(PAUSE_MS)
  lease.renew()
}

/**
 * Waits for its turn, then runs `hash`, which must call `pause` after each round.
 * @throws TOO_MANY_REQUESTS when too many callers are waiting, or after a minute
 */
export const withHashingLease = async <T>(keys: string[], hash: (pause: () => Promise<void>) => Promise<T>) => {
  const lease = await limiter.acquire(1, keys)
  if (!lease) throw tooManyRequests(RETRY_AFTER_SECONDS)
  return hash(() => pauseFor(lease)).finally(lease.release)
}
