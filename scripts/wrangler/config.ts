import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { MAX_SLOT } from '../../src/slots/placement.ts'
import type { Config, WorkerConfig } from '../deploy/host.ts'
import { printError } from '../print.ts'
import { bindSlots, formatConfig, formatTable, parseSlots, type Slot } from '../slots/table.ts'

const TABLE = 'slots.json'
const CONFIG = 'wrangler.toml'
/** The Worker that reads files. */
export const READER_CONFIG = 'wrangler.reader.toml'

export const fail = (message: string): never => {
  printError(message)
  process.exit(1)
}

const readRaw = (path: string): unknown => parse(readFileSync(path, 'utf8'))

/** wrangler.toml, without checks. */
export const readConfig = () => readRaw(CONFIG) as Config
/** wrangler.reader.toml, without checks. */
export const readReaderConfig = () => readRaw(READER_CONFIG) as WorkerConfig

/** The slots of a table; only slot 0 without a table. Exits with a message if the table is invalid. */
const readTable = (path: string, { d1_databases }: Config = readConfig()) => {
  const main = d1_databases.find(({ binding }) => binding === 'DB')
  try {
    return parseSlots(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [], main?.database_name ?? 'DB')
  } catch (error) {
    return fail(`${path}: ${(error as Error).message}`)
  }
}

/** The table of a deployment. */
export const tableOf = (environment?: string) => (environment ? `slots.${environment}.json` : TABLE)

/** The slots of a deployment, by default the one in production. */
export const readSlots = (config?: Config, environment?: string) => readTable(tableOf(environment), config)

/** Writes the names of slots to the table where it lacks them. */
export const writeNames = (table: string, slots: Slot[]) =>
  writeFileSync(table, formatTable(JSON.parse(readFileSync(table, 'utf8')), slots))

const HALF_RESTORED = 'restore.unfinished'

/** Marks local data as half restored, before a restore writes to it. */
export const markHalfRestored = (persistTo: string, bindings: string[]) => {
  mkdirSync(persistTo, { recursive: true })
  writeFileSync(join(persistTo, HALF_RESTORED), bindings.join('\n'), { mode: 0o600, flush: true })
}

/** The databases that a restore did not complete; none if there is no such restore. */
export const listHalfRestored = (persistTo: string) => {
  const path = join(persistTo, HALF_RESTORED)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
}

export const unmarkHalfRestored = (persistTo: string) => rmSync(join(persistTo, HALF_RESTORED))

/** The same as `readLocalSlots` while the data is restored. */
export const readRestoredSlots = (persistTo: string) => readTable(join(persistTo, TABLE))

/**
 * The slots of local data. `npm run dev -- --slots` writes their table. Exits with a message if the data is half
 * restored: withdrawn and blocked members may be as they were.
 */
export const readLocalSlots = (persistTo: string) => {
  if (listHalfRestored(persistTo).length === 0) return readRestoredSlots(persistTo)
  return fail(`A restore into ${persistTo} was interrupted: repeat the same \`npm run restore\`, which completes it`)
}

/** Records which slots local data has. With one database, it needs no table. */
export const writeLocalTable = (persistTo: string, slots: number[]) => {
  if (slots.length === 1) return
  mkdirSync(persistTo, { recursive: true })
  const table = slots.map((slot) => ({ slot }))
  writeFileSync(join(persistTo, TABLE), `${JSON.stringify(table)}\n`)
}

/** Adds local slots until there are `count`. Data of existing ones is kept, so there cannot be fewer. */
export const addLocalSlots = (persistTo: string, count: number) => {
  const { length } = readLocalSlots(persistTo)
  if (!Number.isInteger(count) || count > MAX_SLOT + 1) fail(`--slots: choose a whole number up to ${MAX_SLOT + 1}`)
  if (count < length)
    fail(
      `--slots: ${persistTo} has ${length} databases and keeps them: choose ${length} or more, or another --persist-to`,
    )
  if (count > length) writeLocalTable(persistTo, [...Array(count).keys()])
}

const temporary: string[] = []
process.on('exit', () => {
  for (const path of temporary) rmSync(path, { force: true })
})

/** Writes a private file that is deleted when this process ends. Returns its name, which has the process id. */
export const writeTemporary = (name: string, content: string) => {
  // In the working directory, since paths in wrangler's configuration are relative to it.
  const path = name.replace(/json$/, `${process.pid}.json`)
  temporary.push(path)
  writeFileSync(path, content, { mode: 0o600 })
  return path
}

/** Flags that make wrangler bind all slots; none with one database, which wrangler.toml binds. */
export const configFlags = (slots: Slot[]) => {
  if (slots.length === 1) return []
  return ['--config', writeTemporary('wrangler.json', formatConfig(bindSlots(readConfig(), slots)))]
}

/** The flags with which `wrangler dev` also runs the Worker that reads files. */
export const withReader = ([flag = '--config', config = CONFIG]: string[]) => [flag, config, '--config', READER_CONFIG]
