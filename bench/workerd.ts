// Workers in workerd: bundled as a deployment would be, each on a socket of its own, all on one database.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Miniflare } from 'miniflare'
import { JWT_SECRET } from './seed.ts'

export const BUILD = 'bench/.build'
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

const readModule = (file: string) => ({
  type: 'esm' as const,
  contents: file.endsWith('.ts') ? stripTypeScriptTypes(readFileSync(file, 'utf8')) : readFileSync(file, 'utf8'),
})

// Names stand for places, so that the entries' relative imports find these.
const MODULES: Record<string, string> = {
  'bench/workers/calls.ts': 'bench/workers/calls.ts',
  'bench/workers/service.js': SERVICE,
  'src/members/password.ts': 'src/members/password.ts',
}

const imported = (entry: string) => {
  const source = readFileSync(entry, 'utf8')
  return Object.entries(MODULES).filter(([name]) => source.includes(name.split('/').at(-1) ?? name))
}

const toWorker = (name: string) => {
  const entry = `bench/workers/${name}.ts`
  const modules = [[entry, entry], ...imported(entry)].map(([as = '', file = '']) => [as, readModule(file)])
  return {
    config: {
      name,
      compatibilityDate: readFileSync('wrangler.toml', 'utf8').match(/compatibility_date = "(.+)"/)?.[1] ?? '',
      manifest: { mainModule: entry, modulesRoot: '/', modules: Object.fromEntries(modules) },
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

/** Starts the named entries of `bench/workers` in one workerd. */
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
    fill: async (statements: string[]) => {
      const [first] = names
      const database = await miniflare.getD1Database('DB', first)
      for (const statement of statements) await database.prepare(statement).run()
    },
  }
}
