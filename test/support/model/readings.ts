// Readings of books. A book that is not YET has a current reading: its status, dates and stars, and what refines them.
import { addId, type Book, descending, type Library, type Own, type Reading, tickForReading } from './library'
import { addUnknownId, learnId } from './reading-ids'
import type { View } from './views'

const toDay = (timestamp: string | null) => timestamp?.slice(0, 10) ?? null
const isFull = (date: string | null) => date?.length === 10
const partial = (date: string | null) => (isFull(date) ? null : date)
export const toStar = (quarters: number | null) => (quarters === null ? null : Math.max(1, Math.round(quarters / 4)))
/** A date as the book has it: at midnight, unless the book has a time of that day. */
export const toTimestamp = (day: string | null, stored: string | null) => {
  if (!isFull(day)) return null
  return toDay(stored) === day ? stored : `${day}T00:00:00`
}

const BLANK = {
  startedAt: null,
  finishedAt: null,
  isStopped: false,
  quarters: null,
  format: null,
  note: null,
  paused: false,
}
const UNARCHIVED = { archivedId: null, archivedStart: null, archivedEnd: null, archivedStar: null }

export const pastOf = ({ readings }: Library, bookId: number) => readings.get(bookId) ?? []
export const ownOf = ({ current }: Library, bookId: number): Own =>
  current.get(bookId) ?? { readingId: bookId, createdAt: 0, ...BLANK, ...UNARCHIVED }
export const change = (library: Library, bookId: number, own: Partial<Own>) =>
  library.current.set(bookId, { ...ownOf(library, bookId), ...own })

export const currentOf = (library: Library, book: Book): Reading | undefined => {
  const { bookStatus, star } = book
  if (bookStatus === 'YET') return undefined
  const own = ownOf(library, book.bookId)
  const { readingId, createdAt, format, note } = own
  const [start, end] = [toDay(book.readStartDate), toDay(book.readEndDate)]
  const [shownStart, shownEnd] = [start === own.archivedStart ? null : start, end === own.archivedEnd ? null : end]
  const isDone = bookStatus === 'DONE'
  const stars = star === own.archivedStar ? null : star * 4 || null
  return {
    ...{ readingId, createdAt, format, note },
    startedAt: shownStart ?? own.startedAt,
    finishedAt: isDone ? (shownEnd ?? own.finishedAt) : null,
    outcome: isDone ? (own.isStopped && !shownEnd ? 'STOPPED' : 'FINISHED') : null,
    quarters: toStar(own.quarters) === star ? own.quarters : stars,
    paused: own.paused && bookStatus === 'ING',
  }
}

const dateOf = ({ finishedAt, startedAt }: Reading) => finishedAt ?? startedAt ?? ''
const newestFirst = descending<Reading>(dateOf, ({ readingId }) => readingId)

/** The current reading, then the others. */
export const listReadings = (library: Library, book: Book) => {
  const current = currentOf(library, book)
  const past = pastOf(library, book.bookId).toSorted(newestFirst)
  return current ? [current, ...past] : past
}

export const toReading = ({ createdAt: _, quarters, ...reading }: Reading) => ({
  ...reading,
  rating: quarters && quarters / 4,
})

export const addPast = (library: Library, bookId: number, reading: Reading) => {
  addId(library.readingIds, reading.readingId)
  library.readings.set(bookId, [...pastOf(library, bookId), reading])
}

/** The current reading becomes a past one; an open one was stopped. */
export const keep = (library: Library, book: Book) => {
  const current = currentOf(library, book)
  if (!current) return
  const past: Reading = { ...current, outcome: current.outcome ?? 'STOPPED', paused: false }
  library.readings.set(book.bookId, [...pastOf(library, book.bookId), past])
}

/** The past reading becomes the current one. */
const take = (library: Library, bookId: number, past: Reading, archivedStar: number | null) => {
  const { readingId, createdAt, startedAt, finishedAt, outcome, quarters, format, note } = past
  const others = pastOf(library, bookId).filter((each) => each !== past)
  library.readings.set(bookId, others)
  change(library, bookId, {
    ...{ readingId, createdAt, quarters, format, note, paused: false },
    startedAt: partial(startedAt),
    finishedAt: outcome === 'FINISHED' ? partial(finishedAt) : finishedAt,
    isStopped: outcome === 'STOPPED',
    ...UNARCHIVED,
    archivedStar: quarters === null ? archivedStar : null,
  })
}

/** The newest past reading becomes the current one. Returns whether there is one. */
export const promote = (library: Library, book: Book) => {
  const [newest] = pastOf(library, book.bookId).toSorted(newestFirst)
  if (!newest) return false
  const { startedAt, finishedAt, outcome, quarters } = newest
  take(library, book.bookId, newest, book.star)
  book.bookStatus = 'DONE'
  book.readStartDate = toTimestamp(startedAt, book.readStartDate)
  book.readEndDate = outcome === 'FINISHED' ? toTimestamp(finishedAt, book.readEndDate) : null
  book.star = toStar(quarters) ?? book.star
  return true
}

/** If a past reading is later than the ended current one, they change places. */
export const settleReadings = (library: Library, book: Book) => {
  const current = currentOf(library, book)
  const past = pastOf(library, book.bookId)
  if (!current?.outcome || !past.some((each) => dateOf(each) > dateOf(current))) return
  keep(library, book)
  promote(library, book)
}

