/** A map that keeps the `max` keys that were set last. */
export const createRecent = <Value>(max: number) => {
  const values = new Map<string, Value>()
  return {
    get: (key: string) => values.get(key),
    set: (key: string, value: Value) => {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (oldest !== undefined && values.size > max) values.delete(oldest)
    },
    delete: (key: string) => values.delete(key),
  }
}
