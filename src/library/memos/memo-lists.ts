import { and, desc, eq, sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement, statement } from '../../db/client'
import { isOwnBook, selectOwnBook } from '../../db/own-book'
import { limit, offset } from '../../db/parameters'
import { type ArrayOrParts, loadParts, MAX_WHOLE_BYTES } from '../../db/parts'
import { books } from '../../db/schema/book-tables'
import { memos } from '../../db/schema/memo-tables'
import { MEMO_TYPES } from '../../values/contract'
import { type Page, toLimit, toPage } from '../../values/paging'
import type { Memo } from './responses'
import type { MemosQuery } from './schema'

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

/** Their names, for statements in SQL. */
export const memoColumnNames = sql.raw(Object.keys(memoColumns).join(', '))

/** Matches the memos of a book only if it is the caller's: no memo of another member's book is read. */
const isInOwnBook = eq(memos.bookId, sql`(select ${books.bookId} from ${books} where ${isOwnBook})`)

const smallBook = sql`select ${books.bookId} from ${books} where ${isOwnBook} and ${books.memoBytes} <= ${sql.raw(String(MAX_WHOLE_BYTES))}`

/** The memos of a small book with the given visibility, unsorted: `newestFirst` is faster than sorting in the database. */
export const selectMemosList = statement((db) =>
  db
    .select(memoColumns)
    .from(memos)
    .where(and(eq(memos.bookId, sql`(${smallBook})`), sql`:memoAuthority in ('ALL', ${memos.memoAuthority})`)),
)

/** Sorts in place. */
export const newestFirst = (list: Memo[]) => list.sort((one, other) => other.memoId - one.memoId)

/** Memos, newest first. */
export type MemoList = ArrayOrParts<Memo>

const isSelected = sql`:memoType in ('ALL', ${memos.memoType}) and :memoAuthority in ('ALL', ${memos.memoAuthority})`
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
    .where(and(sql`${memos.memoId} in (select value from json_each(:memoIds))`, eq(memos.memberId, callerId)))
    .orderBy(desc(memos.memoId)),
)

type MemoType = Memo['memoType']
type Selection = { bookId: number; memoType: MemosQuery['memoType']; memoAuthority: 'ALL' | Memo['memoAuthority'] }

/** Loads the memos of a large book in parts. */
export const loadInParts = async (
  db: Db,
  caller: Caller,
  selection: Selection,
  page = { limit: -1, offset: 0 },
): Promise<MemoList> => {
  const { sizes } = await runAsCaller(db, caller, { sizes: selectSizes({ ...selection, ...page }) })
  if (sizes.length === 0) return []
  return loadParts(db, caller, sizes, async (memoIds) => {
    const { memos } = await runAsCaller(db, caller, { memos: selectPart({ memoIds }) })
    return memos
  })
}

const selectOfType = (memoType: MemoType) => sql`
  select ${memoColumnNames} from memos where bookId = (select bookId from book) and memoType = ${sql.raw(`'${memoType}'`)}`
const selectPageOf = (types: readonly MemoType[]) =>
  sqlStatement<Memo>`select * from (
      with book(bookId) as materialized (${smallBook})
      ${sql.join(types.map(selectOfType), sql` union all `)} order by memoId desc limit ${limit} offset ${offset}
    )`
// The index on (bookId, memoType) yields each type in the order of memoId. Merging the four types gives a page of all
// memos without sorting the whole book, and saves a second index.
const selectPage = {
  ALL: selectPageOf(MEMO_TYPES),
  BOOK_CONTENT: selectPageOf(['BOOK_CONTENT']),
  SUMMARY: selectPageOf(['SUMMARY']),
  THOUGHT: selectPageOf(['THOUGHT']),
  QUESTION: selectPageOf(['QUESTION']),
}

const COUNTERS = {
  ALL: 'memoCount',
  BOOK_CONTENT: 'contentMemos',
  SUMMARY: 'summaryMemos',
  THOUGHT: 'thoughtMemos',
  QUESTION: 'questionMemos',
} as const

const selectCounters = selectOwnBook({
  bookId: books.bookId,
  memoCount: books.memoCount,
  contentMemos: books.contentMemos,
  summaryMemos: books.summaryMemos,
  thoughtMemos: books.thoughtMemos,
  questionMemos: books.questionMemos,
  memoBytes: books.memoBytes,
})

type MemoPage = Omit<Page<Memo>, 'item'> & { item: MemoList }

/** A page of a book's memos of one type or of all. Returns undefined if the caller has no such book. */
export const listMemos = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoType, ...paging }: MemosQuery,
): Promise<MemoPage | undefined> => {
  const values = { bookId, memoType, ...toLimit(paging) }
  const { guard: counters, items } = await runAsCaller(db, caller, {
    guard: selectCounters({ bookId }),
    items: selectPage[memoType](values),
  })
  if (counters.bookId === null) return undefined
  const result = toPage(items, counters[COUNTERS[memoType]], paging)
  if (counters.memoBytes <= MAX_WHOLE_BYTES) return result
  const selection = { bookId, memoType, memoAuthority: 'ALL' as const }
  return { ...result, item: await loadInParts(db, caller, selection, toLimit(paging)) }
}

const randomPosition = sql`(
  select 1 + cast(:fraction * max(${memos.position}) as integer)
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
