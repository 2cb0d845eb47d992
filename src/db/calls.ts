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
  /** A device pushes what it does not send again: such calls have a share that no others can take. */
  isPush?: boolean
}

const CREDENTIAL = 'credential '

const keysOf = ({ sources, credential }: Source) =>
  credential === undefined ? sources : [...sources, CREDENTIAL + credential]

/** @param network the most calls of a network, which many members may share */
const shareOf = (credential: number, network: number) => (key: string) =>
  key.startsWith(CREDENTIAL) ? credential : network

const LIMITS = {
  capacity: 128,
  leaseMs: DEADLINES.databaseCall,
  maxWaiting: 64,
  maxWaitMs: DEADLINES.databaseTurn,
  maxPerKey: shareOf(16, 96),
}
/** A device sends one push after another. Only those whose credential is not known yet count by network. */
const PUSH_LIMITS = {
  capacity: 32,
  leaseMs: DEADLINES.push,
  maxWaiting: 256,
  maxWaitMs: DEADLINES.pushTurn,
  maxPerKey: shareOf(4, 8),
}

const limiters = { others: new Map<number, Limiter>(), pushes: new Map<number, Limiter>() }

const limiterOf = ({ slot, isPush }: Source) => {
  const [known, limits] = isPush ? [limiters.pushes, PUSH_LIMITS] : [limiters.others, LIMITS]
  const limiter = known.get(slot) ?? createLimiter(limits)
  known.set(slot, limiter)
  return limiter
}

/** Acquires a call. Waits while the caller's share, or all calls, are held. Undefined if too many wait, or too long. */
export const acquireCall = (source: Source) => {
  const [limiter, keys] = [limiterOf(source), keysOf(source)]
  return limiter.tryAcquire(1, keys) ?? limiter.acquire(1, keys)
}
