// The databases of a service in workerd, for this process. Miniflare's own proxy of a database blocks the process at each
// `prepare` and `bind`, and so everything that waits for answers at the same time.
import type { Miniflare } from 'miniflare'
import { compatibilityDate, readModules } from './workerd.ts'

const NAME = 'sql'
const ENTRY = 'test/support/service/sql-worker.ts'

/** The Worker that runs the statements. `env`: the bindings of the databases. */
export const defineSqlWorker = <Bindings extends object>(env: Bindings) => ({
  config: {
    name: NAME,
    compatibilityDate: compatibilityDate(),
    manifest: { mainModule: ENTRY, modulesRoot: '/', modules: readModules(ENTRY) },
    env,
  },
  dev: { rootPath: '/', unsafeDirectSockets: [{ port: 0 }] },
})

type Statement = { query: string; values: unknown[] }
type Run = (statements: Statement[]) => Promise<D1Result[]>
const inner = Symbol()

const isBytes = (value: unknown) => value instanceof ArrayBuffer || ArrayBuffer.isView(value)
/** D1 takes bytes as an array of numbers, too. */
const toJson = (value: unknown) => (isBytes(value) ? [...new Uint8Array(value as ArrayBuffer)] : value)

const toStatement = (statement: Statement, run: Run) => {
  const all = async () => {
    const [result] = await run([statement])
    return result
  }
  return {
    [inner]: statement,
    bind: (...values: unknown[]) => toStatement({ ...statement, values: values.map(toJson) }, run),
    all,
    run: all,
    raw: async () => ((await all())?.results ?? []).map((row) => Object.values(row as object)),
    first: async (column?: string) => {
      const row = (await all())?.results[0] as Record<string, unknown> | undefined
      return (column === undefined ? row : row?.[column]) ?? null
    },
  }
}
type Prepared = ReturnType<typeof toStatement>

/** Opens the databases that a Worker of `defineSqlWorker` has under these bindings. */
export const openDatabases = async (miniflare: Miniflare, bindings: string[]) => {
  const url = await miniflare.unsafeGetDirectURL(NAME)
  return bindings.map((binding) => {
    const run: Run = async (statements) => {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ binding, statements }) })
      const result = await response.json()
      if (!response.ok) throw new Error(String(result))
      return result as D1Result[]
    }
    return {
      prepare: (query: string) => toStatement({ query, values: [] }, run),
      batch: (statements: Prepared[]) => run(statements.map((statement) => statement[inner])),
    } as unknown as D1Database
  })
}
