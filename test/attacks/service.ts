// The service as it would be deployed, in its own workerd with its own data.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Miniflare } from 'miniflare'
import { readMigrations } from '../support/migrations'
import { defineWorker, MINIFLARE_OPTIONS, SERVICE } from '../support/workerd'
import { createClient, type Request, type Response } from './client'

export const JWT_SECRET = 'a secret of the attack suites only, which no deployment has'
const NAME = 'service'

export type Options = {
  /** Changes variables; undefined removes one. */
  vars?: Record<string, string | undefined>
  /** The main module, if it is not the service itself. */
  entry?: string
  /** A folder with the data of an earlier service. By default a new one is created, and deleted at the end. */
  data?: string
  uploadsPerMinute?: number
  /** Opens the inspector, which reports memory use. */
  inspected?: boolean
}

export type Service = {
  url: URL
  /** The process id of workerd. */
  pid: number
  inspector?: URL
  /** Everything logged so far. */
  lines: string[]
  /** Texts that must not be logged. */
  secrets: Set<string>
  /** Verification codes, which must not be logged either. They are searched for as whole numbers. */
  codes: Set<string>
  database: D1Database
  bucket: R2Bucket
  lists: KVNamespace
  request: (request: Request) => Promise<Response>
  responses: { total: number; unprotected: string[]; notFromWorker: number }
  /** The texts of all sent mails, oldest first. */
  mails: () => string[]
  /** Runs the cron handler. */
  runCron: () => Promise<void>
  stop: () => Promise<void>
}

/** As in wrangler.toml; building the Worker creates the files. */
const ASSETS = {
  directory: resolve('dist/assets'),
  hasUserWorker: true,
  runWorkerFirst: true,
  htmlHandling: 'none' as const,
  notFoundHandling: 'none' as const,
}

const VARS = {
  JWT_SECRET,
  EMAIL_VERIFICATION: 'off',
  MAIL_FROM: 'library@example.com',
  PUBLIC_URL: 'https://library.example',
  CATALOGUE_PROVIDER: 'sample',
}

const readParent = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .split(/\) \S /)[1]
      ?.split(' ')[0]
  } catch {
    // The process has just ended.
    return undefined
  }
}

/** The ids of this process's children: from /proc on Linux, otherwise from `ps`. */
const listChildren = () => {
  const own = String(process.pid)
  if (existsSync('/proc/self/stat')) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.filter((pid) => readParent(pid) === own).map(Number)
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  return processes.filter(([, parent]) => parent === own).map(([pid]) => Number(pid))
}

const migrate = async (database: D1Database) => {
  if (await database.prepare(`select name from sqlite_master where name = 'members'`).first()) return
  for (const statement of readMigrations()) await database.prepare(statement).run()
}

/** Miniflare writes each sent mail to a file. */
const readMails = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.txt'))
    .map((file) => join(folder, file))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .map((file) => readFileSync(file, 'utf8'))

/** Starts the service, which must have been built before. */
export const startService = async (options: Options = {}): Promise<Service> => {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'reading-library-'))
  const temporary = mkdtempSync(join(tmpdir(), 'reading-library-mails-'))
  const lines: string[] = []
  const before = listChildren()
  const worker = defineWorker({
    name: NAME,
    entry: options.entry ?? SERVICE,
    vars: { ...VARS, ...options.vars },
    uploadsPerMinute: options.uploadsPerMinute ?? 30,
    bindings: { ASSETS: { type: 'assets' as const }, EMAIL: { type: 'send-email' as const } },
    config: { assets: ASSETS },
  })
  const miniflare = new Miniflare({
    ...MINIFLARE_OPTIONS,
    workers: [worker],
    resourcePersistencePath: data,
    resourceTmpPath: temporary,
    ...(options.inspected && { inspectorPort: 0 }),
    handleStructuredLogs: ({ message }) => lines.push(message),
  })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL(NAME)
  const database = (await miniflare.getD1Database('DB', NAME)) as unknown as D1Database
  await migrate(database)
  const client = createClient(url)
  return {
    url,
    pid: listChildren().find((pid) => !before.includes(pid)) ?? Number.NaN,
    ...(options.inspected && { inspector: await miniflare.getInspectorURL() }),
    lines,
    secrets: new Set([JWT_SECRET]),
    codes: new Set(),
    database,
    bucket: (await miniflare.getR2Bucket('IMAGES', NAME)) as unknown as R2Bucket,
    lists: (await miniflare.getKVNamespace('CATALOGUE', NAME)) as unknown as KVNamespace,
    request: client.request,
    responses: client.responses,
    mails: () => readMails(temporary),
    runCron: async () => {
      const fetcher = await miniflare.getWorker(NAME)
      await fetcher.scheduled()
    },
    stop: async () => {
      client.close()
      await miniflare.dispose()
      rmSync(temporary, { recursive: true, force: true })
      if (options.data === undefined) rmSync(data, { recursive: true, force: true })
    },
  }
}
