import type { D1Database } from '@cloudflare/workers-types'
import { idsOf } from './table.ts'

// Compares the directory of addresses, which is in the database of slot 0, with the members of a slot.

/** A slot with its database. */
export type OpenSlot = { slot: number; database: D1Database }

/** The keyed hash of an e-mail address, as hex() returns it. */
export type HashAddress = (email: string) => Promise<string>

export type Entry = {
  hash: string
  memberId: number
  slot: number
  claimId: number
  state: 'CLAIMED' | 'HELD' | 'RESERVED'
}
type Member = { memberId: number; email: string; hash: string }

export type Difference =
  /** A member without an entry. `entry`: that of the address, if it names a member who does not use it. */
  | { kind: 'missing'; member: Member; entry?: Entry | undefined }
  /** An entry whose member does not use the address. */
  | { kind: 'stale'; entry: Entry }
  /** Two members with one address. The directory names the other one. */
  | { kind: 'conflict'; member: Member; other: { memberId: number; slot: number } }

const PAGE = 1000
export const ENTRY = 'hex(addressHash) as hash, memberId, slot, claimId, state'

export const queryAll = async <Row>(database: D1Database, query: string, ...values: unknown[]) =>
  (
    await database
      .prepare(query)
      .bind(...values)
      .all<Row>()
  ).results

/** @throws Error if there is no such slot */
export const databaseOf = (slots: OpenSlot[], slot: number) => {
  const found = slots.find((each) => each.slot === slot)
  if (found) return found.database
  throw new Error(`There is no slot ${slot}`)
}
/** The database of slot 0, which has the directory. */
export const mainOf = (slots: OpenSlot[]) => databaseOf(slots, 0)

const toUser = ({ memberId, hash }: { memberId: number; hash: string }) => `${memberId} ${hash}`

const withHashes = (members: Omit<Member, 'hash'>[], hashAddress: HashAddress) =>
  Promise.all(members.map(async (member) => ({ ...member, hash: await hashAddress(member.email) })))

const selectMembers = async (database: D1Database, after: number, hashAddress: HashAddress) => {
  const query = 'select memberId, email, withdrawnAt from members where memberId > ? order by memberId limit ?'
  const rows = await queryAll<Member & { withdrawnAt: number | null }>(database, query, after, PAGE)
  const active = rows.filter(({ withdrawnAt }) => withdrawnAt === null)
  return {
    last: rows.length < PAGE ? undefined : rows.at(-1)?.memberId,
    members: await withHashes(active, hashAddress),
  }
}

/** Keeps the pairs of member and address of which the address is the member's now. */
export const selectUsed = async <Pair extends { slot: number; memberId: number; hash: string }>(
  slots: OpenSlot[],
  pairs: Pair[],
  hashAddress: HashAddress,
) => {
  const used = new Set<string>()
  for (const { slot, database } of slots) {
    const ids = pairs.filter((pair) => pair.slot === slot).map(({ memberId }) => memberId)
    if (ids.length === 0) continue
    const query = `select memberId, email from members
      where memberId in (select value from json_each(?)) and withdrawnAt is null`
    const rows = await queryAll<Member>(database, query, JSON.stringify(ids))
    for (const member of await withHashes(rows, hashAddress)) used.add(toUser(member))
  }
  return pairs.filter((pair) => used.has(toUser(pair)))
}

/** Members of slot 0 with the address of one of these. They have no entry: their rows are in the directory's database. */
const selectInMain = async (main: D1Database, members: Member[], hashAddress: HashAddress) => {
  const query = 'select memberId, email from members where lower(email) in (select lower(value) from json_each(?))'
  const emails = JSON.stringify(members.map(({ email }) => email))
  return withHashes(await queryAll<Member>(main, query, emails), hashAddress)
}

const selectEntries = (main: D1Database, hashes: string[]) => {
  const query = `select ${ENTRY} from addresses where addressHash in (select unhex(value) from json_each(?))`
  return queryAll<Entry>(main, query, JSON.stringify(hashes))
}

const differencesOf = async (
  slots: OpenSlot[],
  { slot, members, entries }: { slot: number; members: Member[]; entries: Entry[] },
  hashAddress: HashAddress,
) => {
  const main = mainOf(slots)
  const own = new Map(entries.map((entry) => [entry.hash, entry]))
  const hasEntry = ({ memberId, hash }: Member) => {
    const entry = own.get(hash)
    return entry?.memberId === memberId && entry.slot === slot && entry.state !== 'RESERVED'
  }
  const without = members.filter((member) => !hasEntry(member)).map((member) => ({ ...member, slot }))
  const hashes = without.map(({ hash }) => hash)
  const others = await selectEntries(main, hashes)
  // Read members again after the entries, to ignore those who withdrew or changed their address meanwhile.
  const missing = await selectUsed(slots, without, hashAddress)
  const inMain = await selectInMain(main, members, hashAddress)
  const usedByOthers = await selectUsed(slots, others, hashAddress)
  const toDifference = (member: Member): Difference | undefined => {
    const holder = inMain.find(({ hash }) => hash === member.hash)
    if (holder) return { kind: 'conflict', member, other: { memberId: holder.memberId, slot: 0 } }
    if (!missing.some(({ memberId }) => memberId === member.memberId)) return undefined
    const entry = others.find(({ hash }) => hash === member.hash)
    const isTaken = entry && entry.memberId !== member.memberId
    if (isTaken && (usedByOthers.includes(entry) || entry.state === 'CLAIMED'))
      return { kind: 'conflict', member, other: entry }
    return { kind: 'missing', member, entry }
  }

  const users = new Set(members.map(toUser))
  const unused = entries.filter((entry) => entry.state === 'HELD' && !users.has(toUser(entry)))
  const usedSince = await selectUsed(slots, unused, hashAddress)
  const stale = unused
    .filter((entry) => !usedSince.includes(entry))
    .map((entry): Difference => ({ kind: 'stale', entry }))
  return [...members.map(toDifference).filter((difference) => difference !== undefined), ...stale]
}

/**
 * Yields the differences between the directory and the members of a slot other than 0, page by page. The members' rows
 * are the truth. Open claims and reservations are left to the sweep.
 */
export async function* compareSlot(slots: OpenSlot[], slot: number, hashAddress: HashAddress) {
  const ids = idsOf(slot)
  const range = `select ${ENTRY} from addresses where memberId > ? and memberId <= ?`
  let after: number | undefined = ids.first - 1
  while (after !== undefined) {
    const { members, last } = await selectMembers(databaseOf(slots, slot), after, hashAddress)
    const entries = await queryAll<Entry>(mainOf(slots), range, after, last ?? ids.last)
    yield await differencesOf(slots, { slot, members, entries }, hashAddress)
    after = last
  }
}

const describeMember = (memberId: number, slot: number) => `member ${memberId} of slot ${slot}`

/** A difference as a line for a person. It names no address. */
export const describeDifference = (slot: number, difference: Difference) => {
  if (difference.kind === 'stale') {
    return `directory: ${describeMember(difference.entry.memberId, slot)} has an entry for an address that is not theirs`
  }
  const subject = describeMember(difference.member.memberId, slot)
  if (difference.kind === 'missing') return `directory: ${subject} has no entry`
  return `directory: ${subject} has the same address as ${describeMember(difference.other.memberId, difference.other.slot)}`
}
