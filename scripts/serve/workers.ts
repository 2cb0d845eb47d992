// The Workers as Miniflare runs them, with the bindings of wrangler.toml.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import type { WorkerOptions } from 'miniflare'
import type { Config } from '../deploy/host.ts'
import { bindSlots } from '../slots/table.ts'
import { readConfig, readLocalSlots, readReaderConfig } from '../wrangler/config.ts'
import type { createMailer, Mail } from './mailer.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Its binding `SERVICE` has the handler of the cron trigger only with this flag. */
const HOST_FLAGS = ['service_binding_extra_handlers']
const HOST = 'host'
/** Requests bypass the Worker that Miniflare puts in front, which reads addresses and more from headers of clients. */
const SOCKETS = [{ host: '127.0.0.1', port: 0 }]

type Served = Omit<Config, 'ratelimits'> & {
  compatibility_date: string
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: 10 | 60 } }[]
}

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const defineWorker = (
  name: string,
  compatibilityDate: string,
  contents: string,
  env: NonNullable<WorkerOptions['config']['env']>,
): WorkerOptions => ({
  config: {
    name,
    compatibilityDate,
    manifest: { mainModule: 'index.js', modulesRoot: '/', modules: { 'index.js': { type: 'esm', contents } } },
    env,
  },
  // Nothing deletes what has expired from its cache.
  dev: { rootPath: '/', cacheAPI: false },
})

const readBundle = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Identifiers are those that wrangler gives to local resources, so that its commands find the same data. */
const toBindings = ({ d1_databases, r2_buckets, kv_namespaces, ratelimits }: Served, readerName: string) => ({
  ...Object.fromEntries(
    d1_databases.map(({ binding, database_id }) => [binding, { type: 'd1' as const, id: database_id ?? binding }]),
  ),
  ...Object.fromEntries(
    r2_buckets.map(({ binding, bucket_name }) => [binding, { type: 'r2' as const, name: bucket_name }]),
  ),
  ...Object.fromEntries(kv_namespaces.map(({ binding, id }) => [binding, { type: 'kv' as const, id: id ?? binding }])),
  ...Object.fromEntries(
    ratelimits.map(({ name, namespace_id, simple }) => [
      name,
      { type: 'rate-limit' as const, namespace: namespace_id, simple },
    ]),
  ),
  ASSETS: { type: 'assets' as const },
  EMAIL: { type: 'worker' as const, worker: HOST },
  READER: { type: 'worker' as const, worker: readerName },
  VERSION: { type: 'version-metadata' as const },
})

/** @param settings variables and secrets of the service */
export const defineWorkers = (
  data: string,
  settings: Record<string, string>,
  sendMail: ReturnType<typeof createMailer>,
) => {
  const slots = readLocalSlots(data)
  const config = bindSlots(readConfig(), slots) as Served
  const reader = readReaderConfig()
  const vars = Object.entries({ ...config.vars, ...settings })
  const service = defineWorker(config.name, config.compatibility_date, readBundle('dist/index.js'), {
    ...toBindings(config, reader.name),
    ...Object.fromEntries(vars.map(([name, value]) => [name, { type: 'text' as const, value: String(value) }])),
  })
  const mail: NodeHandler = async (request, response) => {
    try {
      await sendMail((await json(request)) as Mail)
    } catch (error) {
      response.statusCode = 502
      response.write((error as Error).message)
    }
    response.end()
  }
  const assets = {
    directory: resolve(ROOT, 'dist/assets'),
    hasUserWorker: true,
    runWorkerFirst: true,
    htmlHandling: 'none' as const,
    notFoundHandling: 'none' as const,
  }
  const host = defineWorker(HOST, config.compatibility_date, readBundle('scripts/serve/host-worker.js'), {
    MAILER: { type: 'node-handler', handler: mail },
    SERVICE: { type: 'worker', worker: config.name },
  })
  const workers: WorkerOptions[] = [
    { config: { ...service.config, assets }, dev: { ...service.dev, unsafeDirectSockets: SOCKETS } },
    {
      config: { ...host.config, compatibilityFlags: HOST_FLAGS },
      dev: { ...host.dev, unsafeDirectSockets: SOCKETS },
    },
    defineWorker(reader.name, config.compatibility_date, readBundle('dist/reader/index.js'), {}),
  ]
  return { name: config.name, hostName: HOST, slots, workers }
}
