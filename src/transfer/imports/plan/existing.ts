import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../../db/client'
import { type BookColumns, bookColumns, ofBook } from '../../book-columns'
import type { Entry, EntryMemo } from '../../entry'
import { query, type RunContext, toJsonParts } from '../run-context'
import type { StoredImport } from '../store'
import { createMatcher, type Known } from './matching'

// Loads the books of the library that a file may match. All statements are scoped to the member by `memberId`.

const { placeholder } = sql
const memberId = placeholder('memberId')

/** Books per call, so that a library of any size takes constant memory. */
const LIBRARY_PAGE = 2000
const selectLibrary = sqlStatement<Known>`
  select bookId, title, author, isbn, sourceIds from books where memberId = ${memberId} and bookId > ${placeholder('after')}
  order by bookId limit ${sql.raw(String(LIBRARY_PAGE))}`
/** The books of the rows that earlier runs committed. */
const selectTaken = sqlStatement<{ bookId: number }>`
  select bookId from importRows
  where memberId = ${memberId} and importId = ${placeholder('importId')} and bookId is not null and code is not 'ambiguous-match'`
/** The books created by earlier imports of exports, with their identifiers in the exported libraries. */
const selectOrigins = sqlStatement<{ bookId: number; origin: number }>`
  select bookId, undo ->> 'origin' as origin from importRows
  where memberId = ${memberId} and outcome = 'created' and origin is not null
    and importId in (select importId from imports where memberId = ${memberId} and format = 'library')`

const selectTagKeys = sqlStatement<{ tagKey: string }>`select tagKey from tags where memberId = ${memberId}`

/** The most statements that `loadLibrary` takes. */
export const libraryStatements = (books: number) => 4 + Math.floor(books / LIBRARY_PAGE)

/** Loads what a run has to know of the library: the books to which the entries that are left belong, and the tags. */
export const loadLibrary = async (context: RunContext, stored: StoredImport, entries: Entry[]) => {
  const { memberId, importId, done } = stored
  const {
    tagKeys,
    taken,
    origins = [],
  } = await query(context, {
    tagKeys: selectTagKeys({ memberId }),
    taken: selectTaken({ memberId, importId }),
    origins: entries.some(({ exact }) => exact) ? selectOrigins({ memberId }) : undefined,
  })
  const matcher = createMatcher(
    entries,
    new Map(origins.map(({ bookId, origin }) => [bookId, origin])),
    new Set(taken.map(({ bookId }) => bookId)),
  )
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { books }: { books: Known[] } = await query(context, { books: selectLibrary({ memberId, after }) })
    books.forEach(matcher.offer)
    after = books[LIBRARY_PAGE - 1]?.bookId
  }
  return {
    matches: matcher.match(entries.slice(done).filter(({ failure }) => !failure)),
    tagKeys: new Set(tagKeys.map(({ tagKey }) => tagKey)),
  }
}

/** A book of the library, as far as an import compares it. */
export type Existing = BookColumns & {
  bookId: number
  newestReadingId: number | null
  memoCount: number
  memoBytes: number
  /** Whether it has memos other than quotations: 0 or 1. */
  hasThoughts: number
  readings: { startedAt: string | null; finishedAt: string | null }[]
  /** Folded. */
  tagKeys: string[]
  /** The number of its progress events. */
  events: number
  /** What it lacks of the memos of its entry, with their UTF-8 bytes, and of the progress events. */
  missing: { memos: number; memoBytes: number; events: number }
}

type ExistingRow = Omit<Existing, 'readings' | 'tagKeys' | 'missing'> & { readings: string; tagKeys: string }
const selectExisting = sqlStatement<ExistingRow>`
  select bookId, ${bookColumns}, newestReadingId, memoCount, memoBytes, memoCount > contentMemos as hasThoughts,
    coalesce((select total from progress where ${ofBook('progress')} order by at desc limit 1), 0) as events,
    (
      select json_group_array(json_object('startedAt', startedAt, 'finishedAt', finishedAt)) from readings
      where ${ofBook('readings')}
    ) as readings,
    (select json_group_array(tagKey) from bookTags cross join tags using (memberId, tagId) where ${ofBook('bookTags')}) as tagKeys
  from books where memberId = ${memberId} and bookId in (select value from json_each(${placeholder('bookIds')}))`

const items = sql`json_each(${placeholder('items')})`
type MissingRow = Existing['missing'] & { bookId: number }
/** Each item has the text of a memo, or the time of an event. */
const selectMissing = sqlStatement<MissingRow>`
  select value ->> 'bookId' as bookId, count(value ->> 'content') as memos, count(value ->> 'at') as events,
    coalesce(sum(octet_length(value ->> 'content')), 0) as memoBytes
  from ${items}
  where iif(value ->> 'at' is null, (value ->> 'bookId', value ->> 'content') not in (
    select bookId, memoContent from memos where memberId = ${memberId} and bookId in (select value ->> 'bookId' from ${items})
  ), not exists (
    select 1 from progress
    where memberId = ${memberId} and progress.bookId = value ->> 'bookId' and progress.at = value ->> 'at'
  ))
  group by 1`

/**
 * The memos of an entry that a book may lack. Reviews of other services are left out if the book has memos other than
 * quotations: one of these may be the edited review.
 */
export const memosFor = (entry: Entry, { hasThoughts }: Pick<Existing, 'hasThoughts'>): EntryMemo[] =>
  hasThoughts && !entry.exact ? entry.memos.filter(({ type }) => type === 'BOOK_CONTENT') : entry.memos

const toExisting = (row: ExistingRow): Existing => ({
  ...row,
  readings: JSON.parse(row.readings),
  tagKeys: JSON.parse(row.tagKeys),
  missing: { memos: 0, memoBytes: 0, events: 0 },
})

/** Loads books of the library, and finds what they lack of their entries. */
export const loadExisting = async (context: RunContext, owner: number, entries: Map<number, Entry>) => {
  if (entries.size === 0) return new Map<number, Existing>()
  const bookIds = JSON.stringify([...entries.keys()])
  const { rows } = await query(context, { rows: selectExisting({ memberId: owner, bookIds }) })
  const existing = new Map(rows.map((row) => [row.bookId, toExisting(row)]))
  const items = [...entries].flatMap(([bookId, entry]) => {
    const book = existing.get(bookId)
    if (!book) return []
    const memos = memosFor(entry, book).map(({ content }) => ({ bookId, content }))
    const events = (entry.exact?.progress ?? []).map(({ at }) => ({ bookId, at: Date.parse(at) }))
    return [...memos, ...events]
  })
  const selects = toJsonParts(items).map((items) => selectMissing({ memberId: owner, items }))
  const found = selects.length > 0 ? (await query(context, { selects })).selects.flat() : []
  for (const { bookId, memos, memoBytes, events } of found) {
    const missing = existing.get(bookId)?.missing
    if (!missing) continue
    missing.memos += memos
    missing.memoBytes += memoBytes
    missing.events += events
  }
  return existing
}
