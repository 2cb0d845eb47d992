import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, queryAll, queryOne, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { isOwnBook, selectOwnBook } from '../../db/own-book'
import { limit, offset } from '../../db/parameters'
import { type ArrayOrParts, loadParts, MAX_WHOLE_BYTES, type Size } from '../../db/parts'
import { MEMO_TYPES } from '../../values/contract'
import { toLimit, toPage } from '../../values/paging'
import type { Memo, RandomMemo } from './responses'
import type { MemosQuery } from './schema'

/** The columns of memos in responses, in the order of their fields. */
export const MEMO_COLUMNS = [
  'memoId',
  'memoType',
  'memoContent',
  'memoBookPage',
  'memoAuthority',
  'memoLikesCount',
  'createdAt',
  'updatedAt',
]
/** @param content an expression for `memoContent` */
export const memoColumnsWith = (content: string) => sql.raw(MEMO_COLUMNS.join().replace('memoContent', () => content))
export const memoColumns = memoColumnsWith('memoContent')

const smallBook = sql`select bookId from books where ${isOwnBook} and memoBytes <= ${sql.raw(String(MAX_WHOLE_BYTES))}`
const hasAuthority = sql`:memoAuthority in ('ALL', memoAuthority)`

/** The memos of a small book with the given visibility, unsorted: `newestFirst` is faster than the database. */
export const selectMemosList = sqlStatement<Memo>`
  select ${memoColumns} from memos where bookId = (${smallBook}) and ${hasAuthority}`

/** Sorts in place. */
export const newestFirst = (list: Memo[]) => list.sort((one, other) => other.memoId - one.memoId)

// No memo of another member's book is read.
const selectSizes = sqlStatement<Size>`
  select memoId as id, octet_length(memoContent) as bytes from memos
  where bookId = (select bookId from books where ${isOwnBook}) and :memoType in ('ALL', memoType) and ${hasAuthority}
  order by memoId desc limit ${limit} offset ${offset}`
const selectPart = sqlStatement<Memo>`
  select ${memoColumns} from memos
  where memoId in (select value from json_each(:memoIds)) and memberId = ${callerId} order by memoId desc`

type MemoType = Memo['memoType']
type Selection = { bookId: number; memoType: MemosQuery['memoType']; memoAuthority: 'ALL' | Memo['memoAuthority'] }

/** Loads the memos of a large book in parts, newest first. */
export const loadInParts = async (
  db: Db,
  caller: Caller,
  selection: Selection,
  page = { limit: -1, offset: 0 },
): Promise<ArrayOrParts<Memo>> => {
  const { member, sizes } = await runAsCaller(db, caller, { sizes: selectSizes({ ...selection, ...page }) })
  if (sizes.length === 0) return []
  return loadParts(db, member, sizes, (memoIds) => queryAll(db, caller, selectPart({ memoIds })))
}

const selectOfType = (memoType: MemoType, columns: SQL) => sql`
  select ${columns} from memos where bookId = (select bookId from book) and memoType = ${sql.raw(`'${memoType}'`)}`
/** A page of the memos of some types of the book that `book` selects, newest first. */
export const selectPageOf = (types: readonly MemoType[], book = smallBook, columns = memoColumns) =>
  sqlStatement<Memo>`select * from (
      with book(bookId) as materialized (${book})
      ${sql.join(
        types.map((type) => selectOfType(type, columns)),
        sql` union all `,
      )} order by memoId desc limit ${limit} offset ${offset}
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

const selectCounters = selectOwnBook(...Object.values(COUNTERS), 'memoBytes')

/** A page of a book's memos of one type or of all. Returns undefined if the caller has no such book. */
export const listMemos = async (db: Db, caller: Caller, bookId: number, { memoType, ...paging }: MemosQuery) => {
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

const selectRandom = sqlStatement<RandomMemo>`
  select memoId, memoContent, memoType, memoBookPage from memos
  where memberId = ${callerId}
    and position = (select 1 + cast(:fraction * max(position) as integer) from memos where memberId = ${callerId})`

/** A random memo of the caller, each equally likely. Returns undefined if the caller has none. */
export const drawMemo = (db: Db, caller: Caller) => queryOne(db, caller, selectRandom({ fraction: Math.random() }))
