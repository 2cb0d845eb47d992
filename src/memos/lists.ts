import { and, desc, eq, sql } from 'drizzle-orm'
import { MEMO_TYPES } from '../contract'
import { type Caller, callerId, isOwnRow, queryOne, runAsCaller, selectCaller } from '../db/caller'
import { type Db, sqlStatement, statement, uninterrupted } from '../db/client'
import { limit, offset } from '../db/parameters'
import { books, memos } from '../db/schema'
import { unavailable } from '../errors'
import { createLimiter } from '../limiter'
import { type Page, toLimit, toPage } from '../schema/paging'
import type { Memo, MemosQuery } from './schema'

const { placeholder } = sql

export const memoColumns = {
  memoId: memos.memoId,
  memoType: memos.memoType,
  memoContent: memos.memoContent,
  memoBookPage: memos.memoBookPage,
  memoAuthority: memos.memoAuthority,
  memoLikesCount: memos.memoLikesCount,
  createdAt: memos.createdAt,
  updatedAt: memos.updatedAt,
}

export const isOwnBook = isOwnRow(books.bookId, books.memberId)
/** Matches the memos of a book only if it is the caller's: no memo of another member's book is read. */
const isInOwnBook = eq(memos.bookId, sql`(select ${books.bookId} from ${books} where ${isOwnBook})`)

/**
 * The memos of a book with more bytes of text than this are loaded and sent in parts. In JSON, text can take six times as
 * many bytes, and an isolate holds several copies of a response.
 */
export const MAX_WHOLE_BYTES = 512 * 1024
const MAX_PART_BYTES = 256 * 1024
const isInSmallBook = eq(
  memos.bookId,
  sql`(select ${books.bookId} from ${books} where ${isOwnBook} and ${books.memoBytes} <= ${sql.raw(String(MAX_WHOLE_BYTES))})`,
)

/** The memos of a small book with the given visibility, unsorted: `newestFirst` is faster than sorting in the database. */
export const selectMemosList = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(isInSmallBook, sql`${placeholder('memoAuthority')} in ('ALL', ${memos.memoAuthority})`)),
)

/** Sorts in place. */
export const newestFirst = (list: Memo[]) => list.sort((one, other) => other.memoId - one.memoId)

/** A list: an array, or its parts if it is too large for one database call. */
export type ArrayOrParts<Item> = Item[] | AsyncIterable<Item[]>
/** Memos, newest first. */
export type MemoList = ArrayOrParts<Memo>

const isSelected = sql`${placeholder('memoType')} in ('ALL', ${memos.memoType}) and ${placeholder('memoAuthority')} in ('ALL', ${memos.memoAuthority})`
const selectSizes = statement((db) =>
  db
    .select({
      id: sql<number>`${memos.memoId}`.as('id'),
      bytes: sql<number>`octet_length(${memos.memoContent})`.as('bytes'),
    })
    .from(memos)
    .where(and(isInOwnBook, isSelected))
    .orderBy(desc(memos.memoId))
    .limit(limit)
    .offset(offset),
)
const selectPart = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(
      and(
        sql`${memos.memoId} in (select value from json_each(${placeholder('memoIds')}))`,
        eq(memos.memberId, callerId),
      ),
    )
    .orderBy(desc(memos.memoId)),
)

type Size = { id: number; bytes: number }

/** Splits a list into parts of at most MAX_PART_BYTES, or of a single item. */
const splitByBytes = (sizes: Size[]) => {
  const parts: number[][] = []
  let bytesLeft = 0
  for (const { id, bytes } of sizes) {
    bytesLeft -= bytes
    const last = parts.at(-1)
    if (last && bytesLeft >= 0) last.push(id)
    else {
      parts.push([id])
      bytesLeft = MAX_PART_BYTES - bytes
    }
  }
  return parts
}

const partLimiter = createLimiter({ capacity: 2, leaseMs: 15_000, maxWaiting: 64 })
// Each list that is being sent holds a part until the client has read it. A lease lasts longer than a client may take.
const listLimiter = createLimiter({ capacity: 24, leaseMs: 30_000, maxWaiting: 64, maxWaitMs: 25_000 })

const acquire = async (limiter: typeof partLimiter, { memberId }: Caller) => {
  const lease = await limiter.acquire(1, [String(memberId)])
  if (!lease) throw unavailable('too many large lists in flight')
  return lease
}

/** Loads items by their identifiers, in the order of the list. `ids` is a JSON array. */
type LoadItems<Item> = (ids: string) => Promise<Item[]>

/** Loads one part. Only a few are loaded at a time, so that several large lists do not exceed the isolate's memory. */
const loadPart = async <Item>(db: Db, caller: Caller, load: LoadItems<Item>, ids: number[]) => {
  const lease = await acquire(partLimiter, caller)
  return uninterrupted(db, load(JSON.stringify(ids)).finally(lease.release))
}

