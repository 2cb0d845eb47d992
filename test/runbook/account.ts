import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { localPath } from '../../scripts/data/stores.ts'
import type { Config, WranglerResult } from '../../scripts/deploy/host.ts'
import {
  type Account,
  emptyAccount,
  failure,
  fakeWrangler,
  healthOf,
  success,
  WORKER_URL,
} from '../support/deploy/fake-account.ts'

/** Where wrangler and `npm run db` have local data. */
const DATA = '.wrangler/state'

/** As wrangler does. */
const migrate = (database: DatabaseSync) => {
  database.exec(`create table if not exists d1_migrations (id integer primary key autoincrement, name text unique,
    applied_at timestamp default current_timestamp not null)`)
  const applied = database.prepare('select name from d1_migrations').all()
  const files = globSync('migrations/*.sql').sort()
  const names = files.map((file) => file.replace('migrations/', '')).slice(applied.length)
  for (const name of names) {
    database.exec(readFileSync(join('migrations', name), 'utf8'))
    database.prepare('insert into d1_migrations (name) values (?)').run(name)
  }
  return names
}

const query = (database: DatabaseSync, sql: string) => {
  if (!sql.includes(';')) return database.prepare(sql).all()
  database.exec(sql)
  return []
}

/** `ids`: those of the local databases, by the names of deployed ones. */
export type Deployment = {
  state: Account
  ids: Record<string, string>
  secrets?: Record<string, string>
  config?: Config
}

/**
 * A fake account whose databases are the local ones of a folder, so that `--local` works on what is deployed, and whose secrets
 * are in its .dev.vars.
 */
