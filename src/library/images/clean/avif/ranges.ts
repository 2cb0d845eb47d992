/** A range of bytes in a file. */
export type Range = { start: number; end: number }

/** Maps the start of a range to its new place. */
export type Relocate = (start: number) => number

/**
 * Plans copying ranges of a file one after the other, in the order of the file. Overlapping ranges, such as those of
 * images that share data, are copied once.
 * @param containers the boxes that may contain the ranges, in the order of the file
 * @returns undefined if a range is empty or not within a container
 */
export const planCopy = (ranges: Range[], containers: Range[]) => {
  const runs: Range[] = []
  const targets = new Map<number, number>()
  let length = 0
  let container = 0
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    while ((containers[container]?.end ?? Number.POSITIVE_INFINITY) < end) container++
    if (start >= end || start < (containers[container]?.start ?? Number.POSITIVE_INFINITY)) return undefined
    const last = runs.at(-1)
    const run = last && start < last.end ? last : { start, end: start }
    if (run !== last) runs.push(run)
    targets.set(start, length - (run.end - start))
    length += Math.max(end - run.end, 0)
    run.end = Math.max(end, run.end)
  }
  const relocate: Relocate = (start) => targets.get(start) ?? 0
  return { runs, length, relocate }
}
