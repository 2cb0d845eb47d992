import { sql } from 'drizzle-orm'
import { checkOfKey } from '../../auth/keyed-hash'
import { type Db, idempotent, run, sqlStatement } from '../../db/client'
import { type Counted, deleteAttempt } from '../../db/limits/attempts'
import type { Config } from '../../env'
import { unavailable } from '../../errors'
import { isOfSlot, listOwnMarks, type Mark } from '../../slots/marks'
import type { Slots } from '../../slots/slots'

// Notices a lost slot or key. With one, addresses in use would look free, so no new address is accepted.

/** What slot 0 is compared with, as placeholder values. */
export type Expected = { boundSlots: string; keyCheck: string | null }

export const toExpected = async ({ numbers }: Slots, { ADDRESS_KEY = '' }: Config): Promise<Expected> => ({
  boundSlots: JSON.stringify(numbers),
  keyCheck: numbers.length > 1 ? await checkOfKey(ADDRESS_KEY) : null,
})

// A slot whose mark is not confirmed may be part of a deployment that is not yet uploaded.
const isWrong = sql`iif(
  slot = 0,
  mark <> :keyCheck,
  isConfirmed and slot not in (select value from json_each(:boundSlots))
)`
/** Matches in slot 0 if all its slots are bound, and the key is that of the directory. */
export const isIntact = sql`not exists (select 1 from slotMarks where ${isWrong})`

/** `isWrong`: in slot 0, whether the slot is not bound or, in the row of slot 0, the key is another one. */
export type CheckedMark = Mark & { isWrong: number | null }
const select = sqlStatement<CheckedMark>`select slot, mark, isConfirmed, ${isWrong} as isWrong from slotMarks`
export const selectMarks = ({ boundSlots, keyCheck }: Expected) => select({ boundSlots, keyCheck })

/** What is wrong with a slot, and what to do. */
const notBound = (slot: number) => [`slot ${slot} is not bound`, `add the binding DB_${slot}`] as const
export const notOfSlot = (slot: number) =>
  [`slot ${slot} has another database`, `bind DB_${slot} to the one with its members`] as const
const OTHER_KEY = [
  'ADDRESS_KEY is not the key of the directory',
  'set the former one, or rebuild the directory',
] as const

/** Lists what is wrong, by slot. */
export const findWrong = (marks: CheckedMark[]) =>
  marks.filter(({ isWrong }) => isWrong).map(({ slot }) => [slot, slot === 0 ? OTHER_KEY : notBound(slot)] as const)

/**
 * @param counted an attempt that then does not count
 * @throws UNAVAILABLE if a slot is not bound, or the key is not that of the directory, and logs it
 */
export const requireIntact = async (directory: Db, marks: CheckedMark[], counted: Counted = []) => {
  const wrong = findWrong(marks)
  if (wrong.length === 0) return
  if (counted.length > 0) await run(directory, { uncounted: deleteAttempt(counted) })
  throw unavailable(wrong.map(([, problem]) => problem.join(': ')).join('; '))
}

/** Matches in the database of a slot if it has one of `ownMarks`. */
export const hasOwnMark = sql`coalesce((select mark from slotMarks), '') in (
  select value from json_each(:ownMarks)
)`
/** The marks that the database of a slot may have, as a placeholder value. */
export const toOwnMarks = (slot: number, known: Mark[]) => ({
  ownMarks: JSON.stringify(listOwnMarks(known.find((each) => each.slot === slot))),
})
/** @throws UNAVAILABLE if a database is not the one of its slot, and logs it */
export const requireOfSlot = (slot: number, known: Mark[], own: Mark[]) => {
  if (!isOfSlot(slot, known, own)) throw unavailable(notOfSlot(slot).join(': '))
}

const insertKeyCheck = sqlStatement`
  insert into slotMarks (slot, mark, isConfirmed) values (0, :keyCheck, 1) on conflict do nothing`
/** Records the key of the directory, unless another one is recorded. */
export const recordKey = (directory: Db, { keyCheck }: Expected) =>
  run(directory, { key: idempotent(insertKeyCheck({ keyCheck })) })
