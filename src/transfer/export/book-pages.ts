import { type SQL, sql } from 'drizzle-orm'
import { type Caller, runAsCaller, selectCaller } from '../../db/caller'
import { type Db, idempotent, type Statement, sqlStatement } from '../../db/client'
import { type LoadPart, MAX_PART_BYTES } from '../../db/parts'
import type { Part } from './export-plan'
import type { ExportedBook } from './responses'
import { createListLoader, eventJson, memoJson, oldestFirst, readingJson } from './row-pages'
import { type Contents, countedCaller, SIZES } from './sizes'

// A page of books, in the order of their identifiers, with their lists as JSON. One statement loads it, so it is a snapshot.

// A page reads the size of each candidate. Their number follows from the number of books in the previous page: otherwise,
// each page of a few large books would read the sizes of hundreds.
const FIRST_PAGE_BOOKS = 50
const MAX_PAGE_BOOKS = 200

const { placeholder } = sql

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

/** Selects a page of books: the next ones that fit, or a single larger one. */
const selectPageOf = <Row>(contents: Contents, selected: SQL) =>
  sqlStatement<Row>(
    () => sql`
  with ${countedCaller},
  candidates as materialized (
    select bookId, ${SIZES[contents].bytes} as bytes from books
    where bookId in (select bookId from (${SIZES[contents].source} order by bookId limit ${placeholder('books')}))
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
  ),
  books: selectPageOf<ShelvedRow>(
    'books',
    sql`${tags},
      (select json_group_array(${readingDates} order by ${newestLast}) from readings where ${ofBook('readings')}) as readings,
      (select note from readings where ${ofBook('readings')} and note is not null order by readingId = books.newestReadingId desc, readingId desc limit 1) as note`,
  ),
  memos: selectPageOf<MemosRow>('memos', sql`${memos} as memos`),
}

export type SelectPage<Row> = (values: {
  isCounted: 0 | 1
  after: number
  last: number
  books: number
}) => Statement<Row>

/** The first page after a book, in the batch that counts the export. */
export const firstPage = <Row>(select: SelectPage<Row>, { after, last }: Pick<Part, 'after' | 'last'>) =>
  select({ isCounted: 0, after, last, books: FIRST_PAGE_BOOKS })

/** The lists of a book that is too large for a page. */
export type Lists = ReturnType<typeof createListLoader>

/** A kind of export: what it contains, and how its books are loaded. */
export type Kind<Row, Book> = {
  contents: Contents
  select: SelectPage<Row>
  toBook: (row: Row, lists: Lists) => Book
}

/** Loads the books of a part page by page, one database call each. `first`: the first page, if it has been loaded. */
export async function* loadPages<Row extends { bookId: number }, Book>(
  db: Db,
  caller: Caller,
  { select, toBook }: Kind<Row, Book>,
  { after, last }: Part,
  first: Row[] | undefined,
  load: LoadPart,
): AsyncGenerator<Book[], void> {
  const lists = createListLoader(db, caller, load)
  const loadPage = async (from: number, books: number) => {
    const statement = idempotent(select({ isCounted: 1, after: from, last, books }))
    const [, page] = await load(() => runAsCaller(db, caller, selectCaller(), statement))
    return page
  }
  let page = first ?? (await loadPage(after, FIRST_PAGE_BOOKS))
  for (let at = page.at(-1); at; at = page.at(-1)) {
    yield page.map((row) => toBook(row, lists))
    if (at.bookId >= last) return
    page = await loadPage(at.bookId, Math.min(MAX_PAGE_BOOKS, 2 * page.length))
  }
}
