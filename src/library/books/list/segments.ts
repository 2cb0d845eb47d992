import { type SQL, sql } from 'drizzle-orm'
import { number } from '../../../db/parameters'
import { authorKey, hasAuthor, isActive, isFinished, isRated, titleKey } from '../../../db/schema/book-tables'
import { BOOK_STATUSES } from '../../../values/contract'
import { toBookWords } from '../../../values/text/search-words'
import { hasWordsInFields } from '../../search/conditions'
import type { ListedBook } from '../responses'
import type { ListQuery, Position, SortField } from '../schema'

// Each sort reads its own index. A list has up to two segments: the books with a value to sort by, then those without,
// which are not in that index, newest registration first. One filter may use an index; the others are tested on each
// book, up to a limit: docs/decisions/0026-sorting-and-filtering.md.

// Selected once: `callerId` takes seven parameters each time, and D1 allows a hundred per statement.
export const owner = sql.raw('(select id from caller)')
/** The tag with the fewest books, if all of them exist. */
const rarestTag = sql`(select id from wantedTag where (select count(*) from wantedTag) = :tagCount limit 1)`
const wantedTags = sql`
  select tagId from json_each(:tagKeys) as wanted cross join tags on tags.memberId = ${owner} and tagKey = wanted.value`
/** Selects the wanted tags that exist, the one with the fewest books first. */
export const selectTags = (count: number) => (count > 1 ? sql`${wantedTags} order by bookCount` : wantedTags)

/** A segment of a list, which is read along indexes. */
export type Segment = {
  number: Position['segment']
  /** Selects some columns of the first rows after the cursor, in order. */
  select: (selected: SQL, rows: SQL) => SQL
  key: SQL
  /** Conditions to test on each book. */
  filters: SQL[]
}
type Condition = SQL | false | '' | undefined

const present = (conditions: Condition[]) => conditions.filter((each) => typeof each === 'object')
const ownBooks = (...conditions: Condition[]) =>
  sql`books where ${sql.join([sql`memberId = ${owner}`, ...present(conditions)], sql` and `)}`

const isStatus = (status: ListedBook['bookStatus']) => sql.raw(`bookStatus = '${status}'`)
const isOfAuthor = sql`${authorKey} = :authorKey`
const hasIsbn = sql`isbn = (:isbn || '')`
const taggedBooks = sql`bookTags cross join books using (bookId)
  where bookTags.memberId = ${owner} and tagId = ${rarestTag}`
const isSince = sql`activityAt >= (:since + 0)`
/** One test for each tag, from the rarest one. */
const isTagged = (count: number, from = 0) =>
  count > from &&
  sql.join(
    Array.from({ length: count - from }, (_, n) => {
      const wanted = sql`(select id from wantedTag limit 1 offset ${number(from + n)})`
      return sql`exists (
        select 1 from bookTags
        where bookTags.memberId = ${owner} and bookTags.tagId = ${wanted} and bookTags.bookId = books.bookId
      )`
    }),
    sql` and `,
  )

const always = sql.raw('1')
const sqlDirection = (isDescending: boolean) => sql.raw(isDescending ? 'desc' : 'asc')
const comparison = (isDescending: boolean) => sql.raw(isDescending ? '<' : '>')

/** Selects from ranges of indexes that are all in the same order, and merges them. */
const mergeRanges =
  (ranges: SQL[], condition: SQL, order: SQL): Segment['select'] =>
  (selected, rows) => {
    const selects = ranges.map((range) => sql`select ${selected} from ${range} and ${condition}`)
    return sql`${sql.join(selects, sql` union all `)} order by ${order} limit ${rows}`
  }

export type Filters = Omit<ListQuery, 'tag'> & { tagCount: number }

/** The conditions of the filters, by name. */
const conditionsOf = ({ status, tagCount, author, series, format, isbn, q, since }: Filters) => ({
  status: status && isStatus(status),
  tag: isTagged(tagCount),
  author: author !== undefined && isOfAuthor,
  series: series !== undefined && sql`series = (:series || '')`,
  format: format && sql.raw(`format = '${format}'`),
  isbn: isbn && hasIsbn,
  q: q !== undefined && hasWordsInFields(toBookWords(q)),
  since: since !== undefined && isSince,
})
type Name = keyof ReturnType<typeof conditionsOf>
/** The conditions that a range does not imply. */
const othersThan = (filters: Filters, ...implied: Name[]) =>
  present(Object.entries(conditionsOf(filters)).map(([name, each]) => !implied.includes(name as Name) && each))

