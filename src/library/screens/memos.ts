import { type SQL, sql } from 'drizzle-orm'
import { callerId, queryAll } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import { limit, number } from '../../db/parameters'
import { MAX_WHOLE_BYTES } from '../../db/parts'
import { contentKey } from '../../db/schema/memo-tables'
import type { CallerRequest } from '../../env'
import { type List, toCursor } from '../../values/cursor'
import { toWords } from '../../values/text/search-words'
import { localTime } from '../../values/time'
import { memoColumns } from '../memos/memo-lists'
import { hasWords } from '../search/conditions'
import { MAX_SEARCHED } from '../search/schema'
import { withBoundedSearch } from '../search/store'
import type { ListedMemo } from './responses'
import type { MemoListQuery } from './schema'

/** Memos of a range of times, newest first. */
const range = (condition: SQL) => sql`
  select memoId as id, createdAt as at, octet_length(memoContent) as bytes from memos
  where memberId = ${callerId} and createdAt >= (:since || '') and ${condition}`
const all = range(sql`true`)
// For (createdAt, memoId) < (…), SQLite would read all memos of the same time again: an import can write thousands.
const afterCursor = sql`
  ${range(sql`createdAt = (:at || '') and memoId < (:id + 0)`)} union all ${range(sql`createdAt < (:at || '')`)}`
const book = sql`, (
  select json_object('title', title, 'author', author, 'cover', cover) from books where books.bookId = found.bookId
) as book`

/** A memo that matches, or the last one that the call examines. */
type Row = Omit<ListedMemo, 'book'> & { book?: string; isMatch: number; isLast: number }

/** The limit in `found` keeps SQLite from testing each memo twice. */
const prepare = ({ q, cursor, include }: MemoListQuery) => sqlStatement<Row>`
  ${withBoundedSearch(cursor ? afterCursor : all, MAX_WHOLE_BYTES, sql`at desc, id desc`)},
  found as (
    select ${memoColumns}, bookId, isLast, :memoType in ('ALL', memoType)
      and :memoAuthority in ('ALL', memoAuthority) and ${q === undefined ? sql`true` : hasWords(contentKey, toWords(q))} as isMatch
    from searched cross join memos on memoId = id limit ${number(MAX_SEARCHED)}
  )
  select * ${include ? book : sql``} from found where isMatch or isLast limit ${limit}`

/** The caller's memos of all books that match all filters, newest first. */
export const listAcrossBooks = async (
  { db, caller, config }: CallerRequest,
  query: MemoListQuery,
): Promise<List<ListedMemo>> => {
  const { size, memoType, memoAuthority } = query
  const [at, id] = query.cursor ?? []
  const since = query.since === undefined ? '' : localTime(config.TIME_ZONE, query.since)
  const rows = await queryAll(db, caller, prepare(query)({ memoType, memoAuthority, since, at, id, limit: size + 1 }))
  const page = rows.slice(0, size)
  const last = page.at(-1)
  const item = page
    .filter((row) => row.isMatch)
    .map(({ isMatch: _, isLast: __, book, ...memo }) => ({ ...memo, ...(book && { book: JSON.parse(book) }) }))
  return { item, next: last && (rows.length > size || last.isLast) ? toCursor([last.createdAt, last.memoId]) : null }
}
