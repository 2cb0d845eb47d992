// What puts a book or a memo into the trash, in the batch that deletes it.
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { isCaller } from '../../db/caller'
import { type Statement, sqlStatement, type Values } from '../../db/client'
import { columnsOf, toJson } from '../../db/json'
import { textLimit } from '../../db/quotas'
import { books } from '../../db/schema/book-tables'
import { memos } from '../../db/schema/memo-tables'
import { readings } from '../../db/schema/reading-tables'
import { fieldsOf } from '../../values/book-fields'
import { BLOCK_PRICE, BOOK_PRICE, ROW_PRICE, textPrice } from '../../values/prices'
import { oldestOf } from './oldest'

const number = (value: number) => sql.raw(String(value))
const namesOf = (table: SQLiteTable, ...others: string[]) =>
  Object.keys(getTableColumns(table)).filter((name) => !['memberId', 'bookId', ...others].includes(name))

/** The columns that the JSON of the trash has: all but those that its row has, and the position of a memo. */
export const BOOK_NAMES = namesOf(books)
export const READING_NAMES = namesOf(readings)
export const MEMO_NAMES = namesOf(memos, 'position')

/** Without nulls, which `json_patch` removes. */
const toSparseJson = (properties: Record<string, SQL>) => sql`json_patch('{}', ${toJson(properties)})`
const ofBook = (table: string) => sql.raw(`${table}.memberId = book.memberId and ${table}.bookId = book.bookId`)
const bookJson = toSparseJson({
  ...columnsOf('book', BOOK_NAMES),
  tags: sql`json((
    select json_group_array(json_array(tagKey, tag) order by tagKey) from bookTags cross join tags using (memberId, tagId)
    where ${ofBook('bookTags')}
  ))`,
  progress: sql`json((
    select json_group_array(json_array(at, page, kind, total) order by at) from progress where ${ofBook('progress')}
  ))`,
})
/** What the book counts in the library. */
const bookPrice = sql`${number(BOOK_PRICE)} + ${sql.raw(textPrice(fieldsOf('text')))} + memoBytes + ${number(ROW_PRICE)} * memoCount
  + ${number(BLOCK_PRICE)} * eventBlocks + coalesce((
    select sum(${number(ROW_PRICE)} + octet_length(concat(r.note))) from readings as r where ${ofBook('r')}
  ), 0)`

/** About how many bytes of JSON a row of `trashParts` has, unless a single object has more. */
const PART_BYTES = 65_536
/** @param rows selects `id` and `data` of the objects; `first`: the one that gives the part its identifier */
const insertParts = (isBook: SQL, first: SQL, rows: SQL) => sqlStatement`
  insert into trashParts (partId, memberId, bookId, data)
  with book as materialized (select memberId, bookId from books where ${isBook})
  select ${first}, memberId, bookId, json_group_array(json(data) order by id) from (
    select *, sum(octet_length(data)) over (order by id rows unbounded preceding) / ${number(PART_BYTES)} as part
    from (select book.memberId, book.bookId, ${rows})
  ) group by part`
const insertBook = (isBook: SQL) => sqlStatement`
  insert into trash (trashId, memberId, deletedAt, bookId, title, memoCount, parts, bytes, price, data)
  with book as materialized (select * from books where ${isBook})
  select bookId, memberId, :callerNow, bookId, title, memoCount, parts, (octet_length(data) + partBytes) / 2, price, data
  from (select memberId, bookId, title, memoCount, ${bookPrice} as price, ${bookJson} as data from book) cross join (
    select count(*) as parts, coalesce(sum(octet_length(data)), 0) as partBytes
    from book cross join trashParts on ${ofBook('trashParts')}
  )`

/**
 * The statements that put a book into the trash, with its readings, progress, tags and memos.
 * @param isBook matches the book
 */
export const bookToTrash = (isBook: SQL) => {
  const statements = [
    insertParts(
      isBook,
      sql`min(id)`,
      sql`readingId as id, ${toSparseJson(columnsOf('r', READING_NAMES))} as data
        from book cross join readings as r on ${ofBook('r')}`,
    ),
    insertParts(
      isBook,
      sql`-min(id)`,
      sql`memoId as id, ${toSparseJson(columnsOf('m', MEMO_NAMES))} as data
        from book cross join memos as m on m.bookId = book.bookId`,
    ),
    insertBook(isBook),
  ]
  return (values: Values): Statement[] => statements.map((build) => build(values))
}

/** The statement that puts a memo into the trash. @param isMemo matches the memo */
export const memoToTrash = (isMemo: SQL) => sqlStatement`
  insert into trash (trashId, memberId, deletedAt, bookId, title, bytes, price, data)
  select -memoId, memberId, :callerNow, bookId, title, octet_length(data) / 2, price, data from (
    select memos.memoId, memos.memberId, memos.bookId, books.title, ${number(ROW_PRICE)} + octet_length(memoContent) as price,
      ${toSparseJson(columnsOf('memos', MEMO_NAMES))} as data
    from memos cross join books on books.bookId = memos.bookId where ${isMemo}
  )`

/** The most rows that an eviction changes beside the deletion of the largest book. */
const MAX_EVICTED_ROWS = 1500
/**
 * If the member is above the quota, deletes the oldest entries, but not the new one, until it is not: so a full quota
 * refuses no deletion.
 */
export const evictOldest = sqlStatement`
  delete from trash where trashId in (${oldestOf(
    sql`select trashId, deletedAt, bytes, parts, textBytes - ${textLimit} as excess from members cross join trash on trash.memberId = members.memberId
      where ${isCaller} and textBytes > ${textLimit} and trashId <> :trashId`,
    MAX_EVICTED_ROWS,
    sql`freed < excess`,
  )})`
