/** A call took too long. What it started may still take effect. */
export class TimeoutError extends Error {}

/** The result of a call, or a TimeoutError after `ms` milliseconds. It does not cancel the call. */
export const withTimeout = <T>(ms: number, call: () => Promise<T>) =>
  new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(`No answer within ${ms} ms`)), ms)
    // Not promise.finally(), which costs three more promises on every database call.
    const settle =
      <V>(settlePromise: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer)
        settlePromise(value)
      }
    Promise.try(call).then(settle(resolve), settle(reject))
  })

const MAX_ATTEMPTS = 3
const BACKOFF_MS = 100

/**
 * Makes a call up to three times, with random, growing pauses in between, as long as its errors are retryable.
 * @param timeoutMs for all attempts together. No attempt starts after it: the client was told that its request failed,
 * and a late attempt could undo what it wrote since.
 */
export const withRetries = <T>(timeoutMs: number, call: () => Promise<T>, isRetryable: (error: Error) => boolean) => {
  const deadline = Date.now() + timeoutMs
  const attempt = async (number: number): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      if (number === MAX_ATTEMPTS || !isRetryable(error as Error)) throw error
      await scheduler.wait(BACKOFF_MS * number * (0.5 + Math.random()))
      if (Date.now() >= deadline) throw error
      return attempt(number + 1)
    }
  }
  return withTimeout(timeoutMs, () => attempt(1))
}
