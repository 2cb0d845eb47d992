import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import { authorKey, hasAuthor, isFinished, isRated, titleKey } from '../../db/schema/book-tables'
import { fieldsOf } from '../../values/book-fields'
import { BOOK_STATUSES } from '../../values/contract'
import { type List, toCursor } from '../../values/cursor'
import { fold, toSortKey } from '../../values/text/fold'
import type { ListedBook } from './responses'
import { type ListQuery, MAX_EXAMINED, type Position, type SortField } from './schema'

// Each sort reads its own index. A list has up to two parts: the books with a value to sort by, then those without,
// which are not in that index, newest registration first. One filter may use an index; the others are tested on each
// book, up to a limit: docs/decisions/0026-sorting-and-filtering.md.

// Selected once: `callerId` takes seven parameters each time, and D1 allows a hundred per statement.
const owner = sql.raw('(select id from caller)')
const wantedTag = sql.raw('(select id from wantedTag)')
const tagByKey = sql`select tagId from tags where memberId = ${owner} and tagKey = :tagKey`

const COLUMNS = ['bookId', ...fieldsOf('detail')]
/** Further expressions to select, by the name of the column. */
type More = Record<string, string>

type Part = {
  number: Position['part']
  /** Selects some columns of the first rows after the cursor, in order. */
  select: (selected: SQL, rows: SQL) => SQL
  key: SQL
  /** Conditions to test on each book. */
  filters: SQL[]
}
type Condition = SQL | false | undefined

const present = (conditions: Condition[]) => conditions.filter((each) => typeof each === 'object')
const ownBooks = (...conditions: Condition[]) =>
  sql`books where ${sql.join([sql`memberId = ${owner}`, ...present(conditions)], sql` and `)}`

const isStatus = (status: ListedBook['bookStatus']) => sql.raw(`bookStatus = '${status}'`)
const isOfAuthor = sql`${authorKey} = :authorKey`
const taggedBooks = sql`bookTags cross join books using (bookId)
  where bookTags.memberId = ${owner} and tagId = ${wantedTag}`
const isTagged = sql`exists (
  select 1 from bookTags where bookTags.memberId = ${owner} and tagId = ${wantedTag} and bookTags.bookId = books.bookId
)`

const always = sql.raw('1')
const sqlDirection = (isDescending: boolean) => sql.raw(isDescending ? 'desc' : 'asc')
const comparison = (isDescending: boolean) => sql.raw(isDescending ? '<' : '>')

/** Selects from ranges of indexes that are all in the same order, and merges them. */
const mergeRanges =
  (ranges: SQL[], condition: SQL, order: SQL): Part['select'] =>
  (selected, rows) => {
    const selects = ranges.map((range) => sql`select ${selected} from ${range} and ${condition}`)
    return sql`${sql.join(selects, sql` union all `)} order by ${order} limit ${rows}`
  }

type Filters = Omit<ListQuery, 'tag'> & { hasTag: boolean }

/** The books in order of registration: all of them, or the part without a value to sort by. */
const byRegistration = ({ status, hasTag, author, cursor }: Filters, isDescending: boolean, hasNoValue?: SQL): Part => {
  const number = hasNoValue ? 1 : 0
  const isAfter = cursor?.part === number ? sql`bookId ${comparison(isDescending)} :bookId` : always
  const order = sql`bookId ${sqlDirection(isDescending)}`
  const ofStatus = status && isStatus(status)
  const ofAuthor = author !== undefined && isOfAuthor
  const read = (ranges: SQL[], ...filters: Condition[]): Part => ({
    number,
    select: mergeRanges(ranges, isAfter, order),
    key: sql.raw('null'),
    filters: present([...filters, hasNoValue]),
  })
  if (hasTag) return read([taggedBooks], ofStatus, ofAuthor)
  if (ofAuthor) return read([ownBooks(hasAuthor, ofAuthor)], ofStatus)
  return read((status ? [status] : BOOK_STATUSES).map((each) => ownBooks(isStatus(each))))
}

// The parameters of comparisons are expressions: db/parameters.ts says why.
const textKey = sql`(:sortKey || '')`
const numberKey = sql`(:sortKey + 0)`

type Sort = { key: SQL; last: SQL; hasValue?: SQL }
const SORTS: Record<Exclude<SortField, 'created'>, Sort> = {
  title: { key: titleKey, last: textKey },
  author: { key: authorKey, last: textKey, hasValue: hasAuthor },
  finished: { key: sql.raw('readEndDate'), last: textKey, hasValue: isFinished },
  rating: { key: sql.raw('star'), last: numberKey, hasValue: isRated },
}

