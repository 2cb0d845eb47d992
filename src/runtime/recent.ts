/** A map that keeps the `max` keys that were set last. */
export const createRecent = <Value>(max: number) => {
  const values = new Map<string, Value>()
  return {
    get: (key: string) => values.get(key),
    set: (key: string, value: Value) => {
      values.delete(key)
      values.set(key, value)
      if (values.size > max) values.delete(values.keys().next().value as string)
    },
    delete: (key: string) => values.delete(key),
  }
}
