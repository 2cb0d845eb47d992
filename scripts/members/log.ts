import type { OpenSlot } from '../data/stores.ts'
import { mainOf, queryAll } from '../slots/compare.ts'

/** Records an action of an operator. The log has no addresses, and outlives the member. */
export const recordAction = (slots: OpenSlot[], action: string, memberId: number) =>
  queryAll(
    mainOf(slots),
    'insert into operatorLog (at, action, memberId) values (?, ?, ?)',
    Date.now(),
    action,
    memberId,
  )

/** The entries, oldest first, as lines: all, or those of a member. */
export const listLog = async (slots: OpenSlot[], id: string) => {
  const query = `select at, action, memberId from operatorLog where ?1 = '' or memberId = cast(?1 as integer) order by entryId`
  const entries = await queryAll<{ at: number; action: string; memberId: number }>(mainOf(slots), query, id)
  return entries.map(({ at, action, memberId }) => `${new Date(at).toISOString()} ${action} ${memberId}`)
}
