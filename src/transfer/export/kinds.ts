import { type SQL, sql } from 'drizzle-orm'
import { sqlStatement } from '../../db/client'
import { MAX_PART_BYTES } from '../../db/parts'
import { bookColumns, ofBook } from '../book-columns'
import { eventJson, type LoadList, memoJson, oldestFirst, readingJson, readingsOfBook } from './book-lists'
import type { ShelvedRow } from './files/csv-files'
import { toBook } from './files/library'
import { type MemosRow, toBookWithMemos } from './files/markdown'
import { allBooks, BYTES, booksWithMemos, countedCaller, newestBook } from './sizes'

// What exports contain.

/** The largest part, except for a single larger book. JSON takes more space than the text, and imports accept 10 MiB. */
const PART_BYTES = 8 * 1024 * 1024

/** `newest`: the caller's newest book. `lastOfPart`: the last book of the part, or null if no books follow the part. */
export type Ends = { newest: number | null; lastOfPart: number | null }

type Contents<Row, Book> = {
  /** Selects the identifiers of the books. */
  source: SQL
  /** The size of a book. */
  bytes: SQL
  /** What is selected of each book. */
  columns: SQL
  toBook: (row: Row, loadList: LoadList) => Book
}

const createKind = <Row extends { bookId: number }, Book>({ source, bytes, columns, toBook }: Contents<Row, Book>) => ({
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
  /** Selects a page: the next `books` books as far as they fit, or a single larger one. One statement, so it is a snapshot. */
  selectPage: sqlStatement<Row>`
    with ${countedCaller},
    candidates as materialized (
      select bookId, ${bytes} as bytes from books
      where bookId in (select bookId from (${source} order by bookId limit ${sql.placeholder('books')}))
    ),
    page as materialized (
      select bookId, bytes from (select bookId, bytes, sum(bytes) over (order by bookId) as total from candidates)
      where total <= ${sql.raw(String(MAX_PART_BYTES))} or total = bytes
    )
    select books.bookId, ${columns} from page cross join books using (bookId) order by books.bookId`,
})
export type Kind<Row extends { bookId: number }, Book> = ReturnType<typeof createKind<Row, Book>>

const isSmall = sql.raw(`bytes <= ${MAX_PART_BYTES}`)
/** A list of a book as JSON. Null if the book is large: then it is loaded apart. */
const listOf = (item: SQL, order: SQL, source: SQL, isWhole = isSmall) =>
  sql`iif(${isWhole}, (select json_group_array(${item} order by ${order}) from ${source}), null)`

const tags = sql`(
  select json_group_array(tag order by tagKey) from bookTags cross join tags using (memberId, tagId)
  where ${ofBook('bookTags')}
) as tags`
const newestLast = oldestFirst(sql.raw('books.newestReadingId'))
// The unary plus keeps SQLite from reading all memos of the member.
const memos = listOf(
  memoJson,
  sql.raw('memoId'),
  sql.raw('memos where +memos.memberId = books.memberId and memos.bookId = books.bookId'),
)

/** Everything. */
export const LIBRARY = createKind({
  source: allBooks,
  bytes: BYTES.all,
  columns: sql`${bookColumns}, ${tags}, ${memos} as memos,
    ${listOf(readingJson, newestLast, readingsOfBook, sql`(${isSmall} or books.newestReadingId is null)`)} as readings,
    ${listOf(eventJson, sql.raw('at'), sql`progress where ${ofBook('progress')}`)} as progress`,
  toBook,
})

/** The books with their tags, the dates and outcomes of their readings, and the newest note. */
export const SHELVES = createKind<ShelvedRow, ShelvedRow>({
  source: allBooks,
  bytes: BYTES.withReadings,
  columns: sql`${bookColumns}, ${tags},
    (
      select json_group_array(
        json_object('startedAt', startedAt, 'finishedAt', finishedAt, 'outcome', outcome) order by ${newestLast}
      ) from ${readingsOfBook}
    ) as readings,
    (
      select note from ${readingsOfBook} where note is not null
      order by readingId = books.newestReadingId desc, readingId desc limit 1
    ) as note`,
  toBook: (book) => book,
})

/** The books that have memos, with their memos. */
export const MEMOS = createKind<MemosRow, ReturnType<typeof toBookWithMemos>>({
  source: booksWithMemos,
  bytes: BYTES.withMemos,
  columns: sql`title, author, ${memos} as memos`,
  toBook: toBookWithMemos,
})
