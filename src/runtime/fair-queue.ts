type Keyed = { keys: readonly string[] }

/**
 * A queue in which keys take turns. A caller has one key for each source it belongs to, such as its network and its
 * account. The least recently served caller is next, judged by the most recently served of its keys. So neither a
 * network with many accounts nor an account in many networks is served more often than others.
 */
export const createFairQueue = <Waiter extends Keyed>() => {
  /** In order of arrival. */
  const waiters = new Set<Waiter>()
  /** How many callers wait with a key, and the turn in which it was last served or, if never, joined the queue. */
  const keys = new Map<string, { count: number; turn: number }>()
  let turn = 0

  const turnsOf = (waiter: Waiter) => waiter.keys.map((key) => keys.get(key)?.turn ?? 0).sort((a, b) => b - a)

  const compareLists = (one: number[], other: number[]) => {
    const at = one.findIndex((number, index) => number !== other[index])
    return at === -1 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? 0)
  }

  /** How many callers wait with each key of a caller, most first, if one with the keys `joining` waited, too. */
  const crowdsOf = (caller: Keyed, joining: readonly string[] = []) =>
    caller.keys.map((key) => (keys.get(key)?.count ?? 0) + Number(joining.includes(key))).sort((a, b) => b - a)

  return {
    size: () => waiters.size,
    values: () => waiters.values(),
    has: (waiter: Waiter) => waiters.has(waiter),
    add: (waiter: Waiter) => {
      if (waiters.has(waiter)) return
      waiters.add(waiter)
      for (const key of waiter.keys) {
        const known = keys.get(key)
        if (known) known.count++
        else keys.set(key, { count: 1, turn: ++turn })
      }
    },
    /** Removes a caller, whose keys then have had their turn if it was served. */
    remove: (waiter: Waiter, isServed: boolean) => {
      if (!waiters.delete(waiter)) return
      if (isServed) turn++
      for (const key of waiter.keys) {
        const known = keys.get(key)
        if (!known) continue
        known.count--
        if (isServed) known.turn = turn
        if (known.count === 0) keys.delete(key)
      }
    },
    inOrder: () =>
      [...waiters]
        .map((waiter) => ({ waiter, turns: turnsOf(waiter) }))
        .sort((one, other) => compareLists(one.turns, other.turns))
        .map(({ waiter }) => waiter),
    /** Whether a caller with these keys would be as crowded as the other one. */
    wouldCrowd: (joining: readonly string[], other: Waiter) =>
      compareLists(crowdsOf({ keys: joining }, joining), crowdsOf(other, joining)) >= 0,
    /** The last caller of the key with the most callers; among those of one network, of the account with the most. */
    findMostCrowded: () =>
      [...waiters].reduce<Waiter | undefined>(
        (most, waiter) => (most && compareLists(crowdsOf(most), crowdsOf(waiter)) > 0 ? most : waiter),
        undefined,
      ),
  }
}
