import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../db/client'
import { isOwnBook } from '../../db/own-book'
import { limit, number } from '../../db/parameters'
import { books } from '../../db/schema/book-tables'
import { contentKey, memos } from '../../db/schema/memo-tables'
import { BOOK_STATUSES, MEMO_TYPES } from '../../values/contract'
import { type List, toCursor } from '../../values/cursor'
import { fold } from '../../values/text/fold'
import { toBookWords, toWords } from '../../values/text/search-words'
import type { LibraryBook } from '../books/responses'
import { LIBRARY_COLUMNS } from '../books/store'
import { hasWords, isBookWith, matchingTags } from './conditions'
import { type Passage, toExcerpt } from './excerpt'
import type { FoundMemo } from './responses'
import { type BookSearch, MAX_SEARCHED, type MemoSearch, WINDOW } from './schema'

/** A call ends with the memo that reaches this size: a database runs one query at a time, and others wait. */
const MAX_SEARCHED_BYTES = 4 * 1024 * 1024

const [maxSearched, window] = [MAX_SEARCHED, WINDOW].map(number)
const literal = (name: string) => sql.raw(`'${name}'`)
const union = (selects: SQL[]) => sql.join(selects, sql` union all `)

/** Rows of one or several ranges. An index has each range in the order of `id`. */
type Source = { id: SQLiteColumn; bytes: SQL; ranges: SQL[] }

/**
 * The first rows of `newest`, and whether each is the last one that the call searches. Without a further ORDER BY, SQLite
 * reads only as many rows as the outer query takes. `bytes` must not read the texts: `octet_length` does not.
 * @param newest selects `id`, `bytes`, and what `order` needs, from ranges of indexes in that order
 */
export const withBoundedSearch = (newest: SQL, maxBytes: number, order = sql`id desc`) => sql`
  with newest as (${newest} order by ${order} limit ${maxSearched}),
  counted as (
    select id, bytes, row_number() over newer as n, sum(bytes) over newer as total
    from newest window newer as (order by ${order} rows unbounded preceding)
  ),
  searched as (
    select id, n = ${maxSearched} or total >= ${number(maxBytes)} as isLast from counted
    where total - bytes < ${number(maxBytes)}
  )`

/** The newest rows before the cursor. */
const withSearched = ({ id, bytes, ranges }: Source) => {
  const isNext = sql`${id} < (:cursor + 0)`
  const newest = ranges.map(
    (range) => sql`select ${id} as id, ${bytes} as bytes from ${id.table} where ${range} and ${isNext}`,
  )
  return withBoundedSearch(union(newest), MAX_SEARCHED_BYTES)
}

const selectOldest = ({ id, ranges }: Source, bookId = sql`null`) => {
  const oldest = ranges.map((range) => sql`select min(${id}) as id from ${id.table} where ${range}`)
  return sqlStatement<{ oldest: number; bookId: number | null }>`
    select min(id) as oldest, ${bookId} as bookId from (${union(oldest)})`
}

/** A matching row, or the last one searched. `at` is the position of the match, or 0. */
type Searched = { id: number; isLast: number; at: number }

/** The cursor after a full page, or after a call that reached its limit, unless it ended with the oldest row. */
const toNext = (rows: Searched[], size: number, oldest: number | undefined) => {
  const last = rows.at(-1)
  return last && (last.isLast || rows.length === size) && last.id !== oldest ? toCursor(last.id) : null
}

const isOwn = sql`${books.memberId} = ${callerId}`
const library: Source = {
  id: books.bookId,
  bytes: sql`0`,
  ranges: BOOK_STATUSES.map((status) => sql`${isOwn} and ${books.bookStatus} = ${literal(status)}`),
}
const selectOldestBook = selectOldest(library)
const selectBooks = (words: string[]) => sqlStatement<LibraryBook & Searched>`${withSearched(library)},
  ${matchingTags(words, callerId)},
  found as (
    select ${LIBRARY_COLUMNS}, id, isLast, ${isBookWith(words)} as at
    from searched cross join books on bookId = id limit ${maxSearched}
  )
  select * from found where at or isLast limit ${limit}`

