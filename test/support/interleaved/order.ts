// Whether concurrent requests were answered as in some order, one at a time: the search of Wing and Gong (Testing and
// verifying concurrent objects, 1993) with the memory of Lowe (Testing for linearizability, 2017).
import type { Answer, Attempt } from '../model/commands'
import type { Library } from '../model/library'
import { follow } from '../model/run'

/** `start` and `end`: when the request was sent and its answer was there, as places in the order of all these events. */
export type Call = { attempt: Attempt; answer: Answer; start: number; end: number }

export const overlap = (one: Call, other: Call) => one.start < other.end && other.start < one.end

/** The library before the calls, and what it must be after them: `check` throws if a library is not that. */
export type Frame = { library: Library; since: string; check: (library: Library) => Promise<void> }

const toText = (library: Library) =>
  JSON.stringify(library, (_, value) =>
    value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value,
  )

const toProblem = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** The library after a call, or the problem if the call was answered otherwise. */
const afterIf = (isTied: boolean, library: Library, { attempt, answer }: Call, since: string) => {
  const next = { ...structuredClone(library), isTied, couldTie: false }
  try {
    follow(next, attempt, answer, since)
    return { next }
  } catch (error) {
    return { next, problem: toProblem(error) }
  }
}

/** All that is possible, since each request reads its own clock. */
const after = (library: Library, call: Call, since: string) => {
  const usual = afterIf(false, library, call, since)
  return usual.next.couldTie ? [usual, afterIf(true, library, call, since)] : [usual]
}

/** The calls that can be the next of those left: each was sent before the first of these was answered. */
const nextOf = (calls: Call[], left: number[]) => {
  const firstEnd = Math.min(...left.map((at) => calls[at]?.end ?? 0))
  return left.filter((at) => (calls[at]?.start ?? 0) < firstEnd)
}

/** Whether an order explains all answers and the final state: of the calls that can be next, `pick` takes one. */
export const explains = async (
  { library, since, check }: Frame,
  calls: Call[],
  pick: (next: number[]) => number | undefined,
) => {
  let state = library
  for (let left = [...calls.keys()]; left.length > 0; ) {
    const at = pick(nextOf(calls, left)) ?? 0
    left = left.filter((each) => each !== at)
    const { next, problem } = afterIf(false, state, calls[at] as Call, since)
    if (problem) return false
    state = next
  }
  return check(state).then(
    () => true,
    () => false,
  )
}

/** If no order explains all calls, `order` is undefined, and `problems` has what contradicts those that explain most. */
export type Search = { order: number[] | undefined; steps: number; problems: Set<string> }

/**
 * Searches an order of calls that explains all answers and the final state. A call that was answered before another was
 * sent comes before it.
 * @param calls in the order in which they were sent, which is tried first
 */
export const findOrder = async ({ library, since, check }: Frame, calls: Call[]): Promise<Search> => {
  const seen = new Set<string>()
  let steps = 0
  let furthest = { length: 0, problems: new Set<string>() }
  const fail = (order: number[], problem: string) => {
    if (order.length > furthest.length) furthest = { length: order.length, problems: new Set() }
    if (order.length === furthest.length) furthest.problems.add(`after ${order.join(', ')}: ${problem}`)
  }
  const search = async (state: Library, order: number[]): Promise<number[] | undefined> => {
    const known = `${order.toSorted()} ${toText(state)}`
    if (seen.has(known)) return undefined
    seen.add(known)
    const left = [...calls.keys()].filter((at) => !order.includes(at))
    if (left.length === 0) {
      const problem = await check(state).then(() => undefined, toProblem)
      if (problem === undefined) return order
      fail(order, problem)
    }
    for (const at of nextOf(calls, left)) {
      steps += 1
      for (const { next, problem } of after(state, calls[at] as Call, since)) {
        const found = problem ? fail(order, problem) : await search(next, [...order, at])
        if (found) return found
      }
    }
    return undefined
  }
  return { order: await search(library, []), steps, problems: furthest.problems }
}
