import { sql } from 'drizzle-orm'
import { checkOfKey, hashAddress } from '../../auth/keyed-hash'
import { idempotent, run, sqlStatement } from '../../db/client'
import type { Config } from '../../env'
import type { Slots } from '../../slots/slots'
import type { AddressEntry } from './directory'

// Settles claims: each entry gets the state that follows from the member's rows in the slot.

/** Returns the claims that another request has not settled. */
const insertSettled = sqlStatement<{ claimId: number }>`
  insert into settledClaims (claimId, settledAt)
  select distinct value ->> 'claimId', :now from json_each(:claims) where true
  on conflict do nothing
  returning claimId`

const isClaimant = sql`memberId in (select value ->> 'memberId' from json_each(:claims))`
/** The row without a member has the mark of the database: another statement would exceed the limit of the sweep. */
type Use = { memberId: number | null; email: string; reservedUntil: number | null }
const selectUses = sqlStatement<Use>`
  select memberId, email, null as reservedUntil from members where ${isClaimant}
  union all select memberId, email, expiresAt from emailUndos where ${isClaimant} and expiresAt > :now
  union all select null, mark, null from slotMarks`

/** Ends claims in their slot: they can no longer take effect. `uses`: addresses that members use or may return to. */
export const endClaims = (entries: AddressEntry[], now: number) => {
  const all = { claims: JSON.stringify(entries), now }
  return { settled: idempotent(insertSettled(all)), uses: selectUses(all) }
}

// In a lost slot, or under another key, every address would look unused.
const isRight = sql`not exists (
  select 1 from slotMarks
  where slotMarks.slot = 0 and mark <> :keyCheck
    or slotMarks.slot = :ofSlot and isConfirmed and mark <> :ownMark
)`
const keepListed = sqlStatement`
  update addresses set state = value ->> 'state', settleAt = value ->> 'reservedUntil' from json_each(:claims)
  where addressHash = unhex(value ->> 'addressHash') and claimId = value ->> 'claimId'
    and addresses.state = 'CLAIMED' and ${isRight}`
// Not correlated, so that each row is one lookup in the list.
const deleteListed = sqlStatement`
  delete from addresses where state = 'CLAIMED' and (addressHash, claimId) in (
    select unhex(value ->> 'addressHash'), value ->> 'claimId' from json_each(:claims)
  ) and ${isRight}`

/**
 * The statements that record the outcome in the directory. Each address becomes HELD if its member uses it, RESERVED
 * while an undo may restore it, and free otherwise. In a lost slot, or under another key, nothing changes.
 * @param uses the result of `endClaims`
 */
export const recordOutcome = async (config: Config, entries: AddressEntry[], uses: Use[]) => {
  const expected = {
    keyCheck: await checkOfKey(config.ADDRESS_KEY ?? ''),
    ofSlot: entries[0]?.slot ?? 0,
    ownMark: uses.find(({ memberId }) => memberId === null)?.email ?? '',
  }
  const hashes = await Promise.all(uses.map(({ email }) => hashAddress(config.ADDRESS_KEY ?? '', email)))
  /** When each use ends: never for an address in use. */
  const ends = new Map<string, number>()
  for (const [at, { memberId, reservedUntil }] of uses.entries()) {
    const key = `${memberId} ${hashes[at]}`
    ends.set(key, Math.max(reservedUntil ?? Infinity, ends.get(key) ?? 0))
  }
  const ended = entries.map((entry) => {
    const reservedUntil = ends.get(`${entry.memberId} ${entry.addressHash}`)
    return { ...entry, reservedUntil, state: reservedUntil === Infinity ? 'HELD' : 'RESERVED' }
  })
  const { used = [], free = [] } = Object.groupBy(ended, (entry) => (entry.reservedUntil ? 'used' : 'free'))
  return {
    // In JSON, Infinity is null, as in the row of a held address.
    used: idempotent(keepListed({ ...expected, claims: JSON.stringify(used) })),
    freed: idempotent(deleteListed({ ...expected, claims: JSON.stringify(free) })),
  }
}

/** Settles open claims of one slot, whose outcome is unknown. Calls of their flows that run later have no effect. */
export const settleClaims = async (slots: Slots, config: Config, slot: number, entries: AddressEntry[]) => {
  const { uses } = await run(slots.open(slot), endClaims(entries, Date.now()))
  await run(slots.directory, await recordOutcome(config, entries, uses))
}
