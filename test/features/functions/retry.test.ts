import { afterEach, describe, expect, it, vi } from 'vitest'
import { withRetries, withTimeout } from '../../../src/runtime/retry'
import { sharedReader } from '../../support/api'
import { changeDatabase, memberDatabase } from '../../support/database'
import { holdClock } from '../../support/runtime/clock'
import { wrapDatabase } from '../../support/wrap-database'

afterEach(() => vi.useRealTimers())

const failing = (afterMs: number) =>
  vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    throw new Error('Network connection lost')
  })

it('makes a call up to three times', async () => {
  const call = failing(0)
  await expect(withRetries(5000, call, () => true)).rejects.toThrow('Network connection lost')
  expect(call).toHaveBeenCalledTimes(3)
})

it('returns the first success', async () => {
  const call = vi.fn(async () => 'done').mockRejectedValueOnce(new Error('Network connection lost'))
  expect(await withRetries(5000, call, () => true)).toBe('done')
  expect(call).toHaveBeenCalledTimes(2)
})

it('does not retry an error that is not transient', async () => {
  const call = failing(0)
  await expect(withRetries(5000, call, () => false)).rejects.toThrow('Network connection lost')
  expect(call).toHaveBeenCalledOnce()
})

it('starts no attempt after the deadline', async () => {
  holdClock()
  const call = failing(400)
  const refused = expect(withRetries(420, call, () => true)).rejects.toThrow('No answer within 420 ms')
  await vi.advanceTimersByTimeAsync(400)
  using pause = vi.spyOn(scheduler, 'wait')
  await vi.advanceTimersByTimeAsync(20)
  await refused
  await pause.mock.results[0]?.value
  expect(call).toHaveBeenCalledOnce()
})

it('stops waiting after the timeout, also for a call that throws synchronously', async () => {
  holdClock()
  const refused = expect(withTimeout(50, () => new Promise(() => {}))).rejects.toThrow('No answer within 50 ms')
  await vi.advanceTimersByTimeAsync(50)
  await refused
  const throwing = vi.fn().mockThrow(new Error('No binding'))
  await expect(withTimeout(50, throwing)).rejects.toThrow('No binding')
})

describe.each(['D1_ERROR: Network connection lost.', 'D1_ERROR: internal error; reference = 3hk5ekgmarp3n5g02qmnqrqg'])(
  'after "%s"',
  (message) => {
    /** A database whose first call takes effect, but fails with the message. */
    const failingOnce = () => {
      const state = { calls: 0 }
      const database = wrapDatabase(memberDatabase(), async (call) => {
        const result = await call()
        if (++state.calls === 1) throw new Error(message)
        return result
      })
      return { state, changed: changeDatabase(database) }
    }

    it('retries a read and an update', async () => {
      const reader = await sharedReader()
      for (const [method, body] of [['GET'], ['PATCH', { name: 'Again' }]] as const) {
        const { state, changed } = failingOnce()
        const { status } = await reader.send(method, '/members/me', { body, changed })
        expect([status, state.calls], method).toEqual([200, 2])
      }
    })

    it('does not add a book twice, but refuses it with 503', async () => {
      const reader = await sharedReader()
      using _error = vi.spyOn(console, 'error').mockImplementation(() => {})
      const { state, changed } = failingOnce()
      const { status, headers } = await reader.send('POST', '/books', { body: { title: 'Once' }, changed })
      expect([status, state.calls]).toEqual([503, 1])
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
    })
  },
)
