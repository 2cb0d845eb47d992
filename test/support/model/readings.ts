// Readings of books. A book without any has one by its own status and dates, unless it is YET.
import { addId, type Book, descending, type Library, type Reading, tick } from './library'
import { recordProgress } from './progress'
import type { View } from './views'

const toDay = (timestamp: string | null) => timestamp?.slice(0, 10) ?? null
const isFull = (date: string | null) => date?.length === 10
const isPartial = (date: string | null) => date !== null && !isFull(date)
const toStar = (quarters: number) => Math.max(1, Math.round(quarters / 4))

const NO_DETAILS = { format: null, note: null, paused: false }

/** The only reading of a book, if it has no others. */
const firstReading = ({ bookId, bookStatus, readStartDate, readEndDate, star }: Book): Reading => ({
  readingId: bookId,
  createdAt: 0,
  startedAt: toDay(readStartDate),
  finishedAt: bookStatus === 'DONE' ? toDay(readEndDate) : null,
  outcome: bookStatus === 'DONE' ? 'FINISHED' : null,
  quarters: star * 4 || null,
  ...NO_DETAILS,
})

export const storedOf = ({ readings }: Library, bookId: number) => readings.get(bookId) ?? []

/** Open readings first, then by date as far as it is known. */
export const newestFirst = descending<Reading>(
  ({ outcome }) => (outcome === null ? 1 : 0),
  ({ finishedAt, startedAt }) => finishedAt ?? startedAt ?? '',
  ({ readingId }) => readingId,
)

const newestOf = (library: Library, bookId: number) =>
  storedOf(library, bookId).find(({ readingId }) => readingId === library.newest.get(bookId))

/** The reading that the book follows, then the others. */
export const listReadings = (library: Library, book: Book) => {
  const stored = storedOf(library, book.bookId)
  if (stored.length === 0) return book.bookStatus === 'YET' ? [] : [firstReading(book)]
  const newest = newestOf(library, book.bookId)
  const others = stored.filter((reading) => reading !== newest).toSorted(newestFirst)
  return newest ? [newest, ...others] : others
}

export const toReading = ({ createdAt: _, quarters, ...reading }: Reading) => ({
  ...reading,
  rating: quarters && quarters / 4,
})

export const store = (library: Library, bookId: number, reading: Reading) =>
  library.readings.set(bookId, [...storedOf(library, bookId), reading])

/** Before its readings change, the first one is kept. */
export const keepFirst = (library: Library, book: Book) => {
  if (storedOf(library, book.bookId).length > 0 || book.bookStatus === 'YET') return
  store(library, book.bookId, firstReading(book))
  library.newest.set(book.bookId, book.bookId)
}

/** The rating of a reading follows the stars of the book, unless they are its rating, rounded. */
const toQuarters = (reading: Reading, before: Book, { star }: Book) => {
  const rounded = reading.quarters === null ? 0 : toStar(reading.quarters)
  return star === before.star || star === rounded ? reading.quarters : star * 4 || null
}

/** The identifier of a reading that a change of a book began, until the service has listed it. */
const UNKNOWN = Number.POSITIVE_INFINITY

/** Starts a reading by a change of the book. */
const begin = (
  library: Library,
  bookId: number,
  reading: Pick<Reading, 'startedAt' | 'finishedAt' | 'outcome' | 'quarters'>,
) => {
  store(library, bookId, { ...NO_DETAILS, readingId: UNKNOWN, createdAt: tick(library), ...reading })
  library.newest.set(bookId, UNKNOWN)
}

/** The book of which a change has begun a reading. */
export const findBegun = ({ books, newest }: Library) => books.find(({ bookId }) => newest.get(bookId) === UNKNOWN)

/** Takes the identifier of a reading that a change of a book has begun from the list of its readings. */
export const learnReading = (library: Library, bookId: number, list: unknown) => {
  const [listed] = list as { readingId: unknown }[]
  const readingId = addId(library.readingIds, listed?.readingId)
  for (const reading of storedOf(library, bookId)) if (reading.readingId === UNKNOWN) reading.readingId = readingId
  library.newest.set(bookId, readingId)
}

