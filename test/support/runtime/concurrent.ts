import { env } from 'cloudflare:workers'

/** Lets everything happen that needs no event from outside: as many round trips to a database as no request needs. */
export const settle = async () => {
  for (let n = 0; n < 20; n++) await env.DB.prepare('select 1').run()
}

/**
 * Counts calls that run at once. The first ones wait until there are `expected` of them, however busy the machine is, and
 * then for more than these.
 */
export const countConcurrent = (expected: number) => {
  const seen = { active: 0, highest: 0 }
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  const intercept = async <T>(call: () => Promise<T>) => {
    seen.highest = Math.max(seen.highest, ++seen.active)
    if (seen.highest === expected) settle().then(resolve)
    await reached
    return call().finally(() => seen.active--)
  }
  return { seen, intercept }
}
