import type { R2Bucket } from '@cloudflare/workers-types'
import { toMark } from '../../src/values/marks.ts'
import type { OpenSlot } from '../data/stores.ts'
import { printable } from '../print.ts'
import { mainOf, queryAll } from '../slots/compare.ts'

/**
 * Records an action of an operator, in the log and, for a restore of an older one, as a mark. The log has no addresses, and
 * outlives the member.
 */
const recordAction = async (slots: OpenSlot[], bucket: R2Bucket, action: string, memberId: number) => {
  const at = Date.now()
  await queryAll(mainOf(slots), 'insert into operatorLog (at, action, memberId) values (?, ?, ?)', at, action, memberId)
  await bucket.put(toMark({ kind: 'operator', at, memberId, action }), '')
}

/** One line for the log, which must not have addresses. */
const toReason = (error: unknown) => {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n')
  return printable(line.replaceAll(/\S+@\S+/g, '(address)')).slice(0, 200)
}

/**
 * Records an action, then does it: there is no change without an entry. If it fails, a second entry says why.
 * @throws what `apply` throws
 */
export const recordAndApply = async (
  { slots, bucket }: { slots: OpenSlot[]; bucket: R2Bucket },
  { action, memberId, apply }: { action: string; memberId: number; apply: () => Promise<unknown> },
) => {
  try {
    await recordAction(slots, bucket, action, memberId)
    await apply()
  } catch (error) {
    // The database may be what failed.
    await recordAction(slots, bucket, `failed: ${action}: ${toReason(error)}`, memberId).catch(() => {})
    throw error
  }
}

/** The entries, oldest first, as lines: all, or those of a member. */
export const listLog = async (slots: OpenSlot[], id: string) => {
  const query = `select at, action, memberId from operatorLog where ?1 = '' or memberId = cast(?1 as integer) order by entryId`
  const entries = await queryAll<{ at: number; action: string; memberId: number }>(mainOf(slots), query, id)
  return entries.map(({ at, action, memberId }) => `${new Date(at).toISOString()} ${action} ${memberId}`)
}
