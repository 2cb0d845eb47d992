import { type SQL, sql } from 'drizzle-orm'
import { type Caller, runAsCaller } from '../../db/caller'
import { assignments, type Db, firstRow, idempotent, sqlStatement, type Values } from '../../db/client'
import { ownQuotaExceeded } from '../../db/quotas'
import { fieldError } from '../../errors'
import { limitsOf, type Quotas, utf8Bytes } from '../../values/quotas'
import { clearArchived, describeEnd, describeStart, promote, settle, starsOf, unread } from './blocks'
import { BOOK_OF_CURRENT, BOOK_OF_READING, isOwnPast } from './lookup'
import { ofBook, ofCurrent, ofPast, type Row, textRoom, toReading } from './rows'
import { beforeStartError, isInOrder, pausedError, type ReadingPatch } from './schema'

/** What changes in the book with its current reading, `c`. What is not sent stays, hidden dates included. */
const toBookChanges = (patch: ReadingPatch) => {
  const { startedAt, finishedAt, outcome, rating, format, note, paused } = patch
  const value = (name: string) => {
    if (name === 'startedAt') return sql`${startedAt}`
    if (name === 'outcome')
      return outcome === undefined ? sql`coalesce(c.outcome, ${finishedAt && 'FINISHED'})` : sql`${outcome}`
    return outcome === null ? sql`null` : finishedAt === undefined ? sql`c.finishedAt` : sql`${finishedAt}`
  }
  const quarters = sql`${rating && rating * 4}`
  const isPaused = () => {
    if (outcome || finishedAt) return 0
    if (paused !== undefined) return Number(paused)
    // A book finished by its status keeps its mark, which must not count again when the reading is reopened.
    return outcome === null ? sql`c.isPaused` : undefined
  }
  const changes = [
    startedAt !== undefined && sql`${describeStart(value)}, archivedStart = null`,
    (finishedAt !== undefined || outcome !== undefined) && sql`${describeEnd(value)}, archivedEnd = null`,
    rating !== undefined && sql`star = coalesce(${starsOf(quarters)}, 0), quarters = ${quarters}, archivedStar = null`,
    assignments({ readingFormat: format, note, isPaused: isPaused(), archivedId: sql.raw('null') }),
  ]
  return sql.join(
    changes.filter((each) => each !== false),
    sql`, `,
  )
}

const toPastChanges = ({ startedAt, finishedAt, outcome, rating, format, note }: ReadingPatch): Values => ({
  // An update needs an assignment.
  readingId: sql.raw('readingId'),
  ...{ startedAt, finishedAt, outcome, quarters: rating && rating * 4, format, note },
})

/** Whether the stored values of a reading, a row of `table`, allow a change. Undefined: any do. */
const allowedBy = ({ startedAt, finishedAt, outcome, note, paused }: ReadingPatch) => {
  const conditions: ((stored: (name: string) => SQL) => SQL)[] = []
  if (paused && outcome === undefined) conditions.push((stored) => sql`${stored('outcome')} is null`)
  if (outcome !== null && (startedAt || finishedAt))
    conditions.push((stored) => {
      const start = startedAt === undefined ? stored('startedAt') : sql`${startedAt}`
      const end = finishedAt === undefined ? stored('finishedAt') : sql`${finishedAt}`
      return sql`coalesce(substr(${end}, 1, length(${start})) >= substr(${start}, 1, length(${end})), true)`
    })
  if (note)
    conditions.push((stored) => {
      const growth = sql`:bytes - coalesce(octet_length(${stored('note')}), 0)`
      return sql`(${growth} <= 0 or ${growth} <= ${textRoom})`
    })
  return (table: 'c' | 'readings') => {
    const stored = (name: string) => sql.raw(`${table}.${name}`)
    // Only the current reading can be open.
    const isOpened = table === 'readings' && outcome === null
    return sql.join([isOpened ? sql`false` : sql`true`, ...conditions.map((each) => each(stored))], sql` and `)
  }
}

