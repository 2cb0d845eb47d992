import * as z from 'zod'
import { CONTINENTS, MAX_SLOT } from '../../src/slots/placement.ts'

const LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'] as const
const JURISDICTIONS = ['eu', 'us', 'fedramp'] as const
export const idsOf = (slot: number) => ({ first: slot * 2 ** 40, last: (slot + 1) * 2 ** 40 - 1 })

const Row = z.strictObject({
  slot: z.int().min(0).max(MAX_SLOT),
  name: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'a database name has up to 64 letters, digits, - and _')
    .optional(),
  location: z.enum(LOCATIONS).optional(),
  jurisdiction: z.enum(JURISDICTIONS).optional(),
  newMembers: z.array(z.enum(CONTINENTS)).default([]),
})
const Table = z.array(Row.refine((row) => !(row.location && row.jurisdiction), 'set a location or a jurisdiction'))

/**
 * A D1 database that holds members. Slot 0, `DB`, always exists. `isNamed`: whether a file has the name of the
 * database.
 */
export type Slot = Omit<z.infer<typeof Row>, 'name'> & { binding: string; name: string; isNamed: boolean }

/** Where the database of a slot is created. Undefined: near the first deployment. */
export const placeOf = ({ location, jurisdiction }: Slot) => jurisdiction ?? location

const bindingOf = (slot: number) => (slot === 0 ? 'DB' : `DB_${slot}`)

/** The slot whose default name a database has. */
export const slotOfName = (name: string, mainName: string) => {
  const prefix = `${mainName}-slot-`
  const slot = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
  return Number.isInteger(slot) ? slot : undefined
}

const findDuplicate = <T>(values: T[]) => values.find((value, index) => values.indexOf(value) !== index)

/**
 * Reads a table of slots. Returns all slots in ascending order, beginning with slot 0, which the table may leave out.
 * @param mainName name of the database of slot 0; `<mainName>-slot-<slot>` is the name of other slots until they have
 * one
 * @throws Error that names the faulty row
 */
export const parseSlots = (table: unknown, mainName: string): Slot[] => {
  const { data: rows = [], error } = Table.safeParse(table)
  if (error)
    throw new Error(error.issues.map(({ path, message }) => `${path.join('.') || 'table'}: ${message}`).join('\n'))
  if (rows.some(({ slot, name }) => slot === 0 && name)) throw new Error('the name of slot 0 is in wrangler.toml')
  const further = rows.filter(({ slot }) => slot > 0).sort((a, b) => a.slot - b.slot)
  const first = rows.filter(({ slot }) => slot === 0)
  const slots = [...(first.length > 0 ? first : [{ slot: 0, newMembers: [] }]), ...further].map((row) => ({
    name: row.slot === 0 ? mainName : `${mainName}-slot-${row.slot}`,
    ...row,
    binding: bindingOf(row.slot),
    isNamed: row.slot === 0 || row.name !== undefined,
  }))
  const repeated = findDuplicate(slots.map(({ slot }) => slot)) ?? findDuplicate(slots.map(({ name }) => name))
  if (repeated !== undefined) throw new Error(`${repeated} is listed twice`)
  return slots
}

/** A table as JSON, with the names of slots that it lacks. */
export const formatTable = (table: { slot: number }[], slots: Slot[]) => {
  const lines = table.map(({ slot, ...row }) => {
    const unnamed = slots.find((each) => each.slot === slot && !each.isNamed)
    const json = JSON.stringify({ slot, ...(unnamed && { name: unnamed.name }), ...row }, null, 1)
    return `  ${json.replaceAll(/\n */g, ' ').replaceAll('[ ', '[').replaceAll(' ]', ']')}`
  })
  return `[\n${lines.join(',\n')}\n]\n`
}

/**
 * The value of NEW_MEMBERS, such as `EU:1,2 *:0`. Slot 0 takes the members whom no other slot takes. Undefined with one
 * database, which needs no setting.
 */
export const newMembersSetting = (slots: Slot[]) => {
  if (slots.length === 1) return undefined
  const slotsOf = (continent: (typeof CONTINENTS)[number]) =>
    slots.filter(({ newMembers }) => newMembers.includes(continent)).map(({ slot }) => slot)
  return CONTINENTS.map((continent) => ({ continent, open: slotsOf(continent) }))
    .map(({ continent, open }) => ({ continent, open: continent === '*' && open.length === 0 ? [0] : open }))
    .filter(({ open }) => open.length > 0)
    .map(({ continent, open }) => `${continent}:${open}`)
    .join(' ')
}

type Database = { binding: string; database_name: string; database_id?: string }
type BoundConfig = { d1_databases: Database[]; vars?: Record<string, unknown> }

/** The configuration with all slots bound. With one database it is the same. */
export const bindSlots = <C extends BoundConfig>(config: C, slots: Slot[]): C => {
  const NEW_MEMBERS = newMembersSetting(slots)
  if (!NEW_MEMBERS) return config
  const { database_id: _, ...main } = config.d1_databases.find(({ binding }) => binding === 'DB') ?? {}
  const further = slots.slice(1).map(({ binding, name }) => ({ ...main, binding, database_name: name }))
  return { ...config, d1_databases: [...config.d1_databases, ...further], vars: { ...config.vars, NEW_MEMBERS } }
}

/** A configuration as JSON, with one line for each database. */
export const formatConfig = <C extends { d1_databases: object[] }>(config: C) => {
  const databases = config.d1_databases.map((database) => `    ${JSON.stringify(database)}`).join(',\n')
  const rest = JSON.stringify({ ...config, d1_databases: '@' }, null, 2)
  return `${rest.replace('"@"', () => `[\n${databases}\n  ]`)}\n`
}
