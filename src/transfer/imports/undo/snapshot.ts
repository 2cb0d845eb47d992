import { sql } from 'drizzle-orm'
import { columnsOf, toJson } from '../../../db/json'
import { lastReadingId } from '../../../db/next-id'
import { ofBook } from '../../../db/own-book'
import { currentId as currentIdOf, READING_COLUMNS } from '../../../db/schema/shown-reading'
import { NEWEST_FIRST, pastCount } from '../../../library/readings/blocks'
import { readingsOfOuter } from '../../../library/readings/lookup'
import { BOOK_COLUMNS, tagRowsOfBook } from '../../book-columns'

// What the report of an import keeps of the books that it wrote: JSON expressions for queries on `books`. `importRows.undo`
// is one object:
// - of a created book: the properties of `snapshot`; `origin`, by which exports are matched; `similarTo`
// - of an updated book: `changes` by column, as [before, after]; `…Folded` before; `tags` added, `tagState` after; `reading`:
//   `readingBefore` and `readingAfter`; `rated`: past readings, as [readingId, before, after]; `events`: times of added ones;
//   `progress`: `progressBefore`, and the `state` after; `growth`: bytes that the undo can add; `merged`: `mergedBooks`
// - while it is undone: also `left`, `keepsMemos`, `fate` and `dropped` (`markRows`); after that, only `left`
// - of a dry run: `bytes`, `changes`, `similarTo`

const readingJson = (readingId: string) =>
  sql.raw(
    `json_array(${READING_COLUMNS.map((name) => (name === 'readingId' ? readingId : `books.${name}`)).join(', ')})`,
  )
/** The values of READING_COLUMNS: a JSON array. */
export const readingColumns = readingJson(currentIdOf())
/** The values of a reading: a JSON array that begins with its identifier. */
const valuesOf = (table: string, isPaused: string) =>
  sql.raw(
    `json_array(${['readingId', 'startedAt', 'finishedAt', 'outcome', 'quarters', 'format', 'note'].map((name) => `${table}.${name}`).join(', ')}, ${isPaused})`,
  )
/** Of a row of `currentReadings`, and of `readings`. */
export const currentValues = (table: string) => valuesOf(table, `${table}.isPaused`)
export const pastValues = (table: string) => valuesOf(table, '0')
const readingsState = sql`(select json_group_array(json(${currentValues('a')}) order by readingId) from ${readingsOfOuter} as a)`

const latest = (value: string) => sql`(
  select ${sql.raw(value)} from progress where ${ofBook('progress')} order by at desc limit 1
)`
/** Other values at the same times change the sum. */
export const progressState = sql`json_array(
  (
    select coalesce(sum((page + 7 * coalesce(minutes, 0) + 11 * coalesce(seconds, 0)) * (1 + abs(at % 65521)) % 1000000007), 0)
    from progress where ${ofBook('progress')}
  ),
  books.currentPage, ${latest('at')}, ${latest('total')}
)`

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
  progress: progressState,
  // An unread book has no reading, and gets another identifier for the next one whenever one is discarded.
  reading: readingJson(`iif(books.bookStatus = 'YET', null, ${currentIdOf()})`),
  readings: readingsState,
})

/** Whether the book of a created row still equals its snapshot. */
export const isUnchanged = sql`not exists (select 1 from json_each(${snapshot}) as now where now.value is not undo ->> now.key)`

/** The tags of a book with their identifiers: a JSON array. */
export const tagState = sql`(select json_group_array(tagId || ' ' || tag) from ${tagRowsOfBook})`

/** What restores the current page and the progress of a book. */
export const progressBefore = sql`json_object('currentPage', books.currentPage, 'latestAt', ${latest('at')})`

/**
 * What restores the readings of a book. Of the past ones, only the newest can become the current one, with other stars.
 * `lastId`: readings with higher identifiers were added later.
 */
export const readingBefore = sql`json_object(
  'before', ${readingColumns}, 'lastId', ${lastReadingId}, 'past', ${pastCount()}, 'newest', json((
    select json_array(readingId, quarters) from readings where ${ofBook('readings')} order by ${NEWEST_FIRST} limit 1
  ))
)`
/** What the report has of a column of the book, before or after the import. */
export const reported = (time: 'before' | 'after', column: (typeof READING_COLUMNS)[number]) =>
  sql.raw(`undo -> '$.reading.${time}' ->> ${READING_COLUMNS.indexOf(column)}`)
const idBefore = reported('before', 'readingId')
/** What shows whether they were changed since: `added` are the new ones, `kept` is the past row of the one before. */
export const readingAfter = sql`json_object(
  'after', ${readingColumns}, 'added', json((
    select json_group_array(json(${currentValues('a')})) from ${readingsOfOuter} as a
    where a.readingId > undo -> 'reading' ->> 'lastId'
      or (${reported('before', 'bookStatus')} = 'YET' and a.readingId = ${idBefore})
  )),
  'kept', json((select ${pastValues('k')} from readings as k where k.readingId = ${idBefore}))
)`
