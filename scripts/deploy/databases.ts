import { forEachAtOnce } from '../data/at-once.ts'
import { idsOf, placeOf, type Slot, slotOfName } from '../slots/table.ts'
import { type Config, DeployError, type Host, reasonOf, runWrangler } from './host.ts'

type Listed = { name: string; uuid: string; jurisdiction?: string | null }

const listDatabases = async (host: Host) =>
  JSON.parse((await runWrangler(host, ['d1', 'list', '--json'])).stdout) as Listed[]

const create = async (host: Host, { binding, database_name: name }: Config['d1_databases'][number], slots: Slot[]) => {
  const slot = slots.find((each) => each.binding === binding)
  const flag = slot?.jurisdiction ? '--jurisdiction' : '--location'
  const place = slot && placeOf(slot)
  await runWrangler(host, ['d1', 'create', name, ...(place ? [flag, place] : [])])
  host.print(`Database ${name}: created${place ? ` in ${place}` : ''}`)
}

/** A database's jurisdiction cannot be changed, so members must not be sent to one that has another. */
const checkJurisdictions = (listed: Listed[], slots: Slot[]) => {
  const lines = slots.flatMap(({ slot, name, jurisdiction }) => {
    const found = listed.find((database) => database.name === name)?.jurisdiction
    if (!jurisdiction || found === undefined || found === jurisdiction) return []
    return [
      `slots.json: slot ${slot}: the database ${name} exists with jurisdiction ${found ?? 'none'}, not ${jurisdiction}`,
    ]
  })
  if (lines.length > 0) throw new DeployError(...lines)
}

/** Without its line in the table, a slot would not be bound, and its members would get 503. */
const checkLost = (listed: Listed[], slots: Slot[]) => {
  const main = slots[0]?.name ?? ''
  const lines = listed.flatMap(({ name }) => {
    const lost = slotOfName(name, main)
    if (lost === undefined || slots.some(({ slot }) => slot === lost)) return []
    return [
      `slots.json: there is no slot ${lost}, but the database ${name}: list it, or delete the database if it is empty`,
    ]
  })
  if (lines.length > 0) throw new DeployError(...lines)
}

const slotOf = (memberId: string) => `${memberId} / ${idsOf(1).first}`
/** Selects the slots in the directory, with one index seek for each. */
export const OCCUPIED = `with recursive occupied(number) as (
  select ${slotOf('min(memberId)')} from addresses union all
  select (select ${slotOf('min(memberId)')} from addresses where memberId >= (number + 1) * ${idsOf(1).first})
  from occupied where number is not null
) select number from occupied where number is not null`

/** The slots that have members, as the directory says. */
const listOccupied = async (host: Host) => {
  const result = await host.wrangler(['d1', 'execute', 'DB', '--remote', '--json', '--command', OCCUPIED])
  if (result.code === 0) {
    const [{ results }] = JSON.parse(result.stdout) as [{ results: { number: number }[] }]
    return results.map(({ number }) => number)
  }
  // The first slots are deployed together with the migration that creates the directory.
  if (`${reasonOf(result)}${result.stdout}`.includes('no such table')) return []
  throw new DeployError(`wrangler d1 execute: ${reasonOf(result)}`)
}

/**
 * With a new database instead of its own, a slot's members could not log in, and a rebuild would delete their entries.
 */
const checkOccupied = (occupied: number[], slots: Slot[], missing: Config['d1_databases']) => {
  const lines = occupied.flatMap((number) => {
    const slot = slots.find((each) => each.slot === number)
    if (slot && !missing.some(({ binding }) => binding === slot.binding)) return []
    const problem = slot ? `has members, but there is no database ${slot.name}` : 'has members, but no line'
    return [`slots.json: slot ${number} ${problem}: set the name of its database (npx wrangler d1 list)`]
  })
  if (lines.length > 0) throw new DeployError(...lines)
}

/** Names are written down once, since the name of slot 0, which they begin with, changes when it is restored. */
const recordNames = (host: Host, slots: Slot[]) => {
  const unnamed = slots.filter(({ isNamed }) => !isNamed)
  if (unnamed.length === 0) return
  host.writeNames(unnamed)
  host.print(`slots.json: names added to slots ${unnamed.map(({ slot }) => slot).join(', ')}: commit them`)
}

/**
 * Finds the databases by name and creates those that do not exist. Returns the configuration with the identifiers of
 * the other slots, so that wrangler need not look up each of them.
 */
export const provisionDatabases = async (host: Host, config: Config, slots: Slot[]): Promise<Config> => {
  const unknown = config.d1_databases.filter(({ database_id }) => database_id === undefined)
  const listed = unknown.length > 0 ? await listDatabases(host) : []
  checkJurisdictions(listed, slots)
  checkLost(listed, slots)
  const isListed = (name: string) => listed.some((database) => database.name === name)
  const missing = unknown.filter(({ database_name }) => !isListed(database_name))
  const hasDirectory = slots.length > 1 && !missing.some(({ binding }) => binding === 'DB')
  if (hasDirectory) checkOccupied(await listOccupied(host), slots, missing)
  recordNames(host, slots)
  await forEachAtOnce(missing, (database) => create(host, database, slots))
  const found = config.d1_databases.filter((database) => !missing.includes(database))
  if (found.length === 1) host.print(`Database ${found[0]?.database_name}: found`)
  if (found.length > 1) host.print(`Databases: ${found.length} found`)
  if (slots.length === 1) return config

  const current = missing.length > 0 ? await listDatabases(host) : listed
  const d1_databases = config.d1_databases.map((database) => {
    const uuid = current.find(({ name }) => name === database.database_name)?.uuid
    const database_id = database.database_id ?? uuid
    if (database_id) return { ...database, database_id }
    throw new DeployError(`The database ${database.database_name} was created but is not listed yet: run this again`)
  })
  return { ...config, d1_databases }
}

/** Applies new migrations to every database: first to the main one, so that a faulty migration fails there. */
export const migrate = async (host: Host, config: Config, configPath: string[]) => {
  const apply = async (database: string) => {
    const { stdout } = await runWrangler(host, ['d1', 'migrations', 'apply', database, '--remote', ...configPath])
    return [...new Set([...stdout.matchAll(/│ (\S+\.sql) +│ ✅/g)].map(([, name]) => name))].join(', ')
  }
  const [main, ...further] = config.d1_databases.map(({ binding }) => binding)
  if (main) host.print(`Migrations: ${(await apply(main)) || 'nothing new'}`)
  await forEachAtOnce(further, async (binding) => {
    const applied = await apply(binding)
    if (applied) host.print(`Migrations of ${binding}: ${applied}`)
  })
  if (further.length > 0) host.print(`Migrations: all ${config.d1_databases.length} databases are up to date`)
}
