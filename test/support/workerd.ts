// Workers in workerd: bundled as a deployment would be, each on a socket of its own, all on one database.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Miniflare } from 'miniflare'
import { JWT_SECRET } from '../bench/seed.ts'

export const BUILD = 'test/bench/.build'
const SERVICE = join(BUILD, 'service/index.js')

/** The database is so far away in the workers `distant` and `chain`. */
export const DISTANCE_MS = 50

/** Bundles and minifies the service; answers its size. */
export const buildService = () => {
  const { status, stderr, stdout } = spawnSync(
    'wrangler',
    ['deploy', '--dry-run', '--outdir', join(BUILD, 'service')],
    {
      encoding: 'utf8',
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    },
  )
  if (status !== 0) throw new Error(`wrangler did not build the Worker:\n${stdout}${stderr}`)
  const worker = readFileSync(SERVICE)
  return { bytes: worker.length, gzipped: gzipSync(worker).length }
}

const readSource = (file: string) =>
  file.endsWith('.ts') ? stripTypeScriptTypes(readFileSync(file, 'utf8')) : readFileSync(file, 'utf8')

/** Where an import is found: `service.js` beside any entry is the service as it was built. */
const placeOf = (name: string) => (name.endsWith('/service.js') ? SERVICE : name)

type Module = { type: 'esm'; contents: string }

/** The modules of an entry and of all that it imports, by names that stand for places, so that imports find them. */
export const readModules = (entry: string, known: Record<string, Module> = {}) => {
  if (known[entry]) return known
  const place = placeOf(entry)
  known[entry] = { type: 'esm', contents: readSource(place) }
  // What was built imports nothing more.
  if (place === SERVICE) return known
  for (const [, path = ''] of known[entry].contents.matchAll(/(?:from |import\()'(\.\.?\/[^']+)'/g)) {
    readModules(join(dirname(entry), path), known)
  }
  return known
}

/** The date of the platform that the service is deployed for. */
export const compatibilityDate = () =>
  readFileSync('wrangler.toml', 'utf8').match(/compatibility_date = "(.+)"/)?.[1] ?? ''

const toWorker = (name: string) => {
  const entry = `test/bench/workers/${name}.ts`
  return {
    config: {
      name,
      compatibilityDate: compatibilityDate(),
      manifest: { mainModule: entry, modulesRoot: '/', modules: readModules(entry) },
      env: {
        DB: { type: 'd1' as const, id: 'bench' },
        IMAGES: { type: 'r2' as const, name: 'bench' },
        CATALOGUE: { type: 'kv' as const, id: 'bench' },
        NETWORK_LIMIT: { type: 'rate-limit' as const, namespace: '1001', simple: { limit: 600, period: 60 as const } },
        // Uploads are timed too, and one member makes them all.
        MEMBER_LIMIT: { type: 'rate-limit' as const, namespace: '1002', simple: { limit: 1e9, period: 60 as const } },
        JWT_SECRET: { type: 'text' as const, value: JWT_SECRET },
        EMAIL_VERIFICATION: { type: 'text' as const, value: 'off' },
        CATALOGUE_PROVIDER: { type: 'text' as const, value: 'sample' },
        DISTANCE_MS: { type: 'json' as const, value: DISTANCE_MS },
      },
    },
    // Straight to the Worker: not through miniflare's own entry Worker, which costs more than the service.
    dev: { rootPath: '/', unsafeDirectSockets: [{ port: 0 }], stripCfConnectingIp: false },
  }
}

/** Starts the named entries of `test/bench/workers` in one workerd. */
export const startWorkers = async <const Name extends string>(...names: Name[]) => {
  const miniflare = new Miniflare({
    workers: names.map(toWorker),
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
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
    /** Runs the statements, and answers the bytes that the database then has. */
    fill: async (statements: string[]) => {
      const [first] = names
      const database = await miniflare.getD1Database('DB', first)
      let bytes = 0
      for (const statement of statements) bytes = (await database.prepare(statement).run()).meta.size_after
      return bytes
    },
  }
}
