import { type SQL, sql } from 'drizzle-orm'
import { hashAddress } from '../../auth/keyed-hash'
import { type Batch, firstRow, idempotent, run, sqlStatement } from '../../db/client'
import { idRange } from '../../db/next-id'
import { members } from '../../db/schema/member-tables'
import type { addresses } from '../../db/schema/slot-tables'
import type { Config } from '../../env'
import type { Slots } from '../../slots/slots'
import { type Expected, isIntact, toExpected } from './marks'

// Finds the member who has, or may return to, an e-mail address. With several databases, that takes the directory.
// claims.ts and settlement.ts add and settle its entries.

/** Matches the member with an e-mail address, regardless of case. */
export const isEmail = sql`lower(${members.email}) = lower(:email)`

/** An e-mail address as parameters. The hash is null if there is no directory, and then matches nothing. */
export type Address = Expected & { email: string; addressHash: string | null }

export const toAddress = async (slots: Slots, config: Config, email: string): Promise<Address> => ({
  ...(await toExpected(slots, config)),
  email,
  addressHash: slots.numbers.length > 1 ? await hashAddress(config.ADDRESS_KEY ?? '', email) : null,
})

/** An entry of the directory. */
export type AddressEntry = Omit<typeof addresses.$inferSelect, 'addressHash'> & { addressHash: string }
/** Who has an address, or may return to it while it is reserved. Members of slot 0 have no entry in the directory. */
export type Holder = { memberId: number } & Partial<AddressEntry>

export const hash = sql`unhex(:addressHash)`
export const isAddress = sql`addresses.addressHash = ${hash}`
export const entryColumns = sql`hex(addressHash) as addressHash, memberId, slot, claimId, state, settleAt`

/** Matches the reserved addresses of members of slot 0. */
const isReserved = sql`lower(emailUndos.email) = lower(:email) and expiresAt > :now`

const select = sqlStatement<Holder>`
  select null as addressHash, memberId, 0 as slot, null as claimId, null as state, null as settleAt
  from members where ${isEmail}
  union all select null, memberId, 0, null, null, null from emailUndos where ${isReserved}
  union all select ${entryColumns} from addresses where ${isAddress}`
/** Selects the member who has an address or for whom it is reserved, or the entry of an open claim. */
export const selectHolder = (address: Address, now: number) => select({ ...address, now })

const isUnused = (isOther: SQL) => sql`not exists (select 1 from members where ${isEmail} and ${isOther})
  and not exists (select 1 from emailUndos where ${isReserved} and ${isOther}) and ${isIntact}`

/**
 * Matches if no member and no open claim has the address, it is reserved for nobody, and no slot or key is lost.
 * @param exceptOwn whether the reservations and entries of the member `memberId` do not count
 */
export const isFree = (exceptOwn = false) => {
  const isOther = exceptOwn ? sql`memberId <> :memberId` : sql`true`
  return sql`${isUnused(isOther)} and not exists (select 1 from addresses where ${isAddress} and ${isOther})`
}
/** Like `isFree()`, but ignores abandoned claims. */
export const isFreeOrAbandoned = sql`${isUnused(sql`true`)} and not exists (
  select 1 from addresses where ${isAddress} and not (state = 'CLAIMED' and settleAt <= :now)
)`

const deleteOfMembers = sqlStatement`
  delete from addresses where memberId in (select value from json_each(:memberIds))`

/** Releases all addresses of withdrawn members of slots other than 0. */
export const releaseAddresses = ({ directory }: Pick<Slots, 'directory'>, memberIds: number[]) =>
  run(directory, { released: idempotent(deleteOfMembers({ memberIds: JSON.stringify(memberIds) })) })

/** Selects how many member ids each slot has assigned. */
const selectShares = sqlStatement<{ slot: number; given: number }>`
  select 0 as slot, coalesce(max(memberId), 0) as given from members where memberId <= :idCeiling
  union all select slot, lastClaimId - slot * ${sql.raw(String(idRange(1).idFloor))} from slotCounters`

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
 * Finds the slot of the member with an address, in one call. For an unknown address it returns a stand-in, so that
 * neither calls nor time reveal whether an account exists. Further statements run in the same transaction.
 */
export const findSlot = async <B extends Batch>(
  { directory, numbers }: Slots,
  address: Address & { addressHash: string },
  batch: B,
) => {
  const find = { holder: firstRow(selectHolder(address, Date.now())), shares: selectShares() }
  const results = await run(directory, { ...find, ...batch })
  const { holder, shares } = results
  const bound = shares.filter(({ slot }) => numbers.includes(slot))
  return { ...results, slot: holder ? (holder.slot ?? 0) : chooseStandIn(address.addressHash, bound) }
}
