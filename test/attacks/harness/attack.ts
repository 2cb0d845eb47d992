import type { Options, Service } from './service'

export type Context = {
  /** Fewer of each case, but every kind of case. */
  quick: boolean
  seed: number
  /** How many databases each service has. If there are several, new members are in slot 1. */
  slots: number
  progress: (line: string) => void
  /** Starts a service. It is stopped after the attack; its log and response headers are checked then. */
  start: (options?: Options) => Promise<Service>
}

/** A row of the table. */
export type Figure = [what: string, count: number, result: string]

/** A failure names the case and, if the seed alone does not reproduce it, how to do so. */
export type Report = { figures: Figure[]; failures: string[] }

export type Attack = (context: Context) => Promise<Report>

export const mergeReports = (...reports: Report[]): Report => ({
  figures: reports.flatMap(({ figures }) => figures),
  failures: reports.flatMap(({ failures }) => failures),
})

/** Collects results that differ from the expected ones. */
export const createChecks = () => {
  const failures: string[] = []
  const check = (what: string, found: unknown, expected: unknown) => {
    if (found !== expected) failures.push(`${what}: ${found}, not ${expected}`)
  }
  return { failures, check }
}

/** For example "12 × 200, 3 × 404". */
export const countStatuses = (statuses: (number | string)[]) =>
  [...Map.groupBy(statuses, (status) => status)]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([status, { length }]) => `${length} × ${status}`)
    .join(', ')

/** Runs `work` a number of times at once. */
export const concurrently = <Result>(count: number, work: (n: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

/** Runs `work` on all items, a few concurrently; returns the results in order. */
export const mapConcurrently = async <Item, Result>(
  concurrency: number,
  items: Item[],
  work: (item: Item) => Promise<Result>,
) => {
  const results: Result[] = []
  const queue = items.entries()
  const run = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, run))
  return results
}
