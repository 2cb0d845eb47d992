import { sql } from 'drizzle-orm'
import { alsoHas, type Caller, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { FROM_OWN_BOOK, isOwnBook } from '../../db/own-book'
import { MEMO_TYPES } from '../../values/contract'
import { PARTS, type PartColumns, withParts } from '../books/list/include'
import type { ListedBook } from '../books/responses'
import { MAX_EXCERPT } from '../books/schema'
import { LISTED_COLUMNS } from '../books/store'
import { memoColumnsWith, selectPageOf } from '../memos/memo-lists'
import { mayReadMemos } from '../memos/versions'
import type { WholeBook } from './responses'
import { MAX_SHOWN_MEMOS } from './schema'

const INCLUDED = ['edition', 'tags', 'readings', 'progress'] as const
const fields = sql.raw(LISTED_COLUMNS.map((name) => `books.${name}`).join(', '))
const parts = INCLUDED.map((name) => sql`${PARTS[name]} as ${sql.raw(name)}`)
const selectParts = sqlStatement<(ListedBook & PartColumns) | { bookId: null }>`
  select ${fields}, ${sql.join(parts, sql`, `)} ${FROM_OWN_BOOK}`

const excerpts = memoColumnsWith(`substr(memoContent, 1, ${MAX_EXCERPT}) as memoContent`)
const ownBook = sql`select bookId from books where ${isOwnBook} and ${alsoHas('memos:read')}`
const selectNewest = selectPageOf(MEMO_TYPES, ownBook, excerpts)

/** What the page of a book shows; without `memos:read`, no memos. Undefined if the caller has no such book. */
export const getWholeBook = async (db: Db, caller: Caller, bookId: number): Promise<WholeBook | undefined> => {
  const { member, guard, memos } = await runAsCaller(db, caller, {
    guard: selectParts({ bookId }),
    memos: selectNewest({ bookId, limit: MAX_SHOWN_MEMOS, offset: 0 }),
  })
  if (guard.bookId === null) return undefined
  return { ...withParts(guard, INCLUDED), memos: mayReadMemos(member) ? memos : null } as WholeBook
}
