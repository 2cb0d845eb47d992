import { Miniflare } from 'miniflare'
import { defineWorker, MINIFLARE_OPTIONS } from '../support/workerd.ts'
import { JWT_SECRET } from './seed.ts'

/** Starts entries of `test/bench/workers` in one workerd, with one database. */
export const startWorkers = async <const Name extends string>(...names: Name[]) => {
  const vars = { JWT_SECRET, EMAIL_VERIFICATION: 'off', CATALOGUE_PROVIDER: 'sample' }
  // The simulated latency of the database in the Workers `distant` and `chain`.
  const bindings = { DISTANCE_MS: { type: 'json' as const, value: 50 } }
  const miniflare = new Miniflare({
    ...MINIFLARE_OPTIONS,
    workers: names.map((name) =>
      // One member makes all uploads.
      defineWorker({ name, entry: `test/bench/workers/${name}.ts`, vars, uploadsPerMinute: 1e9, bindings }),
    ),
    handleStructuredLogs: ({ level, message }) => {
      if (level === 'error') console.error(message)
    },
  })
  await miniflare.ready
  const urls = await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)))
  const urlOf = Object.fromEntries(names.map((name, at) => [name, urls[at]])) as Record<Name, URL>
  return {
    urlOf,
    stop: () => miniflare.dispose(),
    /** Runs statements and returns the size of the database in bytes. */
    fill: async (statements: string[]) => {
      const [first] = names
      const database = await miniflare.getD1Database('DB', first)
      let bytes = 0
      for (const statement of statements) bytes = (await database.prepare(statement).run()).meta.size_after
      return bytes
    },
  }
}
