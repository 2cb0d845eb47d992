import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../../db/client'
import { eventCount, ofBook } from '../../../db/own-book'
import { number } from '../../../db/parameters'
import { isTimed } from '../../../db/schema/reading-tables'
import { READING_COLUMNS, shownReading } from '../../../db/schema/shown-reading'
import { HOUR_MS, type Zone } from '../../../values/time'
import { type BookColumns, bookColumns, memoKey, STATUS_CONDITIONS, tagRowsOfBook } from '../../book-columns'
import type { Entry, EntryMemo, EntryProgress } from '../../entries/entry'
import { query, type RunContext, toJsonArrays } from '../run-context'
import type { StoredImport } from '../store'
import { readingColumns } from '../undo/snapshot'
import type { KnownReading, ReadingColumns } from './current-reading'
import { type BookIdentity, createMatcher, type Origin } from './matching'
import { type SittingEvent, toSittingEvents, withoutIgnored } from './sittings'

// Loads the books of the library that a file may match. All statements are scoped to the member by `memberId`.

/** Books per call, so that a library of any size takes constant memory. */
const LIBRARY_PAGE = 2000
const booksAfter = STATUS_CONDITIONS.map(
  (isOfStatus) => sql`
    select bookId, title, subtitle, author, isbn, seriesNumber, sourceIds from books
    where memberId = :memberId and ${isOfStatus} and bookId > :after`,
)
const selectLibrary = sqlStatement<BookIdentity>`
  ${sql.join(booksAfter, sql` union all `)} order by bookId limit ${sql.raw(String(LIBRARY_PAGE))}`
/** The books of the rows that earlier runs committed. */
const selectTaken = sqlStatement<{ bookId: number }>`
  select bookId from importRows
  where memberId = :memberId and importId = :importId and bookId is not null and code is not 'ambiguous-match'`
const selectOrigins = sqlStatement<Origin>`
  select bookId, undo ->> 'origin' as origin, title from importRows
  where memberId = :memberId and outcome = 'created' and origin is not null
    and importId in (select importId from imports where memberId = :memberId and format = 'library')`

const selectTagKeys = sqlStatement<{ tagKey: string }>`select tagKey from tags where memberId = :memberId`

/** The most statements that `loadLibrary` takes. */
export const libraryStatements = (books: number) => 4 + Math.floor(books / LIBRARY_PAGE)

/**
 * Loads the books to which the entries that are left may belong, and the tags of the library. Returns undefined if the
 * time or the statements of the run are used up before.
 */
export const loadLibrary = async (context: RunContext, stored: StoredImport, entries: Entry[], deadline: number) => {
  const { memberId, importId, done } = stored
  const { tagKeys, taken, origins } = await query(context, {
    tagKeys: selectTagKeys({ memberId }),
    taken: selectTaken({ memberId, importId }),
    origins: entries.some(({ exact }) => exact) ? selectOrigins({ memberId }) : undefined,
  })
  const matcher = createMatcher(
    entries.slice(done).filter(({ failure }) => !failure),
    new Map(origins?.map((origin) => [origin.bookId, origin])),
    new Set(taken.map(({ bookId }) => bookId)),
  )
  for (let after: number | undefined = 0; after !== undefined; ) {
    if (Date.now() >= deadline || context.budget.left <= 0) return undefined
    const { books }: { books: BookIdentity[] } = await query(context, { books: selectLibrary({ memberId, after }) })
    books.forEach(matcher.offer)
    after = books[LIBRARY_PAGE - 1]?.bookId
  }
  return { match: matcher.match, tagKeys: new Set(tagKeys.map(({ tagKey }) => tagKey)) }
}

