import type { D1Database } from '@cloudflare/workers-types'
import type { Query } from './marks.ts'
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
  settleAt: number | null
}
/** A member and an address: the one in use, or a former one that an undo may restore until `reservedUntil`. */
type Use = { memberId: number; email: string; hash: string; reservedUntil: number | null }

export type Difference =
  /** A member without an entry. `entry`: that of the address, if it names a member who does not use it, or is wrong. */
  | { kind: 'missing'; member: Use; entry?: Entry | undefined }
  /** An entry whose member neither uses the address nor may return to it. */
  | { kind: 'stale'; entry: Entry }
  /** Two members with one address. The directory names the other one. */
  | { kind: 'conflict'; member: Use; other: { memberId: number; slot: number } }

const PAGE = 1000
export const ENTRY = 'hex(addressHash) as hash, memberId, slot, claimId, state, settleAt'

export const queryAll = async <Row>(database: D1Database, query: string, ...values: unknown[]) => {
  const statement = database.prepare(query).bind(...values)
  return (await statement.all<Row>()).results
}

/** @throws Error if there is no such slot */
export const databaseOf = (slots: OpenSlot[], slot: number) => {
  const found = slots.find((each) => each.slot === slot)
  if (found) return found.database
  throw new Error(`There is no slot ${slot}`)
}
/** The database of slot 0, which has the directory. */
export const mainOf = (slots: OpenSlot[]) => databaseOf(slots, 0)

export const toQuery =
  (slots: OpenSlot[]): Query =>
  (slot, sql) =>
    queryAll(databaseOf(slots, slot), sql)

/** What the entry of a use must be. */
export const stateOf = ({ reservedUntil }: Pick<Use, 'reservedUntil'>): Entry['state'] =>
  reservedUntil === null ? 'HELD' : 'RESERVED'
const toUser = ({ memberId, hash }: { memberId: number; hash: string }, state: string) => `${memberId} ${hash} ${state}`

/**
 * The uses with their hashes: one for each address of a member, of which the address in use or the last undo counts.
 */
const toUses = async (rows: Omit<Use, 'hash'>[], hashAddress: HashAddress) => {
  const uses = new Map<string, Use>()
  for (const row of rows) {
    const hash = await hashAddress(row.email)
    const key = `${row.memberId} ${hash}`
    const known = uses.get(key)
    const isLater = known?.reservedUntil != null && (row.reservedUntil ?? Infinity) > known.reservedUntil
    if (!known || isLater) uses.set(key, { ...row, hash })
  }
  return [...uses.values()]
}

/** SQL for the uses of the members who match. */
const usesOf = (isListed: string) => `
  select memberId, email, null as reservedUntil from members where ${isListed} and withdrawnAt is null
  union all select memberId, email, expiresAt from emailUndos where ${isListed} and expiresAt > unixepoch('subsec') * 1000`

const selectMembers = async (database: D1Database, after: number, end: number, hashAddress: HashAddress) => {
  const query = 'select memberId from members where memberId > ? order by memberId limit ?'
  const rows = await queryAll<{ memberId: number }>(database, query, after, PAGE)
  const last = rows.length < PAGE ? undefined : rows.at(-1)?.memberId
  const uses = await queryAll<Use>(database, usesOf('memberId > ?1 and memberId <= ?2'), after, last ?? end)
  return { last, members: await toUses(uses, hashAddress) }
}

/**
 * Keeps the pairs of member and address of which the member uses the address now, or may return to it, as the state
 * says.
 */
export const selectUsed = async <Pair extends { slot: number; memberId: number; hash: string; state: Entry['state'] }>(
  slots: OpenSlot[],
  pairs: Pair[],
  hashAddress: HashAddress,
) => {
  const used = new Set<string>()
  for (const { slot, database } of slots) {
    const ids = pairs.filter((pair) => pair.slot === slot).map(({ memberId }) => memberId)
    if (ids.length === 0) continue
    const query = usesOf('memberId in (select value from json_each(?1))')
    const rows = await queryAll<Use>(database, query, JSON.stringify(ids))
    for (const use of await toUses(rows, hashAddress)) used.add(toUser(use, stateOf(use)))
  }
  return pairs.filter((pair) => used.has(toUser(pair, pair.state)))
}

