// Runs Workers in workerd from the bundle that would be deployed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildReader, readReader } from './reader.ts'

export const BUILD = 'dist/test'
const BUNDLE = join(BUILD, 'service/index.js')
/** Entries import the bundle under this path. */
export const SERVICE = 'test/support/service/service.js'

/**
 * Bundles and minifies the service and the Worker that reads files, which other processes may read meanwhile. Returns the
 * size of the service.
 */
export const buildService = () => {
  buildReader()
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const folder = `${dirname(BUNDLE)}-${process.pid}`
  execFileSync('wrangler', ['deploy', '--dry-run', '--outdir', folder], { env, stdio: 'pipe' })
  mkdirSync(dirname(BUNDLE), { recursive: true })
  renameSync(join(folder, 'index.js'), BUNDLE)
  rmSync(folder, { recursive: true })
  const worker = readFileSync(BUNDLE)
  return { bytes: worker.length, gzipped: gzipSync(worker).length }
}

type Module = { type: 'esm'; contents: string }

/** Reads an entry and everything it imports, keyed by path. The bundle has no imports. */
export const readModules = (entry: string, modules: Record<string, Module> = {}) => {
  if (modules[entry]) return modules
  const source = readFileSync(entry === SERVICE ? BUNDLE : entry, 'utf8')
  const contents = entry.endsWith('.ts') ? stripTypeScriptTypes(source) : source
  modules[entry] = { type: 'esm', contents }
  if (entry === SERVICE) return modules
  for (const [, path = ''] of contents.matchAll(/(?:from |import |import\()'(\.\.?\/[^']+)'/g)) {
    readModules(join(dirname(entry), path), modules)
  }
  return modules
}

export const compatibilityDate = () =>
  readFileSync('wrangler.toml', 'utf8').match(/compatibility_date = "(.+)"/)?.[1] ?? ''

/** The Worker that reads files, which the other Workers call. */
export const defineReader = () => {
  const { name, compatibilityDate, script } = readReader()
  const modules = { 'index.js': { type: 'esm' as const, contents: script } }
  return {
    config: { name, compatibilityDate, manifest: { mainModule: 'index.js', modulesRoot: '/', modules }, env: {} },
    dev: { rootPath: '/' },
  }
}

/** As in wrangler.toml; building the Worker creates the files. */
const ASSETS = {
  directory: resolve('dist/assets'),
  hasUserWorker: true,
  runWorkerFirst: true,
  htmlHandling: 'none' as const,
  notFoundHandling: 'none' as const,
}

type WorkerOptions<Bindings, Config> = {
  name: string
  /** The main module, relative to the repository. */
  entry: string
  vars: Record<string, string | undefined>
  uploadsPerMinute: number
  /** Unlimited if undefined, as are requests with unconfirmed credentials. */
  writesPerMinute?: number
  unconfirmedPerMinute?: number
  /** Bindings beyond those that every Worker under test has. */
  bindings?: Bindings
  config?: Config
}

/** A Worker on its own socket. Requests bypass miniflare's entry Worker, which costs more than the service. */
export const defineWorker = <Bindings extends object, Config extends object>(
  options: WorkerOptions<Bindings, Config>,
) => {
  const { name, entry, vars, uploadsPerMinute, writesPerMinute, unconfirmedPerMinute, bindings, config } = options
  const rateLimit = (namespace: string, limit: number) => ({
    type: 'rate-limit' as const,
    namespace,
    simple: { limit, period: 60 as const },
  })
  const texts = Object.entries(vars).filter(([, value]) => value !== undefined)
  return {
    config: {
      name,
      compatibilityDate: compatibilityDate(),
      manifest: { mainModule: entry, modulesRoot: '/', modules: readModules(entry) },
      env: {
        DB: { type: 'd1' as const, id: 'library' },
        IMAGES: { type: 'r2' as const, name: 'images' },
        CATALOGUE: { type: 'kv' as const, id: 'lists' },
        ASSETS: { type: 'assets' as const },
        NETWORK_LIMIT: rateLimit('1001', 600),
        MEMBER_LIMIT: rateLimit('1002', uploadsPerMinute),
        SEARCH_LIMIT: rateLimit('1005', Math.max(120, uploadsPerMinute)),
        DEVICE_LIMIT: rateLimit('1006', Math.max(240, uploadsPerMinute)),
        ...(writesPerMinute && { WRITE_LIMIT: rateLimit('1003', writesPerMinute) }),
        ...(unconfirmedPerMinute && { CREDENTIAL_LIMIT: rateLimit('1004', unconfirmedPerMinute) }),
        VERSION: { type: 'version-metadata' as const },
        READER: { type: 'worker' as const, worker: readReader().name },
        ...Object.fromEntries(texts.map(([key, value = '']) => [key, { type: 'text' as const, value }])),
        ...bindings,
      },
      assets: ASSETS,
      ...config,
    },
    dev: { rootPath: '/', unsafeDirectSockets: [{ port: 0 }], stripCfConnectingIp: false },
  }
}

export const MINIFLARE_OPTIONS = { cf: false, logRequests: false, telemetry: { enabled: false } } as const
