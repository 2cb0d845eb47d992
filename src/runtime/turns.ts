import { tooManyRequests } from '../errors'
import { DEADLINES } from './deadlines'
import { createLimiter, type Lease } from './limiter'

const PAUSE_MS = 25
const RETRY_AFTER_SECONDS = 5

/**
 * Takes turns at work that blocks the isolate's single thread: one caller at a time, in short rounds, with pauses
 * between them while others wait. A flood of such work slows down that work, not other requests.
 * @param limit the name of the limit on callers that wait, in docs/limits.md
 * @param maxWaiting the most of them
 */
export const createTurns = (limit: string, maxWaiting: number) => {
  const limiter = createLimiter({ capacity: 1, leaseMs: DEADLINES.round, maxWaiting, maxWaitMs: DEADLINES.roundTurn })
  // The wait of 0 lets requests that arrived during the round enter the queue before it is checked.
  const pauseFor = async (lease: Lease) => {
    await scheduler.wait(0)
    if (limiter.hasWaiters()) await scheduler.wait(PAUSE_MS)
    lease.renew()
  }
  return {
    /**
     * Checks for capacity before a request does anything else.
     * @throws TOO_MANY_REQUESTS when too many callers are waiting
     */
    requireCapacity: (keys: string[]) => {
      if (limiter.isFull(keys)) throw tooManyRequests(limit, RETRY_AFTER_SECONDS)
    },
    /**
     * Waits for its turn, then does the work, which must call `pause` after each round.
     * @param keys the keys by which callers take turns
     * @throws TOO_MANY_REQUESTS when too many callers are waiting, or after a minute
     */
    take: async <T>(keys: string[], work: (pause: () => Promise<void>) => Promise<T>) => {
      const lease = await limiter.acquire(1, keys)
      if (!lease) throw tooManyRequests(limit, RETRY_AFTER_SECONDS)
      return work(() => pauseFor(lease)).finally(lease.release)
    },
  }
}
