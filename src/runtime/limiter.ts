import { DEADLINES } from './deadlines'
import { createFairQueue } from './fair-queue'

/** `most`: the amount it may grow to. */
type Holder = { keys: readonly string[]; amount: number; most: number; expiresAt: number }
/** `amount`: what it requests in addition to what its holder has. */
type Request = { keys: readonly string[]; holder: Holder; amount: number }
type Waiter = Request & { seenAt: number; state: 'waiting' | 'refused' | 'granted' }

/** A share of a limiter. It must be released; if its request is cancelled, it expires instead. */
export type Lease = {
  release: () => void
  /** Postpones the expiry by another `leaseMs`: the heartbeat of long work. */
  renew: () => void
  /** Waits until the lease has this amount. Returns false if it is refused; the lease then keeps what it has. */
  grow: (amount: number) => Promise<boolean>
  /** Declares that it will not grow any more. */
  complete: () => void
}

export type Limiter = ReturnType<typeof createLimiter>

type Options = {
  /** The most that may be held at a time, in any unit: calls, bytes. */
  capacity: number
  /** Milliseconds until a lease that is neither released nor renewed expires. */
  leaseMs: number
  /** How many callers may wait; by default a caller that finds no capacity is refused immediately. */
  maxWaiting?: number
  maxWaitMs?: number
  /** The most that one key may hold, even if no other caller waits. */
  maxPerKey?: (key: string) => number
}

/** How often a waiting caller checks for its turn. Each check is also its heartbeat. */
const POLL_MS = 25

const neededBy = ({ most, amount }: Holder) => most - amount

/**
 * Limits the concurrent use of a resource within this isolate. Waiting callers take turns by key, so that one source
 * cannot keep the others out. When a client disconnects, its request stops at the next await without running `finally`,
 * hence leases that expire and callers that poll: docs/decisions/0016-one-concurrency-limiter.md.
 */
