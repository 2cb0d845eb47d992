import { expect, it, vi } from 'vitest'
import { drained } from '../../../src/input/drain'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { holdClock } from '../../support/runtime/clock'

const MAX_BODIES = 200

/** Answers a request whose body never ends. A cancelled request stops likewise: no read settles, no `finally` runs. */
const answer = () => {
  const read = vi.fn(() => new Promise<never>(() => {}))
  const body = { locked: false, getReader: () => ({ read, cancel: async () => {} }) }
  const context = { req: { raw: { body }, header: () => undefined } }
  void drained(context as never, async () => {})
  return read
}

it('discards bodies again after two hundred clients have disconnected', async () => {
  holdClock()
  for (let n = 0; n < MAX_BODIES; n++) answer()
  await vi.advanceTimersByTimeAsync(0)
  const refused = answer()
  await vi.advanceTimersByTimeAsync(0)
  expect(refused).not.toHaveBeenCalled()

  await vi.advanceTimersByTimeAsync(DEADLINES.unreadBody)
  const discarded = answer()
  await vi.advanceTimersByTimeAsync(0)
  expect(discarded).toHaveBeenCalledOnce()
  vi.useRealTimers()
})
