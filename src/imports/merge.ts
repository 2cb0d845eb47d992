import { toFoldedColumn } from '../fold'
import { utf8Bytes } from '../quotas'
import type { Entry, EntryMemo, EntryReading, ExactValues, Loss } from './entry'

/** The columns of a book that an import writes. */
export type BookColumns = {
  title: string
  cover: string | null
  author: string | null
  publisher: string | null
  createdAt: string
  star: number
  currentPage: number
  itemPage: number | null
  bookStatus: 'YET' | 'ING' | 'DONE'
  readStartDate: string | null
  readEndDate: string | null
  isbn: string | null
  language: string | null
  format: string | null
  publishedYear: number | null
  series: string | null
  seriesNumber: number | null
  /** A JSON array. */
  sourceIds: string | null
}

/** A book of the library, as far as an import compares it. */
export type Existing = BookColumns & {
  bookId: number
  newestReadingId: number | null
  memoCount: number
  memoBytes: number
  /** The rows of its readings. */
  readings: Pick<EntryReading, 'startedAt' | 'finishedAt'>[]
  /** Whether it has a memo other than quotations. */
  hasThoughts: boolean
  tags: string[]
}

const isFull = (date: string | null) => date?.length === 10
const toTimestamp = (date: string | null) => (date && isFull(date) ? `${date}T00:00:00` : null)
const toAddedAt = (added: string | null) => (added && added.length === 10 ? `${added}T00:00:00` : added)
/** Whole stars, as those of a reading: at least one, rounded half up. */
const toStars = (quarters: number | null) => (quarters ? Math.max(1, Math.floor((quarters + 2) / 4)) : 0)

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

/** Whether the columns of a book say all of a reading, so that it needs no row. */
const fitsBook = ({ startedAt, finishedAt, outcome, quarters, isPaused, note, format }: EntryReading) =>
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

type ReadingColumns = Pick<BookColumns, 'bookStatus' | 'readStartDate' | 'readEndDate' | 'star'>

/** The time of a book, unless it is not of the day of the reading. */
const toExactTime = (day: string | null, time: string | null) =>
  !isFull(day) || (day && time?.startsWith(day)) ? time : toTimestamp(day)

/**
 * The columns of an exported book. They agree with its newest reading, except in a file that was changed: then the reading
 * counts, because the two must agree in the database.
 */
const fromExport = (status: Entry['status'], exact: ExactValues, newest?: EntryReading): ReadingColumns => {
  const { star, readStartDate, readEndDate } = exact
  if (!newest) return { bookStatus: status ?? 'YET', readStartDate, readEndDate, star }
  const { startedAt, finishedAt, outcome, quarters } = newest
  // A book that was put back to unread keeps its readings.
  const bookStatus = outcome === null ? 'ING' : status === 'YET' ? 'YET' : 'DONE'
  const ended = outcome === 'STOPPED' ? null : toExactTime(finishedAt, readEndDate)
  return {
    bookStatus,
    readStartDate: bookStatus === 'YET' ? readStartDate : toExactTime(startedAt, readStartDate),
    readEndDate: bookStatus === 'DONE' ? ended : readEndDate,
    star: quarters === null ? star : toStars(quarters),
  }
}

/** Whether a reading is the one that a book without rows has by its columns, as in readings/store.ts. */
const isOfColumns = (reading: EntryReading, { bookStatus, readStartDate, readEndDate, star }: ReadingColumns) =>
  bookStatus !== 'YET' &&
  fitsBook(reading) &&
  !reading.createdAt &&
  reading.startedAt === (readStartDate?.slice(0, 10) ?? null) &&
  reading.finishedAt === ((bookStatus === 'DONE' && readEndDate?.slice(0, 10)) || null) &&
  reading.quarters === (star * 4 || null)

/** A new book: its columns, and the readings that need rows. */
export const toNewBook = (entry: Entry, now: string) => {
  const { exact } = entry
  const all = readingsOf(entry)
  const [only, ...others] = all
  const newest = all.at(-1)
  const ofReading = exact ? fromExport(entry.status, exact, newest) : newest && fromNewest(newest)
  const isImplied = (reading: EntryReading) =>
    exact && ofReading ? isOfColumns(reading, ofReading) : fitsBook(reading)
  const readings = others.length > 0 || (only && !isImplied(only)) ? all : []
  const losses: Loss[] = []
  if (!newest && (entry.quarters ?? 0) % 4 !== 0) losses.push({ code: 'rating-rounded', field: 'rating' })
  const columns: BookColumns = {
    title: entry.title ?? '',
    cover: entry.cover,
    author: entry.author,
    publisher: entry.publisher,
    createdAt: toAddedAt(entry.addedAt) ?? now,
    star: toStars(entry.quarters),
    // The latest event and the book have the same page.
    currentPage: exact?.progress.at(-1)?.page ?? entry.currentPage ?? 0,
    itemPage: entry.pages,
    bookStatus: entry.status ?? 'YET',
    readStartDate: null,
    readEndDate: null,
    ...ofReading,
    isbn: entry.isbn,
    language: entry.language,
    format: entry.format,
    publishedYear: entry.publishedYear,
    series: entry.series,
    seriesNumber: entry.seriesNumber,
    sourceIds: entry.sourceIds.length > 0 ? JSON.stringify(entry.sourceIds) : null,
  }
  return { columns, readings, losses }
}

