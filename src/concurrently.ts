/** A Worker has at most six connections open at a time; further calls would wait for one, their timeouts running. */
export const MAX_CONNECTIONS = 6

/** Calls `work` for each item, six at a time, and settles when all are done. */
export const sixAtATime = async <Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) => {
  const outcomes: PromiseSettledResult<Result>[] = []
  const waiting = items.entries()
  const workNext = async () => {
    for (const [at, item] of waiting) [outcomes[at]] = await Promise.allSettled([work(item)])
  }
  await Promise.all(Array.from({ length: MAX_CONNECTIONS }, workNext))
  return outcomes
}
