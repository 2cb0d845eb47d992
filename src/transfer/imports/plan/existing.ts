import { sql } from 'drizzle-orm'
import { type Db, run, sqlStatement } from '../../../db/client'
import type { Entry } from '../../entry'
import { toJsonParts } from './arrays'
import { createMatcher, type Known } from './matching'
import { type Existing, memosFor } from './merge'
import type { Missing, Target } from './plan'

// Loads the books of the library that a file may match. All statements are scoped to the member by `memberId`.

const { placeholder } = sql
const memberId = placeholder('memberId')

/** Books per call, so that a library of any size takes constant memory. */
const LIBRARY_PAGE = 2000
const selectLibrary = sqlStatement<Known>(
  () => sql`
  select bookId, title, author, isbn, sourceIds from books where memberId = ${memberId} and bookId > ${placeholder('after')}
  order by bookId limit ${sql.raw(String(LIBRARY_PAGE))}`,
)
/** The books created by earlier imports of exports, with their identifiers in the exported libraries. */
const selectOrigins = sqlStatement<{ bookId: number; origin: number }>(
  () => sql`
  select bookId, undo ->> 'origin' as origin from importRows
  where memberId = ${memberId} and outcome = 'created' and origin is not null
    and importId in (select importId from imports where memberId = ${memberId} and format = 'library')`,
)

/** The most statements that `loadLibrary` takes. */
export const libraryStatements = (books: number) => 2 + Math.floor(books / LIBRARY_PAGE)

/** Finds the books of the library that entries of a file may match. */
export const loadLibrary = async (db: Db, owner: number, entries: Entry[]) => {
  const hasOrigins = entries.some(({ exact }) => exact)
  const [created] = hasOrigins ? await run(db, selectOrigins({ memberId: owner })) : [[]]
  const matcher = createMatcher(entries, new Map(created.map(({ bookId, origin }) => [bookId, origin])))
  let statements = Number(hasOrigins)
  for (let after = 0; ; ) {
    const [books] = await run(db, selectLibrary({ memberId: owner, after }))
    statements += 1
    books.forEach(matcher.offer)
    const last = books.at(-1)
    if (!last || books.length < LIBRARY_PAGE) break
    after = last.bookId
  }
  return { matcher, statements }
}

const bookIds = sql`(select value from json_each(${placeholder('bookIds')}))`
type ExistingRow = Omit<Existing, 'readings' | 'tags' | 'hasThoughts'> & { hasThoughts: number }
const selectExisting = sqlStatement<ExistingRow>(
  () => sql`
  select bookId, title, cover, author, publisher, createdAt, star, currentPage, itemPage, bookStatus, readStartDate,
    readEndDate, isbn, language, format, publishedYear, series, seriesNumber, sourceIds, newestReadingId, memoCount,
    memoBytes, memoCount > contentMemos as hasThoughts
  from books where memberId = ${memberId} and bookId in ${bookIds}`,
)
const selectReadings = sqlStatement<{ bookId: number; startedAt: string | null; finishedAt: string | null }>(
  () => sql`select bookId, startedAt, finishedAt from readings where memberId = ${memberId} and bookId in ${bookIds}`,
)
const selectTags = sqlStatement<{ bookId: number; tag: string }>(
  () => sql`
  select bookTags.bookId, tag from bookTags join tags using (memberId, tagId)
  where bookTags.memberId = ${memberId} and bookTags.bookId in ${bookIds}`,
)
/** For each row, how many of its memos its book lacks, and their UTF-8 bytes. */
const selectMissingMemos = sqlStatement<{ row: number; memos: number; memoBytes: number }>(
  () => sql`
  select item.value ->> 'row' as row, count(*) as memos, sum(octet_length(item.value ->> 'content')) as memoBytes
  from json_each(${placeholder('memos')}) as item
  where (item.value ->> 'bookId', item.value ->> 'content') not in (
    select bookId, memoContent from memos where memberId = ${memberId} and bookId in (
      select value ->> 'bookId' from json_each(${placeholder('memos')})
    )
  )
  group by 1`,
)
/** For each row, how many of its events its book lacks, and how many events the book has. */
const selectMissingEvents = sqlStatement<{ row: number; events: number; total: number }>(
  () => sql`
  select row, count(*) as events, coalesce((
    select total from progress where memberId = ${memberId} and progress.bookId = wanted.bookId order by at desc limit 1
  ), 0) as total
  from (
    select value ->> 'row' as row, value ->> 'bookId' as bookId, value ->> 'at' as at
    from json_each(${placeholder('events')})
  ) as wanted
  where not exists (
    select 1 from progress
    where memberId = ${memberId} and progress.bookId = wanted.bookId and progress.at = wanted.at
  )
  group by row, bookId`,
)

const groupBy = <Row extends { bookId: number }>(rows: Row[]) => Map.groupBy(rows, ({ bookId }) => bookId)

export type Candidate = { row: number; entry: Entry; target: Target }

/** Loads the books that a chunk matches, and counts what they lack. */
export const loadExisting = async (db: Db, owner: number, chunk: Candidate[]) => {
  const matched = chunk.flatMap(({ row, entry, target }) =>
    target && 'bookId' in target ? [{ row, entry, bookId: target.bookId }] : [],
  )
  const existing = new Map<number, Existing>()
  const missing = new Map<number, Missing>()
  if (matched.length === 0) return { existing, missing, statements: 0 }
  const values = { memberId: owner, bookIds: JSON.stringify(matched.map(({ bookId }) => bookId)) }
  const [rows, readings, tags] = await run(db, selectExisting(values), selectReadings(values), selectTags(values))
  const [readingsOf, tagsOf] = [groupBy(readings), groupBy(tags)]
  for (const row of rows) {
    existing.set(row.bookId, {
      ...row,
      hasThoughts: row.hasThoughts === 1,
      readings: readingsOf.get(row.bookId) ?? [],
      tags: tagsOf.get(row.bookId)?.map(({ tag }) => tag) ?? [],
    })
  }
  const memos = matched.flatMap(({ row, entry, bookId }) =>
    memosFor(entry, existing.get(bookId)?.hasThoughts ?? false).map(({ content }) => ({ row, bookId, content })),
  )
  const events = matched.flatMap(({ row, entry, bookId }) =>
    (entry.exact?.progress ?? []).map(({ at }) => ({ row, bookId, at: Date.parse(at) })),
  )
  const selects = [
    ...toJsonParts(memos).map((part) => selectMissingMemos({ memberId: owner, memos: part })),
    ...toJsonParts(events).map((part) => selectMissingEvents({ memberId: owner, events: part })),
  ]
  const found: ({ row: number } & Partial<Missing>)[] = selects.length > 0 ? (await run(db, ...selects)).flat() : []
  for (const { row, memos = 0, memoBytes = 0, events = 0, total = 0 } of found) {
    const known = missing.get(row)
    missing.set(row, {
      memos: (known?.memos ?? 0) + memos,
      memoBytes: (known?.memoBytes ?? 0) + memoBytes,
      events: (known?.events ?? 0) + events,
      total: Math.max(known?.total ?? 0, total),
    })
  }
  return { existing, missing, statements: 3 + selects.length }
}
