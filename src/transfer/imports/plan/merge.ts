import { MAX_SOURCE_IDS } from '../../../library/editions/schema'
import { isInOrder } from '../../../library/readings/schema'
import { fieldsOf } from '../../../values/book-fields'
import { fold } from '../../../values/text/fold'
import type { BookColumns } from '../../book-columns'
import type { Entry, EntryReading, Loss } from '../../entries/entry'
import { toFullTitle } from '../../entries/names'
import { type Dates, findStored, isAlike, isSameDate, readingsOf } from '../../entries/readings'
import { changesOfReading, type KnownReading, type ReadingColumns, toRating, toStars } from './current-reading'
import type { Existing } from './existing'
import { ROUNDED } from './new-book'

const RANK = { YET: 0, ING: 1, DONE: 2 }
export const isEarlier = (status: ReadingColumns['bookStatus'], other: ReadingColumns['bookStatus']) =>
  RANK[status] < RANK[other]

const BEHIND: Loss = { code: 'newer-here', field: 'status' }

const latestOf = (readings: Dates[]) =>
  readings.reduce<string | null>((latest, { startedAt, finishedAt }) => {
    const date = finishedAt ?? startedAt
    return latest && (date ?? '') < latest ? latest : date
  }, null)

/** A reading of the library with what the same one of a file adds. Its own values stay, unless the import overwrites. */
const combine = (current: KnownReading, wanted: EntryReading, overwrites: boolean): KnownReading => {
  const choose = <Value>(own: Value, other: Value) => (overwrites ? (other ?? own) : (own ?? other))
  const isOpen = current.outcome === null
  const outcome = isOpen || overwrites ? wanted.outcome : current.outcome
  const finishedAt = isOpen ? wanted.finishedAt : (current.finishedAt ?? wanted.finishedAt)
  const isSameStart = isSameDate(current.startedAt, wanted.startedAt)
  const chosen = isSameStart ? current.startedAt : choose(current.startedAt, wanted.startedAt)
  // The finish in the file can come before the stored start, or the stored finish before the start in the file.
  const starts = isOpen ? [chosen, current.startedAt, wanted.startedAt, null] : [chosen]
  const isPaused = overwrites ? wanted.isPaused : current.isPaused || wanted.isPaused
  return {
    startedAt: starts.find((startedAt) => isInOrder({ startedAt, finishedAt })) ?? current.startedAt,
    ...{ finishedAt, outcome, isPaused: isPaused && outcome === null },
    quarters: choose(current.quarters, wanted.quarters),
    format: choose(current.format, wanted.format ?? null),
    note: choose(current.note, wanted.note),
  }
}

/** What a file without readings changes. */
const mergeStatus = (book: Existing, entry: Entry, overwrites: boolean) => {
  const changes: Partial<ReadingColumns> = {}
  const status = entry.status ?? book.bookStatus
  const isBehind = isEarlier(status, book.bookStatus)
  // DONE can mean a past reading.
  const isNext = isEarlier(book.bookStatus, status) && !(status === 'DONE' && book.past.length > 0)
  if (isNext) Object.assign(changes, { bookStatus: status, isStopped: false })
  if (isBehind && overwrites) changes.bookStatus = status
  for (const name of ['readStartDate', 'readEndDate'] as const) {
    const [own, time] = [book[name], isBehind && !overwrites ? null : entry.exact?.[name]]
    if (time && (own === null || (overwrites && own.slice(0, 10) !== time.slice(0, 10)))) changes[name] = time
  }
  const rating = toRating(entry.quarters, 0)
  const isOther = entry.quarters !== (book.current.quarters ?? 4 * book.star)
  if (rating.star && isOther && (book.star === 0 || overwrites)) {
    Object.assign(changes, (changes.bookStatus ?? book.bookStatus) === 'YET' ? { star: rating.star } : rating)
  }
  return changes
}

/** A new rating of a past reading. `before`: the one that it replaces. */
export type RatedReading = { readingId: number; before: number | null; quarters: number }

type MergedReadings = {
  changes: Partial<ReadingColumns>
  rated: RatedReading[]
  /** Past readings that the book lacks, oldest first. */
  ended: EntryReading[]
  /** An open reading that begins after the current one. */
  open?: EntryReading
  losses: Loss[]
}

const changed = (book: Existing, merged: Partial<ReadingColumns>): Partial<ReadingColumns> =>
  Object.fromEntries(Object.entries(merged).filter(([name, value]) => value !== book[name as keyof ReadingColumns]))

/**
 * `pairs`: the readings of a file with those that a book has. `missing`: the ended ones that it lacks. `same`: the one
 * that is the book's current reading: it has the same dates, ends it, or is the newest one and the book is unread. If the
 * file has it open, no other ends it.
 */