const toValues = ({ q, cursor = Number.MAX_SAFE_INTEGER, size }: BookSearch) => ({ q: fold(q), cursor, limit: size })

/** The caller's books with each of the words, newest first. */
export const searchBooks = async (db: Db, caller: Caller, search: BookSearch): Promise<List<LibraryBook>> => {
  const { end, rows } = await runAsCaller(db, caller, {
    end: firstRow(selectOldestBook()),
    rows: selectBooks(toBookWords(search.q))(toValues(search)),
  })
  return {
    item: rows.filter(({ at }) => at).map(({ id, isLast, at, ...book }) => book),
    next: toNext(rows, search.size, end?.oldest),
  }
}

const memoSearch = (source: Source, bookId?: SQL) => {
  // The match is in the folded content if that is stored. In the content, its position is an estimate.
  const position = sql`iif(contentFolded is null, at, at * length(memoContent) / length(contentFolded))`
  const startOf = (at: SQL) => sql`max(1, ${at} - ${window} / 2)`
  const search = (words: string[]) => sqlStatement<
    Omit<FoundMemo, 'excerpt'> & Passage & Searched
  >`${withSearched(source)},
  found as (
    select id, isLast, iif(isOfType and ${hasWords(sql`text`, words)}, ifnull(nullif(instr(text, :q), 0), instr(text, :word)), 0) as at
    from (
      select id, isLast, :memoType in ('ALL', memoType) as isOfType, ${contentKey} as text
      from searched cross join memos on memoId = id limit ${maxSearched}
    )
  )
  select id, isLast, at, memoId, memos.bookId, title, memoType, memoBookPage, memoAuthority, memos.createdAt, updatedAt,
    substr(memoContent, ${startOf(position)}, ${window}) as passage,
    substr(contentFolded, ${startOf(sql`at`)}, ${window}) as foldedPassage,
    ${position} > ${window} / 2 + 1 as isCutBefore,
    ${startOf(position)} + ${window} <= length(memoContent) as isCutAfter
  from found cross join memos on memoId = id cross join books on books.bookId = memos.bookId
  where at or isLast limit ${limit}`
  return { search, selectEnd: selectOldest(source, bookId) }
}

const bytes = sql`octet_length(memoContent) + ifnull(octet_length(contentFolded), 0)`
const inAllBooks = memoSearch({ id: memos.memoId, bytes, ranges: [sql`${memos.memberId} = ${callerId}`] })
const ownBook = sql`(select bookId from books where ${isOwnBook})`
const ofType = (type: string) =>
  sql`${memos.bookId} = ${ownBook} and ${memos.memoType} = ${literal(type)} and :memoType in ('ALL', ${literal(type)})`
const inBook = memoSearch({ id: memos.memoId, bytes, ranges: MEMO_TYPES.map(ofType) }, ownBook)

/** The caller's memos with each of the words, newest first, in all books or one. Undefined if the caller has no such book. */
export const searchMemos = async (db: Db, caller: Caller, { memoType, bookId, ...search }: MemoSearch) => {
  const source = bookId === undefined ? inAllBooks : inBook
  const words = toWords(search.q)
  const values = { ...toValues(search), word: words[0] ?? '', memoType, bookId }
  const { end, rows } = await runAsCaller(db, caller, {
    end: firstRow(source.selectEnd(values)),
    rows: source.search(words)(values),
  })
  if (bookId !== undefined && !end?.bookId) return undefined
  const item = rows
    .filter(({ at }) => at)
    .map(({ id, isLast, at, passage, foldedPassage, isCutBefore, isCutAfter, ...memo }) => ({
      ...memo,
      excerpt: toExcerpt({ passage, foldedPassage, isCutBefore, isCutAfter }, [values.q, values.word]),
    }))
  return { item, next: toNext(rows, search.size, end?.oldest) }
}
