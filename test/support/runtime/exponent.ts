/** Work in proportion to its size has an exponent of 1; a measurement on a busy machine may differ a little. */
export const MAX_EXPONENT = 1.2

/** Reads CPU time. A measurement takes at least `leastMs`, as the clock is coarse; `prepare` runs before each. */
export type Meter = { readMs: () => number; leastMs: number; prepare?: () => Promise<unknown> }

const THREAD: Meter = {
  readMs: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
  leastMs: 30,
}

/**
 * The exponent with which CPU time grows from one size to four times as much: 1 if it is in proportion. The smallest of
 * several measurements counts, up to twelve while the exponent is over the maximum, as other processes share the caches.
 * @param make an input of once, twice and four times the size
 * @param meter by default, of this thread
 */
export const measureExponent = async <Input>(
  make: (factor: number) => Input,
  run: (input: Input) => unknown,
  { readMs, leastMs, prepare }: Meter = THREAD,
) => {
  const inputs = [1, 2, 4].map(make)
  let times = 1
  const cpuOf = async (input: Input) => {
    await prepare?.()
    const start = readMs()
    for (let n = 0; n < times; n++) await run(input)
    return readMs() - start
  }
  const [smallest] = inputs as [Input, ...Input[]]
  let first = await cpuOf(smallest)
  for (; first < leastMs; first = await cpuOf(smallest)) times *= 2
  const least = [first, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let exponent = Number.POSITIVE_INFINITY
  for (let n = 0; n < 12 && exponent > MAX_EXPONENT; n++) {
    for (const [at, input] of inputs.entries()) least[at] = Math.min(least[at] ?? 0, await cpuOf(input))
    const [one = 0, , four = 0] = least
    exponent = Math.log2(four / one) / 2
  }
  return { exponent, milliseconds: (least[2] ?? 0) / times }
}
