import { type SQL, sql } from 'drizzle-orm'
import { type Caller, queryAll, runAsCaller } from '../../db/caller'
import { type Db, firstRow, idempotent, type Statement, sqlStatement, type Values } from '../../db/client'
import { findCreated, insertOnce, isUnused, type RequestKey } from '../../db/idempotency'
import { lastReadingId } from '../../db/next-id'
import { isOwnBook, selectBook } from '../../db/own-book'
import { loadParts, MAX_WHOLE_BYTES } from '../../db/parts'
import { notePrice, ownQuotaExceeded } from '../../db/quotas'
import { ApiError } from '../../errors'
import { limitsOf, type Quotas, utf8Bytes } from '../../values/quotas'
import {
  currentId,
  describe,
  hasRoom as hasRoomOf,
  insertPast,
  isKept,
  isOvertaken,
  keep as keepBook,
  NEWEST_FIRST,
  OWN_BOOK,
  pastCount,
  promote,
} from './blocks'
import { ofReading, readingsOfBook } from './lookup'
import type { Reading } from './responses'
import { ofBook, ofCurrent, ofPast, type Row, textRoom, toReading } from './rows'
import { MAX_READINGS, type NewReading } from './schema'

const noteBytes = sql`coalesce(octet_length(note), 0)`
const withBook = sql`with book as materialized (select memberId, bookId from books where ${isOwnBook})`
// The current reading stays first even if the dates of the book are changed to earlier ones than those of others.
const inOrder = sql`order by isCurrent desc, ${NEWEST_FIRST}`
/** All readings, without their notes if these are too long for one call. */
const selectAll = sqlStatement<Row & { bytes: number }>`
  ${withBook} select ${ofCurrent}, bytes from (
    select readingId, startedAt, finishedAt, outcome, quarters, format, isPaused, isCurrent, bytes,
      iif(sum(bytes) over () <= ${sql.raw(String(MAX_WHOLE_BYTES))}, note, null) as note
    from (select *, ${noteBytes} as bytes from ${readingsOfBook})
  ) ${inOrder}`
const selectPart = sqlStatement<Row>`
  ${withBook} select ${ofCurrent} from ${readingsOfBook} where readingId in (select value from json_each(:ids)) ${inOrder}`

/** The readings of a book: the current one, then the others, newest first. Undefined if the caller has no such book. */
export const listReadings = async (db: Db, caller: Caller, bookId: number) => {
  const values = { bookId }
  const { member, guard, all } = await runAsCaller(db, caller, { guard: selectBook(values), all: selectAll(values) })
  if (guard.bookId === null) return undefined
  const sizes = all.map(({ readingId, bytes }) => ({ id: readingId, bytes }))
  if (sizes.reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_WHOLE_BYTES) {
    return all.map(({ bytes: _, ...reading }) => toReading(reading))
  }
  return loadParts(db, member, sizes, async (ids) => {
    const part = await queryAll(db, caller, selectPart({ bookId, ids }))
    return part.map(toReading)
  })
}

/** Whether a book has room for one more reading, and the member for its note. */
const hasRoom = (book: string) => sql`${hasRoomOf(book)} and ${notePrice} <= ${textRoom}`
/** What a key has created, wherever the reading is now. */
const found = ofReading(
  sql.raw('idempotencyKeys.id'),
  sql.raw(`json_object('readingId', readingId, 'startedAt', startedAt, 'finishedAt', finishedAt, 'outcome', outcome,
    'rating', quarters / 4.0, 'format', format, 'note', note, 'paused', isPaused)`),
)
type Found = { reading: string }
const createdWith = (id: SQL) => ({ id, columns: sql`${found} as reading`, isLeft: sql`${found} is not null` })

/** Archives, if the book gets another current reading. With a key, only if that is unused. */
const keepBefore = (condition: SQL) => {
  const keep = (isAllowed: SQL) =>
    sqlStatement`${keepBook(OWN_BOOK, sql`c.outcome is not null and ${condition} and ${hasRoom('c')} ${isAllowed}`)}`
  const [always, ifUnused] = [keep(sql``), keep(isUnused)]
  return (values: Values, hasKey: boolean) => (hasKey ? ifUnused : always)(values)
}

const isLater = sql`coalesce(:finishedAt, :startedAt, '') > coalesce(c.finishedAt, c.startedAt, '')`
const keepEarlier = keepBefore(sql`(${isLater} or ${isOvertaken})`)
const insertEnded = insertOnce<Row, Found>(
  (condition) => sqlStatement`
  ${insertPast}
  select ${lastReadingId} + 1, memberId, bookId, :callerNow, :startedAt, :finishedAt, :outcome, :quarters, :format, :note
  from books where ${isOwnBook} and (${isKept} or (${hasRoom('books')} ${condition}))
  returning ${ofPast}`,
  createdWith(lastReadingId),
)
// The statement before has inserted a row: the reading, or its key.
const promoteCreated = sqlStatement`${promote(OWN_BOOK, sql`changes() = 1 and (${isKept} or bookStatus = 'YET')`)}`

const keepEnded = keepBefore(sql`true`)
const begin = insertOnce<Row, Found>(
  (condition) => sqlStatement`
  update books set ${describe((name) => sql.raw(`:${name}`))}, readingSince = :callerNow,
    readingId = iif(${isKept}, ${lastReadingId} + 1, readingId)
  where ${isOwnBook} and (${isKept} or (bookStatus = 'YET' and ${hasRoom('books')} ${condition}))
  returning ${ofBook}`,
  createdWith(sql`(select ${currentId} from books where ${isOwnBook})`),
)

const selectUsage = sqlStatement<{ count: number; isOpen: number }>`
  select ${pastCount()} as count, bookStatus = 'ING' as isOpen from books where ${isOwnBook}`

/**
 * Adds a reading to one of the caller's books. Returns undefined if the caller has no such book.
 * @param key makes it safe to repeat
 * @throws READING_OPEN for a second open reading, MAX_READINGS or MAX_MEMBER_TEXT_BYTES when that quota is full; the
 * errors of `findCreated`
 */
export const createReading = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { startedAt = null, finishedAt = null, outcome, rating, format = null, note = null, paused }: NewReading,
  quotas: Quotas,
  key?: RequestKey,
): Promise<Reading | undefined> => {
  const values = {
    ...{ bookId, startedAt, finishedAt, format, note },
    outcome: outcome ?? (finishedAt && 'FINISHED'),
    quarters: rating ? rating * 4 : null,
    isPaused: Number(paused ?? false),
    bytes: utf8Bytes(note),
    ...limitsOf(quotas),
  }
  const isEnded = values.outcome !== null
  const mark = (write: Statement) => (key ? idempotent(write) : write)
  const ofKey = { ...values, ...key, MAX_IDEMPOTENCY_KEYS: quotas.MAX_IDEMPOTENCY_KEYS }
  const { created, used, usage } = await runAsCaller(db, caller, {
    usage: firstRow(selectUsage({ bookId })),
    kept: mark((isEnded ? keepEarlier : keepEnded)(ofKey, key !== undefined)),
    ...(isEnded ? insertEnded : begin)(values, key, quotas),
    promoted: isEnded ? mark(promoteCreated({ bookId })) : undefined,
  })
  if (created) return toReading(created)
  const earlier = findCreated(used, key, quotas)
  if (earlier) return toReading(JSON.parse(earlier.reading))
  if (!usage) return undefined
  if (usage.isOpen && !isEnded) throw new ApiError('READING_OPEN')
  if (usage.count >= MAX_READINGS) throw new ApiError('MAX_READINGS')
  throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
}
