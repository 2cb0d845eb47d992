import { sql } from 'drizzle-orm'
import { columnsOf, toJson } from '../../../db/json'
import { fieldsOf } from '../../../values/book-fields'
import { BOOK_COLUMNS, ofBook, tagRowsOfBook } from '../../book-columns'

// What the report of an import keeps of the books that it wrote: JSON expressions for queries on `books`.

const digits = (date: string) => `cast(replace(${date}, '-', '') as integer)`
/** A change of the book changes these sums of its readings. */
const READING_SUMS = [
  digits('startedAt'),
  digits('finishedAt'),
  ...['length(outcome)', 'quarters', 'isPaused', 'unicode(format)', 'octet_length(note)'],
].map((number) => `coalesce(sum(${number}), 0)`)
const readingSums = sql`(select json_array(count(*), ${sql.raw(READING_SUMS.join(', '))}) from readings where ${ofBook('readings')})`

/** What these sums do not show: two edits of readings that cancel each other out, and other pages at the same times. A text. */
export const historyEdits = sql`json_array(
  (select json_array(coalesce(sum(readingId), 0), coalesce(sum(edits), 0)) from readings where ${ofBook('readings')}),
  (select coalesce(sum(page * (1 + abs(at % 65521)) % 1000000007), 0) from progress where ${ofBook('progress')})
) || ''`

/** A created book with what belongs to it. An undo deletes the book if it still is the same. */
export const snapshot = toJson({
  ...columnsOf('books', [...BOOK_COLUMNS, 'memoCount', 'memoBytes']),
  imported: sql`(
    select count(*) from memos
    where memos.bookId = books.bookId and importId = :importId and version = importVersion
  )`,
  edits: sql`(
    select iif(count(*) = 0, null, json_array(count(*), max(updatedAt))) from memos
    where memos.bookId = books.bookId and updatedAt <> memos.createdAt
  )`,
  tags: sql`(select json_group_array(tagKey order by tagKey) from ${tagRowsOfBook})`,
  progress: sql`(select count(*) from progress where ${ofBook('progress')})`,
  readings: readingSums,
  historyEdits,
})

const history = sql.raw(
  fieldsOf('history')
    .map((name) => `books.${name}`)
    .join(', '),
)

const latest = (value: string) => sql`(
  select ${sql.raw(value)} from progress where ${ofBook('progress')} order by at desc limit 1
)`

/** A book's readings and progress, to see whether they have changed: a text. */
export const historyState = sql`json_array(
  books.newestReadingId, ${history}, json(${readingSums}), json(${latest('json_array(at, total)')})
) || ''`

/** The tags of a book with their identifiers: a JSON array. */
export const tagState = sql`(select json_group_array(tagId || ' ' || tag) from ${tagRowsOfBook})`

/** What restores a book's readings and progress. */
export const historyBefore = sql`json_object(
  'columns', ${toJson(columnsOf('books', [...fieldsOf('history'), 'star', 'newestReadingId']))},
  'latestAt', ${latest('at')},
  'readings', json((select json_group_array(readingId) from readings where ${ofBook('readings')}))
)`