/**
 * Members of slot 0 who use the address of one of these, or may return to it. They have no entry: their rows are in the
 * directory's database.
 */
const selectInMain = async (main: D1Database, members: Use[], hashAddress: HashAddress) => {
  const query = usesOf('lower(email) in (select lower(value) from json_each(?1))')
  const emails = JSON.stringify(members.map(({ email }) => email))
  return toUses(await queryAll<Use>(main, query, emails), hashAddress)
}

const selectEntries = (main: D1Database, hashes: string[]) => {
  const query = `select ${ENTRY} from addresses where addressHash in (select unhex(value) from json_each(?))`
  return queryAll<Entry>(main, query, JSON.stringify(hashes))
}

const differencesOf = async (
  slots: OpenSlot[],
  { slot, members, entries }: { slot: number; members: Use[]; entries: Entry[] },
  hashAddress: HashAddress,
) => {
  const main = mainOf(slots)
  const own = new Map(entries.map((entry) => [entry.hash, entry]))
  const hasEntry = (use: Use) => {
    const entry = own.get(use.hash)
    if (entry?.memberId !== use.memberId || entry.slot !== slot) return false
    return entry.state === 'CLAIMED' || (entry.state === stateOf(use) && entry.settleAt === use.reservedUntil)
  }
  const without = members.filter((use) => !hasEntry(use)).map((use) => ({ ...use, slot, state: stateOf(use) }))
  const hashes = without.map(({ hash }) => hash)
  const others = await selectEntries(main, hashes)
  // Read members again after the entries, to ignore those who withdrew or changed their address meanwhile.
  const missing = await selectUsed(slots, without, hashAddress)
  const inMain = await selectInMain(main, members, hashAddress)
  const usedByOthers = await selectUsed(slots, others, hashAddress)
  const toDifference = (member: Use): Difference | undefined => {
    const holder = inMain.find(({ hash }) => hash === member.hash)
    if (holder) return { kind: 'conflict', member, other: { memberId: holder.memberId, slot: 0 } }
    if (!missing.some(({ memberId, hash }) => memberId === member.memberId && hash === member.hash)) return undefined
    const entry = others.find(({ hash }) => hash === member.hash)
    const isTaken = entry && entry.memberId !== member.memberId
    if (isTaken && (usedByOthers.includes(entry) || entry.state === 'CLAIMED'))
      return { kind: 'conflict', member, other: entry }
    return { kind: 'missing', member, entry }
  }

  const users = new Set(members.map((use) => toUser(use, stateOf(use))))
  const isLeftToSweep = ({ state, settleAt }: Entry) =>
    state === 'CLAIMED' || (settleAt !== null && settleAt <= Date.now())
  const unused = entries.filter((entry) => !isLeftToSweep(entry) && !users.has(toUser(entry, entry.state)))
  const usedSince = await selectUsed(slots, unused, hashAddress)
  const stale = unused
    .filter((entry) => !usedSince.includes(entry))
    .map((entry): Difference => ({ kind: 'stale', entry }))
  return [...members.map(toDifference).filter((difference) => difference !== undefined), ...stale]
}

/**
 * Yields the differences between the directory and the members of a slot other than 0, page by page. The members' rows
 * are the truth, with those of changes that can still be undone. Open claims and expired reservations are left to the
 * sweep.
 */
export async function* compareSlot(slots: OpenSlot[], slot: number, hashAddress: HashAddress) {
  const ids = idsOf(slot)
  const range = `select ${ENTRY} from addresses where memberId > ? and memberId <= ?`
  let after: number | undefined = ids.first - 1
  while (after !== undefined) {
    const { members, last } = await selectMembers(databaseOf(slots, slot), after, ids.last, hashAddress)
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
  const isReserved = difference.member.reservedUntil !== null
  if (difference.kind === 'missing')
    return `directory: ${subject} has no entry${isReserved ? ' for a former address' : ''}`
  const other = describeMember(difference.other.memberId, difference.other.slot)
  return `directory: ${subject} ${isReserved ? 'may return to the address of' : 'has the same address as'} ${other}`
}
