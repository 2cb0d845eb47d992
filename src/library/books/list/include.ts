// The parts that a response can add to a book, each as JSON in a column, so that they take no further call.

import { type SQL, sql } from 'drizzle-orm'
import { columnsOf, toJson } from '../../../db/json'
import { ofBook, percent, progressSource } from '../../../db/own-book'
import { shownReading } from '../../../db/schema/shown-reading'
import { fieldsOf } from '../../../values/book-fields'
import { toInstant } from '../../../values/fields'
import { MEMO_COLUMNS } from '../../memos/memo-lists'
import { type Include, MAX_EXCERPT } from '../schema'
import type { BookParts } from './responses'

const excerptOf = (column: string) => sql.raw(`substr(${column}, 1, ${MAX_EXCERPT})`)

/** @param values expressions of the columns of a reading */
const readingJson = (values: Record<string, string>, paused: string) => {
  const { readingId, startedAt, finishedAt, outcome, quarters, format, note } = values
  const columns = { readingId, startedAt, finishedAt, outcome, rating: `${quarters} / 4.0`, format }
  const json = Object.entries(columns).map(([name, value]): [string, SQL] => [name, sql.raw(String(value))])
  return toJson({
    ...Object.fromEntries(json),
    note: excerptOf(String(note)),
    paused: sql.raw(`json(iif(${paused}, 'true', 'false'))`),
  })
}
const { isPaused, ...current } = shownReading('books.')
const past = Object.fromEntries(Object.keys(current).map((name) => [name, `r.${name}`]))
// Not the newest by its dates, for which all past readings of the book would be read.
const lastAdded = sql`(
  select ${readingJson(past, '0')} from readings as r where ${ofBook('r')} order by r.readingId desc limit 1
)`

/**
 * SQL of each part of a row of `books`, which must be the caller's, as JSON. All together read at most 63 rows: two for
 * each of 30 tags, and one each for the past reading, the progress and the memo.
 */
export const PARTS: Record<Include, SQL> = {
  edition: toJson({
    ...columnsOf('books', ['bookId', ...fieldsOf('edition')]),
    sourceIds: sql.raw(`json(coalesce(books.sourceIds, '[]'))`),
  }),
  // Unsorted: to sort them, SQLite would read each again. In hexadecimal, keys have its order in JavaScript, too.
  tags: sql`(
    select json_group_array(json_array(hex(tagKey), tag)) from bookTags cross join tags using (memberId, tagId)
    where ${ofBook('bookTags')}
  )`,
  readings: sql`iif(books.bookStatus = 'YET', ${lastAdded}, ${readingJson(current, isPaused)})`,
  progress: sql`(
    select json_object('at', at, 'page', page, 'kind', kind, 'minutes', minutes, 'seconds', progress.seconds,
      'percent', ${percent}, 'source', ${sql.raw(progressSource)}) from progress where ${ofBook('progress')}
    order by at desc limit 1
  )`,
  lastMemo: sql`(
    select ${toJson({ ...columnsOf('memos', MEMO_COLUMNS), memoContent: excerptOf('memos.memoContent') })}
    from memos where memos.memoId = books.lastMemoId
  )`,
}

/** The parts of a book, each in a column of its name. */
export type PartColumns = Partial<Record<Include, string | null>>

type KeyedTag = [key: string, tag: string]
const byKey = ([one]: KeyedTag, [other]: KeyedTag) => (one < other ? -1 : 1)

/** A row with these parts, parsed. */
export const withParts = <Row extends PartColumns>(row: Row, include: readonly Include[]) => {
  const parts = Object.fromEntries(include.map((name) => [name, JSON.parse(row[name] ?? 'null')]))
  if (include.includes('tags')) parts.tags = parts.tags.sort(byKey).map(([, tag]: KeyedTag) => tag)
  if (include.includes('readings')) parts.readings = parts.readings ? [parts.readings] : []
  if (parts.progress) parts.progress.at = toInstant(parts.progress.at)
  return { ...row, ...parts } as Omit<Row, Include> & Partial<BookParts>
}
