// A database runs one query at a time, so a caller's calls in flight delay those of others. Each caller may hold a
// share of the calls, and waits for its turn beyond it: docs/decisions/0016-one-concurrency-limiter.md.
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter, type Limiter } from '../runtime/limiter'

/** Who makes a call. */
export type Source = {
  /** The number of the database: 0 unless members are in several, see docs/decisions/0021-slots.md. */
  slot: number
  /** The networks that the request comes from. None for the service's own calls, which have no share and go first. */
  sources: readonly string[]
  /** Identifies the session or access token of an authenticated request. */
  credential?: string | undefined
}

const CREDENTIAL = 'credential '

const keysOf = ({ sources, credential }: Source) =>
  credential === undefined ? sources : [...sources, CREDENTIAL + credential]

// Many members may share a network.
const shareOf = (key: string) => (key.startsWith(CREDENTIAL) ? 16 : 96)

const limiters = new Map<number, Limiter>()

const LIMITS = {
  capacity: 128,
  leaseMs: DEADLINES.databaseCall,
  maxWaiting: 64,
  maxWaitMs: DEADLINES.databaseTurn,
  maxPerKey: shareOf,
}

const limiterOf = (slot: number) => {
  const known = limiters.get(slot)
  if (known) return known
  const limiter = createLimiter(LIMITS)
  limiters.set(slot, limiter)
  return limiter
}

/** Acquires a call. Waits while the caller's share, or all calls, are held. Undefined if too many wait, or too long. */
export const acquireCall = (source: Source) => {
  const [limiter, keys] = [limiterOf(source.slot), keysOf(source)]
  return limiter.tryAcquire(1, keys) ?? limiter.acquire(1, keys)
}
