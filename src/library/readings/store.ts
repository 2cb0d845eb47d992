import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, isOwnRow, queryAll, runAsCaller } from '../../db/caller'
import { assignments, type Db, firstRow, idempotent, sqlStatement, type Values } from '../../db/client'
import { findCreated, insertOnce, isUnused, type RequestKey } from '../../db/idempotency'
import { nextId, READING_ID_OFFSET } from '../../db/next-id'
import { isOwnBook } from '../../db/own-book'
import { loadParts, MAX_WHOLE_BYTES } from '../../db/parts'
import { ownQuotaExceeded, textLimit } from '../../db/quotas'
import { readings } from '../../db/schema/reading-tables'
import { ApiError, fieldError } from '../../errors'
import { limitsOf, type Quotas, utf8Bytes } from '../../values/quotas'
import { NEWEST_FIRST, selectFirstReadings, syncBook } from './newest'
import type { Reading } from './responses'
import { beforeStartError, isInOrder, MAX_READINGS, type NewReading, pausedError, type ReadingPatch } from './schema'

type Row = Omit<Reading, 'paused'> & { paused: number }
const columns = sql.raw(
  'readingId, startedAt, finishedAt, outcome, quarters / 4.0 as rating, format, note, isPaused as paused',
)
const toReading = (row: Row): Reading => ({ ...row, paused: row.paused === 1 })

const isOwnReading = isOwnRow(readings.readingId, readings.memberId)
const ownBookId = sql`(select bookId from readings where ${isOwnReading})`

const firstReading = sql`(${selectFirstReadings(isOwnBook)})`
const selectFirst = sqlStatement<Row>`select ${columns} from ${firstReading}`

/**
 * Inserts a row for the first reading. Every change of readings begins with this statement and the next.
 * @param condition of the change, so that a refused one writes nothing
 */
const insertFirst = (condition: SQL) => sqlStatement`
  insert into readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters)
  select readingId, memberId, bookId, 0, startedAt, finishedAt, outcome, quarters from ${firstReading} where ${condition}`
const pointToFirst = sqlStatement`
  update books set newestReadingId = bookId where ${isOwnBook} and newestReadingId is null and changes() = 1`
const storeFirst = (insert: ReturnType<typeof insertFirst>, values: Values & { bookId: number }) => ({
  first: idempotent(insert(values)),
  pointed: idempotent(pointToFirst({ bookId: values.bookId })),
})

const noteBytes = sql`coalesce(octet_length(note), 0)`
// The newest reading stays first even if the dates of the book are changed to earlier ones than those of other
// readings.
const inOrder = sql`order by readingId = (select newestReadingId from books where ${isOwnBook}) desc, ${NEWEST_FIRST}`
const selectSizes = sqlStatement<{ id: number | null; bytes: number }>`
  select readingId as id, ${noteBytes} as bytes from books left join readings using (memberId, bookId)
  where ${isOwnBook} order by readingId = newestReadingId desc, ${NEWEST_FIRST}`
const selectAll = sqlStatement<Row>`
  select ${columns} from readings where memberId = ${callerId} and bookId = (
    select bookId from books where ${isOwnBook} and (
      select coalesce(sum(${noteBytes}), 0) from readings where memberId = books.memberId and bookId = books.bookId
    ) <= ${sql.raw(String(MAX_WHOLE_BYTES))}
  ) ${inOrder}`
const selectPart = sqlStatement<Row>`
  select ${columns} from readings
  where memberId = ${callerId} and readingId in (select value from json_each(:ids)) ${inOrder}`

/** The readings of a book, newest first. Returns undefined if the caller has no such book. */
export const listReadings = async (db: Db, caller: Caller, bookId: number) => {
  const values = { bookId }
  const { member, sizes, first, all } = await runAsCaller(db, caller, {
    sizes: selectSizes(values),
    first: selectFirst(values),
    all: selectAll(values),
  })
  if (sizes.length === 0) return undefined
  const stored = sizes.flatMap(({ id, bytes }) => (id === null ? [] : [{ id, bytes }]))
  if (stored.reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_WHOLE_BYTES) return [...first, ...all].map(toReading)
  return loadParts(db, member, stored, async (ids) => {
    const part = await queryAll(db, caller, selectPart({ bookId, ids }))
    return part.map(toReading)
  })
}

const textRoom = sql`(select ${textLimit} - textBytes from members where ${isCaller})`
const countReadings = sql`(select count(*) from readings where memberId = books.memberId and bookId = books.bookId)`
const hasRoom = sql`:bytes <= ${textRoom}`
const [insertFirstIfRoom, insertFirstIfUnused] = [insertFirst(hasRoom), insertFirst(sql`${hasRoom} ${isUnused}`)]
const insertReading = insertOnce(
  (condition) => sqlStatement<Row>`
  insert into readings (
    readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters, format, note, isPaused
  )
  select
    ${nextId(readings.readingId, READING_ID_OFFSET)}, memberId, bookId, :callerNow, :startedAt, :finishedAt, :outcome,
    :quarters, :format, :note, :isPaused
  from books where ${isOwnBook}
    and ${countReadings} < ${sql.raw(String(MAX_READINGS))}
    and ${hasRoom} ${condition}
  returning ${columns}`,
  readings.readingId,
  columns,
)
const syncAfterCreate = syncBook(
  sql`(select max(readingId) from readings where memberId = ${callerId} and bookId = :bookId)`,
  sql`(select bookId from books where ${isOwnBook})`,
)
const selectCount = sqlStatement<{ count: number }>`select ${countReadings} as count from books where ${isOwnBook}`

