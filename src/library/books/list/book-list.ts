import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, requiring, runAsCaller } from '../../../db/caller'
import { type Db, sqlStatement } from '../../../db/client'
import { limit, number } from '../../../db/parameters'
import { books } from '../../../db/schema/book-tables'
import { type List, toCursor } from '../../../values/cursor'
import { fold, toSortKey } from '../../../values/text/fold'
import type { ListedBook } from '../responses'
import { type ListQuery, MAX_FILTER_ROWS, type Position } from '../schema'
import { LISTED_COLUMNS } from '../store'
import { PARTS, type PartColumns, withParts } from './include'
import type { BookWithParts } from './responses'
import { type Segment, segmentsOf, selectTags } from './segments'

/** Further expressions to select, by the name of the column. */
type More = Record<string, SQL>

/** The columns that filters test. The note of a reading can be long. */
const TESTED = Object.keys(getTableColumns(books)).filter((name) => name !== 'note')

/**
 * Selects the books of a segment. If it has filters and reaches the limit, the last book examined follows, as a row
 * without a title: only in the same statement is it not read after a full page.
 */
const selectSegment = ({ number: segment, select, key, filters }: Segment, more: More, maxExamined: number) => {
  const further = Object.entries(more)
  const selected = sql.join(
    [
      sql.raw(LISTED_COLUMNS.map((name) => `books.${name}`).join()),
      ...further.map(([name, value]) => sql`${value} as ${sql.raw(name)}`),
    ],
    sql`, `,
  )
  const columns = sql.raw([...LISTED_COLUMNS, ...Object.keys(more)].join())
  const onlyId = sql.raw(
    [...LISTED_COLUMNS, ...Object.keys(more)].map((name) => (name === 'bookId' ? name : 'null')).join(),
  )
  const end = sql`sortKey, ${number(segment)} as segment`
  if (filters.length === 0)
    return [sql`select ${columns}, ${end} from (${select(sql`${selected}, ${key} as sortKey`, limit)})`]
  const examined = select(
    sql`${sql.raw(TESTED.map((name) => `books.${name}`).join())}, ${key} as sortKey`,
    number(maxExamined),
  )
  const positions = select(sql`bookId, ${key} as sortKey`, number(maxExamined))
  const matching = sql`(${examined}) as books where ${sql.join(filters, sql` and `)}`
  // What is included is read only of books that match.
  const included = sql`(select bookId as id, sortKey from ${matching}) cross join books on books.bookId = id`
  return [
    sql`select ${selected}, ${end} from ${further.length > 0 ? included : matching}`,
    sql`select ${onlyId}, ${end} from (select * from (${positions}) limit 1 offset ${number(maxExamined - 1)})`,
  ]
}

type RowKey = Pick<Position, 'sortKey' | 'segment'>
type LastExamined = Pick<ListedBook, 'bookId'> & RowKey & { title: null }

/**
 * Prepares the statement that lists the caller's books that match all filters, and a function that turns its rows into
 * a page, which may be short or empty even if there is a next one.
 * @param tag selects the identifier of a tag that the books must have
 */
export const prepareList = <Book extends ListedBook = ListedBook>(
  { tag: names = [], ...query }: ListQuery,
  tag?: SQL,
  more: More = {},
) => {
  type Row = Book & RowKey
  const { sort, cursor, size, author = '' } = query
  const tagKeys = [...new Set(names.map(fold))]
  const tagCount = tag ? 1 : tagKeys.length
  const segments = segmentsOf({ ...query, tagCount }).filter(({ number }) => number >= (cursor?.segment ?? 0))
  // A book that is examined is read, again to find the last one, and for each tag. With tags, so is an entry of the index.
  const maxExamined = Math.floor(MAX_FILTER_ROWS / segments.length / (tagCount > 0 ? 3 + tagCount : 2))
  // SQLite reads the segments one after the other, until it has enough rows.
  const selects = segments.flatMap((segment) => selectSegment(segment, more, maxExamined))
  const statement = sqlStatement<Row | LastExamined>`
    with caller(id) as materialized (select ${callerId}), wantedTag(id) as materialized (${tag ?? selectTags(tagCount)})
    ${sql.join(selects, sql` union all `)} limit ${limit}`
  const keys = { tagKeys: JSON.stringify(tagKeys), tagCount, authorKey: toSortKey(author) }
  const toList = (rows: (Row | LastExamined)[] = []): List<Book> => {
    const end = rows.findIndex(({ title }) => title === null)
    const found = (end === -1 ? rows : rows.slice(0, end)) as Row[]
    const page = found.slice(0, size)
    const last = found.length > size ? page.at(-1) : rows[end]
    return {
      item: page.map(({ sortKey: _, segment: __, ...book }) => book as unknown as Book),
      next: last ? toCursor({ sort, segment: last.segment, sortKey: last.sortKey, bookId: last.bookId }) : null,
    }
  }
  // A cursor from a list with other filters may leave no segment.
  return {
    rows: segments.length > 0 ? statement({ ...query, ...cursor, ...keys, limit: size + 1 }) : undefined,
    toList,
  }
}

/**
 * The caller's books that match all filters, with the parts that are included.
 * @throws INSUFFICIENT_SCOPE for `lastMemo` without `memos:read`
 */
export const listBooks = async (db: Db, caller: Caller, query: ListQuery): Promise<List<BookWithParts>> => {
  const { include = [] } = query
  const parts = Object.fromEntries(include.map((name) => [name, PARTS[name]]))
  const { toList, ...batch } = prepareList<ListedBook & PartColumns>(query, undefined, parts)
  const { rows } = await runAsCaller(db, include.includes('lastMemo') ? requiring(caller, 'memos:read') : caller, batch)
  const { item, next } = toList(rows)
  return { item: item.map((book) => withParts(book, include)), next }
}