/** The books in order of registration: all of them, or the segment without a value to sort by. */
const byRegistration = (filters: Filters, isDescending: boolean, hasNoValue?: SQL): Segment => {
  const { status, tagCount, author, isbn, cursor } = filters
  const segment = hasNoValue ? 1 : 0
  const isAfter = cursor?.segment === segment ? sql`bookId ${comparison(isDescending)} :bookId` : always
  const order = sql`bookId ${sqlDirection(isDescending)}`
  const read = (ranges: SQL[], implied: Name, further?: Condition): Segment => ({
    number: segment,
    select: mergeRanges(ranges, isAfter, order),
    key: sql.raw('null'),
    filters: [...othersThan(filters, implied), ...present([further, hasNoValue])],
  })
  if (isbn) return read([ownBooks(hasIsbn)], 'isbn')
  if (tagCount > 0) return read([taggedBooks], 'tag', isTagged(tagCount, 1))
  if (author !== undefined) return read([ownBooks(hasAuthor, isOfAuthor)], 'author')
  return read(ofStatuses(status), 'status')
}

const ofStatuses = (status: Filters['status'], ...conditions: Condition[]) =>
  (status ? [status] : BOOK_STATUSES).map((each) => ownBooks(isStatus(each), ...conditions))

// The parameters of comparisons are expressions: db/parameters.ts says why.
const textKey = sql`(:sortKey || '')`
const numberKey = sql`(:sortKey + 0)`

type Sort = { key: SQL; last: SQL; hasValue?: SQL }
const SORTS: Record<Exclude<SortField, 'created'>, Sort> = {
  title: { key: titleKey, last: textKey },
  author: { key: authorKey, last: textKey, hasValue: hasAuthor },
  finished: { key: sql.raw('readEndDate'), last: textKey, hasValue: isFinished },
  rating: { key: sql.raw('star'), last: numberKey, hasValue: isRated },
  activity: { key: sql.raw('activityAt'), last: numberKey, hasValue: isActive },
}

/** The filters that the range of a sort implies. That of `finished` has only books that are DONE. */
const IMPLIED: Record<keyof typeof SORTS, Name[]> = {
  ...{ title: [], author: [], rating: [] },
  finished: ['status'],
  activity: ['status', 'since'],
}

/** The books with a value to sort by, in its order. */
const byValue = (filters: Filters, field: keyof typeof SORTS, isDescending: boolean): Segment => {
  const { key, last, hasValue } = SORTS[field]
  const { status, since, cursor } = filters
  const sqlOrder = sqlDirection(isDescending)
  const order = sql`${key} ${sqlOrder}, bookId ${sqlOrder}`
  const isByActivity = field === 'activity'
  const own = isByActivity ? ofStatuses(status, hasValue, since !== undefined && isSince) : [ownBooks(hasValue)]
  const operator = comparison(isDescending)
  // For (key, bookId) > (…), SQLite would read all books with the same key again.
  const ties = mergeRanges(own, sql`${key} = ${last} and bookId ${operator} :bookId`, sql`bookId ${sqlOrder}`)
  const others = mergeRanges(own, sql`${key} ${operator} ${last}`, order)
  const afterCursor: Segment['select'] = (...selected) => sql`
    select * from (${ties(...selected)}) union all select * from (${others(...selected)}) limit ${selected[1]}`
  return {
    number: 0,
    select: cursor?.segment === 0 ? afterCursor : mergeRanges(own, always, order),
    key,
    filters: othersThan(filters, ...IMPLIED[field]),
  }
}

/** The segments of a list, in their order. */
export const segmentsOf = (query: Filters): Segment[] => {
  const { sort, status, author, since } = query
  const isDescending = sort.startsWith('-')
  const field = sort.replace('-', '') as SortField
  // Books of the same author are sorted by registration.
  if (field === 'created' || (field === 'author' && author !== undefined)) return [byRegistration(query, isDescending)]
  const { hasValue } = SORTS[field]
  const withValue = byValue(query, field, isDescending)
  if (!hasValue || (field === 'activity' && since !== undefined)) return [withValue]
  const withoutValue = byRegistration(query, true, sql`not (${hasValue})`)
  return field === 'finished' && status && status !== 'DONE' ? [withoutValue] : [withValue, withoutValue]
}
