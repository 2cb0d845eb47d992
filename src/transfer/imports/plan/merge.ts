import { BOOK_DETAILS } from '../../../db/schema/book-tables'
import { MAX_SOURCE_IDS } from '../../../library/editions/schema'
import type { BookColumns } from '../../book-columns'
import type { Entry, EntryReading, Loss } from '../../entry'
import type { Existing } from './existing'
import { fitsBook, fromReadings, type ReadingColumns, readingsOf, toStars } from './new-book'

const RANK = { YET: 0, ING: 1, DONE: 2 }

const isSameDate = (one: string | null, other: string | null) =>
  one === other || Boolean(one && other && (one.startsWith(other) || other.startsWith(one)))

/** Whether a book has a reading already, as far as both have dates. */
const hasReading = (readings: Existing['readings'], { startedAt, finishedAt }: EntryReading) =>
  readings.some((known) =>
    finishedAt || known.finishedAt
      ? isSameDate(known.finishedAt, finishedAt)
      : !startedAt || !known.startedAt || isSameDate(known.startedAt, startedAt),
  )

/** The first reading of a book without rows. */
export const implicitReading = ({ bookStatus, newestReadingId, readStartDate, readEndDate }: Existing) =>
  newestReadingId !== null || bookStatus === 'YET'
    ? []
    : [{ startedAt: readStartDate?.slice(0, 10) ?? null, finishedAt: readEndDate?.slice(0, 10) ?? null }]

const mergeDetails = (book: Existing, entry: Entry, overwrites: boolean): Partial<BookColumns> => {
  const wanted = BOOK_DETAILS.filter(
    (name) => entry[name] !== null && entry[name] !== book[name] && (overwrites || book[name] === null),
  )
  return Object.fromEntries(wanted.map((name) => [name, entry[name]]))
}

/** Status, dates and stars of a book whose only reading is its own, or that is unread. */
const mergeReading = (book: Existing, entry: Entry, overwrites: boolean) => {
  const bookStatus = entry.status ?? book.bookStatus
  const withoutDates = { bookStatus, readStartDate: null, readEndDate: null, star: toStars(entry.quarters) }
  const wanted: ReadingColumns = fromReadings(readingsOf(entry), { ...entry, status: bookStatus }) ?? withoutDates
  const changes: Partial<BookColumns> = {}
  const ahead = RANK[wanted.bookStatus] - RANK[book.bookStatus]
  if (ahead > 0 || (overwrites && ahead !== 0)) changes.bookStatus = wanted.bookStatus
  for (const name of ['readStartDate', 'readEndDate'] as const) {
    const value = wanted[name]
    if (value && (book[name] === null || (overwrites && book[name]?.slice(0, 10) !== value.slice(0, 10))) && ahead >= 0)
      changes[name] = value
  }
  if (wanted.star && (book.star === 0 || (overwrites && book.star !== wanted.star))) changes.star = wanted.star
  return { changes, isBehind: ahead < 0 && !overwrites }
}

/**
 * What an entry changes in a book of the library. Nothing is removed, and a book never moves back unless `overwrites`.
 */
export const mergeInto = (book: Existing, entry: Entry, overwrites: boolean) => {
  const losses: Loss[] = []
  const changes = mergeDetails(book, entry, overwrites)
  if (overwrites && entry.title && entry.title !== book.title) changes.title = entry.title
  const known: string[] = book.sourceIds === null ? [] : JSON.parse(book.sourceIds)
  const ids = [...new Set([...known, ...entry.sourceIds])].slice(0, MAX_SOURCE_IDS)
  if (ids.length > known.length) changes.sourceIds = JSON.stringify(ids)
  // If the entry has progress, its latest event sets the page, unless the book has a later event.
  const isPageWanted = overwrites
    ? book.currentPage !== entry.currentPage
    : !book.currentPage && !entry.exact?.progress[0]
  if (entry.currentPage && isPageWanted) changes.currentPage = entry.currentPage

  const stored = [...book.readings, ...implicitReading(book)]
  const wanted = readingsOf(entry)
  const isPlain = wanted.length <= 1 && wanted.every(fitsBook) && book.newestReadingId === null
  let readings: EntryReading[] = []
  let isBehind = wanted.length === 0 && entry.status !== null && RANK[entry.status] < RANK[book.bookStatus]
  if (
    isPlain &&
    (stored.length === 0 ||
      wanted.every((reading) => hasReading(stored, reading) || !reading.finishedAt || !stored[0]?.finishedAt))
  ) {
    const merged = mergeReading(book, entry, overwrites)
    Object.assign(changes, merged.changes)
    isBehind = merged.isBehind
  } else readings = wanted.filter((reading) => !hasReading(stored, reading))
  if (isBehind) losses.push({ code: 'newer-here', field: 'status' })
  return { changes, readings, losses }
}
