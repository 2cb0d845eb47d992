// Lists that are too large for one database call and for the memory of an isolate.
import { unavailable } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter } from '../runtime/limiter'
import { type ConfirmedMember, type Db, uninterrupted } from './client'

/** Lists with more text are sent in parts: JSON can take six times as many bytes, in several copies. */
export const MAX_WHOLE_BYTES = 512 * 1024
export const MAX_PART_BYTES = 256 * 1024

/** A list: an array, or its parts if it is too large for one database call. */
export type ArrayOrParts<Item> = Item[] | AsyncIterable<Item[]>

export type Size = { id: number; bytes: number }

/** Splits a list into parts of at most `max` bytes, or of a single item. */
export const splitByBytes = (sizes: Size[], max = MAX_PART_BYTES) => {
  const parts: number[][] = []
  let bytesLeft = 0
  for (const { id, bytes } of sizes) {
    bytesLeft -= bytes
    const last = parts.at(-1)
    if (last && bytesLeft >= 0) last.push(id)
    else {
      parts.push([id])
      bytesLeft = max - bytes
    }
  }
  return parts
}

const partLimiter = createLimiter({ capacity: 2, leaseMs: DEADLINES.part, maxWaiting: 64 })
// Each list that is being sent holds a part until the client has read it. A slow client can hold lists for minutes, so
// a member gets only a few, and a network half of them.
const MEMBER = 'member '
const listLimiter = createLimiter({
  capacity: 24,
  leaseMs: DEADLINES.list,
  maxWaiting: 64,
  maxWaitMs: DEADLINES.listTurn,
  maxPerKey: (key) => (key.startsWith(MEMBER) ? 6 : 12),
})

const acquire = async (limiter: typeof partLimiter, { sources }: Db, { memberId }: ConfirmedMember) => {
  const lease = await limiter.acquire(1, [...sources, `${MEMBER}${memberId}`])
  if (!lease) throw unavailable('too many large lists in flight')
  return lease
}

/** Loads items by their identifiers, in the order of the list. `ids` is a JSON array. */
type LoadItems<Item> = (ids: string) => Promise<Item[]>

/** Loads one part. Only a few are loaded at a time, so that several large lists do not exceed the isolate's memory. */
export type LoadPart = <Part>(call: () => Promise<Part>) => Promise<Part>

/**
 * Begins a response that is sent in parts. An isolate sends a limited number of these at a time. `end` must be called
 * when the response has been sent or aborted.
 * @throws UNAVAILABLE if too many requests wait, or this one waits too long
 */
export const startLoading = async (db: Db, member: ConfirmedMember) => {
  const lease = await acquire(listLimiter, db, member)
  const load: LoadPart = async (call) => {
    lease.renew()
    const part = await acquire(partLimiter, db, member)
    return uninterrupted(db, call().finally(part.release))
  }
  return { load, end: lease.release }
}

/** Yields an empty part once the first one is loaded, then the parts. `return` releases what it holds. */
async function* iterateParts<Item>(
  db: Db,
  member: ConfirmedMember,
  loadItems: LoadItems<Item>,
  [firstIds = [], ...otherIds]: number[][],
) {
  const { load, end } = await startLoading(db, member)
  try {
    const first = await load(() => loadItems(JSON.stringify(firstIds)))
    yield []
    yield first
    for (const ids of otherIds) yield await load(() => loadItems(JSON.stringify(ids)))
  } finally {
    end()
  }
}

/** Loads a large list, a call for each part. Loads the first part at once, so that a failure gets an error response. */
export const loadParts = async <Item>(db: Db, member: ConfirmedMember, sizes: Size[], load: LoadItems<Item>) => {
  const parts = iterateParts(db, member, load, splitByBytes(sizes))
  await parts.next()
  return parts
}
