import { expect } from 'vitest'

/** Shorter times say nothing about growth. */
const LEAST_MS = 80

/**
 * Expects `run` to take about as much CPU time for one input as for four of a quarter of its size: for quadratic time, it
 * would be four times as much. Other processes leave it alone, except for caches that they share: the smallest of three
 * measurements counts, and of nine if these are not enough.
 */
export const expectLinear = async <Input>(
  size: number,
  make: (size: number) => Input,
  run: (input: Input) => unknown,
) => {
  const inputs = [Array<Input>(4).fill(make(size / 4)), [make(size)]]
  const least = inputs.map(() => Number.POSITIVE_INFINITY)
  let ratio = Number.POSITIVE_INFINITY
  for (let n = 0; n < 3 || (n < 9 && ratio >= 2.5); n++) {
    for (const [at, parts] of inputs.entries()) {
      const start = process.threadCpuUsage()
      for (const input of parts) await run(input)
      const { user, system } = process.threadCpuUsage(start)
      least[at] = Math.min(least[at] ?? 0, (user + system) / 1000)
    }
    const [four = 0, whole = 0] = least
    ratio = whole / Math.max(four, LEAST_MS)
  }
  expect(ratio).toBeLessThan(2.5)
}