/** Both updates, of which one finds the reading. If the order can change, a later past one then becomes the current one. */
const toUpdates = (patch: ReadingPatch) => {
  const isAllowed = allowedBy(patch)
  const current = sql`currentReadings as c where c.bookId in (${BOOK_OF_CURRENT}) and ${isAllowed('c')}`
  const past = sql`${isOwnPast} and ${isAllowed('readings')}`
  const updates = [
    sqlStatement<Row>`
      update books set ${toBookChanges(patch)} from ${current} and books.bookId = c.bookId returning ${ofBook}`,
    sqlStatement<Row>`update readings set ${assignments(toPastChanges(patch))} where ${past} returning ${ofPast}`,
  ]
  if ([patch.startedAt, patch.finishedAt, patch.outcome].every((sent) => sent === undefined)) return updates
  // The conditions still hold after the change.
  const changed = sql`select c.bookId from ${current} union all select bookId from readings where ${past}`
  return [...updates, ...settle(changed, { among: BOOK_OF_READING }).map((step) => sqlStatement<Row>`${step}`)]
}

type Stored = Row & { isPast: number }
const selectReading = sqlStatement<Stored>`
  select ${ofCurrent}, 0 as isPast from currentReadings where bookId in (${BOOK_OF_CURRENT})
  union all select ${ofPast}, 1 from readings where ${isOwnPast}`

const reopenedError = 'must not be null: only the current reading of a book can be reopened'
/** The error for a change that the stored reading does not allow. Undefined if it must be the quota. */
const refusal = ({ isPast, ...stored }: Stored, patch: ReadingPatch) => {
  const { startedAt, finishedAt, outcome, paused } = patch
  if (isPast && outcome === null) return fieldError('outcome', outcome, reopenedError)
  if (paused && outcome === undefined && stored.outcome) return fieldError('paused', paused, pausedError)
  if (outcome !== null && (startedAt || finishedAt) && !isInOrder({ ...stored, ...patch })) {
    if (finishedAt) return fieldError('finishedAt', finishedAt, beforeStartError)
    return fieldError('startedAt', startedAt, 'must not be after finishedAt')
  }
  return undefined
}

/**
 * Updates the given fields of a reading, and so the book if it is or becomes the current one. Returns undefined if the
 * caller has no such reading.
 * @throws INVALID_FIELDS when the stored values do not allow the change, MAX_MEMBER_TEXT_BYTES when that quota is full
 */
export const updateReading = async (db: Db, caller: Caller, readingId: number, patch: ReadingPatch, quotas: Quotas) => {
  const isEmpty = Object.keys(patch).length === 0
  const values = { readingId, bytes: utf8Bytes(patch.note), ...limitsOf(quotas) }
  const { stored, updated } = await runAsCaller(db, caller, {
    stored: firstRow(selectReading({ readingId })),
    updated: isEmpty ? [] : toUpdates(patch).map((update) => idempotent(update(values))),
  })
  if (!stored) return undefined
  const { isPast: _, ...before } = stored
  const [after] = isEmpty ? [before] : updated.flat()
  if (after) return toReading(after)
  throw refusal(stored, patch) ?? (await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', quotas))
}

type Deleted = { bookId: number }
const promoteNext = sqlStatement<Deleted>`${promote(BOOK_OF_CURRENT, sql`true`)} returning bookId`
const clearBook = sqlStatement<Deleted>`update books set ${unread()} where bookId in (${BOOK_OF_CURRENT}) returning bookId`
const forgetArchived = sqlStatement`${clearArchived(sql`select bookId from readings where ${isOwnPast}`, sql`archivedId = :readingId`)}`
const removePast = sqlStatement<Deleted>`delete from readings where ${isOwnPast} returning bookId`

/**
 * Deletes a reading. The newest of the others takes the place of the current one; a book without readings is unread
 * again. Returns undefined if the caller has no such reading.
 */
export const deleteReading = async (db: Db, caller: Caller, readingId: number) => {
  const { deleted } = await runAsCaller(db, caller, {
    deleted: [promoteNext, clearBook, forgetArchived, removePast].map((statement) => statement({ readingId })),
  })
  return deleted.flat()[0]
}
