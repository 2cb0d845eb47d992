import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import { eventCount, ofBook } from '../../db/own-book'
import { number } from '../../db/parameters'
import { MAX_PART_BYTES } from '../../db/parts'
import { isWithMemos } from '../../db/schema/book-tables'
import type { Memo } from '../../library/memos/responses'
import { readingsOfOuter } from '../../library/readings/lookup'
import { bookColumns, bookTextBytes, STATUS_CONDITIONS, tagRowsOfBook } from '../book-columns'
import {
  type BookRow,
  DAY_BYTES,
  daysOf,
  EVENT_BYTES,
  eventJson,
  type LoadList,
  memoJson,
  newestLast,
  readingJson,
  sittingJson,
  sittingsOf,
} from './book-lists'

const tagCount = sql`(select count(*) from bookTags where ${ofBook('bookTags')})`
const memoBytes = sql.raw('memoBytes + 240 * memoCount')
const sittingBytes = sql`${number(DAY_BYTES)} * (select count(*) from ${sittingsOf(ofBook('documents'))})`
const noteBytes = sql`(select coalesce(sum(220 + octet_length(concat(note))), 0) from readings where ${ofBook('readings')})`
// A review is a thought without a page: one from a column of reviews or, without any, one that the member wrote. Other
// services publish it, so imported notes are none. Only the first thoughts of a book are read: SQLite has to pass each
// text to find its page, and a book may have thousands.
const MAX_THOUGHTS = 20
const reviewAs = (value: SQL) => sql`iif(thoughtMemos = 0, null, (
  select ${value} from (
    select memoId, memoContent, memoBookPage, importSource from memos
    where +memos.memberId = books.memberId and memos.bookId = books.bookId and memoType = 'THOUGHT'
    order by memoId limit ${sql.raw(String(MAX_THOUGHTS))}
  ) where memoBookPage = 0 and (importSource is null or importSource like '%review%' and importSource not like '#%')
  order by importSource is null, memoId limit 1
))`
const reviewBytes = sql`coalesce(${reviewAs(sql.raw('octet_length(memoContent)'))}, 0)`

// The approximate sizes of books: their texts in UTF-8, and a fixed number for the rest of each row. That of an empty
// book keeps parts below the 10,000 books that an imported file may have.
const shelvedBytes = sql`840 + ${bookTextBytes} + 64 * ${tagCount} + ${noteBytes}`

/** The caller. No row if the batch did not count the export, because of the limit: then no book is read. */
const countedCaller = sql`caller(id) as materialized (select ${callerId} where :isCounted or changes() > 0)`
const owner = sql.raw('(select id from caller)')
const isNext = sql`bookId > :after and bookId <= :last`
const ownBooks = (condition: SQL) =>
  sql`select bookId from books where memberId = ${owner} and ${condition} and ${isNext}`
/** Selects the books after `after`, up to `last`. */
const allBooks = sql.join(STATUS_CONDITIONS.map(ownBooks), sql` union all `)

const newestOf = (condition: SQL) =>
  sql`select max(bookId) as bookId from books where memberId = ${owner} and ${condition}`
const newestBook = sql`(select max(bookId) from (${sql.join(STATUS_CONDITIONS.map(newestOf), sql` union all `)}))`

/** The largest part, unless a single book is larger. JSON takes more space than the text; imports accept 10 MiB. */
const PART_BYTES = 8 * 1024 * 1024

/** `newest`: the caller's newest book. `lastOfPart`: the last book of the part, or null if no books follow the part. */
export type Ends = { newest: number | null; lastOfPart: number | null }

type Contents<Book> = {
  source: SQL
  bytes: SQL
  columns: SQL
  toBook: (row: BookRow, loadList: LoadList) => Book
}