/** The books with a value to sort by, in its order. */
const byValue = (
  { status, hasTag, author, cursor }: Filters,
  isDescending: boolean,
  { key, last, hasValue }: Sort,
): Part => {
  const sqlOrder = sqlDirection(isDescending)
  const order = sql`${key} ${sqlOrder}, bookId ${sqlOrder}`
  const own = [ownBooks(hasValue)]
  const operator = comparison(isDescending)
  // For (key, bookId) > (…), SQLite would read all books with the same key again.
  const ties = mergeRanges(own, sql`${key} = ${last} and bookId ${operator} :bookId`, sql`bookId ${sqlOrder}`)
  const others = mergeRanges(own, sql`${key} ${operator} ${last}`, order)
  const afterCursor: Part['select'] = (selected, rows) => sql`
    select * from (${ties(selected, rows)}) union all select * from (${others(selected, rows)}) limit ${rows}`
  return {
    number: 0,
    select: cursor?.part === 0 ? afterCursor : mergeRanges(own, always, order),
    key,
    filters: present([status && isStatus(status), hasTag && isTagged, author !== undefined && isOfAuthor]),
  }
}

const partsOf = (query: Filters): Part[] => {
  const { sort, status, author } = query
  const isDescending = sort.startsWith('-')
  const field = sort.replace('-', '') as SortField
  // Books of the same author are sorted by registration.
  if (field === 'created' || (field === 'author' && author !== undefined)) return [byRegistration(query, isDescending)]
  const { hasValue } = SORTS[field]
  const withValue = byValue(query, isDescending, SORTS[field])
  if (!hasValue) return [withValue]
  const withoutValue = byRegistration(query, true, sql`not (${hasValue})`)
  return field === 'finished' && status && status !== 'DONE' ? [withoutValue] : [withValue, withoutValue]
}

/**
 * Selects the books of a part. If it has filters and reaches the limit, the last book examined follows, as a row
 * without a title: only in the same statement is it not read after a full page.
 */
const selectPart = ({ number, select, key, filters }: Part, more: More) => {
  const selected = sql`${sql.raw([...COLUMNS, ...Object.entries(more).map(([name, of]) => `${of} as ${name}`)].join())}, ${key} as sortKey`
  const names = [...COLUMNS, ...Object.keys(more)]
  const columns = sql.raw(names.join())
  const onlyId = sql.raw(names.map((name) => (name === 'bookId' ? name : 'null')).join())
  const part = sql.raw(`${number} as part`)
  if (filters.length === 0) return [sql`select *, ${part} from (${select(selected, limit as unknown as SQL)})`]
  const tested = sql`${selected}, ${sql.join(filters, sql` and `)} as isMatch`
  const position = sql`bookId, ${key} as sortKey`
  const maxExamined = sql.raw(String(MAX_EXAMINED))
  return [
    sql`select ${columns}, sortKey, ${part} from (${select(tested, maxExamined)}) where isMatch`,
    sql`select ${onlyId}, sortKey, ${part}
      from (select * from (${select(position, maxExamined)}) limit 1 offset ${maxExamined} - 1)`,
  ]
}

type RowKey = Pick<Position, 'sortKey' | 'part'>
type LastExamined = Pick<ListedBook, 'bookId'> & RowKey & { title: null }

/**
 * Prepares the statement that lists the caller's books that match all filters, and a function that turns its rows into
 * a page, which may be short or empty even if there is a next one.
 * @param tag selects the identifier of a tag that the books must have
 */
export const prepareList = <Book extends ListedBook = ListedBook>(
  { tag: name = '', ...query }: ListQuery,
  tag = name ? tagByKey : undefined,
  more: More = {},
) => {
  type Row = Book & RowKey
  const { sort, cursor, size, author = '' } = query
  const parts = partsOf({ ...query, hasTag: tag !== undefined }).filter(({ number }) => number >= (cursor?.part ?? 0))
  // SQLite reads the parts one after the other, until it has enough rows.
  const selects = parts.flatMap((part) => selectPart(part, more))
  const statement = sqlStatement<Row | LastExamined>`
    with caller(id) as materialized (select ${callerId}), wantedTag(id) as materialized (${tag ?? sql`select null`})
    ${sql.join(selects, sql` union all `)} limit ${limit}`
  const values = { ...cursor, tagKey: fold(name), authorKey: toSortKey(author), limit: size + 1 }
  const toList = (rows: (Row | LastExamined)[] = []): List<Book> => {
    const end = rows.findIndex(({ title }) => title === null)
    const found = (end === -1 ? rows : rows.slice(0, end)) as Row[]
    const page = found.slice(0, size)
    const last = found.length > size ? page.at(-1) : rows[end]
    return {
      item: page.map(({ sortKey: _, part: __, ...book }) => book as unknown as Book),
      next: last ? toCursor({ sort, part: last.part, sortKey: last.sortKey, bookId: last.bookId }) : null,
    }
  }
  // A cursor from a list with other filters may leave no part.
  return { rows: parts.length > 0 ? statement(values) : undefined, toList }
}

/** The caller's books that match all filters. */
export const listBooks = async (db: Db, caller: Caller, query: ListQuery): Promise<List<ListedBook>> => {
  const { toList, ...batch } = prepareList(query)
  const { rows } = await runAsCaller(db, caller, batch)
  return toList(rows)
}
