/**
 * The result of a call, or an Error after `ms` milliseconds. It only stops waiting: what the call started may still
 * take effect.
 */
export const withTimeout = <T>(ms: number, call: () => Promise<T>) => {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms`)), ms)
  Promise.try(call).then(resolve, reject)
  return promise.finally(() => clearTimeout(timer))
}

const MAX_ATTEMPTS = 3
const BACKOFF_MS = 100

/** Makes a call up to three times, with a random and growing pause between, while its errors are worth a retry. */
export const withRetries = async <T>(call: () => Promise<T>, isRetryable: (error: Error) => boolean): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRetryable(error as Error)) throw error
      await scheduler.wait(BACKOFF_MS * attempt * (0.5 + Math.random()))
    }
  }
}