/**
 * Adds a reading to one of the caller's books. Returns undefined if the caller has no such book.
 * @param key makes it safe to repeat
 * @throws MAX_READINGS or MAX_MEMBER_TEXT_BYTES when that quota is full; the errors of `findCreated`
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
  const sync = syncAfterCreate({ bookId, reorders: 1 })
  const { created, used, usage } = await runAsCaller(db, caller, {
    ...storeFirst(key ? insertFirstIfUnused : insertFirstIfRoom, { ...values, ...key }),
    ...insertReading(values, key, quotas),
    // Its condition is that the statement before has written a row: the reading, or its key.
    book: key ? idempotent(sync) : sync,
    usage: firstRow(selectCount({ bookId })),
  })
  const stored = created ?? findCreated(used, key, quotas)
  if (stored) return toReading(stored)
  if (!usage) return undefined
  if (usage.count >= MAX_READINGS) throw new ApiError('MAX_READINGS')
  throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas)
}

const selectReading = sqlStatement<Row>`select ${columns} from readings where ${isOwnReading}`
const syncAfterChange = syncBook(sql`:readingId`, ownBookId)

/** The statements that update a reading, or store the first one, if the stored values allow the change. */
const toUpdate = ({ startedAt, finishedAt, outcome, rating, format, note, paused }: ReadingPatch) => {
  const values: Record<string, unknown> = {
    startedAt,
    finishedAt: outcome === null ? null : finishedAt,
    outcome: outcome === undefined && finishedAt ? sql`coalesce(outcome, 'FINISHED')` : outcome,
    quarters: rating && rating * 4,
    format,
    note,
    isPaused: outcome || finishedAt ? 0 : paused === undefined ? undefined : Number(paused),
  }
  const conditions: SQL[] = []
  if (paused && outcome === undefined) conditions.push(sql`outcome is null`)
  if (outcome !== null && (startedAt || finishedAt)) {
    const start = startedAt === undefined ? sql`startedAt` : startedAt
    const end = finishedAt === undefined ? sql`finishedAt` : finishedAt
    conditions.push(sql`coalesce(substr(${end}, 1, length(${start})) >= substr(${start}, 1, length(${end})), true)`)
  }
  if (note) {
    const growth = sql`:bytes - ${noteBytes}`
    conditions.push(sql`(${growth} <= 0 or ${growth} <= ${textRoom})`)
  }
  const condition = sql.join([sql`true`, ...conditions], sql` and `)
  const update = sqlStatement<Row>`
    update readings set edits = edits + 1, ${assignments(values)} where ${isOwnReading} and ${condition} returning ${columns}`
  return { insert: insertFirst(condition), update }
}

/** The error for a change that the stored reading does not allow. Undefined if it must be the quota. */
const refusal = (stored: Row, patch: ReadingPatch) => {
  const { startedAt, finishedAt, outcome, paused } = patch
  if (paused && outcome === undefined && stored.outcome) return fieldError('paused', paused, pausedError)
  if (outcome !== null && (startedAt || finishedAt) && !isInOrder({ ...stored, ...patch })) {
    if (finishedAt) return fieldError('finishedAt', finishedAt, beforeStartError)
    return fieldError('startedAt', startedAt, 'must not be after finishedAt')
  }
  return undefined
}

/**
 * Updates the given fields of a reading, and the book if the reading is or becomes its newest. Returns undefined if the
 * caller has no such reading.
 * @throws INVALID_FIELDS when the stored values do not allow the change, MAX_MEMBER_TEXT_BYTES when that quota is full
 */
export const updateReading = async (db: Db, caller: Caller, readingId: number, patch: ReadingPatch, quotas: Quotas) => {
  const ids = { readingId, bookId: readingId }
  if (Object.keys(patch).length === 0) {
    const { first, stored } = await runAsCaller(db, caller, { first: selectFirst(ids), stored: selectReading(ids) })
    const row = first[0] ?? stored[0]
    return row && toReading(row)
  }
  const { insert, update } = toUpdate(patch)
  const values = { ...ids, bytes: utf8Bytes(patch.note), ...limitsOf(quotas) }
  const isSet = (...names: (keyof ReadingPatch)[]) => Number(names.some((name) => patch[name] !== undefined))
  const sets = {
    setsStart: isSet('startedAt'),
    setsEnd: isSet('finishedAt', 'outcome'),
    setsOutcome: isSet('outcome'),
    setsStar: isSet('rating'),
    reorders: isSet('startedAt', 'finishedAt', 'outcome'),
  }
  const { implied, stored, updated } = await runAsCaller(db, caller, {
    implied: firstRow(selectFirst(ids)),
    ...storeFirst(insert, values),
    stored: firstRow(selectReading(ids)),
    updated: firstRow(idempotent(update(values))),
    book: sets.reorders || sets.setsStar ? idempotent(syncAfterChange({ readingId, ...sets })) : undefined,
  })
  const before = implied ?? stored
  if (!updated && before) {
    throw refusal(before, patch) ?? (await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas))
  }
  return updated && toReading(updated)
}

const insertFirstToDelete = insertFirst(sql`true`)
const clearBook = sqlStatement`
  update books set newestReadingId = null, bookStatus = 'YET', readStartDate = null, readEndDate = null
  where bookId = ${ownBookId} and newestReadingId = :readingId`
const removeReading = sqlStatement<{ readingId: number }>`
  delete from readings where ${isOwnReading} returning readingId`

/** Deletes a reading. A book without readings is unread again. Returns undefined if the caller has no such reading. */
export const deleteReading = async (db: Db, caller: Caller, readingId: number) => {
  const ids = { readingId }
  const { removed } = await runAsCaller(db, caller, {
    ...storeFirst(insertFirstToDelete, { bookId: readingId }),
    book: syncAfterChange({ ...ids, deletedId: readingId, reorders: 1 }),
    cleared: clearBook(ids),
    removed: removeReading(ids),
  })
  return removed[0]
}
