import { type SQL, sql } from 'drizzle-orm'
import { type Db, idempotent, run, type Statement, sqlStatement } from '../db/client'
import { idRange } from '../db/next-id'
import { addresses, members, settledClaims } from '../db/schema'
import type { Config } from '../env'
import { hashAddress } from '../keyed-hash'
import type { Slots } from '../slots'
import { DAY_MS } from './attempts'
import { isEmail, selectExisting } from './store'

// The directory of e-mail addresses, for members in several databases. No transaction spans two databases, and a call can
// be lost, run late or run twice: docs/decisions/0021-slots.md explains the flows.

const { placeholder } = sql

/** An e-mail address as placeholder values. It has a hash only if there is a directory. */
export type Address = { email: string; addressHash?: string }

export const toAddress = async ({ numbers }: Slots, config: Config, email: string): Promise<Address> =>
  numbers.length > 1 ? { email, addressHash: await hashAddress(config.ADDRESS_KEY ?? '', email) } : { email }

/** An entry of the directory. */
export type Entry = {
  addressHash: string
  memberId: number
  slot: number
  claimId: number
  state: (typeof addresses.state.enumValues)[number]
  settleAt: number | null
}
/** The member who has an address. Members of slot 0 have no entry: their rows are in the same database. */
export type Holder = { memberId: number } & Partial<Entry>

const hash = sql`unhex(${placeholder('addressHash')})`
const isAddress = sql`${addresses.addressHash} = ${hash}`
const entryColumns = sql`hex(addressHash) as addressHash, memberId, slot, claimId, state, settleAt`

const selectAnywhere = sqlStatement<Holder>(sql`
  select null as addressHash, ${members.memberId}, 0 as slot, null as claimId, null as state, null as settleAt
  from ${members} where ${isEmail}
  union all select ${entryColumns} from ${addresses} where ${isAddress}`)
/** Selects who has an address, or an entry whose claim is open. */
export const selectHolder = (address: Address): Statement<Holder> =>
  address.addressHash ? selectAnywhere(address) : selectExisting(address)

/** Whether an entry is a claim whose flow ended or took too long. It must be settled before the address is used. */
export const isAbandoned = (holder: Holder, now: number): holder is Entry =>
  holder.state === 'CLAIMED' && (holder.settleAt ?? now) <= now

const isMember = sql`exists (select 1 from ${members} where ${isEmail})`
/** Matches if no member and no open claim has the address. */
export const isFree = (hasDirectory: boolean) =>
  hasDirectory
    ? sql`not ${isMember} and not exists (select 1 from ${addresses} where ${isAddress})`
    : sql`not ${isMember}`
/** Like `isFree(true)`, but ignores abandoned claims. */
export const isFreeOrAbandoned = sql`not ${isMember} and not exists (
  select 1 from ${addresses}
  where ${isAddress} and not (${addresses.state} = 'CLAIMED' and ${addresses.settleAt} <= ${placeholder('now')})
)`

/** The longest that a sign-up takes: a minute in the queue for hashing, and its database calls. */
const CLAIM_MS = 80_000

const nextClaim = (condition: SQL) =>
  sqlStatement<{ lastClaimId: number }>(sql`
    insert into slotCounters (slot, lastClaimId)
    select ${placeholder('slot')}, ${placeholder('firstClaimId')} where ${condition}
    on conflict (slot) do update set lastClaimId = lastClaimId + 1
    returning lastClaimId`)
const insertClaim = (condition: SQL) =>
  sqlStatement<{ claimId: number }>(sql`
    insert into addresses (addressHash, memberId, slot, claimId, state, settleAt)
    select ${hash}, lastClaimId, slot, lastClaimId, 'CLAIMED', ${placeholder('settleAt')} from slotCounters
    where slot = ${placeholder('slot')} and ${condition}
    returning claimId`)

/**
 * The statements that claim a free address for a new member of a slot, if a condition is met. The last one returns the
 * claim's id, which is the member's.
 */
export const claimIf = (condition: SQL) => {
  const isClaimable = sql`${isFree(true)} and ${condition}`
  const [next, insert] = [nextClaim(isClaimable), insertClaim(isClaimable)]
  return (address: Address, slot: number, now: number, values: Record<string, unknown> = {}) => {
    const firstClaimId = idRange(slot).idFloor + 1
    const claim = { ...values, ...address, now, slot, firstClaimId, settleAt: now + CLAIM_MS }
    return [next(claim), insert(claim)] as const
  }
}

/** Matches in a slot while a claim, or the member it created, may still take effect. */
export const isUnsettled = sql`not exists (
  select 1 from ${settledClaims} where ${settledClaims.claimId} = ${placeholder('claimId')}
)`

const isOpenClaim = sql`${isAddress} and claimId = ${placeholder('claimId')} and state = 'CLAIMED'`
type ClaimValues = Address & { claimId: number }
const toClaimStatement = (text: SQL) => {
  const build = sqlStatement<{ claimId: number }>(text)
  return (claim: ClaimValues) => idempotent(build(claim))
}
/** The member exists: the address is theirs. */
export const confirmClaim = toClaimStatement(sql`
  update addresses set state = 'HELD', settleAt = null where ${isOpenClaim} returning claimId`)
/** Only for a claim with which no insert was sent to the slot. */
export const releaseClaim = toClaimStatement(sql`delete from addresses where ${isOpenClaim} returning claimId`)
/** For a claim whose outcome is unknown: the next sign-up with the address, or the sweep, settles it. */
export const abandonClaim = toClaimStatement(sql`
  update addresses set settleAt = 0 where ${isOpenClaim} returning claimId`)

