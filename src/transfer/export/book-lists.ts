import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { columnsOf, toJson } from '../../db/json'
import { number } from '../../db/parameters'
import { type ArrayOrParts, type LoadPart, type Size, splitByBytes } from '../../db/parts'
import { MEMO_COLUMNS } from '../../library/memos/memo-lists'
import { readingsOfBook } from '../../library/readings/lookup'
import type { BookColumns } from '../book-columns'

// The readings, progress, memos and sittings of a book. A page of books has them as JSON arrays. Those of a large book are loaded
// in parts. The feed of changes also uses `readingJson` and `memoJson`.

const instant = (time: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${time} / 1000.0, 'unixepoch')`
// Readings that began with their book have 0.
export const readingJson = sql.raw(`json_object(
  'readingId', readingId, 'createdAt', iif(createdAt > 0, ${instant('createdAt')}, null), 'startedAt', startedAt,
  'finishedAt', finishedAt, 'outcome', outcome, 'rating', quarters / 4.0, 'format', format, 'note', note,
  'paused', json(iif(isPaused, 'true', 'false'))
)`)
export const eventJson = sql.raw(
  `json_object('at', ${instant('at')}, 'page', page, 'kind', kind, 'minutes', minutes, 'seconds', seconds)`,
)
export const memoJson = toJson(columnsOf('memos', MEMO_COLUMNS))

/** What devices read, rounded half up to minutes. */
export const sittingJson = sql.raw(`json_object('date', day, 'minutes', max(1, (seconds + 30) / 60))`)
/** How long devices read the books that match: by upload, document and day, or by day. */
export const sittingsOf = (isOfBook: SQL) => sql`
  documents cross join sittings using (memberId, document)
  where ${isOfBook}`
export const daysOf = (isOfBook: SQL) =>
  sql`(select day, sum(sittings.seconds) as seconds from ${sittingsOf(isOfBook)} group by day)`
/** Bytes of JSON of a day. */
export const DAY_BYTES = 40
const dayNumber = sql.raw('unixepoch(day) / 86400')

/** The order of NEWEST_FIRST in readings/blocks.ts, reversed, with the current reading as the last. */
export const newestLast = sql.raw(`isCurrent, coalesce(finishedAt, startedAt, ''), readingId`)

const isOfBook = sql`memberId = ${callerId} and bookId = :bookId`
const withBook = sql`with book as materialized (select memberId, bookId from books where ${isOfBook})`
const isLinked = sql`memberId = ${callerId} and documents.bookId = (:bookId + 0)`
const listed = sql`(select value from json_each(:ids))`
/** The days of a part, which follow each other: reading no others keeps the cost of all parts in proportion. */
const isListedDay = sql`
  day between date((:ids ->> 0) * 86400, 'unixepoch') and date((:ids ->> '$[#-1]') * 86400, 'unixepoch')`

export const EVENT_BYTES = sql.raw('100')

type Item = { item: string }
/** The sizes of the items of one of the caller's books, and some of the items. */
const LISTS = {
  readings: {
    selectSizes: sqlStatement<Size>`
      ${withBook} select readingId as id, 220 + octet_length(concat(note)) as bytes from ${readingsOfBook} order by ${newestLast}`,
    selectItems: sqlStatement<Item>`
      ${withBook} select ${readingJson} as item from ${readingsOfBook} where readingId in ${listed} order by ${newestLast}`,
  },
  progress: {
    selectSizes: sqlStatement<Size>`select at as id, ${EVENT_BYTES} as bytes from progress where ${isOfBook} order by at`,
    selectItems: sqlStatement<Item>`select ${eventJson} as item from progress where ${isOfBook} and at in ${listed} order by at`,
  },
  memos: {
    selectSizes: sqlStatement<Size>`
      select memoId as id, 240 + octet_length(memoContent) as bytes from memos
      where bookId = (select bookId from books where ${isOfBook}) order by memoId`,
    selectItems: sqlStatement<Item>`
      select ${memoJson} as item from memos where +memberId = ${callerId} and memoId in ${listed} order by memoId`,
  },
  sittings: {
    selectSizes: sqlStatement<Size>`
      select ${dayNumber} as id, ${number(DAY_BYTES)} as bytes from ${daysOf(isLinked)} order by day`,
    selectItems: sqlStatement<Item>`
      select ${sittingJson} as item from ${daysOf(sql`${isLinked} and ${isListedDay}`)} order by day`,
  },
}

type ListName = keyof typeof LISTS
/** A book of a page, as far as its kind of export selects it. Lists are JSON. Those of a large book are null. */
export type BookRow = BookColumns & { bookId: number; tags: string } & Record<
    ListName | 'note' | 'review',
    string | null
  >

/** Returns a function that runs statements as the caller, a few calls at a time (`LoadPart`). */
export const createRunner =
  (db: Db, caller: Caller, load: LoadPart) =>
  <B extends Parameters<typeof runAsCaller>[2]>(batch: B) =>
    load(() => runAsCaller(db, caller, batch))
export type Runner = ReturnType<typeof createRunner>

/** Returns a function that parses a list of a book or, if the book is too large for a page, loads it in parts. */
export const createListLoader = (run: Runner) => {
  async function* loadParts(name: ListName, bookId: number) {
    const { selectSizes, selectItems } = LISTS[name]
    const { sizes } = await run({ sizes: selectSizes({ bookId }) })
    for (const ids of splitByBytes(sizes)) {
      const { items } = await run({ items: selectItems({ bookId, ids: JSON.stringify(ids) }) })
      yield items.map(({ item }) => JSON.parse(item))
    }
  }
  return <Item>(name: ListName, bookId: number, list: string | null): ArrayOrParts<Item> =>
    list === null ? loadParts(name, bookId) : JSON.parse(list)
}
export type LoadList = ReturnType<typeof createListLoader>
