/** The clock of CPU time is coarse: a measurement takes at least this long. */
const LEAST_MS = 30

/** Work in proportion to its size has an exponent of 1; a measurement on a busy machine may differ a little. */
export const MAX_EXPONENT = 1.2

const cpuOf = async (work: () => unknown) => {
  const start = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

/**
 * The exponent with which CPU time grows from one size to four times as much: 1 if it is in proportion. The smallest of
 * two measurements counts, and of six if the exponent is over the maximum, because other processes share the caches.
 * @param make an input of once, twice and four times the size
 */
export const measureExponent = async <Input>(make: (factor: number) => Input, run: (input: Input) => unknown) => {
  const inputs = [1, 2, 4].map(make)
  const repeat = (input: Input, times: number) => async () => {
    for (let n = 0; n < times; n++) await run(input)
  }
  const [smallest] = inputs as [Input, ...Input[]]
  let times = 1
  while ((await cpuOf(repeat(smallest, times))) < LEAST_MS) times *= 2
  const least = inputs.map(() => Number.POSITIVE_INFINITY)
  let exponent = Number.POSITIVE_INFINITY
  for (let n = 0; n < 2 || (n < 6 && exponent > MAX_EXPONENT); n++) {
    for (const [at, input] of inputs.entries()) {
      least[at] = Math.min(least[at] ?? 0, await cpuOf(repeat(input, times)))
    }
    const [one = 0, , four = 0] = least
    exponent = Math.log2(four / one) / 2
  }
  return { exponent, milliseconds: (least[2] ?? 0) / times }
}
