import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller, selectCaller } from '../../db/caller'
import { type Db, type Statement, sqlStatement } from '../../db/client'
import { type LoadPart, type Size, splitByBytes } from '../../db/parts'

// The readings, progress and memos of a book. A page of books has them as JSON arrays. Those of a large book are loaded in
// parts.

const { placeholder } = sql

export const readingJson = sql.raw(`json_object(
  'readingId', readingId, 'createdAt', createdAt, 'startedAt', startedAt, 'finishedAt', finishedAt, 'outcome', outcome,
  'rating', quarters / 4.0, 'format', format, 'note', note, 'paused', json(iif(isPaused, 'true', 'false'))
)`)
export const eventJson = sql.raw(`json_object('at', at, 'page', page, 'kind', kind)`)
export const memoJson = sql.raw(`json_object(
  'memoId', memoId, 'memoType', memoType, 'memoContent', memoContent, 'memoBookPage', memoBookPage,
  'memoAuthority', memoAuthority, 'memoLikesCount', memoLikesCount, 'createdAt', createdAt, 'updatedAt', updatedAt
)`)

/** The order of NEWEST_FIRST in readings/newest.ts, reversed. The newest reading of the book is the last. */
export const oldestFirst = (newestReadingId: SQL) =>
  sql`readingId = ${newestReadingId}, outcome is null, coalesce(finishedAt, startedAt, ''), readingId`

const bookId = sql`${placeholder('bookId')}`
const isOfBook = sql`memberId = ${callerId} and bookId = ${bookId}`
const readingOrder = oldestFirst(
  sql`(select newestReadingId from books where memberId = ${callerId} and bookId = ${bookId})`,
)
/** Matches the memos of a book only if it is the caller's. */
const isMemoOfBook = sql`bookId = (select bookId from books where memberId = ${callerId} and bookId = ${bookId})`
const isListed = (id: SQL) =>
  sql`+memberId = ${callerId} and ${id} in (select value from json_each(${placeholder('ids')}))`

type Item = { item: string }

const selectReadingSizes = sqlStatement<Size>(
  () => sql`
  select readingId as id, 220 + octet_length(concat(note)) as bytes from readings
  where ${isOfBook} order by ${readingOrder}`,
)
const selectReadings = sqlStatement<Item>(
  () => sql`
  select ${readingJson} as item from readings where ${isListed(sql.raw('readingId'))} order by ${readingOrder}`,
)
const selectMemoSizes = sqlStatement<Size>(
  () => sql`
  select memoId as id, 240 + octet_length(memoContent) as bytes from memos where ${isMemoOfBook} order by memoId`,
)
const selectMemos = sqlStatement<Item>(
  () => sql`
  select ${memoJson} as item from memos where ${isListed(sql.raw('memoId'))} order by memoId`,
)

const EVENTS_PER_PART = 2000
const selectEvents = sqlStatement<Item & { at: number }>(
  () => sql`
  select at, ${eventJson} as item from progress
  where ${isOfBook} and at > ${placeholder('after')} order by at limit ${sql.raw(String(EVENTS_PER_PART))}`,
)

/** Loads the lists of one book in parts. */
export const createListLoader = (db: Db, caller: Caller, load: LoadPart) => {
  const query = <Row>(statement: Statement<Row>) =>
    load(async () => {
      const [, rows] = await runAsCaller(db, caller, selectCaller(), statement)
      return rows
    })
  const parse = (rows: Item[]) => rows.map(({ item }) => JSON.parse(item))

  async function* loadItems(
    id: number,
    selectSizes: (values: Record<string, unknown>) => Statement<Size>,
    select: (values: Record<string, unknown>) => Statement<Item>,
  ) {
    for (const ids of splitByBytes(await query(selectSizes({ bookId: id })))) {
      yield parse(await query(select({ bookId: id, ids: JSON.stringify(ids) })))
    }
  }

  async function* loadEvents(id: number) {
    let after = Number.MIN_SAFE_INTEGER
    for (let rows = [{ at: after, item: '' }]; rows.length > 0; ) {
      rows = await query(selectEvents({ bookId: id, after }))
      yield parse(rows)
      after = rows.at(-1)?.at ?? after
    }
  }

  return {
    readings: (id: number) => loadItems(id, selectReadingSizes, selectReadings),
    memos: (id: number) => loadItems(id, selectMemoSizes, selectMemos),
    progress: loadEvents,
  }
}
