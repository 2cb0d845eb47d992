import { forEachConcurrent } from '../../src/runtime/concurrently.ts'

/** Runs an action for every item, six at a time. When all have ended, throws the first error. */
export const forEachAtOnce = async <T>(items: T[], action: (item: T) => Promise<unknown>) => {
  for (const outcome of await forEachConcurrent(items, action)) if (outcome.status === 'rejected') throw outcome.reason
}
