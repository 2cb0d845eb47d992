// What puts a book or a memo into the trash, in the batch that deletes it.

import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { callerId, isCaller } from '../../db/caller'
import { type Statement, sqlStatement, type Values } from '../../db/client'
import { columnsOf, toJson } from '../../db/json'
import { nextReusableId } from '../../db/next-id'
import { number } from '../../db/parameters'
import { textLimit } from '../../db/quotas'
import { books } from '../../db/schema/book-tables'
import { memos } from '../../db/schema/memo-tables'
import { readings } from '../../db/schema/reading-tables'
import { READING_COLUMNS } from '../../db/schema/shown-reading'
import { trashParts } from '../../db/schema/trash-tables'
import { fieldsOf } from '../../values/book-fields'
import { BLOCK_PRICE, BOOK_PRICE, NOTE_PRICE, textPrice, trashPrice } from '../../values/prices'
import { foldedColumnsOf } from '../../values/text/folded-columns'
import { oldestOf } from './oldest'

const inTrash = (...sizes: Parameters<typeof trashPrice>) => sql.raw(trashPrice(...sizes))
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
    select json_group_array(json(iif(
      coalesce(tokenId, minutes, seconds) is null, json_array(at, page, kind, total),
      json_array(at, page, kind, total, tokenId, pageBefore, begins, minutes, seconds)
    )) order by at) from progress where ${ofBook('progress')}
  ))`,
})
/** What the book counts in the library, but for its memos. */
const ownPrice = sql`${number(BOOK_PRICE)} + ${sql.raw(textPrice(fieldsOf('text')))} + ${number(BLOCK_PRICE)} * eventBlocks + coalesce((
    select sum(${number(NOTE_PRICE)} + octet_length(concat(r.note))) from readings as r where ${ofBook('r')}
  ), 0)`

/** About how many bytes of JSON a row of `trashParts` has, unless a single object has more. */
const PART_BYTES = 65_536
/** @param rows selects `id` and `data` of the objects of each `book` */
const insertParts = (isBook: SQL, kind: 'readings' | 'memos', rows: SQL) => sqlStatement`
  insert into trashParts (partId, memberId, bookId, kind, data)
  with book as materialized (select memberId, bookId from books where ${isBook})
  select ${nextReusableId(trashParts.partId)} - 1 + row_number() over (), memberId, bookId, ${sql.raw(`'${kind}'`)},
    json_group_array(json(data) order by id)
  from (
    select *, sum(octet_length(data)) over (partition by bookId order by id rows unbounded preceding) / ${number(PART_BYTES)} as part
    from (select book.memberId, book.bookId, ${rows})
  ) group by bookId, part`
/** @param json the JSON, and `price`, of a row of the common table expression `book` */
const insertBook = (isBook: SQL, { json, price }: { json: SQL; price: SQL }) => sqlStatement`
  insert into trash (trashId, memberId, deletedAt, bookId, title, memoCount, parts, bytes, price, data)
  with book as materialized (select * from books where ${isBook})
  select bookId, memberId, :callerNow, bookId, title, memoCount, coalesce(parts, 0),
    ${inTrash('data', 'coalesce(parts, 0)', 'coalesce(partBytes, 0)')}, price, data
  from (select memberId, bookId, title, memoCount, ${price} as price, ${json} as data from book) left join (
    select trashParts.bookId as ownerId, count(*) as parts, sum(octet_length(trashParts.data)) as partBytes
    from book cross join trashParts on ${ofBook('trashParts')} group by trashParts.bookId
  ) on ownerId = bookId`

const insertReadings = (isBook: SQL) =>
  insertParts(
    isBook,
    'readings',
    sql`readingId as id, ${toSparseJson(columnsOf('r', READING_NAMES))} as data
      from book cross join readings as r on ${ofBook('r')}`,
  )

/**
 * The statements that put books into the trash, with their readings, progress, tags and memos.
 * @param isBook matches the books
 */
export const bookToTrash = (isBook: SQL) => {
  const price = sql`${ownPrice} + memoBytes + ${number(NOTE_PRICE)} * memoCount`
  const statements = [
    insertReadings(isBook),
    insertParts(
      isBook,
      'memos',
      sql`memoId as id, ${toSparseJson(columnsOf('m', MEMO_NAMES))} as data
        from book cross join memos as m on m.bookId = book.bookId`,
    ),
    insertBook(isBook, { json: bookJson, price }),
  ]
  return (values: Values): Statement[] => statements.map((build) => build(values))
}

/** Columns of the book that stays, which a merge may fill. An undo of the merge restores them if they are unchanged. */
export const MERGED_NAMES = [
  ...fieldsOf('fill'),
  'sourceIds',
  ...foldedColumnsOf(fieldsOf('fill')).map(([, column]) => column),
]
const mergedJson = (table: string) => toJson(columnsOf(table, MERGED_NAMES))
const MEMO_COUNTERS = ['memoCount', 'contentMemos', 'summaryMemos', 'thoughtMemos', 'questionMemos', 'memoBytes']
const withoutMemos = [...[...MEMO_COUNTERS, 'hasMemos'].map((name) => `'$.${name}', 0`), `'$.lastMemoId', null`].join(
  ', ',
)
/** What shows whether the reading of a book has changed. */
export const readingColumns = sql.raw(`json_array(${READING_COLUMNS.map((name) => `books.${name}`).join(', ')})`)
const isOfTarget = sql.raw('bookId = :bookId and memberId = book.memberId')

/** The documents of devices that a merge moves: a book hardly has more. */
export const movedDocuments = (memberId: string, bookId: string) =>
  sql.raw(
    `select document from documents where memberId = ${memberId} and bookId = ${bookId} order by document limit 100`,
  )

/**
 * The statements that put a book into the trash before it is merged into that of the parameter `bookId`. Its memos and
 * readings move to that one.
 * @param isBook matches the book, whose mergedBooks is marked: -1 - mergedBooks
 */
export const mergedToTrash = (isBook: SQL) => {
  const merge = toJson({
    into: sql`:bookId`,
    memos: sql`json((
      select json_group_array(json_array(memoId, version)) from memos
      where +memos.memberId = book.memberId and memos.bookId = book.bookId
    ))`,
    current: sql`json((
      select json_array(readingId, startedAt, finishedAt, outcome, quarters, format, isPaused) from currentReadings
      where bookId = book.bookId
    ))`,
    tags: sql`json((
      select json_group_array(tagKey) from bookTags cross join tags using (memberId, tagId)
      where ${ofBook('bookTags')} and tagId not in (select tagId from bookTags where ${isOfTarget})
    ))`,
    events: sql`json((
      select json_group_array(at) from progress where ${ofBook('progress')} and at in (
        select event.at from progress as event where event.memberId = book.memberId and event.bookId = :bookId
      )
    ))`,
    documents: sql`json((select json_group_array(document) from (${movedDocuments('book.memberId', 'book.bookId')})))`,
    currentPage: sql`(select currentPage from books where ${isOfTarget})`,
    readingBefore: sql`json((select ${readingColumns} from books where ${isOfTarget}))`,
    before: sql`json((select ${mergedJson('books')} from books where ${isOfTarget}))`,
  })
  const json = sql`json_set(${bookJson}, '$.mergedBooks', -1 - mergedBooks, ${sql.raw(withoutMemos)}, '$.merge', json(${merge}))`
  const statements = [insertReadings(isBook), insertBook(isBook, { json, price: ownPrice })]
  return (values: Values): Statement[] => statements.map((build) => build(values))
}
/** Once the books are merged: what the other one has. `isMerged`: whether the statements before have merged them. */
export const completeMerged = (isMerged: SQL) => sqlStatement`
  update trash set data = now.data, bytes = ${inTrash(
    'now.data',
    'parts',
    `coalesce((
    select sum(octet_length(part.data)) from trashParts as part
    where part.memberId = trash.memberId and part.bookId = trash.trashId
  ), 0)`,
  )}
  from (
    select trashId, json_set(
      data, '$.merge.after', json((select ${mergedJson('books')} from books where bookId = :bookId)),
      '$.merge.readingAfter', json((select ${readingColumns} from books where bookId = :bookId)),
      '$.merge.readings', json((
        select json_group_array(readingId) from (
          select readingId from currentReadings where bookId = :bookId
          union all select readingId from readings where readings.memberId = trash.memberId and bookId = :bookId
        )
      ))
    ) as data
    from trash where trashId = :from and memberId = ${callerId}
  ) as now
  where trash.trashId = now.trashId and ${isMerged}`

/** The statement that puts a memo into the trash. @param isMemo matches the memo */
export const memoToTrash = (isMemo: SQL) => sqlStatement`
  insert into trash (trashId, memberId, deletedAt, bookId, title, bytes, price, data)
  select -memoId, memberId, :callerNow, bookId, title, ${inTrash('data')}, price, data from (
    select memos.memoId, memos.memberId, memos.bookId, books.title, ${number(NOTE_PRICE)} + octet_length(memoContent) as price,
      ${toSparseJson(columnsOf('memos', MEMO_NAMES))} as data
    from memos cross join books on books.bookId = memos.bookId where ${isMemo}
  )`

/** @param entry the alias of `trash` */
const isOfBatch = (entry: string) => sql.raw(`${entry}.deletedAt = :callerNow`)
/** Whether an entry is of this batch, which deletes what `trashIds` has, a JSON array: it may have been in the trash already. */
const isListed = (entry: string) =>
  sql`(${sql.raw(entry)}.trashId in (select value from json_each(:trashIds)) and ${isOfBatch(entry)})`
/**
 * If the member is above the quota, deletes the oldest entries, but not the new ones, until it is not: so a full quota
 * refuses no deletion.
 * @param most the most rows to change, so that a batch with the largest of other changes stays below 10,000
 */
const evictUpTo = (most: number, isNew = isListed) => sqlStatement`
  delete from trash where trashId in (${oldestOf(
    sql`select trashId, deletedAt, bytes, parts, textBytes - ${textLimit} as excess
      from members cross join trash on trash.memberId = members.memberId
      where ${isCaller} and textBytes > ${textLimit} and not ${isNew('trash')} and exists (
        select 1 from trash as added where ${isNew('added')} and added.memberId = members.memberId
      )`,
    most,
    sql`freed < excess`,
  )})`
/** After a deletion. */
export const evictOldest = evictUpTo(1500)
/** After a deletion without `trashIds`, which finds what it deletes itself. */
export const evictNewest = evictUpTo(1500, isOfBatch)
/** After a merge, which changes more rows. */
export const evictForMerged = evictUpTo(600)