/** Changes the readings of a book as a change of its status, dates or stars demands. */
export const followBook = (library: Library, before: Book, book: Book) => {
  const { bookId, bookStatus } = book
  const isStartKept = before.readStartDate === book.readStartDate
  const isEndKept = before.readEndDate === book.readEndDate
  const isStarKept = before.star === book.star
  const newest = newestOf(library, bookId)
  const changedStar = isStarKept ? null : book.star * 4 || null
  if (!newest) {
    if (before.bookStatus !== 'DONE' || bookStatus === 'DONE') return
    const star = bookStatus === 'YET' ? book.star : before.star
    store(library, bookId, firstReading({ ...before, star }))
    library.newest.set(bookId, bookId)
    const startedAt = isStartKept ? null : toDay(book.readStartDate)
    if (bookStatus === 'ING')
      begin(library, bookId, { startedAt, finishedAt: null, outcome: null, quarters: changedStar })
    return
  }
  if (bookStatus === before.bookStatus && isStartKept && isEndKept && isStarKept) return
  if (bookStatus === 'YET') {
    if (before.bookStatus === 'YET' && isStarKept) return
    newest.outcome ??= 'STOPPED'
    newest.quarters = toQuarters(newest, before, book)
    newest.paused = false
    return
  }
  // A date that stays in the book, and that another reading has, is of that reading.
  const isOfOther = (name: 'startedAt' | 'finishedAt', day: string | null) =>
    day !== null &&
    newest[name] !== day &&
    storedOf(library, bookId).some((reading) => reading !== newest && reading[name] === day)
  const [start, end] = [toDay(book.readStartDate), toDay(book.readEndDate)]
  const began = isStartKept && isOfOther('startedAt', start) ? null : start
  const ended = isEndKept && isOfOther('finishedAt', end) ? null : end
  const full = (date: string | null) => (isFull(date) ? date : null)
  const isTakenUp =
    newest.outcome === 'STOPPED' &&
    newest.finishedAt === null &&
    (newest.startedAt === null || full(newest.startedAt) === began)
  const isDoneAsBefore =
    bookStatus === 'DONE' &&
    (newest.outcome === 'STOPPED' ? end === null && newest.finishedAt !== null : full(newest.finishedAt) === ended)
  const isNext = bookStatus === 'ING' || before.bookStatus === 'YET'
  if (newest.outcome !== null && isNext && !isTakenUp && !isDoneAsBefore) {
    begin(library, bookId, {
      startedAt: isStartKept && began === newest.startedAt ? null : began,
      finishedAt: bookStatus === 'DONE' ? ended : null,
      outcome: bookStatus === 'DONE' ? 'FINISHED' : null,
      quarters: changedStar,
    })
    return
  }
  const { startedAt, finishedAt, outcome } = newest
  const keepsStart = (isStartKept && before.bookStatus !== 'YET') || (start === null && isPartial(startedAt))
  if (!keepsStart) newest.startedAt = began ?? (isPartial(startedAt) ? startedAt : null)
  const keepsEnd =
    (isEndKept && before.bookStatus === 'DONE') || (end === null && (isPartial(finishedAt) || outcome === 'STOPPED'))
  if (bookStatus === 'ING') newest.finishedAt = null
  else if (!keepsEnd) newest.finishedAt = ended ?? (isEndKept && isPartial(finishedAt) ? finishedAt : null)
  const isStillStopped = end === null && outcome === 'STOPPED' && (before.bookStatus === 'DONE' || finishedAt !== null)
  newest.outcome = bookStatus === 'ING' ? null : isStillStopped ? outcome : 'FINISHED'
  newest.quarters = toQuarters(newest, before, book)
  newest.paused &&= bookStatus === 'ING'
}

/** A date as the book has it: at midnight, unless the book has a time of that day. */
const toTimestamp = (day: string | null, stored: string | null) => {
  if (!isFull(day)) return null
  return toDay(stored) === day ? stored : `${day}T00:00:00`
}

type Sets = { start?: boolean; end?: boolean; outcome?: boolean; star?: boolean }

/** Changes a book as a change of its readings demands: to all values of another newest one, or to those that were set. */
export const followReading = (library: Library, book: Book, newest: Reading, sets: Sets) => {
  const before = { ...book }
  const isMoved = library.newest.get(book.bookId) !== newest.readingId
  const { outcome, quarters } = newest
  library.newest.set(book.bookId, newest.readingId)
  if (outcome === null) book.bookStatus = 'ING'
  else if (isMoved || book.bookStatus === 'ING' || sets.outcome) book.bookStatus = 'DONE'
  const isReopened = sets.outcome && before.bookStatus === 'YET'
  if (isMoved || sets.start || isReopened) book.readStartDate = toTimestamp(newest.startedAt, book.readStartDate)
  if (isMoved || sets.end) {
    book.readEndDate = outcome === 'FINISHED' ? toTimestamp(newest.finishedAt, book.readEndDate) : null
  }
  if (isMoved) book.star = quarters === null ? book.star : toStar(quarters)
  else if (sets.star) book.star = quarters === null ? 0 : toStar(quarters)
  if (!isMoved && outcome === 'FINISHED') recordProgress(library, before, book)
}

export const readingViews = (library: Library, book: Book | undefined): View[] =>
  book
    ? [
        {
          path: `/books/${book.bookId}/readings`,
          expected: { status: 200, body: listReadings(library, book).map(toReading) },
        },
      ]
    : []
