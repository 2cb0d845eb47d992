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
  /** When a lease that is neither released nor renewed expires. */
  leaseMs: number
  /** How many callers may wait; by default a caller that finds no capacity is refused immediately. */
  maxWaiting?: number
  maxWaitMs?: number
}

/** How often a waiting caller looks whether its turn has come, which is also its heartbeat. */
const POLL_MS = 25
/** A waiter without a heartbeat for this long belongs to a cancelled request. */
const CANCELLED_AFTER_MS = 2000

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

  const hold = (amount: number, ms: number) => {
    const holder = { amount, expiresAt: Date.now() + ms }
    holders.add(holder)
    used += amount
    return holder
  }

  const remove = (waiter: Waiter) => {
    const queue = queues.get(waiter.key) ?? []
    const at = queue.indexOf(waiter)
    if (at === -1) return
    queue.splice(at, 1)
    waiting--
    if (queue.length === 0) queues.delete(waiter.key)
  }

  const drop = (holder: Holder) => {
    if (holders.delete(holder)) used -= holder.amount
  }

  const removeCancelled = () => {
    const now = Date.now()
    for (const holder of holders) if (holder.expiresAt <= now) drop(holder)
    for (const waiter of [...queues.values()].flat()) if (waiter.seenAt <= now - CANCELLED_AFTER_MS) remove(waiter)
  }

  const grant = () => {
    for (const [key, queue] of queues) {
      const [next] = queue
      // A large request is not overtaken by smaller ones, or it might wait forever.
      if (!next || used + next.amount > capacity) return
      remove(next)
      queues.delete(key)
      if (queue.length > 0) queues.set(key, queue)
      // Until the caller notices and renews it, it may turn out to be cancelled.
      next.state = hold(next.amount, CANCELLED_AFTER_MS)
    }
  }

  const free = () => {
    removeCancelled()
    grant()
  }

  const toLease = (holder: Holder): Lease => ({
    release: () => {
      drop(holder)
      free()
    },
    renew: () => {
      holder.expiresAt = Date.now() + leaseMs
    },
  })

  /** The caller that gives way to a new one when the queue is full: the last of the key with the most waiters. */
  const findDisplaceable = (key: string) => {
    const longest = [...queues.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    return longest.length > (queues.get(key)?.length ?? 0) + 1 ? longest.at(-1) : undefined
  }

  const isFull = (key: string) => {
    removeCancelled()
    return used >= capacity && waiting >= maxWaiting && !findDisplaceable(key)
  }

  const tryAcquire = (amount = 1): Lease | undefined => {
    if (waiting > 0 || used + amount > capacity) free()
    return waiting === 0 && used + amount <= capacity ? toLease(hold(amount, leaseMs)) : undefined
  }

  const enqueue = (amount: number, key: string) => {
    if (waiting >= maxWaiting) {
      const displaced = findDisplaceable(key)
      if (!displaced) return undefined
      remove(displaced)
      displaced.state = 'refused'
    }
    const waiter: Waiter = { amount, key, seenAt: Date.now(), state: 'waiting' }
    queues.set(key, [...(queues.get(key) ?? []), waiter])
    waiting++
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
      free()
    }
    if (waiter === undefined || waiter.state === 'refused') return undefined
    if (waiter.state === 'waiting') {
      remove(waiter)
      return undefined
    }
    const granted = toLease(waiter.state)
    granted.renew()
    return granted
  }

  return {
    /** Takes an amount, or returns undefined when it is not available right now. */
    tryAcquire,
    /** Waits for an amount; undefined when the queue is full, the wait takes too long, or a caller of a rarer key displaces this one. */
    acquire,
    /** Whether `acquire` would be refused right now. */
    isFull,
    hasWaiters: () => waiting > 0,
  }
}
