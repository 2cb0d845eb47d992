type Holder = { amount: number; expiresAt: number }
type Waiter = { amount: number; key: string; seenAt: number; state: 'waiting' | 'refused' | Holder }

/** A share of a limiter. It must be released; if its request is cancelled, it expires instead. */
export type Lease = {
  release: () => void
  /** Postpones the expiry by another `leaseMs`: the heartbeat of long work. */
  renew: () => void
}

type Options = {
  /** The most that may be held at a time, in any unit: calls, bytes. */
  capacity: number
  /** Milliseconds until a lease that is neither released nor renewed expires. */
  leaseMs: number
  /** How many callers may wait; by default a caller that finds no capacity is refused immediately. */
  maxWaiting?: number
  maxWaitMs?: number
}

/** How often a waiting caller checks for its turn. Each check is also its heartbeat. */
const POLL_MS = 25
/** A waiter without a heartbeat for this long belongs to a cancelled request. */
const CANCELLED_AFTER_MS = 2000
/** How long a waiter has to claim its turn before the next one gets it. */
const CLAIM_MS = 250

/**
 * Limits the concurrent use of a resource within this isolate. Waiting callers are served round-robin by key, so that
 * one source cannot keep the others out. When a client disconnects, its request stops at the next await without running
 * `finally`, hence leases that expire and callers that poll: docs/decisions/0016-one-concurrency-limiter.md.
 */
export const createLimiter = ({ capacity, leaseMs, maxWaiting = 0, maxWaitMs = leaseMs }: Options) => {
  const holders = new Set<Holder>()
  /** Waiting callers by key, in the order in which the keys are served. */
  const queues = new Map<string, Waiter[]>()
  let used = 0
  let waiting = 0
  let sweptAt = 0

  const hold = (holder: Holder, ms: number) => {
    holder.expiresAt = Date.now() + ms
    if (holders.has(holder)) return holder
    holders.add(holder)
    used += holder.amount
    return holder
  }

  const drop = (holder: Holder) => {
    if (holders.delete(holder)) used -= holder.amount
  }

  const append = (waiter: Waiter) => {
    queues.set(waiter.key, [...(queues.get(waiter.key) ?? []), waiter])
    waiting++
  }

  const isQueued = (waiter: Waiter) => queues.get(waiter.key)?.includes(waiter)

  const remove = (waiter: Waiter) => {
    if (!isQueued(waiter)) return
    const queue = (queues.get(waiter.key) ?? []).filter((other) => other !== waiter)
    if (queue.length > 0) queues.set(waiter.key, queue)
    else queues.delete(waiter.key)
    waiting--
  }

  const sweep = () => {
    const now = Date.now()
    if (now - sweptAt < POLL_MS) return
    sweptAt = now
    for (const holder of holders) if (holder.expiresAt <= now) drop(holder)
    for (const waiter of [...queues.values()].flat()) if (waiter.seenAt <= now - CANCELLED_AFTER_MS) remove(waiter)
  }

  const grant = () => {
    for (const [key, [next, ...others]] of queues) {
      // A large request is not overtaken by smaller ones, or it might wait forever.
      if (!next || used + next.amount > capacity) return
      queues.delete(key)
      if (others.length > 0) queues.set(key, others)
      waiting--
      next.state = hold({ amount: next.amount, expiresAt: 0 }, CLAIM_MS)
    }
  }

  const free = () => {
    sweep()
    grant()
  }

  const toLease = (holder: Holder): Lease => {
    let isReleased = false
    hold(holder, leaseMs)
    return {
      release: () => {
        isReleased = true
        drop(holder)
        if (waiting > 0) free()
      },
      renew: () => {
        if (!isReleased) hold(holder, leaseMs)
      },
    }
  }

  /** The caller that gives way to a new one when the queue is full: the last of the key with the most waiters. */
  const findDisplaceable = (key: string) => {
    const longest = [...queues.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    return longest.length > (queues.get(key)?.length ?? 0) + 1 ? longest.at(-1) : undefined
  }

  const isFull = (key: string) => {
    sweep()
    return used >= capacity && waiting >= maxWaiting && !findDisplaceable(key)
  }

  const tryAcquire = (amount = 1): Lease | undefined => {
    if (waiting > 0 || used + amount > capacity) free()
    return waiting === 0 && used + amount <= capacity ? toLease({ amount, expiresAt: 0 }) : undefined
  }

  const enqueue = (amount: number, key: string) => {
    if (waiting >= maxWaiting) {
      const displaced = findDisplaceable(key)
      if (!displaced) return undefined
      remove(displaced)
      displaced.state = 'refused'
    }
    const waiter: Waiter = { amount, key, seenAt: Date.now(), state: 'waiting' }
    append(waiter)
    return waiter
  }

  const acquire = async (requested: number, key: string): Promise<Lease | undefined> => {
    const amount = Math.min(requested, capacity)
    const lease = tryAcquire(amount)
    if (lease) return lease
    const waiter = enqueue(amount, key)
    const deadline = Date.now() + maxWaitMs
    while (waiter?.state === 'waiting' && Date.now() < deadline) {
      await scheduler.wait(POLL_MS)
      waiter.seenAt = Date.now()
      // If the isolate stalled, another caller may have removed this waiter as cancelled.
      if (waiter.state === 'waiting' && !isQueued(waiter)) append(waiter)
      free()
    }
    if (waiter === undefined || waiter.state === 'refused') return undefined
    if (waiter.state === 'waiting') {
      remove(waiter)
      return undefined
    }
    return toLease(waiter.state)
  }

  return {
    /** Takes an amount, or returns undefined when it is not available right now. */
    tryAcquire,
    /**
     * Waits for an amount. Returns undefined when the queue is full, the wait takes too long, or a caller whose key has
     * fewer waiters displaces this one.
     */
    acquire,
    /** Whether `acquire(1, key)` would be refused right now. */
    isFull,
    hasWaiters: () => waiting > 0,
  }
}
