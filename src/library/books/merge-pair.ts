// The two books of a merge, as expressions of SQL.

import { type SQL, sql } from 'drizzle-orm'
import { callerId, isOwnRow } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { books } from '../../db/schema/book-tables'
import { MAX_READINGS } from '../readings/schema'
import { MAX_BOOK_TAGS } from '../tags/schema'

const callersId = sql.raw('(select id from caller)')
const selectBookOfCaller = (parameter: string) =>
  sql`select * from books where ${isOwnRow(books.bookId, books.memberId, callersId, parameter)}`
/**
 * The most memos that a merge moves: each changes three rows (the memo, its entry of the log, and an old entry that is
 * trimmed), and a batch at most 10,000.
 */
export const MAX_MOVED_MEMOS = 2500

/** The book that stays, the other one, and what they would have together. */
const expressions = sql`
  caller(id) as materialized (select ${callerId}),
  target as materialized (${selectBookOfCaller('bookId')}),
  source as materialized (${selectBookOfCaller('from')}),
  both as materialized (
    select target.memberId as ownerId, target.bookId as targetId, source.bookId as sourceId,
      source.memoCount as movedMemos,
      target.memoCount + source.memoCount as memos, target.memoBytes + source.memoBytes as bytes,
      (
        select count(*) from (
          select readingId from currentReadings where bookId in (target.bookId, source.bookId)
          union
          select readingId from readings where memberId = target.memberId and bookId in (target.bookId, source.bookId)
        )
      ) as readings,
      (
        select count(distinct +tagId) from bookTags
        where bookTags.memberId = target.memberId and bookTags.bookId in (target.bookId, source.bookId)
      ) as tags
    from target cross join source where target.bookId <> source.bookId
  )`
/** Marks the book `from`, until its deletion, if the two can be merged. The other statements find it by the mark. */
export const isMarked = sql.raw('mergedBooks < 0')
export const markSource = sqlStatement`
  with ${expressions} update books set mergedBooks = -1 - mergedBooks from both
  where books.bookId = sourceId
    and (movedMemos = 0 or (memos <= :MAX_MEMOS_PER_BOOK and bytes <= :MAX_BOOK_TEXT_BYTES))
    and movedMemos <= ${number(MAX_MOVED_MEMOS)} and readings <= ${number(MAX_READINGS)} and tags <= ${number(MAX_BOOK_TAGS)}`
/** One row if the source is marked. Each statement selects from it, so either all of them or none take effect. */
export const withPair = sql`with
  caller(id) as materialized (select ${callerId}),
  source as materialized (select * from (${selectBookOfCaller('from')}) where ${isMarked}),
  pair as materialized (select memberId as ownerId, :bookId as targetId, bookId as sourceId from source)`
/** Builds a statement that does nothing unless the source is marked. */
export const statement = (text: TemplateStringsArray, ...parts: SQL[]) =>
  sqlStatement`${withPair} ${sql(text, ...parts)}`

export type PairSizes = Record<
  'hasTarget' | 'hasSource' | 'memos' | 'movedMemos' | 'bytes' | 'readings' | 'tags',
  number
>
export const selectPairSizes = sqlStatement<PairSizes>`
  with ${expressions}
  select target.bookId is not null as hasTarget, source.bookId is not null as hasSource, memos, movedMemos, bytes, readings, tags
  from caller left join target left join source left join both where caller.id is not null`

export const isOfPair = sql.raw('books.bookId in (targetId, sourceId)')
export const ofTarget = (table: string) => sql.raw(`${table}.memberId = ownerId and ${table}.bookId = targetId`)
export const ofSource = (table: string) => sql.raw(`${table}.memberId = ownerId and ${table}.bookId = sourceId`)
