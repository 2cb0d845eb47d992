import { afterEach, describe, expect, it, vi } from 'vitest'
import { requireHashingCapacity, withHashingLease } from '../../../src/accounts/passwords/check'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { createLimiter, type Lease } from '../../../src/runtime/limiter'
import { holdClock } from '../../support/runtime/clock'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Holds the clock for limiters, too: their polls wait for it. */
const holdPolls = () => {
  holdClock()
  vi.spyOn(scheduler, 'wait').mockImplementation((ms) => new Promise((resolve) => setTimeout(resolve, ms)))
}
const pass = vi.advanceTimersByTimeAsync

const held = (lease: Lease | undefined): Lease => {
  if (!lease) throw new Error('No lease was granted')
  return lease
}
const limiterOf = (capacity: number, options = {}) => createLimiter({ capacity, leaseMs: 10_000, ...options })
const fullLimiter = (options = {}) => {
  const limiter = limiterOf(1, options)
  return { ...limiter, first: held(limiter.tryAcquire()) }
}

describe('a limiter', () => {
  it('grants up to its capacity, and again after a release', () => {
    const { tryAcquire } = limiterOf(10)
    const [large, small] = [held(tryAcquire(7)), held(tryAcquire(3))]
    expect(tryAcquire(1)).toBeUndefined()
    small.release()
    small.release()
    expect(tryAcquire(4)).toBeUndefined()
    expect(tryAcquire(3)).toBeDefined()
    large.release()
    expect(tryAcquire(7)).toBeDefined()
  })

  it.each([
    ['callers of one key in order', 'a a a', 'a a a'],
    ['keys in turn, however many callers one of them has waiting', 'a a a a b c b', 'a b c a b a a'],
    ['a key in many networks no more often than others', '1m 2m 3m 4a 5b', '1m 4a 5b 2m 3m'],
    ['the keys of one network in turn', '1m 1m 1m 1a 1b 2c', '1m 2c 1a 1b 1m 1m'],
  ])('serves %s', async (_, callers, expected) => {
    const { acquire, first } = fullLimiter({ maxWaiting: 100 })
    const order: string[] = []
    const served = callers.split(' ').map(async (keys) => {
      const lease = held(await acquire(1, [...keys]))
      order.push(keys)
      lease.release()
    })
    first.release()
    await Promise.all(served)
    expect(order.join(' ')).toBe(expected)
  })

  it('does not let small requests overtake a large one', async () => {
    const { acquire, tryAcquire } = limiterOf(10, { maxWaiting: 100 })
    const first = held(tryAcquire(8))
    const large = acquire(10, ['a'])
    expect(tryAcquire(1)).toBeUndefined()
    const small = acquire(1, ['b'])
    first.release()
    held(await large).release()
    held(await small).release()
  })

  it('grants its whole capacity to a request that asks for more', async () => {
    const { acquire, tryAcquire } = limiterOf(10)
    const lease = held(await acquire(11, ['a']))
    expect(tryAcquire(1)).toBeUndefined()
    lease.release()
    expect(tryAcquire(10)).toBeDefined()
  })

  it('gives one key no more than its limit, even if no other caller waits', async () => {
    holdPolls()
    const { acquire } = limiterOf(10, { maxWaiting: 100, maxPerKey: () => 2 })
    const own = [held(await acquire(1, ['a'])), held(await acquire(1, ['a']))]
    let isGranted = false
    const third = acquire(1, ['a']).then((lease) => {
      isGranted = true
      return held(lease)
    })
    held(await acquire(1, ['b'])).release()
    await pass(60)
    expect(isGranted).toBe(false)
    own[0]?.release()
    await pass(60)
    await third
  })

  it('refuses callers when the queue is full', async () => {
    const { acquire, first, isFull } = fullLimiter({ maxWaiting: 1 })
    expect(isFull(['a'])).toBe(false)
    const waiting = acquire(1, ['a'])
    expect(isFull(['a'])).toBe(true)
    expect(await acquire(1, ['a'])).toBeUndefined()
    first.release()
    held(await waiting).release()
    expect(isFull(['a'])).toBe(false)
  })

  it.each([
    ['a key', 'a', 'b'],
    ['an account of the same network', 'an', 'bn'],
  ])(
    'admits %s with fewer callers to a full queue, and refuses the last caller of the longest',
    async (_, crowd, few) => {
      const { acquire, first, isFull } = fullLimiter({ maxWaiting: 2 })
      const callers = [acquire(1, [...crowd]), acquire(1, [...crowd])]
      expect([isFull([...crowd]), isFull([...few])]).toEqual([true, false])
      const other = acquire(1, [...few])
      expect(await callers[1]).toBeUndefined()
      first.release()
      held((await callers[0]) as Lease).release()
      held(await other).release()
    },
  )

  describe('whose leases grow', () => {
    const growing = async (limiter: ReturnType<typeof limiterOf>, key: string, most: number) =>
      held(await limiter.acquire(1, [key], most))

    it('delays growth that could make leases block one another', async () => {
      const limiter = limiterOf(10, { maxWaiting: 100 })
      const [one, other] = [await growing(limiter, 'a', 8), await growing(limiter, 'b', 8)]
      expect(await one.grow(5)).toBe(true)
      // With 4 more, neither could reach its 8.
      const grown = other.grow(4)
      expect(await one.grow(8)).toBe(true)
      one.release()
      expect(await grown).toBe(true)
      expect(await other.grow(8)).toBe(true)
    })

    it('completes all of many leases that together need more than its capacity', async () => {
      const limiter = limiterOf(22, { maxWaiting: 100 })
      let used = 0
      const work = async (key: string) => {
        const lease = await growing(limiter, key, 10)
        used += 1
        for (const size of [2, 4, 8, 10]) {
          const before = size === 10 ? 8 : size / 2
          expect(await lease.grow(size)).toBe(true)
          used += size - before
          expect(used).toBeLessThanOrEqual(22)
        }
        used -= 10
        lease.release()
      }
      await Promise.all([...'aaaaaaabbbcdefg'].map(work))
    })

    it('keeps half for other keys while they wait', async () => {
      const limiter = limiterOf(10, { maxWaiting: 100 })
      const leases = [await growing(limiter, 'a', 4), await growing(limiter, 'a', 4), await growing(limiter, 'c', 4)]
      expect(await leases[0]?.grow(4)).toBe(true)
      leases[0]?.complete()
      expect(await leases[2]?.grow(4)).toBe(true)
      const [same, other] = [limiter.acquire(2, ['a']), limiter.acquire(4, ['b'])]
      leases[2]?.release()
      held(await other).release()
      held(await same).release()
    })

    it('refuses growth after a time limit, and the lease keeps what it has until it is released', async () => {
      holdPolls()
      const limiter = limiterOf(10, { maxWaiting: 100, maxWaitMs: 100 })
      const lease = await growing(limiter, 'a', 10)
      const other = held(limiter.tryAcquire(5))
      const grown = lease.grow(10)
      await pass(100)
      expect(await grown).toBe(false)
      other.release()
      expect(limiter.tryAcquire(10)).toBeUndefined()
      lease.release()
      expect(limiter.tryAcquire(10)).toBeDefined()
    })
  })

  it('gives up waiting after a time limit', async () => {
    holdPolls()
    const { acquire, first, tryAcquire } = fullLimiter({ maxWaiting: 1, maxWaitMs: 100 })
    const refused = acquire(1, ['a'])
    await pass(100)
    expect(await refused).toBeUndefined()
    first.release()
    expect(tryAcquire()).toBeDefined()
  })

  it('ends a lease that is neither released nor renewed, for new callers and for waiting ones', async () => {
    holdPolls()
    const { acquire, tryAcquire } = fullLimiter({ leaseMs: 300, maxWaiting: 1, maxWaitMs: 5000 })
    expect(tryAcquire()).toBeUndefined()
    const waiting = acquire(1, ['a'])
    await pass(300)
    held(await waiting)
    await pass(300)
    expect(tryAcquire()).toBeDefined()
  })

  it('keeps a lease that is renewed', async () => {
    holdPolls()
    const { first, tryAcquire } = fullLimiter({ leaseMs: 300 })
    for (let n = 0; n < 4; n++) {
      await pass(100)
      first.renew()
    }
    expect(tryAcquire()).toBeUndefined()
  })

  it('counts a lease again if it is renewed after it expired', async () => {
    holdPolls()
    const { first, tryAcquire } = fullLimiter({ leaseMs: 100 })
    await pass(150)
    const second = held(tryAcquire())
    first.renew()
    second.release()
    expect(tryAcquire()).toBeUndefined()
  })

  it('still serves callers that were taken for cancelled during a stall', async () => {
    const { acquire, first } = fullLimiter({ maxWaiting: 3, maxWaitMs: 3 * DEADLINES.heartbeat })
    const callers = ['a', 'a', 'b'].map(async (key) => held(await acquire(1, [key])).release())
    const { now } = Date
    using _clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + DEADLINES.heartbeat + 1000)
    first.release()
    await Promise.all(callers)
  })
})

