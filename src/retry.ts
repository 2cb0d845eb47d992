/** What is told when a call was not answered in time. What it asked for may still be done. */
const tooLate = (ms: number) => new Error(`No answer within ${ms} ms`)

/** The call's outcome, or an Error once it has taken longer than `ms`. */
export const withTimeout = <T>(ms: number, call: () => Promise<T>) =>
  new Promise<T>((resolve, reject) => {
    const called = call()
    const timer = setTimeout(() => reject(tooLate(ms)), ms)
    const settle =
      <Outcome>(outcome: (settled: Outcome) => void) =>
      (settled: Outcome) => {
        clearTimeout(timer)
        outcome(settled)
      }
    called.then(settle(resolve), settle(reject))
  })

const TRIES = 3
const FIRST_PAUSE_MS = 100

/** Makes a call again, twice at most, when it failed in a way that is worth it: after a random pause, then a longer one. */
export const withRetries = async <T>(call: () => Promise<T>, isWorthIt: (error: Error) => boolean): Promise<T> => {
  for (let tried = 1; ; tried++) {
    try {
      return await call()
    } catch (error) {
      if (tried === TRIES || !isWorthIt(error as Error)) throw error
      await scheduler.wait(FIRST_PAUSE_MS * tried * (0.5 + Math.random()))
    }
  }
}
