import { sql } from 'drizzle-orm'
import { hashAddress } from '../../auth/keyed-hash'
import { type Db, idempotent, run, sqlStatement } from '../../db/client'
import type { Config } from '../../env'
import type { Slots } from '../../slots/slots'
import type { Entry } from './directory'

// Settles claims: each entry gets the state that follows from the member's rows in the slot.

const { placeholder } = sql

const insertSettled = sqlStatement<{ claimId: number }>`
  insert into settledClaims (claimId, settledAt)
  select distinct value ->> 'claimId', ${placeholder('now')} from json_each(${placeholder('claims')}) where true
  on conflict do nothing
  returning claimId`

const isClaimant = sql`memberId in (select value ->> 'memberId' from json_each(${placeholder('claims')}))`
type Use = { memberId: number; email: string; reservedUntil: number | null }
const selectUses = sqlStatement<Use>`
  select memberId, email, null as reservedUntil from members where ${isClaimant}
  union all select memberId, email, expiresAt from emailUndos where ${isClaimant} and expiresAt > ${placeholder('now')}`

/**
 * The statements that end claims in their slot, so that they can no longer take effect there. `uses` are the
 * addresses that the members use or may still return to.
 */
export const endClaims = (entries: Entry[], now: number) => {
  const all = { claims: JSON.stringify(entries), now }
  return { settled: idempotent(insertSettled(all)), uses: selectUses(all) }
}

// Not correlated, so that each row is one lookup in the list.
const isListed = sql`state = 'CLAIMED' and (addressHash, claimId) in (
  select unhex(value ->> 'addressHash'), value ->> 'claimId' from json_each(${placeholder('claims')})
)`
const holdListed = sqlStatement<{ claimId: number }>`
  update addresses set state = 'HELD', settleAt = null where ${isListed} returning claimId`
const reserveListed = sqlStatement<{ claimId: number }>`
  update addresses set state = 'RESERVED', settleAt = value ->> 'reservedUntil' from json_each(${placeholder('claims')})
  where addressHash = unhex(value ->> 'addressHash') and claimId = value ->> 'claimId' and state = 'CLAIMED'
  returning claimId`
const deleteListed = sqlStatement<{ claimId: number }>`delete from addresses where ${isListed} returning claimId`

/**
 * The statements that record the outcome in the directory. Each address becomes HELD if its member uses it, RESERVED while
 * an undo may restore it, and free otherwise.
 * @param uses the result of `endClaims`
 */
export const recordOutcome = async (config: Config, entries: Entry[], uses: Use[]) => {
  const hashes = await Promise.all(uses.map(({ email }) => hashAddress(config.ADDRESS_KEY ?? '', email)))
  const isHeld = new Set<string>()
  const reservations = new Map<string, number>()
  for (const [at, { memberId, reservedUntil }] of uses.entries()) {
    const key = `${memberId} ${hashes[at]}`
    if (reservedUntil === null) isHeld.add(key)
    else reservations.set(key, Math.max(reservedUntil, reservations.get(key) ?? 0))
  }
  const outcomeOf = ({ memberId, addressHash }: Entry) => {
    const key = `${memberId} ${addressHash}`
    if (isHeld.has(key)) return 'HELD'
    return reservations.has(key) ? 'RESERVED' : 'FREE'
  }
  const { HELD = [], RESERVED = [], FREE = [] } = Object.groupBy(entries, outcomeOf)
  const toReserved = (entry: Entry) => {
    return { ...entry, reservedUntil: reservations.get(`${entry.memberId} ${entry.addressHash}`) }
  }
  return {
    held: idempotent(holdListed({ claims: JSON.stringify(HELD) })),
    reserved: idempotent(reserveListed({ claims: JSON.stringify(RESERVED.map(toReserved)) })),
    freed: idempotent(deleteListed({ claims: JSON.stringify(FREE) })),
  }
}

const settleInSlot = async (directory: Db, db: Db, config: Config, entries: Entry[]) => {
  const { uses } = await run(db, endClaims(entries, Date.now()))
  await run(directory, await recordOutcome(config, entries, uses))
}

/** Settles open claims of one slot, whose outcome is unknown. Calls of their flows that run later have no effect. */
export const settleClaims = (slots: Slots, config: Config, slot: number, entries: Entry[]) =>
  settleInSlot(slots.directory, slots.open(slot), config, entries)
