import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import type { OpenSlot, Settings } from '../data/stores.ts'
import { queryAll } from '../slots/compare.ts'
import { idsOf } from '../slots/table.ts'

export type Member = { memberId: number; email: string; slot: number; database: D1Database }
/** The member that a command works on, among all slots. */
export type Target = Member & { slots: OpenSlot[]; bucket: R2Bucket; settings: Settings }

/** Finds the members with an e-mail address, in every slot, or the one with an identifier, which tells the slot. */
export const findMembers = async (slots: OpenSlot[], who: string): Promise<Member[]> => {
  const isId = /^\d+$/.test(who)
  const asked = isId
    ? slots.filter(({ slot }) => Number(who) >= idsOf(slot).first && Number(who) <= idsOf(slot).last)
    : slots
  const condition = isId ? 'memberId = cast(? as integer)' : 'lower(email) = lower(?)'
  const query = `select memberId, email from members where ${condition} and withdrawnAt is null`
  const found = asked.map(async ({ slot, database }) => {
    const rows = await queryAll<{ memberId: number; email: string }>(database, query, who)
    return rows.map((row) => ({ ...row, slot, database }))
  })
  return (await Promise.all(found)).flat()
}
