import type { DatabaseSync } from 'node:sqlite'
import { checkOfKey } from '../../src/auth/keyed-hash.ts'
import { isOfSlot, type Mark } from '../../src/slots/marks.ts'
import { forEachAtOnce } from '../data/at-once.ts'

// Marks show whether the databases of a deployment belong together: docs/decisions/0021-slots.md.

/** Runs SQL in the database of a slot. */
export type Query = <Row>(slot: number, sql: string) => Promise<Row[]>

const READ = 'select slot, mark, isConfirmed from slotMarks'

const readMarks = async (query: Query, slots: number[]) => {
  const known = await query<Mark>(0, READ)
  const own = new Map<number, Mark[]>()
  await forEachAtOnce(slots.slice(1), async (slot) => own.set(slot, await query<Mark>(slot, READ)))
  return { known, own }
}

const listLost = (slots: number[], { known, own }: Awaited<ReturnType<typeof readMarks>>) => [
  ...known
    .filter(({ slot, isConfirmed }) => isConfirmed && slot > 0 && !slots.includes(slot))
    .map(({ slot }) => `slot ${slot}: slots.json has no line for it, but DB knows it: list it, or delete its mark`),
  ...slots
    .filter((slot) => slot > 0 && !isOfSlot(slot, known, own.get(slot) ?? []))
    .map(
      (slot) =>
        `slot ${slot}: DB_${slot} is not the database that DB knows: correct its name, restore it, or delete both marks if it has its members`,
    ),
]

/** Lists the slots whose database is missing or another one, a line each. */
export const findLost = async (query: Query, slots: number[]) => listLost(slots, await readMarks(query, slots))

/**
 * Checks opened databases, that of slot 0 first: the function that it returns throws an Error if one is not the
 * database of its slot. If that of slot 0 was not opened, all are taken as they are.
 */
export const createMarkCheck = () => {
  let known: Mark[] | undefined
  return (slot: number, database: DatabaseSync) => {
    const marks = database.prepare(READ).all() as Mark[]
    if (slot === 0) known = marks
    else if (known && !isOfSlot(slot, known, marks)) throw new Error('it is not the database that DB knows')
  }
}

// Marks contain no quotes.
const quoteMark = (slot: number, mark: string = crypto.randomUUID()) => `(${slot}, '${mark}')`

/**
 * Marks new slots, and completes marks that were written only in slot 0. Slot 0 comes first: a mark in another slot
 * alone means that the database of slot 0 was lost.
 * @param slots in ascending order, beginning with slot 0
 * @returns what `findLost` lists, if anything, without a change; otherwise the slots to confirm once they are bound
 */
export const markSlots = async (query: Query, slots: number[]) => {
  const marks = await readMarks(query, slots)
  const lost = listLost(slots, marks)
  const isComplete = (slot: number) =>
    marks.own.get(slot)?.length && marks.known.some((known) => known.slot === slot && known.isConfirmed)
  const unconfirmed = slots.filter((slot) => slot > 0 && !isComplete(slot))
  if (lost.length > 0 || unconfirmed.length === 0) return { lost, unconfirmed: [] }
  const known = await query<Mark>(
    0,
    `insert into slotMarks (slot, mark) values ${unconfirmed.map((slot) => quoteMark(slot))}
      on conflict (slot) do update set mark = mark returning slot, mark`,
  )
  await forEachAtOnce(known, ({ slot, mark }) =>
    query(slot, `insert into slotMarks (slot, mark) values ${quoteMark(slot, mark)} on conflict do nothing`),
  )
  return { lost, unconfirmed }
}

export const confirmMarks = async (query: Query, slots: number[]) => {
  if (slots.length > 0) await query(0, `update slotMarks set isConfirmed = 1 where slot in (${slots})`)
}

/** The recorded check value of ADDRESS_KEY, and whether there are addresses under the key. */
export const readKeyCheck = async (query: Query) => {
  const [found] = await query<{ check: string | null; hasEntries: number }>(
    0,
    `select (select mark from slotMarks where slot = 0) as "check", exists (select 1 from addresses) as hasEntries`,
  )
  return { check: found?.check ?? undefined, hasEntries: Boolean(found?.hasEntries) }
}

export const OTHER_KEY = 'ADDRESS_KEY is not the key of the directory'
export const isOtherKey = async (query: Query, addressKey: string) => {
  const { check } = await readKeyCheck(query)
  return check !== undefined && check !== (await checkOfKey(addressKey))
}

/** Records the check value of the key of the directory. @param replace whether it replaces that of another key */
export const recordKey = async (query: Query, addressKey: string, { replace }: { replace: boolean }) =>
  query(
    0,
    `insert into slotMarks (slot, mark, isConfirmed) values (0, '${await checkOfKey(addressKey)}', 1)
      on conflict do ${replace ? 'update set mark = excluded.mark' : 'nothing'}`,
  )