/** A book of the library, as far as an import compares it. */
export type Existing = BookColumns &
  ReadingColumns & {
    bookId: number
    memoCount: number
    memoBytes: number
    /** `readingColumns`, which are expected to be the same when the row is written. */
    planned: string
    /** What its columns show of the current reading. An unread book may have dates already, and stars. */
    current: KnownReading
    past: (Pick<KnownReading, 'startedAt' | 'finishedAt' | 'quarters'> & { readingId: number })[]
    tagKeys: string[]
    events: number
    /** What it lacks of the memos, the progress events and the sittings of its entry. */
    missing: { memos: EntryMemo[]; events: EntryProgress[]; sittings: SittingEvent[] }
    /** The memos that are texts of columns, and those that have the keys of missing ones. */
    sourced: SourcedMemo[]
  }
/**
 * A memo that an import wrote, whose text a later import may replace. `source`: the column with one text for each book,
 * or the key of the highlight. `bytes`: of its text in UTF-8.
 */
export type SourcedMemo = {
  memoId: number
  bookId: number
  version: number
  source: string
  isEdited: number
  bytes: number
  excerpt: string
}

type ExistingRow = BookColumns &
  Pick<Existing, 'bookId' | 'memoCount' | 'memoBytes' | 'events' | 'planned'> &
  Record<'current' | 'past' | 'tagKeys', string>
const shown = shownReading('books.')
const SHOWN = ['startedAt', 'finishedAt', 'outcome', 'quarters', 'format', 'note', 'isPaused'] as const
const selectExisting = sqlStatement<ExistingRow>`
  select bookId, ${bookColumns}, memoCount, memoBytes, ${eventCount} as events, ${readingColumns} as planned,
    ${sql.raw(`json_object(${SHOWN.map((name) => `'${name}', ${shown[name]}`).join(', ')})`)} as current,
    (
      select json_group_array(json_object(
        'readingId', readingId, 'startedAt', startedAt, 'finishedAt', finishedAt, 'quarters', quarters
      )) from readings where ${ofBook('readings')}
    ) as past,
    (select json_group_array(tagKey) from ${tagRowsOfBook}) as tagKeys
  from books where +memberId = :memberId and bookId in (select value from json_each(:bookIds))`

const items = sql`json_each(:items)`
// Zones are at most 26 hours apart, and differ by quarters of an hour.
const [ZONES_MS, QUARTER_MS] = [26 * HOUR_MS, HOUR_MS / 4]
/** Whether the book has no minutes on the day of a sitting, neither of its device, nor of an earlier import. */
const isWithoutMinutes = sql`not exists (
  select 1 from progress
  where memberId = :memberId and progress.bookId = value ->> 'bookId' and ${isTimed}
    and progress.at >= (value ->> 'from') - ${number(ZONES_MS)} and progress.at < (value ->> 'to') + ${number(ZONES_MS)}
    and (
      progress.at >= value ->> 'from' and progress.at < value ->> 'to'
      or progress.at % ${number(QUARTER_MS)} = value ->> 'mark'
    )
) and not exists (
  select 1 from documents cross join sittings using (memberId, document)
  where documents.memberId = :memberId and documents.bookId = value ->> 'bookId' and day = value ->> 'date'
)`
/** Each item has the text of a memo, the time of an event, or that of a sitting, with its day. */
const selectMissing = sqlStatement<{ number: number }>`
  select value ->> 'number' as number from ${items}
  where iif(value ->> 'at' is null, ${memoKey(sql`value ->> 'bookId'`, sql`value ->> 'content'`)} not in (
    select ${memoKey(sql`bookId`, sql`memoContent`)} from memos where +memberId = :memberId and bookId in (select value ->> 'bookId' from ${items})
  ), not exists (
    select 1 from progress
    where memberId = :memberId and progress.bookId = value ->> 'bookId' and progress.at = value ->> 'at'
  ) and (value ->> 'date' is null or ${isWithoutMinutes}))`
