/** Commands that run at once: as many as a Worker may have connections, and few enough for the API's rate limit. */
const MAX_AT_ONCE = 6

/**
 * Runs an action for every item, six at a time. After a failure it starts no further ones, waits for those that run, and
 * throws the first error.
 */
export const forEachAtOnce = async <T>(items: T[], action: (item: T) => Promise<unknown>) => {
  const waiting = [...items]
  const errors: unknown[] = []
  const work = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await action(item).catch((error) => {
        errors.push(error)
        waiting.length = 0
      })
    }
  }
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, work))
  if (errors.length > 0) throw errors[0]
}