export const foldedColumns = ({ title, author }: Pick<BookColumns, 'title' | 'author'>) => ({
  titleFolded: toFoldedColumn(title),
  authorFolded: toFoldedColumn(author),
})

/** The UTF-8 bytes that the triggers count for a book. */
export const textBytesOf = ({ title, cover, author, publisher, language, series, sourceIds }: BookColumns) =>
  utf8Bytes(title, cover, author, publisher, language, series, sourceIds)

const RANK = { YET: 0, ING: 1, DONE: 2 }
const DETAILS = [
  'cover',
  'author',
  'publisher',
  'itemPage',
  'isbn',
  'language',
  'format',
  'publishedYear',
  'series',
  'seriesNumber',
] as const

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
const implicitReading = ({ bookStatus, newestReadingId, readStartDate, readEndDate }: Existing) =>
  newestReadingId !== null || bookStatus === 'YET'
    ? []
    : [{ startedAt: readStartDate?.slice(0, 10) ?? null, finishedAt: readEndDate?.slice(0, 10) ?? null }]

const definedDetails = (entry: Entry, book: Existing, overwrites: boolean) => {
  const values = { ...entry, itemPage: entry.pages } as Record<(typeof DETAILS)[number], string | number | null>
  return Object.fromEntries(
    DETAILS.flatMap((name) => {
      const value = values[name]
      const isWanted = value !== null && value !== book[name] && (overwrites || book[name] === null)
      return isWanted ? [[name, value]] : []
    }),
  )
}

/** Status, dates and stars of a book whose only reading is its own, or that is unread. */
const mergeReading = (
  book: Existing,
  entry: Entry,
  overwrites: boolean,
): { changes: Partial<BookColumns>; isBehind: boolean } => {
  const newest = readingsOf(entry).at(-1)
  const status = entry.status ?? book.bookStatus
  const withoutDates = { bookStatus: status, readStartDate: null, readEndDate: null, star: toStars(entry.quarters) }
  const wanted: ReadingColumns = entry.exact
    ? fromExport(status, entry.exact, newest)
    : newest
      ? fromNewest(newest)
      : withoutDates
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

/** What an entry changes in a book of the library. Nothing is removed, and a book never moves back unless `overwrites`. */
export const mergeInto = (book: Existing, entry: Entry, overwrites: boolean) => {
  const losses: Loss[] = []
  const changes: Partial<BookColumns> = definedDetails(entry, book, overwrites)
  const known: string[] = book.sourceIds === null ? [] : JSON.parse(book.sourceIds)
  const ids = [...new Set([...known, ...entry.sourceIds])].slice(0, 20)
  if (ids.length > known.length) changes.sourceIds = JSON.stringify(ids)
  // Progress of the file sets the page by itself, if it is later than that of the book.
  const isPageWanted = overwrites
    ? book.currentPage !== entry.currentPage
    : !book.currentPage && !entry.exact?.progress[0]
  if (entry.currentPage && isPageWanted) changes.currentPage = entry.currentPage

  const stored = [...book.readings, ...implicitReading(book)]
  const wanted = readingsOf(entry)
  const isPlain = wanted.length <= 1 && wanted.every(fitsBook) && book.newestReadingId === null
  let readings: EntryReading[] = []
  if (
    isPlain &&
    (stored.length === 0 ||
      wanted.every((reading) => hasReading(stored, reading) || !reading.finishedAt || !stored[0]?.finishedAt))
  ) {
    const { changes: ofReading, isBehind } = mergeReading(book, entry, overwrites)
    Object.assign(changes, ofReading)
    if (isBehind) losses.push({ code: 'newer-here', field: 'status' })
  } else {
    readings = wanted.filter((reading) => !hasReading(stored, reading))
    if (wanted.length === 0 && entry.status && RANK[entry.status] < RANK[book.bookStatus])
      losses.push({ code: 'newer-here', field: 'status' })
  }
  const tags = entry.tags.filter((tag) => !book.tags.includes(tag))
  return { changes, readings, tags, losses }
}

/**
 * The memos of an entry that a book may lack. Reviews of other services are left out if the book has a thought already: it may
 * be the edited review.
 */
export const memosFor = (entry: Entry, hasThoughts: boolean): EntryMemo[] =>
  hasThoughts && !entry.exact ? entry.memos.filter(({ type }) => type === 'BOOK_CONTENT') : entry.memos
