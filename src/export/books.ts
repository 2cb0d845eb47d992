import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller, selectCaller } from '../db/caller'
import { afterResponse, type Db, idempotent, type Statement, sqlStatement } from '../db/client'
import { MAX_PART_BYTES, startLoading } from '../db/parts'
import { isWithMemos } from '../db/schema'
import { createListLoader, eventJson, memoJson, oldestFirst, readingJson } from './lists'
import type { Part } from './plan'
import type { ExportedBook } from './responses'
import { type Contents, SIZES } from './sizes'

// A page is one statement, and so a snapshot: books in the order of their identifiers, with what belongs to them as JSON.

/** The most books of a page, which is also limited by bytes. */
const MAX_PAGE_BOOKS = 200

const { placeholder } = sql

const owner = sql.raw('(select id from caller)')
const isNext = sql`bookId > ${placeholder('after')} and bookId <= ${placeholder('last')}`
const ownBooks = (condition: SQL) =>
  sql`select bookId from books where memberId = ${owner} and ${condition} and ${isNext}`
// No index has all books of a member by bookId, but this one has those of each status, which are merged.
const allBooks = sql.join(
  ['YET', 'ING', 'DONE'].map((status) => ownBooks(sql.raw(`bookStatus = '${status}'`))),
  sql` union all `,
)

const COLUMNS = [
  ...(['bookId', 'title', 'author', 'publisher', 'cover', 'createdAt', 'star', 'currentPage', 'itemPage'] as const),
  ...(['bookStatus', 'readStartDate', 'readEndDate', 'isbn', 'language', 'format', 'publishedYear'] as const),
  ...(['series', 'seriesNumber', 'sourceIds', 'newestReadingId'] as const),
]

const ofBook = (table: string) => sql.raw(`${table}.memberId = books.memberId and ${table}.bookId = books.bookId`)
// The unary plus keeps SQLite from reading all memos of the member.
const ofBookInMemos = sql.raw('+memos.memberId = books.memberId and memos.bookId = books.bookId')
const isSmall = sql.raw(`bytes <= ${MAX_PART_BYTES}`)
/** A list of a book as JSON. Null for a large book. */
const listOf = (table: string, item: SQL, order: SQL, condition = ofBook(table)) =>
  sql`iif(${isSmall}, (select json_group_array(${item} order by ${order}) from ${sql.raw(table)} where ${condition}), null)`

const tags = sql`(
  select json_group_array(tag order by tagKey) from bookTags cross join tags using (memberId, tagId)
  where ${ofBook('bookTags')}
) as tags`
const memos = listOf('memos', memoJson, sql.raw('memoId'), ofBookInMemos)
const newestLast = oldestFirst(sql.raw('books.newestReadingId'))
const columns = sql.raw(COLUMNS.map((name) => `books.${name}`).join(', '))

/** A page of books: those after a book that fit, or a single one that does not. */
const selectPageOf = <Row>(contents: Contents, selected: SQL, source: SQL) =>
  sqlStatement<Row>(
    () => sql`
  with caller(id) as materialized (select ${callerId}),
  candidates as materialized (
    select bookId, ${SIZES[contents].bytes} as bytes from books
    where bookId in (select bookId from (${source} order by bookId limit ${sql.raw(String(MAX_PAGE_BOOKS))}))
  ),
  page as materialized (
    select bookId, bytes from (select bookId, bytes, sum(bytes) over (order by bookId) as total from candidates)
    where total <= ${sql.raw(String(MAX_PART_BYTES))} or total = bytes
  )
  select ${columns}, ${selected} from page cross join books using (bookId) order by books.bookId`,
  )

type Columns = Omit<ExportedBook, 'sourceIds' | 'tags' | 'readings' | 'progress' | 'memos'> & {
  sourceIds: string | null
  newestReadingId: number | null
}
export type LibraryRow = Columns & Record<'tags', string> & Record<'readings' | 'progress' | 'memos', string | null>
/** Dates and outcomes of the readings, and the newest note. */
export type ShelvedRow = Columns & { tags: string; readings: string; note: string | null }
export type MemosRow = Pick<Columns, 'bookId' | 'title' | 'author'> & { memos: string | null }

const readingDates = sql.raw(`json_object('startedAt', startedAt, 'finishedAt', finishedAt, 'outcome', outcome)`)
export const SELECT_PAGE = {
  library: selectPageOf<LibraryRow>(
    'library',
    sql`${tags}, ${listOf('readings', readingJson, newestLast)} as readings,
      ${listOf('progress', eventJson, sql.raw('at'))} as progress, ${memos} as memos`,
    allBooks,
  ),
  books: selectPageOf<ShelvedRow>(
    'books',
    sql`${tags},
      (select json_group_array(${readingDates} order by ${newestLast}) from readings where ${ofBook('readings')}) as readings,
      (select note from readings where ${ofBook('readings')} and note is not null order by readingId = books.newestReadingId desc, readingId desc limit 1) as note`,
    allBooks,
  ),
  memos: selectPageOf<MemosRow>('memos', sql`${memos} as memos`, ownBooks(isWithMemos)),
}

/** The lists of a book that is too large for a page. */
export type Lists = ReturnType<typeof createListLoader>
type SelectPage<Row> = (values: { after: number; last: number }) => Statement<Row>

/** The books of a part, page by page. Yields an empty page once the first is loaded. `return` releases what it holds. */
async function* loadPages<Row extends { bookId: number }, Book>(
  db: Db,
  caller: Caller,
  { after, last }: Part,
  select: SelectPage<Row>,
  toBook: (row: Row, lists: Lists) => Book,
  { load, end }: Awaited<ReturnType<typeof startLoading>>,
): AsyncGenerator<Book[], void> {
  try {
    const lists = createListLoader(db, caller, load)
    for (let from = after; from < last; ) {
      const statement = idempotent(select({ after: from, last }))
      const [, page] = await load(() => runAsCaller(db, caller, selectCaller(), statement))
      if (from === after) yield []
      if (page.length === 0) return
      yield page.map((row) => toBook(row, lists))
      from = page.at(-1)?.bookId ?? last
    }
  } finally {
    end()
  }
}

/**
 * Loads the books of a part in pages, one database call each. The first one is loaded before this returns, so that a failure
 * can still get an error response.
 */
export const loadBooks = async <Row extends { bookId: number }, Book>(
  db: Db,
  caller: Caller,
  part: Part,
  select: SelectPage<Row>,
  toBook: (row: Row, lists: Lists) => Book,
) => {
  const loading = await startLoading(db, caller)
  // Further pages are loaded while the response is being sent.
  const pages = loadPages(afterResponse(db), caller, part, select, toBook, loading)
  await pages.next()
  return { pages, load: loading.load }
}
