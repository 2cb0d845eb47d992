import { MAX_SOURCE_IDS } from '../../../library/editions/schema'
import { isInOrder } from '../../../library/readings/schema'
import { fieldsOf } from '../../../values/book-fields'
import { fold } from '../../../values/text/fold'
import type { BookColumns } from '../../book-columns'
import type { Entry, EntryReading, Loss } from '../../entries/entry'
import { toFullTitle } from '../../entries/names'
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

/** Whether a reading of the file can end a stored one that has no end: it must not end before that one began. */
const canEnd = (known: Existing['readings'][number] | undefined, { finishedAt }: EntryReading) =>
  !known?.finishedAt && isInOrder({ startedAt: known?.startedAt, finishedAt })

/** The readings of the file that a book lacks. Each stored one matches at most one, preferably with equal dates. */
const withoutStored = (stored: Existing['readings'], wanted: EntryReading[]) => {
  const left = [...stored]
  const isMissing =
    (isSame: (known: Existing['readings'][number], reading: EntryReading) => boolean) => (reading: EntryReading) => {
      const at = left.findIndex((known) => isSame(known, reading))
      if (at !== -1) left.splice(at, 1)
      return at === -1
    }
  return wanted
    .filter(
      isMissing((known, { startedAt, finishedAt }) => known.startedAt === startedAt && known.finishedAt === finishedAt),
    )
    .filter(isMissing((known, reading) => hasReading([known], reading)))
}

/** The first reading of a book without rows. */
export const implicitReading = ({ bookStatus, newestReadingId, readStartDate, readEndDate }: Existing) =>
  newestReadingId !== null || bookStatus === 'YET'
    ? []
    : [{ startedAt: readStartDate?.slice(0, 10) ?? null, finishedAt: readEndDate?.slice(0, 10) ?? null }]

/**
 * The row for a book's own reading, which has none yet. Needed if the same reading of the file ends it, or has values
 * that the book lacks or that its columns cannot hold. Values of the book stay, unless the import overwrites.
 */
const toFirst = (
  book: Existing,
  own: Existing['readings'][number],
  wanted: EntryReading,
  overwrites: boolean,
): EntryReading | undefined => {
  const isOpen = book.bookStatus === 'ING'
  const ends = isOpen && wanted.outcome !== null
  const replaces = overwrites && !isSameDate(own.startedAt, wanted.startedAt)
  const startedAt = replaces ? (wanted.startedAt ?? own.startedAt) : (own.startedAt ?? wanted.startedAt)
  // The book may have the date of an end even while it is being read.
  const finishedAt = isOpen ? wanted.finishedAt : (own.finishedAt ?? wanted.finishedAt)
  const isOwn = ends || (isOpen === (wanted.outcome === null) && hasReading([own], wanted))
  if (!isOwn || !isInOrder({ startedAt, finishedAt })) return undefined
  const stars = book.star * 4 || null
  const first: EntryReading = {
    startedAt,
    finishedAt,
    outcome: isOpen || overwrites ? wanted.outcome : 'FINISHED',
    quarters: overwrites ? (wanted.quarters ?? stars) : (stars ?? wanted.quarters),
    isPaused: wanted.isPaused,
    note: wanted.note,
    format: wanted.format,
  }
  const addsNothing =
    !ends &&
    fitsBook(first) &&
    first.startedAt === own.startedAt &&
    first.finishedAt === own.finishedAt &&
    first.quarters === stars
  return addsNothing ? undefined : first
}

/** A title with its subtitle stays as it is if the file has the same, divided otherwise. */
const mergeDetails = (book: Existing, entry: Entry, overwrites: boolean): Partial<BookColumns> => {
  const isSame = fold(toFullTitle(book)) === fold(toFullTitle(entry))
  const title = overwrites && !(isSame && book.subtitle && !entry.subtitle) ? entry.title : null
  const wanted = fieldsOf('fill').filter(
    (name) =>
      entry[name] !== null &&
      entry[name] !== book[name] &&
      (overwrites || (book[name] === null && !(isSame && name === 'subtitle'))),
  )
  return {
    ...(title && title !== book.title && { title }),
    ...Object.fromEntries(wanted.map((name) => [name, entry[name]])),
  }
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
  const known: string[] = book.sourceIds === null ? [] : JSON.parse(book.sourceIds)
  const ids = [...new Set([...known, ...entry.sourceIds])].slice(0, MAX_SOURCE_IDS)
  if (ids.length > known.length) changes.sourceIds = JSON.stringify(ids)
  // If the entry has progress, its latest event sets the page, unless the book has a later event.
  const isPageWanted = overwrites
    ? book.currentPage !== entry.currentPage
    : !book.currentPage && !entry.exact?.progress[0]
  if (entry.currentPage && isPageWanted) changes.currentPage = entry.currentPage

  const implied = implicitReading(book)
  const stored = [...book.readings, ...implied]
  const wanted = readingsOf(entry)
  const isPlain = wanted.length <= 1 && wanted.every(fitsBook) && book.newestReadingId === null
  let readings: EntryReading[] = []
  let first: EntryReading | undefined
  let isBehind = wanted.length === 0 && entry.status !== null && RANK[entry.status] < RANK[book.bookStatus]
  if (
    isPlain &&
    (stored.length === 0 ||
      wanted.every((reading) => hasReading(stored, reading) || !reading.finishedAt || canEnd(stored[0], reading)))
  ) {
    const merged = mergeReading(book, entry, overwrites)
    Object.assign(changes, merged.changes)
    if (wanted.length === 0 && merged.changes.star && (entry.quarters ?? 0) % 4 !== 0)
      losses.push({ code: 'rating-rounded', field: 'rating' })
    isBehind = merged.isBehind
  } else {
    const [own] = implied
    // A reading that goes on in the file, too, was not ended by an earlier one.
    const open = book.bookStatus === 'ING' ? wanted.filter(({ outcome }) => outcome === null) : []
    const candidates = open.some((reading) => hasReading(implied, reading)) ? open : wanted
    const merged = own && candidates.map((reading) => ({ reading, row: toFirst(book, own, reading, overwrites) }))
    const same = merged?.findLast(({ row }) => row)
    first = same?.row
    readings = withoutStored(
      first ? book.readings : stored,
      wanted.filter((reading) => reading !== same?.reading),
    )
    if (first) readings.unshift(first)
    isBehind ||=
      !overwrites &&
      wanted.some(
        (reading) => reading.outcome === 'STOPPED' && book.bookStatus === 'DONE' && hasReading(implied, reading),
      )
  }
  if (isBehind) losses.push({ code: 'newer-here', field: 'status' })
  return { changes, readings, first, losses }
}
