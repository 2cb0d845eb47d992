import { fieldsOf } from '../../../values/book-fields'
import { BOOK_PRICE } from '../../../values/prices'
import { priceOfTexts } from '../../../values/quotas'
import type { Entry, EntryReading, Loss } from '../../entries/entry'
import { readingsOf } from '../../entries/readings'
import { type ReadingColumns, toExactColumns, toRating, toStars, toTimestamp, UNREAD } from './current-reading'

export const ROUNDED: Loss = { code: 'rating-rounded', field: 'rating' }

const [DETAILS, TEXTS] = [fieldsOf('fill'), fieldsOf('text')]
const detailsOf = (entry: Entry) =>
  Object.fromEntries(DETAILS.map((name) => [name, entry[name]])) as Pick<Entry, (typeof DETAILS)[number]>

/** What a new book shows. An export that was edited may have an open reading in an unread book: then it is being read. */
const toReadingColumns = (
  { exact, status, quarters }: Entry,
  newest: EntryReading | undefined,
  past: EntryReading[],
): ReadingColumns => {
  if (!newest) {
    const { readStartDate, readEndDate } = exact ?? UNREAD
    const rating = toRating(exact ? exact.star * 4 : quarters, 0)
    const shown = { ...UNREAD, bookStatus: status ?? 'YET', readStartDate, readEndDate, ...rating }
    // Without a reading, a book has whole stars.
    return shown.bookStatus === 'YET' ? { ...shown, quarters: null } : shown
  }
  const { startedAt, finishedAt, outcome } = newest
  const readEndDate = outcome === 'FINISHED' ? toTimestamp(finishedAt) : null
  // Until it is rated again, a book shows the stars of the reading before.
  const star = toStars(past.at(-1)?.quarters ?? null)
  return toExactColumns(newest, exact ?? { readStartDate: toTimestamp(startedAt), readEndDate, star })
}

export const toNewBook = (entry: Entry, now: string) => {
  const { exact } = entry
  const readings = readingsOf(entry)
  const newest = readings.at(-1)
  const isUnread = entry.status === 'YET' && newest?.outcome !== null
  const current = isUnread ? undefined : readings.pop()
  const columns = {
    title: entry.title ?? '',
    ...detailsOf(entry),
    createdAt: toTimestamp(entry.addedAt) ?? entry.addedAt ?? now,
    // The page of a book is that of its latest event.
    currentPage: exact?.progress.at(-1)?.page ?? entry.currentPage ?? 0,
    sourceIds: entry.sourceIds.length > 0 ? JSON.stringify(entry.sourceIds) : null,
    ...toReadingColumns(entry, current, readings),
    readingSince: current?.createdAt ? Date.parse(current.createdAt) : 0,
  }
  const isRounded = !newest && columns.bookStatus === 'YET' && (entry.quarters ?? 0) % 4 !== 0
  return { columns, readings, losses: isRounded ? [ROUNDED] : [] }
}

/** What the triggers count for a book. */
export const textBytesOf = (book: Record<(typeof TEXTS)[number], string | null>) =>
  BOOK_PRICE + priceOfTexts(Object.fromEntries(TEXTS.map((name) => [name, book[name]])))
