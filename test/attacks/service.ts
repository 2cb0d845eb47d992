// The service as it would be deployed, in a workerd of its own, on a socket of its own, with data of its own.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Miniflare } from 'miniflare'
import { readMigrations } from '../bench/seed'
import { compatibilityDate, readModules } from '../support/workerd'
import { type Asked, connect, type Reply } from './client'

export const JWT_SECRET = 'a secret of the torture only, which no deployment has'
const NAME = 'service'
/** The service itself; an entry beside it may wrap what it imports from `./service.js`. */
const SERVICE = 'test/attacks/workers/service.js'

export type Options = {
  /** Variables beside those that every part has; undefined takes one away. */
  vars?: Record<string, string | undefined>
  /** The Worker's main module, for example `test/attacks/workers/faulty.ts`. */
  entry?: string
  /** A folder for the data, maybe with those of a service that was stopped; by default one is made, and removed in the end. */
  data?: string
  /** How many uploads a member may make in a minute. */
  uploads?: number
  /** Whether its isolate can be asked what it holds. */
  inspected?: boolean
}

export type Service = {
  url: URL
  /** Where D1, R2, KV and the cache keep their files. */
  data: string
  /** The process of workerd. */
  pid: number
  inspector?: URL
  /** Every line that was logged. */
  lines: string[]
  /** What must be in none of them. */
  secrets: Set<string>
  /** Verification codes: they must not stand in the log either, but a few digits may be part of an identifier. */
  codes: Set<string>
  database: D1Database
  bucket: R2Bucket
  lists: KVNamespace
  /** Sends a request over a socket that is kept, and looks at the headers that every answer must have. */
  ask: (request: Asked) => Promise<Reply>
  /** How many answers lacked one of those, and how many were none of the Worker's own. */
  answers: { all: number; unprotected: string[]; foreign: number }
  /** The texts of the mails sent, the oldest first. */
  mails: () => string[]
  /** What the cron does. */
  sweep: () => Promise<void>
  stop: () => Promise<void>
}

/** As wrangler.toml has them; building the Worker made the files. */
const ASSETS = {
  directory: resolve('dist/assets'),
  hasUserWorker: true,
  runWorkerFirst: true,
  htmlHandling: 'none' as const,
  notFoundHandling: 'none' as const,
}

const toEnv = ({ vars = {}, uploads = 30 }: Options) => {
  const texts = {
    JWT_SECRET,
    EMAIL_VERIFICATION: 'off',
    MAIL_FROM: 'library@example.com',
    PUBLIC_URL: 'https://library.example',
    CATALOGUE_PROVIDER: 'sample',
    ...vars,
  }
  const given = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    ASSETS: { type: 'assets' as const },
    DB: { type: 'd1' as const, id: 'library' },
    IMAGES: { type: 'r2' as const, name: 'images' },
    CATALOGUE: { type: 'kv' as const, id: 'lists' },
    EMAIL: { type: 'send-email' as const },
    NETWORK_LIMIT: { type: 'rate-limit' as const, namespace: '1001', simple: { limit: 600, period: 60 as const } },
    MEMBER_LIMIT: { type: 'rate-limit' as const, namespace: '1002', simple: { limit: uploads, period: 60 as const } },
    ...Object.fromEntries(given.map(([name, value]) => [name, { type: 'text' as const, value }])),
  }
}

/** The processes that there are, each with its parent's: from Linux itself, elsewhere from `ps`. */
const readProcesses = () => {
  if (!existsSync('/proc/self/stat')) {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    return stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        const [, state = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=\S )/)
        return [Number(pid), Number(state.split(' ')[1])]
      } catch {
        // It has just ended.
        return []
      }
    })
}

const childrenOf = (parent: number) =>
  readProcesses().flatMap(([pid, ppid]) => (pid !== undefined && ppid === parent ? [pid] : []))

const migrate = async (database: D1Database) => {
  const [known] = (await database.prepare(`select name from sqlite_master where name = 'members'`).all()).results
  if (known) return
  for (const statement of readMigrations()) await database.prepare(statement).run()
}

/** Local mail goes to files. */
const readMails = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.txt'))
    .map((file) => join(folder, file))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .map((file) => readFileSync(file, 'utf8'))

/** Starts the service, on new data unless told otherwise. It was built before. */
export const startService = async (options: Options = {}): Promise<Service> => {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'reading-library-'))
  const post = mkdtempSync(join(tmpdir(), 'reading-library-post-'))
  const lines: string[] = []
  const mainModule = options.entry ?? SERVICE
  const before = new Set(childrenOf(process.pid))
  const miniflare = new Miniflare({
    workers: [
      {
        config: {
          name: NAME,
          compatibilityDate: compatibilityDate(),
          manifest: { mainModule, modulesRoot: '/', modules: readModules(mainModule) },
          assets: ASSETS,
          env: toEnv(options),
        },
        dev: { rootPath: '/', unsafeDirectSockets: [{ port: 0 }], stripCfConnectingIp: false },
      },
    ],
    resourcePersistencePath: data,
    resourceTmpPath: post,
    ...(options.inspected && { inspectorPort: 0 }),
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    handleStructuredLogs: ({ message }) => lines.push(message),
  })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL(NAME)
  const database = (await miniflare.getD1Database('DB', NAME)) as unknown as D1Database
  await migrate(database)
  const client = connect(url)
  return {
    url,
    data,
    pid: childrenOf(process.pid).find((pid) => !before.has(pid)) ?? Number.NaN,
    ...(options.inspected && { inspector: await miniflare.getInspectorURL() }),
    lines,
    secrets: new Set([JWT_SECRET]),
    codes: new Set(),
    database,
    bucket: (await miniflare.getR2Bucket('IMAGES', NAME)) as unknown as R2Bucket,
    lists: (await miniflare.getKVNamespace('CATALOGUE', NAME)) as unknown as KVNamespace,
    ask: client.ask,
    answers: client.answers,
    mails: () => readMails(post),
    sweep: async () => {
      const worker = await miniflare.getWorker(NAME)
      await worker.scheduled()
    },
    stop: async () => {
      client.close()
      await miniflare.dispose()
      rmSync(post, { recursive: true, force: true })
      if (options.data === undefined) rmSync(data, { recursive: true, force: true })
    },
  }
}