const KEYS = ['network']

describe('password hashing', () => {
  it('runs one at a time', async () => {
    let running = 0
    let most = 0
    const hash = async (pause: () => Promise<void>) => {
      most = Math.max(most, ++running)
      await pause()
      running--
    }
    await Promise.all(Array.from({ length: 5 }, () => withHashingLease(KEYS, hash)))
    expect(most).toBe(1)
  })

  it('continues after a failure', async () => {
    const failing = withHashingLease(KEYS, () => Promise.reject(new Error('Out of memory')))
    const next = withHashingLease(KEYS, async () => 'hashed')
    await expect(failing).rejects.toThrow('Out of memory')
    expect(await next).toBe('hashed')
  })

  it('refuses callers beyond 64 waiting ones, with a Retry-After', { tags: ['slow'] }, async () => {
    const waiting = Array.from({ length: 65 }, () => withHashingLease(KEYS, (pause) => pause()))
    const refusal = { code: 'TOO_MANY_REQUESTS', details: { limit: 'hashing', headers: { 'Retry-After': '5' } } }
    expect(() => requireHashingCapacity(KEYS)).toThrow(expect.objectContaining(refusal))
    await expect(withHashingLease(KEYS, async () => {})).rejects.toMatchObject(refusal)
    await Promise.all(waiting)
    expect(() => requireHashingCapacity(KEYS)).not.toThrow()
  })

  it('waits no longer than a round for a cancelled request', async () => {
    holdClock()
    void withHashingLease(KEYS, () => new Promise(() => {}))
    const next = withHashingLease(KEYS, async () => 'hashed')
    await vi.advanceTimersByTimeAsync(DEADLINES.round)
    expect(await next).toBe('hashed')
  })
})
