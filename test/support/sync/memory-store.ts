import type { Store } from '../../../docs/offline-client'

/** What a device keeps when its app is killed. */
export const createDisk = () => {
  const entries = new Map<string, string | Blob>()
  const parse = (value: string | Blob) => (typeof value === 'string' ? JSON.parse(value) : value)
  const locksOf = () => {
    const tails = new Map<string, Promise<unknown>>()
    return <Result>(name: string, work: () => Promise<Result>) => {
      const result = (tails.get(name) ?? Promise.resolve()).then(work)
      tails.set(
        name,
        result.catch(() => {}),
      )
      return result
    }
  }
  return {
    entries,
    /** The store of an app. After `calls` calls it is killed: each further one fails. */
    open: (calls = Number.POSITIVE_INFINITY) => {
      let left = calls
      const live = async <Result>(work: () => Result) => {
        if (left-- <= 0) throw new Error('killed')
        return work()
      }
      const store: Store = {
        get: (key) => live(() => parse(entries.get(key) ?? 'null') ?? undefined),
        list: (prefix) =>
          live(() =>
            [...entries]
              .filter(([key]) => key.startsWith(prefix))
              .sort(([one], [other]) => (one < other ? -1 : 1))
              .map(([key, value]) => [key, parse(value)]),
          ),
        write: (changed) =>
          live(() => {
            for (const [key, value] of changed) {
              if (value === undefined) entries.delete(key)
              else entries.set(key, value instanceof Blob ? value : JSON.stringify(value))
            }
          }),
        lock: locksOf(),
      }
      return {
        store,
        kill: (after = 0) => {
          left = after
        },
        isKilled: () => left <= 0,
      }
    },
  }
}