const createKind = <Book>({ source, bytes, columns, toBook }: Contents<Book>) => ({
  toBook,
  /** Finds where the part ends that begins after `after`. Reads only the sizes of its books. */
  selectEnds: sqlStatement<Ends>`
    with ${countedCaller},
    sized as (select bookId, ${bytes} as bytes from (${source} order by bookId) cross join books using (bookId)),
    added as (
      select lag(bookId) over (order by bookId) as previous, sum(bytes) over (order by bookId rows unbounded preceding) as total
      from sized
    )
    select ${newestBook} as newest, (
      select previous from added where total > ${sql.raw(String(PART_BYTES))} and previous is not null limit 1
    ) as lastOfPart`,
  /** A page: the next `books` books as far as they fit, or a single larger one. One statement, so a snapshot. */
  selectPage: sqlStatement<BookRow>`
    with ${countedCaller},
    candidates as materialized (
      select bookId, ${bytes} as bytes from books
      where bookId in (select bookId from (${source} order by bookId limit :books))
    ),
    page as materialized (
      select bookId, bytes from (select bookId, bytes, sum(bytes) over (order by bookId) as total from candidates)
      where total <= ${sql.raw(String(MAX_PART_BYTES))} or total = bytes
    )
    select books.bookId, ${columns} from page cross join books using (bookId) order by books.bookId`,
})
export type Kind<Book> = ReturnType<typeof createKind<Book>>

const isSmall = sql.raw(`bytes <= ${MAX_PART_BYTES}`)
/** A list of a book as JSON. Null if the book is large: then it is loaded apart. */
const jsonList = (item: SQL, order: SQL, source: SQL, isWhole = isSmall) =>
  sql`iif(${isWhole}, (select json_group_array(${item} order by ${order}) from ${source}), null)`

const tags = sql`(select json_group_array(tag order by tagKey) from ${tagRowsOfBook}) as tags`
// The unary plus keeps SQLite from reading all memos of the member.
const memos = jsonList(
  memoJson,
  sql.raw('memoId'),
  sql.raw('memos where +memos.memberId = books.memberId and memos.bookId = books.bookId'),
)

export const LIBRARY = createKind({
  source: allBooks,
  bytes: sql`${shelvedBytes} + ${memoBytes} + ${EVENT_BYTES} * ${eventCount} + ${sittingBytes}`,
  columns: sql`${bookColumns}, ${tags}, ${memos} as memos,
    ${jsonList(readingJson, newestLast, readingsOfOuter, sql`(${isSmall} or ${noteBytes} = 0)`)} as readings,
    ${jsonList(eventJson, sql.raw('at'), sql`progress where ${ofBook('progress')}`)} as progress,
    ${jsonList(sittingJson, sql.raw('day'), daysOf(ofBook('documents')), sql`(${isSmall} or ${sittingBytes} = 0)`)} as sittings`,
  toBook: ({ sourceIds, tags, readings, progress, memos, sittings, ...book }, loadList) => ({
    ...book,
    sourceIds: JSON.parse(sourceIds ?? '[]'),
    tags: JSON.parse(tags),
    readings: loadList('readings', book.bookId, readings),
    progress: loadList('progress', book.bookId, progress),
    memos: loadList('memos', book.bookId, memos),
    sittings: loadList('sittings', book.bookId, sittings),
  }),
})

/** The books with their tags, the dates and outcomes of their readings, the newest note, and the review. */
export const SHELVES = createKind({
  source: allBooks,
  bytes: sql`${shelvedBytes} + ${reviewBytes}`,
  columns: sql`${bookColumns}, ${tags},
    (
      select json_group_array(
        json_object('startedAt', startedAt, 'finishedAt', finishedAt, 'outcome', outcome) order by ${newestLast}
      ) from ${readingsOfOuter}
    ) as readings,
    (
      select note from ${readingsOfOuter} where note is not null order by isCurrent desc, readingId desc limit 1
    ) as note,
    ${reviewAs(sql.raw('memoContent'))} as review`,
  toBook: (book) => book,
})

export const MEMOS = createKind({
  source: ownBooks(isWithMemos),
  bytes: sql`100 + ${bookTextBytes} + ${memoBytes}`,
  columns: sql`title, author, ${memos} as memos`,
  toBook: ({ memos, ...book }, loadList) => ({ ...book, memos: loadList<Memo>('memos', book.bookId, memos) }),
})
