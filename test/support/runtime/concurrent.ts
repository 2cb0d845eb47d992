/**
 * Counts calls that run at once. The first ones wait until there are `expected` of them, however busy the machine is, and all
 * wait a little longer, for more than these.
 */
export const countConcurrent = (expected: number) => {
  const seen = { active: 0, highest: 0 }
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  const intercept = async <T>(call: () => Promise<T>) => {
    seen.highest = Math.max(seen.highest, ++seen.active)
    if (seen.highest >= expected) resolve()
    await Promise.race([reached, scheduler.wait(10_000)])
    await scheduler.wait(50)
    return call().finally(() => seen.active--)
  }
  return { seen, intercept }
}
