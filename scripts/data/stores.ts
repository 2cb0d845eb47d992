import { spawnSync } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import type { GetPlatformProxyOptions } from 'wrangler'
import { failWithUsage } from '../options.ts'
import { exitUnless, requireFolder, requireWritable } from '../paths.ts'
import { printError } from '../print.ts'
import { readSecrets } from '../serve/secrets.ts'
import { bindSlots, formatConfig, type Slot } from '../slots/table.ts'
import { configFlags, fail, readConfig, readLocalSlots, readSlots, writeTemporary } from '../wrangler/config.ts'

/** A slot of the table with its database. */
export type OpenSlot = Slot & { database: D1Database }

type Env = { IMAGES: R2Bucket } & Record<string, unknown>

/** Variables and secrets, as far as they are known here. */
export type Settings = Record<string, unknown>

/** Where data is: deployed, or in a folder. */
export type Location = { remote: true } | { remote?: false; persistTo: string }

/** The JSON that a command of wrangler prints. */
const readJson = <Json>(...args: string[]): Json => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const { status, stdout, stderr } = spawnSync('wrangler', args, { encoding: 'utf8', env })
  return status === 0 ? JSON.parse(stdout) : fail(`wrangler ${args.join(' ')} failed:\n${stdout}${stderr}`)
}

const listIds = () =>
  new Map(readJson<{ name: string; uuid: string }[]>('d1', 'list', '--json').map(({ name, uuid }) => [name, uuid]))

const VARS_FILE = '.dev.vars'
const readVars = (location: Location): Settings => {
  const { vars } = readConfig()
  // Those of a deployment have other values.
  if (location.remote) return { ...vars }
  const ofDevelopment = existsSync(VARS_FILE) ? parseEnv(readFileSync(VARS_FILE, 'utf8')) : {}
  return { ...vars, ...ofDevelopment, ...readSecrets(location.persistTo) }
}
/** The settings of the data, as far as they are known here: secrets of a deployment only from the environment. */
export const readSettings = (location: Location): Settings => ({ ...readVars(location), ...process.env })

/** The names of all settings of the data. */
export const listSettings = (location: Location) => {
  const secrets = location.remote ? readJson<{ name: string }[]>('secret', 'list').map(({ name }) => name) : []
  return [...Object.keys(readVars(location)), ...secrets].sort()
}

/** The path of a configuration whose bindings reach the deployed databases and bucket. */
const writeRemoteConfig = (slots: Slot[]) => {
  const config = bindSlots(readConfig(), slots)
  const ids = listIds()
  for (const { database_id, database_name } of config.d1_databases) {
    if (database_id || ids.has(database_name)) continue
    fail(
      `There is no database ${database_name}: correct its name in wrangler.toml or slots.json, or create it (npx wrangler d1 create)`,
    )
  }
  const d1_databases = config.d1_databases.map((database) => {
    return { database_id: ids.get(database.database_name), ...database, remote: true }
  })
  const r2_buckets = config.r2_buckets.map((bucket) => ({ ...bucket, remote: true }))
  return writeTemporary('wrangler.json', formatConfig({ ...config, d1_databases, r2_buckets }))
}

const CLASS = 'miniflare-D1DatabaseObject'

/** The SQLite file of a local database, which workerd names after its identifier. */
export const localPath = (persistTo: string, binding: string) => {
  const name = readConfig().d1_databases.find((each) => each.binding === binding)?.database_id ?? binding
  const key = createHash('sha256').update(CLASS).digest()
  const digest = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const id = digest(name)
  return join(persistTo, 'v3', 'd1', CLASS, `${Buffer.concat([id, digest(id)]).toString('hex')}.sqlite`)
}

const localOptions = (slots: Slot[], persistTo: string) => ({
  configPath: configFlags(slots)[1],
  persist: { path: join(persistTo, 'v3') },
  remoteBindings: false,
})

const bind = (slots: Slot[], env: Env) =>
  slots.map((slot): OpenSlot => ({ ...slot, database: env[slot.binding] as D1Database }))

/**
 * Loads wrangler, which takes seconds, only for commands that need it. It would write to stdout, where results belong.
 */
const connect = async (options: GetPlatformProxyOptions) => {
  const { getPlatformProxy } = await import('wrangler')
  const level = process.env.WRANGLER_LOG
  process.env.WRANGLER_LOG = 'warn'
  try {
    return await getPlatformProxy<Env>(options)
  } finally {
    // Also a process that is killed later leaves none.
    if (options.configPath) rmSync(options.configPath)
    if (level === undefined) delete process.env.WRANGLER_LOG
    else process.env.WRANGLER_LOG = level
  }
}

/** Opens the local databases of slots, and creates empty ones where they are missing. */
export const openLocal = async (slots: Slot[], persistTo: string) => {
  const { env, dispose } = await connect(localOptions(slots, persistTo))
  return { slots: bind(slots, env), addressKey: readSettings({ persistTo }).ADDRESS_KEY as string | undefined, dispose }
}

/** The slots of deployed or local data. Exits with a message if a folder has no data, or is read-only. */
export const slotsOf = (location: Location) => {
  if (location.remote) return readSlots()
  const { persistTo } = location
  const slots = readLocalSlots(persistTo)
  const path = localPath(persistTo, 'DB')
  if (!existsSync(path))
    return fail(
      `${persistTo} has no database: set --persist-to to the folder of the data, which \`npm run dev\` or \`npm run serve\` creates`,
    )
  // Also what only reads opens it for writing.
  exitUnless(() => {
    requireWritable(path)
    requireFolder(dirname(path))
  })
  return slots
}

/**
 * Opens the databases of all slots and the bucket: deployed ones, or local ones in a folder.
 * @param slots those of new data
 */
export const openStores = async (location: Location, slots = slotsOf(location)) => {
  const options = location.remote ? { configPath: writeRemoteConfig(slots) } : localOptions(slots, location.persistTo)
  const { env, dispose } = await connect(options)
  const settings = readSettings(location)
  return {
    slots: bind(slots, env),
    bucket: env.IMAGES,
    addressKey: settings.ADDRESS_KEY as string | undefined,
    settings,
    dispose,
  }
}

/** Exits with a message if the key of the directory is not known. */
export const requireAddressKey = (addressKey: string | undefined) => {
  if (addressKey) return addressKey
  printError('Set ADDRESS_KEY in the environment to the secret of the deployment')
  return process.exit(2)
}

const flag = { type: 'boolean' } as const
/** Options of commands that work on local or deployed data. */
export const LOCATION_OPTIONS = {
  local: flag,
  remote: flag,
  'persist-to': { type: 'string', default: '.wrangler/state' },
} as const

/** Where the flags say the data is. Exits with a usage message unless it is exactly one place. */
export const readLocation = (flags: { local?: boolean; remote?: boolean; 'persist-to': string }, usage: string) => {
  if (flags.local !== flags.remote)
    return flags.remote ? ({ remote: true } as const) : { persistTo: flags['persist-to'] }
  return failWithUsage(usage)
}