/** Matches if a claim was confirmed. */
export const isConfirmed = sql`exists (
  select 1 from ${addresses} where ${isAddress} and claimId = ${placeholder('claimId')} and state = 'HELD'
)`

const insertSettled = sqlStatement<{ claimId: number }>(sql`
  insert into settledClaims (claimId, settledAt)
  select distinct value ->> 'claimId', ${placeholder('now')} from json_each(${placeholder('claims')}) where true
  on conflict do nothing
  returning claimId`)
const selectClaimants = sqlStatement<{ memberId: number; email: string }>(sql`
  select memberId, email from members
  where memberId in (select value ->> 'memberId' from json_each(${placeholder('claims')}))`)

// Not correlated, so that each row is one lookup in the list.
const isListed = sql`state = 'CLAIMED' and (addressHash, claimId) in (
  select unhex(value ->> 'addressHash'), value ->> 'claimId' from json_each(${placeholder('claims')})
)`
const holdListed = sqlStatement<{ claimId: number }>(sql`
  update addresses set state = 'HELD', settleAt = null where ${isListed} returning claimId`)
const deleteListed = sqlStatement<{ claimId: number }>(sql`delete from addresses where ${isListed} returning claimId`)

/**
 * Settles abandoned claims of a slot: they can no longer take effect there, and each address becomes HELD if its member
 * exists, and free otherwise.
 */
export const settleClaims = async (slots: Slots, config: Config, slot: number, entries: Entry[]) => {
  const all = { claims: JSON.stringify(entries), now: Date.now() }
  const [, claimants] = await run(slots.open(slot), idempotent(insertSettled(all)), selectClaimants(all))
  const hashes = await Promise.all(claimants.map(({ email }) => hashAddress(config.ADDRESS_KEY ?? '', email)))
  const used = new Set(claimants.map(({ memberId }, at) => `${memberId} ${hashes[at]}`))
  const isUsed = ({ memberId, addressHash }: Entry) => used.has(`${memberId} ${addressHash}`)
  const toValues = (claims: Entry[]) => ({ claims: JSON.stringify(claims) })
  await run(
    slots.directory,
    idempotent(holdListed(toValues(entries.filter(isUsed)))),
    idempotent(deleteListed(toValues(entries.filter((entry) => !isUsed(entry))))),
  )
}

const deleteOfMembers = sqlStatement<{ memberId: number }>(sql`
  delete from addresses where memberId in (select value from json_each(${placeholder('memberIds')})) returning memberId`)

/** Releases all addresses of withdrawn members of slots other than 0. */
export const releaseAddresses = ({ directory }: Pick<Slots, 'directory'>, memberIds: number[]) =>
  run(directory, idempotent(deleteOfMembers({ memberIds: JSON.stringify(memberIds) })))

// The oldest of each slot first, so that a slot that is down for long does not keep out the others.
const selectAbandoned = sqlStatement<Entry>(sql`
  select ${entryColumns} from ${addresses} where settleAt <= ${placeholder('now')} and state = 'CLAIMED'
  order by row_number() over (partition by slot order by settleAt) limit ${placeholder('limit')}`)
const deleteExpiredReservations = sqlStatement<{ claimId: number }>(sql`
  delete from addresses where settleAt <= ${placeholder('now')} and state = 'RESERVED' returning claimId`)

/** The maximum number of abandoned claims that one sweep settles. */
const MAX_SETTLED = 1000

/** Deletes expired reservations, and returns abandoned claims by slot. */
export const findAbandoned = async (directory: Db, now: number) => {
  const [entries] = await run(
    directory,
    selectAbandoned({ now, limit: MAX_SETTLED }),
    idempotent(deleteExpiredReservations({ now })),
  )
  return Map.groupBy(entries, ({ slot }) => slot)
}

const deleteSettledBefore = sqlStatement<{ claimId: number }>(sql`
  delete from settledClaims where settledAt < ${placeholder('before')} returning claimId`)
/** Deletes settled claims that are over a day old: no call runs that late. */
export const deleteOldClaims = (db: Db, now: number) =>
  run(db, idempotent(deleteSettledBefore({ before: now - DAY_MS })))

/** Selects how many member ids each slot has assigned. */
const selectShares = sqlStatement<{ slot: number; given: number }>(sql`
  select 0 as slot, coalesce(max(memberId), 0) as given from members where memberId <= ${placeholder('idCeiling')}
  union all select slot, lastClaimId - slot * ${sql.raw(String(idRange(1).idFloor))} from slotCounters`)

/** The slot to query for an unknown address: always the same for an address, chosen in proportion to `given`. */
export const chooseStandIn = (addressHash: string, shares: { slot: number; given: number }[]) => {
  const total = shares.reduce((sum, { given }) => sum + given, 0)
  let left = (Number.parseInt(addressHash.slice(0, 12), 16) / 2 ** 48) * total
  for (const { slot, given } of shares) {
    left -= given
    if (left < 0) return slot
  }
  return 0
}

/**
 * Finds the slot of the member with an address, in one call. For an unknown address it returns a stand-in, so that neither
 * calls nor time reveal whether an account exists. Further statements run in the same transaction.
 */
export const findSlot = async <const Statements extends readonly Statement[]>(
  { directory, numbers }: Slots,
  address: Address & { addressHash: string },
  ...statements: Statements
) => {
  const [[holder], shares, ...rows] = await run(directory, selectHolder(address), selectShares(), ...statements)
  const bound = shares.filter(({ slot }) => numbers.includes(slot))
  return [holder ? (holder.slot ?? 0) : chooseStandIn(address.addressHash, bound), ...rows] as const
}