/** A book gets a blank reading, whose identifier is known once the book shows it. */
const renew = (library: Library, { bookId, readStartDate, readEndDate, star }: Book) =>
  change(library, bookId, {
    ...BLANK,
    readingId: addUnknownId(library),
    createdAt: tickForReading(library, bookId),
    archivedId: ownOf(library, bookId).readingId,
    archivedStart: toDay(readStartDate),
    archivedEnd: toDay(readEndDate),
    archivedStar: star,
  })

/** A reading that ends without a trace, or that is deleted: the book is unread. */
export const forgetCurrent = (library: Library, bookId: number) =>
  change(library, bookId, { ...BLANK, readingId: addUnknownId(library), createdAt: 0 })
export const unarchive = (library: Library, bookId: number) => change(library, bookId, UNARCHIVED)

/** An open reading begins. */
export const begin = (library: Library, book: Book, reading: Reading) => {
  if (book.bookStatus === 'DONE') {
    keep(library, book)
    addId(library.readingIds, reading.readingId)
  } else learnId(library, ownOf(library, book.bookId).readingId, reading.readingId)
  showOpen(library, book, reading)
}

/** An open reading becomes the current one. */
export const showOpen = (library: Library, book: Book, reading: Reading) => {
  const { readingId, createdAt, startedAt, quarters, format, note, paused } = reading
  const { bookId, star } = book
  change(library, bookId, { ...BLANK, readingId, createdAt, quarters, format, note, paused, ...UNARCHIVED })
  change(library, bookId, { startedAt: partial(startedAt), archivedStar: quarters === null ? star : null })
  book.bookStatus = 'ING'
  book.readStartDate = toTimestamp(startedAt, book.readStartDate)
  book.readEndDate = null
  book.star = toStar(quarters) ?? star
}

const isUnknown = ({ readingId }: Reading) => !Number.isInteger(readingId)
/** The books with readings that changes of a book have begun. */
export const listBegun = (library: Library) =>
  library.books.filter((book) => listReadings(library, book).some(isUnknown))

/** Takes the identifiers of readings that changes of a book have begun from the list of its readings. */
export const learnReadings = (library: Library, book: Book, list: unknown) => {
  const listed = list as { readingId: number }[]
  for (const [at, reading] of listReadings(library, book).entries()) {
    if (isUnknown(reading)) learnId(library, reading.readingId, listed[at]?.readingId ?? 0)
  }
}

export const isRefined = ({ startedAt, quarters, format, note }: Own) =>
  [startedAt, quarters, format, note].some((each) => each !== null)

/**
 * Changes the readings of a book as a change of its status demands. Returns the book before, as far as progress is
 * concerned: one that takes its reading up again has not just been finished.
 */
export const followBook = (library: Library, before: Book, book: Book): Book => {
  const { bookId, bookStatus } = book
  if (bookStatus === before.bookStatus) return before
  const current = currentOf(library, before)
  const isLeft = bookStatus === 'YET' || (bookStatus === 'ING' && current?.outcome)
  if (current && isLeft) {
    if (current.outcome || isRefined(ownOf(library, bookId))) {
      keep(library, before)
      renew(library, before)
    } else forgetCurrent(library, bookId)
    return { ...before, bookStatus }
  }
  const own = ownOf(library, bookId)
  const archived = pastOf(library, bookId).find(({ readingId }) => readingId === own.archivedId)
  if (archived && !isRefined(own) && toDay(book.readStartDate) === own.archivedStart) {
    const isGivenUp = archived.outcome === 'STOPPED' && archived.finishedAt === null
    const wasPutBack = archived.outcome === 'FINISHED' || (before.bookStatus === 'YET' && isGivenUp)
    const isFinishedAgain = bookStatus === 'DONE' && toDay(book.readEndDate) === own.archivedEnd && wasPutBack
    const isTakenUp = bookStatus === 'ING' && isGivenUp
    if (isFinishedAgain || isTakenUp) {
      take(library, bookId, archived, own.archivedStar)
      change(library, bookId, { isStopped: false })
      return { ...before, bookStatus }
    }
  }
  if (before.bookStatus !== 'DONE') change(library, bookId, { isStopped: false })
  return before
}

/** Changes the current reading, and so its book. What is not sent stays. */
export const changeCurrent = (library: Library, book: Book, sent: Partial<Reading>, changed: Reading) => {
  const { bookId } = book
  const { startedAt, finishedAt, outcome, quarters, format, note, paused } = changed
  change(library, bookId, { format, note, paused })
  if (sent.startedAt !== undefined) {
    book.readStartDate = toTimestamp(startedAt, book.readStartDate)
    change(library, bookId, { startedAt: partial(startedAt), archivedStart: null })
  }
  if (sent.finishedAt !== undefined || sent.outcome !== undefined) {
    book.bookStatus = outcome ? 'DONE' : 'ING'
    book.readEndDate = outcome === 'FINISHED' ? toTimestamp(finishedAt, book.readEndDate) : null
    const own = {
      finishedAt: outcome === 'FINISHED' ? partial(finishedAt) : finishedAt,
      isStopped: outcome === 'STOPPED',
    }
    change(library, bookId, { ...own, archivedEnd: null })
  }
  if (sent.quarters !== undefined) {
    book.star = toStar(quarters) ?? 0
    change(library, bookId, { quarters, archivedStar: null })
  }
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
