import { expect, it, vi } from 'vitest'
import { withRetries, withTimeout } from '../../src/retry'

const failing = (afterMs: number) =>
  vi.fn(async () => {
    await scheduler.wait(afterMs)
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
  const call = failing(400)
  await expect(withRetries(420, call, () => true)).rejects.toThrow()
  await scheduler.wait(700)
  expect(call).toHaveBeenCalledOnce()
})

it('stops waiting after the timeout, also for a call that throws synchronously', async () => {
  await expect(withTimeout(50, () => new Promise(() => {}))).rejects.toThrow('No answer within 50 ms')
  const throwing = vi.fn().mockThrow(new Error('No binding'))
  await expect(withTimeout(50, throwing)).rejects.toThrow('No binding')
})
