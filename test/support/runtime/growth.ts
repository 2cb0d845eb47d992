import { expect } from 'vitest'

/** Shorter times say nothing about growth. */
const LEAST_MS = 80

/**
 * Expects `run` to take about as long for one input as for four of a quarter of its size: for quadratic time, it would be four
 * times as long. A busy machine slows down both alike, but not evenly: the shortest of three times counts, and of nine if
 * these are not enough.
 */
export const expectLinear = async <Input>(
  size: number,
  make: (size: number) => Input,
  run: (input: Input) => unknown,
) => {
  const inputs = [Array<Input>(4).fill(make(size / 4)), [make(size)]]
  const shortest = inputs.map(() => Number.POSITIVE_INFINITY)
  let ratio = Number.POSITIVE_INFINITY
  for (let n = 0; n < 3 || (n < 9 && ratio >= 2.5); n++) {
    for (const [at, parts] of inputs.entries()) {
      const start = performance.now()
      for (const input of parts) await run(input)
      shortest[at] = Math.min(shortest[at] ?? 0, performance.now() - start)
    }
    const [four = 0, whole = 0] = shortest
    ratio = whole / Math.max(four, LEAST_MS)
  }
  expect(ratio).toBeLessThan(2.5)
}
