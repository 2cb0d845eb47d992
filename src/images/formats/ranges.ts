/** A run of bytes in a file. */
export type Range = { start: number; end: number }

/**
 * Plans how ranges of a file move when only they are kept, joined in their order. Ranges that overlap, as pictures
 * that share data do, stay one. Undefined when a range is not inside one of the containers, which must be in order.
 */
export const planMove = (ranges: Range[], containers: Range[]) => {
  const runs: (Range & { target: number })[] = []
  let length = 0
  let container = 0
  for (const { start, end } of [...ranges].sort((one, other) => one.start - other.start)) {
    while ((containers[container]?.end ?? Number.POSITIVE_INFINITY) < end) container++
    if (start >= end || start < (containers[container]?.start ?? Number.POSITIVE_INFINITY)) return undefined
    const last = runs.at(-1)
    if (last && start < last.end) {
      length += Math.max(end - last.end, 0)
      last.end = Math.max(end, last.end)
    } else {
      runs.push({ start, end, target: length })
      length += end - start
    }
  }
  return {
    runs,
    length,
    /** Where a place inside a kept range lies once they are joined. */
    move: (at: number) => {
      let [low, high] = [0, runs.length - 1]
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if ((runs[middle]?.start ?? 0) <= at) low = middle
        else high = middle - 1
      }
      const run = runs[low]
      return run ? run.target + at - run.start : 0
    },
  }
}
