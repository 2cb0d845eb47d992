import type { Db } from '../db/client'
import { unavailable } from '../errors'
import { CONTINENTS, MAX_SLOT } from './placement'

/** The databases that hold members: `DB` is slot 0, which everyone has, `DB_1` slot 1, and so on. */
export type Databases = { DB: D1Database; [binding: `DB_${number}`]: D1Database | undefined }

/** The databases of a request. Slot 0 also holds the directory of e-mail addresses, codes and attempts. */
export type Slots = {
  /** In ascending order. A single one means that there is no directory. */
  numbers: readonly number[]
  /** Slot 0. */
  directory: Db
  /** @throws UNAVAILABLE when the slot is not bound, and logs it */
  open: (slot: number) => Db
}

const BINDING = /^DB_([1-9]\d{0,3})$/
const known = new WeakMap<Databases, ReadonlyMap<number, D1Database>>()

const findDatabases = (env: Databases): [number, D1Database][] =>
  Object.entries(env).flatMap(([name, database]) => {
    const slot = Number(BINDING.exec(name)?.[1])
    return slot <= MAX_SLOT && database ? [[slot, database]] : []
  })

/** The bound databases by slot, in ascending order. */
export const databasesOf = (env: Databases) => {
  const found = known.get(env) ?? new Map([[0, env.DB], ...findDatabases(env).sort(([one], [other]) => one - other)])
  known.set(env, found)
  return found
}

/** @throws UNAVAILABLE when the slot is not bound: a mistake of the deployment, as members are there */
export const databaseOf = (env: Databases, slot: number) => {
  const database = databasesOf(env).get(slot)
  if (!database) throw unavailable(`slot ${slot} is not bound: add the binding DB_${slot}`)
  return database
}

const ENTRY = /^([A-Z]{2}|\*):(\d{1,4}(?:,\d{1,4})*)$/

const invalidPlacement = (reason: string) => unavailable(`NEW_MEMBERS: ${reason}`)

const parsePlacement = (env: Databases, text: string) => {
  const placement: Record<string, readonly number[]> = {}
  for (const entry of text.trim().split(/\s+/)) {
    const [, continent = '', list = ''] = ENTRY.exec(entry) ?? []
    if (!CONTINENTS.some((each) => each === continent)) throw invalidPlacement(`"${entry}" is not like EU:1,2 or *:0`)
    if (placement[continent]) throw invalidPlacement(`${continent} is listed twice`)
    const slots = list.split(',').map(Number)
    const unbound = slots.find((slot) => !databasesOf(env).has(slot))
    if (unbound !== undefined) throw invalidPlacement(`slot ${unbound} is not bound`)
    placement[continent] = slots
  }
  return placement
}

/**
 * The slot of a new member: one that NEW_MEMBERS lists for the continent, at random; slot 0 if it lists none.
 * @throws UNAVAILABLE when NEW_MEMBERS is malformed or names a slot that is not bound
 */
export const chooseSlot = (env: Databases & { NEW_MEMBERS?: string }, continent = '*') => {
  if (!env.NEW_MEMBERS?.trim()) return 0
  const placement = parsePlacement(env, env.NEW_MEMBERS)
  const slots = placement[continent] ?? placement['*'] ?? [0]
  return slots[Math.floor(Math.random() * slots.length)] ?? 0
}