/** Yields an empty part once the first one is loaded, then the parts. `return` releases what it holds. */
async function* iterateParts<Item>(
  db: Db,
  caller: Caller,
  load: LoadItems<Item>,
  [firstIds = [], ...otherIds]: number[][],
) {
  const lease = await acquire(listLimiter, caller)
  try {
    const first = await loadPart(db, caller, load, firstIds)
    yield []
    yield first
    for (const ids of otherIds) {
      lease.renew()
      yield await loadPart(db, caller, load, ids)
    }
  } finally {
    lease.release()
  }
}

type Selection = { bookId: number; memoType: MemosQuery['memoType']; memoAuthority: 'ALL' | Memo['memoAuthority'] }

/**
 * Loads a large list in parts, one database call each. The first is loaded before this returns, so that a failure can
 * still get an error response.
 */
export const loadParts = async <Item>(
  db: Db,
  caller: Caller,
  sizes: Size[],
  load: LoadItems<Item>,
): Promise<ArrayOrParts<Item>> => {
  const parts = iterateParts(db, caller, load, splitByBytes(sizes))
  await parts.next()
  return parts
}

/** Loads the memos of a large book in parts. */
export const loadInParts = async (
  db: Db,
  caller: Caller,
  selection: Selection,
  page = { limit: -1, offset: 0 },
): Promise<MemoList> => {
  const [, sizes] = await runAsCaller(db, caller, selectCaller(), selectSizes({ ...selection, ...page }))
  if (sizes.length === 0) return []
  return loadParts(db, caller, sizes, async (memoIds) => {
    const [, memos] = await runAsCaller(db, caller, selectCaller(), selectPart({ memoIds }))
    return memos
  })
}

const selectPageOfType = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(isInSmallBook, eq(memos.memoType, placeholder('memoType'))))
    .orderBy(desc(memos.memoId))
    .limit(limit)
    .offset(offset),
)

const selectOfType = (memoType: Memo['memoType']) => sql`
  select memoId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt
  from memos where ${isInSmallBook} and memoType = ${sql.raw(`'${memoType}'`)}`

// The index on (bookId, memoType) yields each type in the order of memoId. Merging the four types gives a page of all
// memos without sorting the whole book, and saves a second index.
const selectPageOfAllTypes = sqlStatement<Memo>(sql`
  ${sql.join(MEMO_TYPES.map(selectOfType), sql` union all `)}
  order by memoId desc limit ${limit} offset ${offset}`)

const COUNTERS = {
  ALL: 'memoCount',
  BOOK_CONTENT: 'contentMemos',
  SUMMARY: 'summaryMemos',
  THOUGHT: 'thoughtMemos',
  QUESTION: 'questionMemos',
} as const

const selectCounters = statement((db) =>
  db
    .select({
      memoCount: books.memoCount,
      contentMemos: books.contentMemos,
      summaryMemos: books.summaryMemos,
      thoughtMemos: books.thoughtMemos,
      questionMemos: books.questionMemos,
      memoBytes: books.memoBytes,
    })
    .from(books)
    .where(isOwnBook),
)

type MemoPage = Omit<Page<Memo>, 'item'> & { item: MemoList }

/** A page of a book's memos of one type or of all. Returns undefined if the caller has no such book. */
export const listMemos = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoType, ...paging }: MemosQuery,
): Promise<MemoPage | undefined> => {
  const values = { bookId, memoType, ...toLimit(paging) }
  const page = memoType === 'ALL' ? selectPageOfAllTypes(values) : selectPageOfType(values)
  const [, [counters], items] = await runAsCaller(db, caller, selectCaller(), selectCounters({ bookId }), page)
  if (!counters) return undefined
  const result = toPage(items, counters[COUNTERS[memoType]], paging)
  if (counters.memoBytes <= MAX_WHOLE_BYTES) return result
  const selection = { bookId, memoType, memoAuthority: 'ALL' as const }
  return { ...result, item: await loadInParts(db, caller, selection, toLimit(paging)) }
}

const randomPosition = sql`(
  select 1 + cast(${placeholder('fraction')} * max(${memos.position}) as integer)
  from ${memos} where ${memos.memberId} = ${callerId}
)`
const selectRandom = statement((db) =>
  db
    .select({
      memoId: memos.memoId,
      memoContent: memos.memoContent,
      memoType: memos.memoType,
      memoBookPage: memos.memoBookPage,
    })
    .from(memos)
    .where(and(eq(memos.memberId, callerId), eq(memos.position, randomPosition))),
)

/** A random memo of the caller, each equally likely. Returns undefined if the caller has none. */
export const drawMemo = (db: Db, caller: Caller) => queryOne(db, caller, selectRandom({ fraction: Math.random() }))