const findCurrent = ({ bookStatus, current, past }: Existing, ended: EntryReading[], open?: EntryReading) => {
  const isGoingOn = bookStatus === 'ING' && open !== undefined
  const stored: Pick<KnownReading, keyof Dates | 'quarters'>[] =
    isGoingOn || bookStatus === 'YET' ? past : [current, ...past]
  const pairs = findStored(stored, ended)
  const missing = ended.filter((reading) => !pairs.has(reading))
  if (isGoingOn) return { pairs, missing, same: open }
  if (bookStatus === 'YET') return { pairs, missing, same: open ?? missing.at(-1) }
  const began = current.startedAt ?? latestOf(past)
  const ends = (reading: EntryReading) =>
    reading.finishedAt ? isInOrder({ ...reading, startedAt: began }) : isAlike(current, reading)
  const same = ended.find((reading) => pairs.get(reading) === current)
  return { pairs, missing, same: same ?? (bookStatus === 'ING' ? missing.findLast(ends) : undefined) }
}

/** Merges the readings of an entry into a book. Those that the book has already are found by their dates. */
const mergeReadings = (book: Existing, entry: Entry, overwrites: boolean): MergedReadings => {
  const { bookStatus, current, past } = book
  const wanted = readingsOf(entry)
  if (wanted.length === 0) {
    const changes = changed(book, mergeStatus(book, entry, overwrites))
    const isRounded = changes.star !== undefined && !changes.quarters && (entry.quarters ?? 0) % 4 !== 0
    const isBehind = !overwrites && entry.status && isEarlier(entry.status, bookStatus)
    return { changes, rated: [], ended: [], losses: [...(isRounded ? [ROUNDED] : []), ...(isBehind ? [BEHIND] : [])] }
  }
  const [ended, [open]] = [wanted.filter(({ outcome }) => outcome), wanted.filter(({ outcome }) => !outcome)]
  const { pairs, missing, same } = findCurrent(book, ended, open)
  const isFirst = bookStatus === 'YET'
  // The start date that an unread book may have belongs to no reading.
  const own = isFirst && same?.startedAt ? { ...current, startedAt: null } : current
  // Stars that the book shows already can be the rating of an earlier reading.
  const isStarKnown =
    !isFirst && !entry.exact && same?.outcome === current.outcome && toStars(same.quarters) === book.star
  const news = isStarKnown ? { ...same, quarters: null } : same
  const changes = news ? changesOfReading(book, combine(own, news, overwrites), entry.exact) : {}
  const lastRating = ended.at(-1)?.quarters
  // Until it is rated again, a book shows the stars of the reading before.
  if (!entry.exact && open && lastRating && same === open && book.star === 0 && changes.star === undefined) {
    Object.assign(changes, toRating(null, toStars(lastRating)))
  }
  if (isFirst && same?.createdAt) changes.readingSince = Date.parse(same.createdAt)
  const isRead = bookStatus === 'DONE'
  const latest = latestOf([current, ...past])
  const [began, lastEnd] = [open?.startedAt ?? open?.createdAt?.slice(0, 10) ?? null, latestOf(ended)]
  // The file has the current reading, too, or its open one began after all that are here, or its last end is not before them.
  const isNext =
    same !== undefined ||
    !isInOrder({ startedAt: began, finishedAt: latest }) ||
    (lastEnd !== null && isInOrder({ startedAt: latest, finishedAt: lastEnd }))
  const begun = isRead && (overwrites || isNext) ? open : undefined
  const isBehind = (isRead && open && !begun) || (same?.outcome === 'STOPPED' && current.outcome === 'FINISHED')
  const others = missing.filter((each) => each !== same)
  const rated = [...pairs].flatMap(([{ quarters }, stored]) => {
    const { readingId, quarters: before } = past.find((each) => each === stored) ?? {}
    const isRated = readingId !== undefined && before !== undefined && quarters !== null && quarters !== before
    return isRated && (before === null || overwrites) ? [{ readingId, before, quarters }] : []
  })
  return {
    changes: changed(book, changes),
    rated,
    ended: others,
    open: begun,
    losses: isBehind && !overwrites ? [BEHIND] : [],
  }
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

/** What an entry changes in a book. Nothing is removed, and a book moves back only if the import overwrites. */
export const mergeInto = (book: Existing, entry: Entry, overwrites: boolean) => {
  const changes = mergeDetails(book, entry, overwrites)
  const known: string[] = book.sourceIds === null ? [] : JSON.parse(book.sourceIds)
  const ids = [...new Set([...known, ...entry.sourceIds])].slice(0, MAX_SOURCE_IDS)
  if (ids.length > known.length) changes.sourceIds = JSON.stringify(ids)
  // If the entry has progress, its latest event sets the page, unless the book has a later event.
  const isPageWanted = overwrites
    ? book.currentPage !== entry.currentPage
    : !book.currentPage && !entry.exact?.progress[0]
  if (entry.currentPage && isPageWanted) changes.currentPage = entry.currentPage
  const ofReadings = mergeReadings(book, entry, overwrites)
  return { ...ofReadings, changes: { ...changes, ...ofReadings.changes } }
}
