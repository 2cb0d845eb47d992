const MOST_MS = 4

/** Makes a database call late, and its answer. */
export const jitter = async <T>(call: () => Promise<T>) => {
  const wait = () => scheduler.wait(Math.random() * MOST_MS)
  await wait()
  return call().finally(wait)
}
