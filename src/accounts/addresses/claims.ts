import { type SQL, sql } from 'drizzle-orm'
import { type Batch, type Db, idempotent, run, sqlStatement } from '../../db/client'
import { idRange } from '../../db/next-id'
import { addresses, settledClaims } from '../../db/schema/slot-tables'
import { log } from '../../runtime/log'
import { DAY_MS } from '../../values/time'
import { type Address, type Entry, entryColumns, type Holder, hash, isAddress, isFree } from './directory'

// Claims of e-mail addresses in the directory. No transaction spans two databases, and a call can be lost, run late or run
// twice: docs/decisions/0021-slots.md explains the flows.

const { placeholder } = sql

/** Whether an entry is a claim whose flow failed or took too long. It must be settled before the address is used. */
export const isAbandoned = (holder: Holder, now: number): holder is Entry =>
  holder.state === 'CLAIMED' && (holder.settleAt ?? now) <= now

/** The longest that a sign-up takes: a minute in the queue for hashing, and its database calls. */
const CLAIM_MS = 80_000

const nextClaim = (condition: SQL) =>
  sqlStatement<{ lastClaimId: number }>`
    insert into slotCounters (slot, lastClaimId)
    select ${placeholder('slot')}, ${placeholder('firstClaimId')} where ${condition}
    on conflict (slot) do update set lastClaimId = lastClaimId + 1
    returning lastClaimId`

const toClaim = (slot: number, now: number) => ({
  now,
  slot,
  firstClaimId: idRange(slot).idFloor + 1,
  settleAt: now + CLAIM_MS,
})

const insertClaim = (condition: SQL) =>
  sqlStatement<{ claimId: number }>`
    insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
    select ${hash}, lastClaimId, slot, lastClaimId, 'CLAIMED', ${placeholder('settleAt')} from slotCounters
    where slot = ${placeholder('slot')} and ${condition}
    returning claimId`

/**
 * The statements that claim a free address for a new member of a slot, if a condition is met. `claims` returns the
 * claim's id, which is the member's.
 */
export const claimIf = (condition: SQL) => {
  const isClaimable = sql`${isFree(true)} and ${condition}`
  const [next, insert] = [nextClaim(isClaimable), insertClaim(isClaimable)]
  return (address: Address, slot: number, now: number, values: Record<string, unknown> = {}) => {
    const claim = { ...values, ...address, ...toClaim(slot, now) }
    return { nextClaim: next(claim), claims: insert(claim) }
  }
}

const memberId = sql`${placeholder('memberId')}`
const isOwn = sql`memberId = ${memberId}`
const isOwnOpen = sql`${isOwn} and state = 'CLAIMED'`
const isHeld = sql`state = 'HELD'`

/** Selects the entries that a member's flows left open. They must be settled before the next flow of the member. */
export const selectOpenClaims = sqlStatement<Entry>`select ${entryColumns} from ${addresses} where ${isOwnOpen}`

// The address in use, the wanted one and, if an undo restores that one, those that later changes reserved.
const taken = sql`
  select addressHash from addresses
  where ${isOwn} and (${isHeld} or state = 'RESERVED' and settleAt > ${placeholder('returnExpiresAt')})
  union select ${hash}`

// SQLite stores the selected rows before it inserts the first one, so the condition sees no entry of this claim.
const takeEntries = (condition: SQL) =>
  sqlStatement<Entry>`
    insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
    select taken.addressHash, ${memberId}, slot, lastClaimId, 'CLAIMED', ${placeholder('settleAt')}
    from slotCounters, (${taken}) as taken
    where slotCounters.slot = ${placeholder('slot')} and ${condition}
    on conflict (addressHash) do update
      set claimId = excluded.claimId, state = excluded.state, settleAt = excluded.settleAt
      where addresses.memberId = excluded.memberId
    returning ${entryColumns}`

const takeIf = (condition: SQL) => {
  const isTakable = sql`not exists (select 1 from addresses where ${isOwnOpen}) and ${condition}`
  const [next, take] = [nextClaim(isTakable), takeEntries(isTakable)]
  return (address: Address, slot: number, now: number, values: { memberId: number; [name: string]: unknown }) => {
    const claim = { ...values, ...address, ...toClaim(slot, now) }
    return { nextClaim: next(claim), entries: take(claim) }
  }
}

/**
 * The statements that take the address a member uses, and one that is free or reserved for the member, for a change, if a
 * condition is met. `entries` are all under one new claim.
 */
export const takeForChangeIf = (condition: SQL) => takeIf(sql`${isFree(true, memberId)} and ${condition}`)

/** The same for an undo. The former address must be the member's. */
export const takeForUndo = takeIf(sql`exists (select 1 from addresses where ${isAddress} and ${isOwn})`)

/** Matches in a slot while a claim, or the member it created, may still take effect. */
export const isUnsettled = sql`not exists (
  select 1 from ${settledClaims} where ${settledClaims.claimId} = ${placeholder('claimId')}
)`

const isOpenClaim = sql`${isAddress} and claimId = ${placeholder('claimId')} and state = 'CLAIMED'`
type ClaimValues = Address & { claimId: number }
const toClaimStatement = (text: SQL) => {
  const build = sqlStatement<{ claimId: number }>`${text}`
  return (claim: ClaimValues) => idempotent(build(claim))
}
/** The member exists: the address is theirs. */
export const confirmClaim = toClaimStatement(sql`
  update addresses set state = 'HELD', settleAt = null where ${isOpenClaim} returning claimId`)
/** Only for a claim with which no insert was sent to the slot. */
export const releaseClaim = toClaimStatement(sql`delete from addresses where ${isOpenClaim} returning claimId`)

const abandon = sqlStatement<{ claimId: number }>`
  update addresses set settleAt = 0 where ${isOwnOpen} and claimId = ${placeholder('claimId')} returning claimId`
/**
 * Abandons a claim whose outcome is unknown: the next flow that needs one of its addresses, or the sweep, settles it. A
 * failure is only logged.
 * @param others further statements
 */
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
  select 1 from ${addresses} where ${isAddress} and claimId = ${placeholder('claimId')} and state = 'HELD'
)`

// The oldest of each slot first, so that a slot that is down for long does not keep out the others.
const selectAbandoned = sqlStatement<Entry>`
  select ${entryColumns} from ${addresses} where settleAt <= ${placeholder('now')} and state = 'CLAIMED'
  order by row_number() over (partition by slot order by settleAt) limit ${placeholder('limit')}`
const deleteExpiredReservations = sqlStatement<{ claimId: number }>`
  delete from addresses where settleAt <= ${placeholder('now')} and state = 'RESERVED' returning claimId`

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

const deleteSettledBefore = sqlStatement<{ claimId: number }>`
  delete from settledClaims where settledAt < ${placeholder('before')} returning claimId`
/** Deletes settled claims that are over a day old: no call runs that late. */
export const deleteOldClaims = (db: Db, now: number) =>
  run(db, { settled: idempotent(deleteSettledBefore({ before: now - DAY_MS })) })
