/** The number of connections that a Worker can have open. Further calls would wait for one while their timeouts run. */
export const MAX_CONNECTIONS = 6

/** Calls `work` for each item, MAX_CONNECTIONS at a time, and returns all outcomes, like `Promise.allSettled`. */
export const forEachConcurrent = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
) => {
  const outcomes: PromiseSettledResult<Result>[] = []
  const waiting = items.entries()
  const workNext = async () => {
    for (const [at, item] of waiting) [outcomes[at]] = await Promise.allSettled([work(item)])
  }
  await Promise.all(Array.from({ length: MAX_CONNECTIONS }, workNext))
  return outcomes
}
