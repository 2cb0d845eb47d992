import { type SQL, sql } from 'drizzle-orm'
import { type Batch, type Db, idempotent, run, sqlStatement, type Values } from '../../db/client'
import { idRange } from '../../db/next-id'
import { log } from '../../runtime/log'
import { DAY_MS } from '../../values/time'
import { type Address, type AddressEntry, entryColumns, type Holder, hash, isAddress, isFree } from './directory'

// Claims of e-mail addresses in the directory. No transaction spans two databases, and a call can be lost, run late or
// run twice: docs/decisions/0021-slots.md explains the flows.

/** Whether an entry is a claim whose flow failed or took too long. It must be settled before the address is used. */
export const isAbandoned = (holder: Holder, now: number): holder is AddressEntry =>
  holder.state === 'CLAIMED' && (holder.settleAt ?? now) <= now

/** The longest that a sign-up takes: a minute in the queue for hashing, and its database calls. */
const CLAIM_MS = 80_000

/** Begins a claim if a condition is met: the statements take its id, then insert `entries` from `selection`. */
const claimWith = (condition: SQL, selection: SQL) => {
  const next = sqlStatement`
    insert into slotCounters (slot, lastClaimId) select :slot, :firstClaimId where ${condition}
    on conflict (slot) do update set lastClaimId = lastClaimId + 1`
  const insert = sqlStatement<AddressEntry>`
    insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
    ${selection} and slotCounters.slot = :slot and ${condition}
    on conflict (addressHash) do update
      set claimId = excluded.claimId, state = excluded.state, settleAt = excluded.settleAt
      where addresses.memberId = excluded.memberId
    returning ${entryColumns}`
  return (address: Address, slot: number, now: number, values: Values = {}) => {
    const ids = { now, slot, firstClaimId: idRange(slot).idFloor + 1, settleAt: now + CLAIM_MS }
    const claim = { ...values, ...address, ...ids }
    return { nextClaim: next(claim), entries: insert(claim) }
  }
}

/** Claims a free address for a new member of a slot, if a condition is met. The claim's id is the member's. */
export const claimIf = (condition: SQL) =>
  claimWith(
    sql`${isFree()} and ${condition}`,
    sql`select ${hash}, lastClaimId, slot, lastClaimId, 'CLAIMED', :settleAt from slotCounters where true`,
  )

const isOwnOpen = sql`memberId = :memberId and state = 'CLAIMED'`

/** Selects the entries that a member's flows left open. They must be settled before the next flow of the member. */
export const selectOpenClaims = sqlStatement<AddressEntry>`select ${entryColumns} from addresses where ${isOwnOpen}`

// The address in use, the wanted one and, if an undo restores that one, those that later changes reserved.
const taken = sql`
  select addressHash from addresses
  where memberId = :memberId and (state = 'HELD' or state = 'RESERVED' and settleAt > :returnExpiresAt)
  union select ${hash}`

// SQLite stores the selected rows before it inserts the first one, so the condition sees no entry of this claim.
const takeIf = (condition: SQL) =>
  claimWith(
    sql`not exists (select 1 from addresses where ${isOwnOpen}) and ${condition}`,
    sql`select taken.addressHash, :memberId, slot, lastClaimId, 'CLAIMED', :settleAt
      from slotCounters, (${taken}) as taken where true`,
  )

/** Takes the address a member uses and one free or reserved for the member, if a condition is met, in one claim. */
export const takeForChangeIf = (condition: SQL) => takeIf(sql`${isFree(true)} and ${condition}`)

/** The same for an undo. The former address must be the member's. */
export const takeForUndo = takeIf(sql`exists (select 1 from addresses where ${isAddress} and memberId = :memberId)`)

/** Matches in a slot while a claim, or the member it created, may still take effect. */
export const isUnsettled = sql`not exists (select 1 from settledClaims where claimId = :claimId)`

const isOpenClaim = sql`${isAddress} and claimId = :claimId and state = 'CLAIMED'`
/** The member exists: the address is theirs. */
export const confirmClaim = sqlStatement`update addresses set state = 'HELD', settleAt = null where ${isOpenClaim}`
/** Only for a claim with which no insert was sent to the slot. */
export const releaseClaim = sqlStatement`delete from addresses where ${isOpenClaim}`

const abandon = sqlStatement`update addresses set settleAt = 0 where ${isOwnOpen} and claimId = :claimId`
/** Abandons a claim of unknown outcome, and runs `others`. The next flow, or the sweep, settles it. Logs failures. */
export const abandonClaim = async (
  directory: Db,
  { memberId, claimId }: { memberId: number; claimId: number },
  others: Batch = {},
) => {
  const call = run(directory, { claim: idempotent(abandon({ memberId, claimId })), ...others })
  await call.catch((error) => log('error', `claim: ${error}`))
}

/** Matches if a claim was confirmed. */
export const isConfirmed = sql`exists (
  select 1 from addresses where ${isAddress} and claimId = :claimId and state = 'HELD'
)`

// The oldest of each slot first, so that a slot that is down for long does not keep out the others.
const selectAbandoned = sqlStatement<AddressEntry>`
  select ${entryColumns} from addresses where settleAt <= :now and state = 'CLAIMED'
  order by row_number() over (partition by slot order by settleAt) limit :limit`
const deleteExpiredReservations = sqlStatement`delete from addresses where settleAt <= :now and state = 'RESERVED'`

/** The maximum number of abandoned claims that one sweep settles. */
const MAX_SETTLED = 1000

/** Deletes expired reservations, and returns abandoned claims by slot. */
export const findAbandoned = async (directory: Db, now: number) => {
  const { abandoned } = await run(directory, {
    abandoned: selectAbandoned({ now, limit: MAX_SETTLED }),
    expired: idempotent(deleteExpiredReservations({ now })),
  })
  return Map.groupBy(abandoned, ({ slot }) => slot)
}

const deleteSettledBefore = sqlStatement`delete from settledClaims where settledAt < :before`
/** Deletes settled claims that are over a day old: no call runs that late. */
export const deleteOldClaims = (db: Db, now: number) =>
  run(db, { settled: idempotent(deleteSettledBefore({ before: now - DAY_MS })) })