export const createAccount = (folder: string, stopService: () => Promise<void>) => {
  const state: Account = emptyAccount()
  const ids: Record<string, string> = {}
  const production: Deployment = { state, ids }
  const deployments: Record<string, Deployment> = { 'reading-library': production }
  const commands: string[] = []

  const pathOf = (name: string) => localPath(join(folder, DATA), ids[name] ?? name)
  const open = (path: string) => {
    mkdirSync(dirname(path), { recursive: true })
    const database = new DatabaseSync(path)
    database.exec('pragma journal_mode = wal; pragma synchronous = off')
    return database
  }
  const withinFile = <T>(path: string, work: (database: DatabaseSync) => T) => {
    const database = open(path)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  const within = <T>(name: string, work: (database: DatabaseSync) => T) => withinFile(pathOf(name), work)
  const store = (deployment: Deployment, secrets: Record<string, string>) => {
    deployment.secrets = secrets
    deployment.state.secrets = Object.keys(secrets)
    if (deployment !== production) return
    const lines = Object.entries({ ...secrets, EMAIL_VERIFICATION: 'off' }).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(folder, '.dev.vars'), lines.join(''))
  }
  /** Writes what Time Travel restores as of a time. */
  const keep = (name: string, timestamp: string) =>
    within(name, (database) => database.exec(`vacuum into '${join(folder, `${timestamp}.sqlite`)}'`))
  const restoreFrom = (path: string, name: string) => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(pathOf(name) + suffix, { force: true })
    cpSync(path, pathOf(name))
  }
  /** The database that is bound takes the place of the one that was, since local data has one database for each binding. */
  const bind = (binding: string, name: string) => {
    const [bound] = Object.entries(ids).find(([, id]) => id === binding) ?? []
    if (!bound || bound === name || ids[name] === binding) return
    const path = pathOf(name)
    const restored = `${path}.restored`
    within(name, (database) => database.exec(`vacuum into '${restored}'`))
    delete ids[bound]
    ids[name] = binding
    restoreFrom(restored, name)
  }
  /** Local commands find the slots in a table of their own. */
  const storeConfig = (deployment: Deployment, config: Config) => {
    deployment.config = config
    if (deployment === production)
      for (const { binding, database_name } of config.d1_databases) bind(binding, database_name)
    if (deployment !== production || config.d1_databases.length === 1) return
    const slots = config.d1_databases.map(({ binding }) => ({ slot: Number(binding.slice(3)) }))
    writeFileSync(join(folder, DATA, 'slots.json'), JSON.stringify(slots))
  }

  /** The name of a temporary file without the process that writes it. */
  const withoutProcess = (name: string) => name.replace(/\.\d+\.json$/, '.json')
  const wrangler = async (given: string[], input: string): Promise<WranglerResult> => {
    const args = given.map(withoutProcess)
    if (/^(?:secret (?!list)|d1 time-travel restore|deploy|d1 migrations)/.test(args.join(' '))) await stopService()
    commands.push(args.join(' '))
    const files = Object.fromEntries(
      given
        .filter((each) => each.endsWith('.json'))
        .map((each) => [withoutProcess(each), readFileSync(resolve(folder, each), 'utf8')]),
    )
    const config: Config | undefined = JSON.parse(files['wrangler.deploy.json'] ?? 'null') ?? undefined
    const worker = config?.name ?? 'reading-library'
    deployments[worker] ??= { ids, state: { ...state, targets: [`https://${worker}.mina.workers.dev`] } }
    const deployment = deployments[worker]
    for (const { binding, database_name } of config?.d1_databases ?? [
      { binding: 'DB', database_name: 'reading-library' },
    ]) {
      const isTaken = Object.values(ids).includes(binding)
      ids[database_name] ??= isTaken || worker !== 'reading-library' ? database_name : binding
    }
    const nameOf = (binding = '') =>
      config?.d1_databases.find((each) => each.binding === binding)?.database_name ??
      (binding === 'DB' ? 'reading-library' : binding)
    const { secrets = {} } = deployment
    const [group, verb, name = ''] = args
    if (group === 'rollback') deployment.state.shares = { [String(verb)]: 100 }
    if (group === 'rollback') return success('Rolled back')
    switch (`${group} ${verb}`) {
      case 'secret list':
        if (!deployment.secrets) return failure(`Worker "${worker}" not found.`)
        return success(Object.keys(secrets).map((each) => ({ name: each, type: 'secret_text' })))
      case 'secret put':
        store(deployment, { ...secrets, [name]: input.trim() })
        return success('Uploaded')
      case 'secret bulk':
        store(deployment, { ...secrets, ...JSON.parse(input) })
        return success('Uploaded')
      case 'secret delete': {
        const { [name]: deleted, ...others } = secrets
        if (deleted === undefined) return failure(`Secret "${name}" not found`)
        store(deployment, others)
        return success('Deleted')
      }
      case 'd1 migrations': {
        // `npm run dev` says where; wrangler itself would take three seconds for each database.
        const data = args[args.indexOf('--persist-to') + 1]
        const path = args.includes('--local')
          ? localPath(resolve(folder, data ?? ''), args[3] ?? '')
          : pathOf(nameOf(args[3]))
        const names = withinFile(path, migrate)
        return success(names.map((each) => `│ ${each} │ ✅     │`).join('\n') || '✅ No migrations to apply!')
      }
      case 'd1 time-travel': {
        const [, , , binding, , timestamp = ''] = args
        const path = join(folder, `${timestamp}.sqlite`)
        if (name === 'restore') restoreFrom(path, nameOf(binding))
        return success(`To undo, restore the bookmark of ${timestamp}`)
      }
      case 'd1 execute': {
        const at = (flag: string) => args[args.indexOf(flag) + 1] ?? ''
        const sql = args.includes('--file') ? readFileSync(resolve(folder, at('--file')), 'utf8') : at('--command')
        try {
          return success([{ results: within(nameOf(name), (database) => query(database, sql)), success: true }])
        } catch (error) {
          return failure(`${(error as Error).message}: SQLITE_ERROR`)
        }
      }
      case 'deploy --config': {
        if (name === 'wrangler.deploy.json' && config) {
          const added = args.includes('--secrets-file') ? JSON.parse(files['wrangler.deploy.secrets.json'] ?? '{}') : {}
          store(deployment, { ...secrets, ...added })
          storeConfig(deployment, config)
        }
        const uploaded = { ...deployment.state, secrets: [] }
        const result = await fakeWrangler(uploaded, files)(args)
        Object.assign(deployment.state, { versions: uploaded.versions, shares: uploaded.shares })
        return result
      }
      default:
        return fakeWrangler(deployment.state, files)(args)
    }
  }
  /** Answers a request for /health of a Worker, or of the custom domain of the one in production. */
  const fetchHealth = (worker: string, headers: Record<string, string>) =>
    healthOf((deployments[worker] ?? production).state)(`${WORKER_URL}/health`, headers)
  return { state, production, deployments, commands, wrangler, within, fetchHealth, keep, data: join(folder, DATA) }
}
