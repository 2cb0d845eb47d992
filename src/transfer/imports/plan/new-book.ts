import { fieldsOf } from '../../../values/book-fields'
import { utf8Bytes } from '../../../values/quotas'
import type { BookColumns } from '../../book-columns'
import type { Entry, EntryReading, ExactValues, Loss } from '../../entries/entry'

const isFull = (date: string | null) => date?.length === 10
const toTimestamp = (date: string | null) => (date && isFull(date) ? `${date}T00:00:00` : null)
/** Whole stars: quarters rounded half up, but at least one. 0 if unrated. */
export const toStars = (quarters: number | null) => (quarters ? Math.max(1, Math.floor((quarters + 2) / 4)) : 0)

const dateOf = ({ startedAt, finishedAt }: EntryReading) => finishedAt ?? startedAt ?? ''
/** The order of `NEWEST_FIRST` in readings/newest.ts, reversed. */
const oldestFirst = (one: EntryReading, other: EntryReading) =>
  Number(one.outcome === null) - Number(other.outcome === null) ||
  (dateOf(one) < dateOf(other) ? -1 : Number(dateOf(one) > dateOf(other)))

/** The readings of an entry, with the newest last. Its rating belongs to the newest. */
export const readingsOf = ({ readings, quarters, exact }: Entry): EntryReading[] => {
  if (exact) return readings
  const sorted = readings.toSorted(oldestFirst)
  const newest = sorted.at(-1)
  if (newest && newest.quarters === null && quarters !== null) sorted[sorted.length - 1] = { ...newest, quarters }
  return sorted
}

/** Whether the columns of a book can hold all values of a reading, so that it needs no row. */
export const fitsBook = ({ startedAt, finishedAt, outcome, quarters, isPaused, note, format }: EntryReading) =>
  (!startedAt || isFull(startedAt)) &&
  (!finishedAt || isFull(finishedAt)) &&
  outcome !== 'STOPPED' &&
  (quarters ?? 0) % 4 === 0 &&
  !isPaused &&
  !note &&
  !format

/** The columns of a book that follow from its newest reading, as in readings/newest.ts. */
const fromNewest = ({ startedAt, finishedAt, outcome, quarters }: EntryReading) => ({
  bookStatus: outcome === null ? ('ING' as const) : ('DONE' as const),
  readStartDate: toTimestamp(startedAt),
  readEndDate: outcome === 'FINISHED' ? toTimestamp(finishedAt) : null,
  star: toStars(quarters),
})

export type ReadingColumns = Pick<BookColumns, 'bookStatus' | 'readStartDate' | 'readEndDate' | 'star'>

/** The time of the book if the reading has the same or no complete date, otherwise midnight of the date. */
const toExactTime = (day: string | null, time: string | null) =>
  !isFull(day) || (day && time?.startsWith(day)) ? time : toTimestamp(day)

/**
 * The columns of an exported book. They agree with its newest reading unless the file was edited. In that case the
 * reading wins, because the two must agree in the database.
 */
const fromExport = (status: Entry['status'], exact: ExactValues, newest?: EntryReading): ReadingColumns => {
  const { star, readStartDate, readEndDate } = exact
  if (!newest) return { bookStatus: status ?? 'YET', readStartDate, readEndDate, star }
  const { startedAt, finishedAt, outcome, quarters } = newest
  // A book that was set back to unread keeps its readings.
  const bookStatus = outcome === null ? 'ING' : status === 'YET' ? 'YET' : 'DONE'
  const ended = outcome === 'STOPPED' ? null : toExactTime(finishedAt, readEndDate)
  return {
    bookStatus,
    readStartDate: bookStatus === 'YET' ? readStartDate : toExactTime(startedAt, readStartDate),
    readEndDate: bookStatus === 'DONE' ? ended : readEndDate,
    star: quarters === null ? star : toStars(quarters),
  }
}

/** The columns that follow from the readings of an entry. Undefined if nothing does. */
export const fromReadings = (readings: EntryReading[], { exact, status }: Pick<Entry, 'exact' | 'status'>) => {
  const newest = readings.at(-1)
  return exact ? fromExport(status, exact, newest) : newest && fromNewest(newest)
}

/**
 * Whether a reading is the one that readings/store.ts derives from the columns of a book without rows in `readings`.
 */
const isOfColumns = (reading: EntryReading, { bookStatus, readStartDate, readEndDate, star }: ReadingColumns) =>
  bookStatus !== 'YET' &&
  fitsBook(reading) &&
  !reading.createdAt &&
  reading.startedAt === (readStartDate?.slice(0, 10) ?? null) &&
  reading.finishedAt === ((bookStatus === 'DONE' && readEndDate?.slice(0, 10)) || null) &&
  reading.quarters === (star * 4 || null)

const DETAILS = fieldsOf('fill')
const detailsOf = (entry: Entry) =>
  Object.fromEntries(DETAILS.map((name) => [name, entry[name]])) as Pick<Entry, (typeof DETAILS)[number]>

/** A new book: its columns, and the readings that need rows. */
export const toNewBook = (entry: Entry, now: string) => {
  const { exact } = entry
  const all = readingsOf(entry)
  const ofReading = fromReadings(all, entry)
  const isImplied = all.length <= 1 && all.every((reading) => ofReading && isOfColumns(reading, ofReading))
  const losses: Loss[] = []
  if (all.length === 0 && (entry.quarters ?? 0) % 4 !== 0) losses.push({ code: 'rating-rounded', field: 'rating' })
  const columns: BookColumns = {
    title: entry.title ?? '',
    ...detailsOf(entry),
    createdAt: toTimestamp(entry.addedAt) ?? entry.addedAt ?? now,
    star: toStars(entry.quarters),
    // The page of a book is that of its latest event.
    currentPage: exact?.progress.at(-1)?.page ?? entry.currentPage ?? 0,
    bookStatus: entry.status ?? 'YET',
    readStartDate: null,
    readEndDate: null,
    ...ofReading,
    sourceIds: entry.sourceIds.length > 0 ? JSON.stringify(entry.sourceIds) : null,
  }
  return { columns, readings: isImplied ? [] : all, losses }
}

/** The UTF-8 bytes that the triggers count for a book. */
export const textBytesOf = (book: BookColumns) => utf8Bytes(...fieldsOf('text').map((name) => book[name]))
