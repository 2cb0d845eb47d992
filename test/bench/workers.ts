import { Miniflare } from 'miniflare'
import { listChildren } from '../../scripts/serve/processes.ts'
import { defineReader, defineWorker, MINIFLARE_OPTIONS } from '../support/service/workerd.ts'
import { JWT_SECRET } from './endpoints/seed.ts'

const ADDRESS_KEY = 'a key of the benchmarks only, which hashes the addresses'

/** The bindings of the databases beyond the first one. */
const toSlotBindings = (slots: number) =>
  Object.fromEntries(
    Array.from({ length: slots - 1 }, (_, at) => [`DB_${at + 1}`, { type: 'd1' as const, id: `slot-${at + 1}` }]),
  )

type Options = {
  slots?: number
  /** Opens the inspector, which reports memory use. */
  isInspected?: boolean
}

/** Starts entries of `test/bench/workers` in one workerd, with the same databases. */
export const startWorkers = async <const Name extends string>(
  names: Name[],
  { slots = 1, isInspected = false }: Options = {},
) => {
  const vars = { JWT_SECRET, ADDRESS_KEY, EMAIL_VERIFICATION: 'off', CATALOGUE_PROVIDER: 'sample' }
  // The simulated latency of the database in the Workers `distant` and `chain`.
  const bindings = { DISTANCE_MS: { type: 'json' as const, value: 50 }, ...toSlotBindings(slots) }
  const before = listChildren()
  const miniflare = new Miniflare({
    ...MINIFLARE_OPTIONS,
    workers: [
      ...names.map((name) =>
        // One member makes all uploads.
        defineWorker({ name, entry: `test/bench/workers/${name}.ts`, vars, uploadsPerMinute: 1e9, bindings }),
      ),
      defineReader(),
    ],
    ...(isInspected && { inspectorPort: 0 }),
    handleStructuredLogs: ({ level, message }) => {
      if (level === 'error') console.error(message)
    },
  })
  await miniflare.ready
  const urls = await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)))
  const urlOf = Object.fromEntries(names.map((name, at) => [name, urls[at]])) as Record<Name, URL>
  return {
    urlOf,
    /** The process id of workerd. */
    pid: listChildren().find((pid) => !before.includes(pid)) ?? Number.NaN,
    inspector: isInspected ? await miniflare.getInspectorURL() : undefined,
    stop: () => miniflare.dispose(),
    /** Runs statements in a slot and returns the size of its database in bytes. */
    fill: async (statements: string[], slot = 0) => {
      const [first] = names
      const database = await miniflare.getD1Database(slot === 0 ? 'DB' : `DB_${slot}`, first)
      let bytes = 0
      for (const statement of statements) bytes = (await database.prepare(statement).run()).meta.size_after
      return bytes
    },
  }
}
