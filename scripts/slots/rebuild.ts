import type { D1Database } from '@cloudflare/workers-types'
import {
  compareSlot,
  type Difference,
  databaseOf,
  ENTRY,
  type Entry,
  type HashAddress,
  mainOf,
  type OpenSlot,
  queryAll,
  selectUsed,
  stateOf,
} from './compare.ts'
import { idsOf } from './table.ts'

/**
 * Returns an unused claim id. Also repairs the slot's counter after an older directory was restored.
 * @param steps how far above the last one it is
 */
export const nextClaimId = async (main: D1Database, slot: number, database: D1Database, steps = 1) => {
  const [given] = await queryAll<{ highest: number }>(
    database,
    `select max(?, (select coalesce(max(memberId), 0) from members), (select coalesce(max(claimId), 0) from settledClaims),
      coalesce((select seq from sqlite_sequence where name = 'members'), 0)) as highest`,
    idsOf(slot).first,
  )
  const [counter] = await queryAll<{ lastClaimId: number }>(
    main,
    `insert into slotCounters (slot, lastClaimId) values (?1, ?2 + ?3)
      on conflict (slot) do update set lastClaimId = max(lastClaimId, ?2) + ?3 returning lastClaimId`,
    slot,
    given?.highest,
    steps,
  )
  return counter?.lastClaimId ?? 0
}

// Members may sign up and withdraw meanwhile: an entry is changed only if it is still as it was read.
const isListed = `state = value ->> 'state' and claimId = value ->> 'claimId'`
// Not correlated, so that each row is one lookup in the list.
const DELETE = `delete from addresses where (addressHash, state, claimId) in (
  select unhex(value ->> 'hash'), value ->> 'state', value ->> 'claimId' from json_each(?1)) returning memberId`
const UPDATE = `update addresses set memberId = value ->> 'memberId', slot = ?2, claimId = ?3,
    state = value ->> 'newState', settleAt = value ->> 'reservedUntil'
  from json_each(?1) where addressHash = unhex(value ->> 'hash') and ${isListed} returning ${ENTRY}`
const INSERT = `insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
  select unhex(value ->> 'hash'), value ->> 'memberId', ?2, ?3, value ->> 'newState', value ->> 'reservedUntil' from json_each(?1) where true
  on conflict do nothing returning ${ENTRY}`

/**
 * Rebuilds the entries of a slot other than 0 from its members and their undos. Conflicts need a decision and are only
 * returned.
 * @param keepStale keeps entries that nobody uses, such as those under the key in use while it is replaced
 */
export const rebuildSlot = async (
  slots: OpenSlot[],
  slot: number,
  hashAddress: HashAddress,
  { keepStale = false } = {},
) => {
  const main = mainOf(slots)
  const claimId = await nextClaimId(main, slot, databaseOf(slots, slot))
  const result = { added: 0, deleted: 0, conflicts: [] as Extract<Difference, { kind: 'conflict' }>[] }
  const deleteEntries = async (entries: Entry[]) => (await queryAll(main, DELETE, JSON.stringify(entries))).length

  for await (const differences of compareSlot(slots, slot, hashAddress)) {
    result.conflicts.push(...differences.filter((difference) => difference.kind === 'conflict'))
    const stale = differences.filter(({ kind }) => kind === 'stale') as Extract<Difference, { kind: 'stale' }>[]
    if (!keepStale) result.deleted += await deleteEntries(stale.map(({ entry }) => entry))
    const missing = differences.filter((difference) => difference.kind === 'missing')
    const values = missing.map(({ member, entry }) => {
      return { ...member, email: undefined, newState: stateOf(member), claimId: entry?.claimId, state: entry?.state }
    })
    const written = [
      ...(await queryAll<Entry>(main, UPDATE, JSON.stringify(values), slot, claimId)),
      ...(await queryAll<Entry>(main, INSERT, JSON.stringify(values), slot, claimId)),
    ]
    // A member who withdrew meanwhile has deleted entries before these were written.
    const used = await selectUsed(slots, written, hashAddress)
    await deleteEntries(written.filter((entry) => !used.includes(entry)))
    result.added += used.length
  }
  return result
}
