import { vi } from 'vitest'

/**
 * Stops the clock of the service until `vi.useRealTimers()`; `vi.advanceTimersByTimeAsync(ms)` lets time pass. Pauses by
 * `scheduler.wait`, between attempts and polls, stay real.
 * @param aheadMs moves the clock before
 */
export const holdClock = (aheadMs = 0) => {
  vi.useFakeTimers({
    now: Date.now() + aheadMs,
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  })
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), ms)
    return controller.signal
  })
}

/** For a check that keeps failing; one that succeeds ends the wait, however long a busy machine takes. */
const MOST_MS = 240_000

/** Repeats a check until it does not throw. Unlike `vi.waitFor`, it moves no held clock. */
export const eventually = async <T>(check: () => T | Promise<T>): Promise<T> => {
  for (const end = performance.now() + MOST_MS; ; await scheduler.wait(5)) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > end) throw error
    }
  }
}
