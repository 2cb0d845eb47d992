const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const variance = (values: number[]) => {
  const middle = mean(values)
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
}

/** Welch's t of two samples: how surely their means differ. Beyond 4.5 one may be told from the other. */
const welch = (a: number[], b: number[]) =>
  (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length)

const quantile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.POSITIVE_INFINITY

/**
 * Welch's t furthest from 0: of all of both samples, and of what lies below quantiles of both together. What else the
 * machine does makes some answers slow, and so hides a difference that the quick ones show.
 */
export const furthestWelch = (a: number[], b: number[]) => {
  const both = [...a, ...b]
  const bounds = [Number.POSITIVE_INFINITY, quantile(both, 0.9), quantile(both, 0.7), quantile(both, 0.5)]
  const all = bounds.map((bound) =>
    welch(
      a.filter((value) => value < bound),
      b.filter((value) => value < bound),
    ),
  )
  return all.reduce((furthest, t) => (Math.abs(t) > Math.abs(furthest) ? t : furthest))
}

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export const randomOf = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The pair so many times, now one way round, now the other: so that coming first favours neither. */
export const shuffledPairs = <const Item>(
  count: number,
  seed: number,
  [a, b]: readonly [Item, Item],
): [Item, Item][] => {
  const random = randomOf(seed)
  return Array.from({ length: count }, () => (random() < 0.5 ? [a, b] : [b, a]))
}