export const createLimiter = (options: Options) => {
  const { capacity, leaseMs, maxWaiting = 0, maxWaitMs = leaseMs, maxPerKey = () => capacity } = options
  const holders = new Set<Holder>()
  /** What each key holds. */
  const shares = new Map<string, number>()
  const queue = createFairQueue<Waiter>()
  let used = 0
  let sweptAt = 0

  const adjust = (keys: readonly string[], amount: number) => {
    used += amount
    for (const key of keys) {
      const share = (shares.get(key) ?? 0) + amount
      if (share === 0) shares.delete(key)
      else shares.set(key, share)
    }
  }

  const hold = (holder: Holder, ms: number) => {
    holder.expiresAt = Date.now() + ms
    if (holders.has(holder)) return
    holders.add(holder)
    adjust(holder.keys, holder.amount)
  }

  const drop = (holder: Holder) => {
    if (holders.delete(holder)) adjust(holder.keys, -holder.amount)
  }

  // The banker's algorithm (Dijkstra, EWD 108) for one resource: without it, leases that grow could block one another.
  // They grow because two senders that declare much and trickle would otherwise hold all memory, and sign-up has no
  // guard.
  /** Whether all holders could still reach their `most`, one after another, if this one got `amount` more. */
  const isSafe = (grown: Holder, amount: number) => {
    let free = capacity - used - amount
    const after = [...holders].filter((holder) => holder !== grown)
    after.push({ ...grown, amount: grown.amount + amount })
    return after
      .sort((one, other) => neededBy(one) - neededBy(other))
      .every((holder) => {
        const canFinish = neededBy(holder) <= free
        free += holder.amount
        return canFinish
      })
  }

  /** Whether it needs the least of all that still grow. It can always finish first, so its share is not limited. */
  const isNextToFinish = (one: Holder) =>
    holders.has(one) && [...holders].every((other) => neededBy(other) === 0 || neededBy(other) >= neededBy(one))

  /** Whether a key that holds something would exceed its limit or, while other keys wait, half of the capacity. */
  const exceedsShare = ({ keys, holder, amount }: Request) =>
    keys.some((key) => {
      const held = shares.get(key) ?? 0
      if (held === 0) return false
      const isContended = () => queue.values().some((other) => !other.keys.includes(key))
      return held + amount > maxPerKey(key) || (held + amount > capacity / 2 && isContended())
    }) && !isNextToFinish(holder)

  const findGrantable = () => {
    let isBlocked = false
    return queue.inOrder().find((waiter) => {
      // No new caller overtakes one that needs more than is free, which might otherwise wait forever.
      if (isBlocked && !holders.has(waiter.holder)) return false
      if (exceedsShare(waiter)) return false
      if (used + waiter.amount <= capacity && isSafe(waiter.holder, waiter.amount)) return true
      isBlocked = true
      return false
    })
  }

  const grant = () => {
    while (queue.size() > 0 && used < capacity) {
      const next = findGrantable()
      if (!next) return
      queue.remove(next, true)
      next.state = 'granted'
      hold(next.holder, holders.has(next.holder) ? leaseMs : DEADLINES.claim)
      next.holder.amount += next.amount
      adjust(next.keys, next.amount)
    }
  }

  const sweep = () => {
    const now = Date.now()
    if (now - sweptAt < POLL_MS) return
    sweptAt = now
    for (const holder of holders) if (holder.expiresAt <= now) drop(holder)
    for (const waiter of [...queue.values()]) {
      if (waiter.seenAt <= now - DEADLINES.heartbeat) queue.remove(waiter, false)
    }
    grant()
  }

  /** Waits until the holder has `amount` more. Returns false if it is refused. */
  const wait = async (holder: Holder, amount: number) => {
    const waiter: Waiter = { keys: holder.keys, holder, amount, seenAt: Date.now(), state: 'waiting' }
    sweep()
    queue.add(waiter)
    grant()
    if (queue.has(waiter) && queue.size() > maxWaiting) {
      const refused = queue.findMostCrowded() ?? waiter
      queue.remove(refused, false)
      refused.state = 'refused'
    }
    const deadline = Date.now() + maxWaitMs
    while (waiter.state === 'waiting' && Date.now() < deadline) {
      await scheduler.wait(POLL_MS)
      waiter.seenAt = Date.now()
      // If the isolate stalled, another caller may have removed this waiter as cancelled.
      if (waiter.state === 'waiting') queue.add(waiter)
      sweep()
    }
    queue.remove(waiter, false)
    return waiter.state === 'granted'
  }

  const toLease = (holder: Holder): Lease => {
    let isReleased = false
    hold(holder, leaseMs)
    return {
      release: () => {
        isReleased = true
        drop(holder)
        grant()
      },
      renew: () => {
        if (!isReleased) hold(holder, leaseMs)
      },
      grow: (amount) => wait(holder, Math.min(amount, capacity) - holder.amount),
      complete: () => {
        holder.most = holder.amount
        grant()
      },
    }
  }

  // A waiter that waits only because its keys hold their share does not block others.
  const isAvailable = (request: Request) =>
    used + request.amount <= capacity &&
    !queue.values().some(({ amount }) => used + amount > capacity) &&
    !exceedsShare(request)

  return {
    /** Takes an amount, or returns undefined when it is not available right now. */
    tryAcquire: (amount = 1, keys: readonly string[] = []): Lease | undefined => {
      const holder: Holder = { keys, amount, most: amount, expiresAt: 0 }
      const request = { keys, holder, amount }
      if (queue.size() > 0 || used + amount > capacity) sweep()
      return isAvailable(request) ? toLease(holder) : undefined
    },
    /**
     * Waits for an amount. Undefined after too long, or when the queue is full and no other key has more waiting.
     * @param keys the sources it belongs to, which take turns
     * @param most what the lease may grow to
     */
    acquire: async (amount: number, keys: readonly string[], most = amount): Promise<Lease | undefined> => {
      const holder: Holder = { keys, amount: 0, most: Math.min(most, capacity), expiresAt: 0 }
      return (await wait(holder, Math.min(amount, capacity))) ? toLease(holder) : undefined
    },
    /** Whether `acquire(1, keys)` would be refused right now. */
    isFull: (keys: readonly string[]) => {
      sweep()
      const most = queue.findMostCrowded()
      return used >= capacity && queue.size() >= maxWaiting && (!most || queue.wouldCrowd(keys, most))
    },
    hasWaiters: () => queue.size() > 0,
  }
}
