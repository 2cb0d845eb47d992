import type { books } from '../../../db/schema/book-tables'
import { READING_COLUMNS } from '../../../db/schema/shown-reading'
import type { EntryReading } from '../../entries/entry'

/** The columns of the current reading that an import sets. */
export const SET_COLUMNS = READING_COLUMNS.filter(
  (name) => name !== 'readingId' && name !== 'archivedId' && name !== 'importId',
)
export type ReadingColumns = Pick<typeof books.$inferSelect, (typeof SET_COLUMNS)[number]>

export const isCurrentChanged = (changes: object) => SET_COLUMNS.some((name) => name in changes)

export const UNREAD: ReadingColumns = {
  ...{ bookStatus: 'YET', readStartDate: null, readEndDate: null, star: 0 },
  ...{ startedAt: null, finishedAt: null, isStopped: false, quarters: null, readingFormat: null, isPaused: false },
  ...{ readingSince: 0, archivedStart: null, archivedEnd: null, archivedStar: null, note: null },
}

const toDay = (time: string | null) => time?.slice(0, 10) ?? null
/** The time of a full date: one of those that have the date, or its midnight. Null for a partial date. */
export const toTimestamp = (date: string | null, known: string | null = null) =>
  date?.length !== 10 ? null : known?.startsWith(date) ? known : `${date}T00:00:00`
/** Whole stars: quarters rounded half up, but at least one. 0 if unrated. */
export const toStars = (quarters: number | null) => (quarters ? Math.max(1, Math.floor((quarters + 2) / 4)) : 0)

/** The columns by which a book with a time in `readStartDate` shows that its reading began on a date. */
const toStart = (startedAt: string | null, readStartDate: string | null) => {
  const day = toDay(readStartDate)
  const isShown = day === startedAt
  return { readStartDate, startedAt: isShown ? null : startedAt, archivedStart: isShown ? null : day }
}

type End = Pick<EntryReading, 'outcome' | 'finishedAt'>
const toEnd = ({ outcome, finishedAt }: End, readEndDate: string | null) => {
  const day = toDay(readEndDate)
  const isStopped = outcome === 'STOPPED'
  const isShown = day === finishedAt && !isStopped
  const columns = { readEndDate, finishedAt: isShown ? null : finishedAt, archivedEnd: isShown ? null : day }
  return { bookStatus: 'DONE' as const, isStopped, isPaused: false, ...columns }
}
const OPEN = { bookStatus: 'ING', isStopped: false, finishedAt: null } as const

/** Without quarters, the stars are not those of the reading. */
export const toRating = (quarters: number | null, star: number) => ({
  star: quarters === null ? star : toStars(quarters),
  quarters: (quarters ?? 0) % 4 === 0 ? null : quarters,
  archivedStar: (quarters === null && star) || null,
})

export type KnownReading = Pick<
  EntryReading,
  'startedAt' | 'finishedAt' | 'outcome' | 'quarters' | 'isPaused' | 'note'
> & {
  format: ReadingColumns['readingFormat']
}

/**
 * The columns of a book with a reading, and the times and stars that its row in an export has. Those that the reading does
 * not have stay, hidden; where an edited export contradicts itself, the reading counts.
 */
export const toExactColumns = (
  { startedAt, format = null, note, isPaused, quarters, ...end }: EntryReading,
  { readStartDate, readEndDate, star }: Pick<ReadingColumns, 'readStartDate' | 'readEndDate' | 'star'>,
): ReadingColumns => {
  const finish =
    end.outcome === 'STOPPED' || !readEndDate ? null : (toTimestamp(end.finishedAt, readEndDate) ?? readEndDate)
  return {
    ...UNREAD,
    ...toStart(startedAt, toTimestamp(startedAt, readStartDate) ?? readStartDate),
    ...(end.outcome ? toEnd(end, finish) : { ...OPEN, readEndDate, isPaused }),
    ...toRating(quarters, star),
    ...{ readingFormat: format, note },
  }
}

/**
 * The columns of a book that change when more becomes known of its current reading.
 * @param exact the times of the export, of which those with the dates count
 */
export const changesOfReading = (
  book: ReadingColumns & { current: KnownReading },
  { startedAt, finishedAt, outcome, quarters, format, note, isPaused }: KnownReading,
  exact?: Pick<ReadingColumns, 'readStartDate' | 'readEndDate'>,
): Partial<ReadingColumns> => {
  const { current } = book
  const toTime = (name: 'readStartDate' | 'readEndDate', date: string | null) =>
    toTimestamp(date, book[name]?.slice(0, 10) === date ? book[name] : exact?.[name])
  const isEnded = outcome !== current.outcome || finishedAt !== current.finishedAt
  const finish = outcome === 'STOPPED' ? null : toTime('readEndDate', finishedAt)
  return {
    ...{ readingFormat: format, note },
    ...(isPaused !== current.isPaused && { isPaused }),
    ...(startedAt !== current.startedAt && toStart(startedAt, toTime('readStartDate', startedAt))),
    ...(isEnded && toEnd({ outcome, finishedAt }, finish)),
    ...(book.bookStatus === 'YET' && !outcome && OPEN),
    ...(quarters !== current.quarters && toRating(quarters, book.star)),
  }
}