/** Characters of a replaced text that the report shows. */
export const MAX_EXCERPT = 200
const sourced = sql.raw(
  `memoId, bookId, version, importSource as source, version is not importVersion as isEdited,
    octet_length(memoContent) as bytes, substr(memoContent, 1, ${MAX_EXCERPT}) as excerpt`,
)
const selectSourced = sqlStatement<SourcedMemo>`
  select ${sourced} from memos
  where +memberId = :memberId and importSource not like '#%' and bookId in (select value from json_each(:bookIds))`
// By time, because a book may have thousands of memos, and each of an import keeps its time.
const selectKeyed = sqlStatement<SourcedMemo>`
  select ${sourced} from memos
  where memberId = :memberId and createdAt in (select value ->> 'createdAt' from ${items})
    and ${memoKey(sql`bookId`, sql`importSource`)} in (
      select ${memoKey(sql`value ->> 'bookId'`, sql`value ->> 'key'`)} from ${items}
    )`

const toReadingColumns = (planned: string) => {
  const values: unknown[] = JSON.parse(planned)
  const columns = Object.fromEntries(READING_COLUMNS.map((name, at) => [name, values[at]]))
  return { ...columns, isStopped: columns.isStopped === 1, isPaused: columns.isPaused === 1 } as ReadingColumns
}
const toExisting = ({ planned, current, past, tagKeys, ...row }: ExistingRow): Existing => ({
  ...row,
  ...toReadingColumns(planned),
  planned,
  current: { ...JSON.parse(current), isPaused: JSON.parse(current).isPaused === 1 },
  past: JSON.parse(past),
  tagKeys: JSON.parse(tagKeys),
  missing: { memos: [], events: [], sittings: [] },
  sourced: [],
})

/** Loads books of the library, and finds what they lack of their entries. A book that is gone is left out. */
export const loadExisting = async (context: RunContext, owner: number, entries: Map<number, Entry>, zone: Zone) => {
  if (entries.size === 0) return new Map<number, Existing>()
  const items: { bookId: number; memo?: EntryMemo; event?: EntryProgress; sitting?: SittingEvent }[] = [
    ...entries,
  ].flatMap(([bookId, entry]) => [
    ...entry.memos.map((memo) => ({ bookId, memo })),
    ...withoutIgnored(entry.exact?.progress ?? [], entry, zone).map((event) => ({ bookId, event })),
    ...toSittingEvents(entry, zone).map((sitting) => ({ bookId, sitting })),
  ])
  const parts = toJsonArrays(
    items.map(({ bookId, memo, event, sitting }, number) => ({
      ...{ number, bookId, content: memo?.content, at: event && Date.parse(event.at), ...sitting },
    })),
  )
  const ofColumns = new Set(items.filter(({ memo }) => memo?.source).map(({ bookId }) => bookId))
  const found = await query(context, {
    rows: selectExisting({ memberId: owner, bookIds: JSON.stringify([...entries.keys()]) }),
    missing: parts.map((items) => selectMissing({ memberId: owner, items })),
    sourced:
      ofColumns.size > 0 ? selectSourced({ memberId: owner, bookIds: JSON.stringify([...ofColumns]) }) : undefined,
  })
  const existing = new Map(found.rows.map((row) => [row.bookId, toExisting(row)]))
  for (const { number } of found.missing.flat()) {
    const { bookId, memo, event, sitting } = items[number] ?? {}
    const missing = existing.get(bookId ?? 0)?.missing
    if (memo) missing?.memos.push(memo)
    if (event) missing?.events.push(event)
    if (sitting) missing?.sittings.push(sitting)
  }
  const keyed = [...existing.values()].flatMap(({ bookId, missing }) =>
    missing.memos.flatMap(({ key, createdAt }) => (key && createdAt ? { bookId, key, createdAt } : [])),
  )
  const lookups = toJsonArrays(keyed).map((items) => selectKeyed({ memberId: owner, items }))
  const { memos } = lookups.length > 0 ? await query(context, { memos: lookups }) : {}
  for (const memo of [...(found.sourced ?? []), ...(memos ?? []).flat()]) existing.get(memo.bookId)?.sourced.push(memo)
  return existing
}
