import { DAY_MS, type Zone } from '../../values/time'
import type { Memo } from '../memos/responses'
import type { ProgressEvent } from '../progress/responses'
import type { Reading } from '../readings/responses'

/** `cover`: null unless rows are listed, as is `title` of an event or memo. */
type OfBook = { bookId: number; title: string; cover: string | null }
/** `tags`: a JSON array. */
export type ReadingRow = OfBook &
  Omit<Reading, 'note' | 'paused'> &
  Record<'author' | 'language', string | null> & { isReread: number; pages: number | null; tags: string }
/** `previous`: the page of the book's event before it. */
export type EventRow = OfBook & Omit<ProgressEvent, 'at'> & { at: number; previous: number | null }
/** `createdAt`: in the time zone of the service. */
export type MemoRow = OfBook & Pick<Memo, 'memoId' | 'memoType' | 'createdAt'>
export type YearRows = { readings: ReadingRow[]; events: EventRow[]; memos: MemoRow[] }

/** The pages that the events of a year add. Walks through those of each book from the last to the first. */
const toPages = (events: EventRow[]) => {
  const pages = new Map<EventRow, number>()
  for (const ofBook of Map.groupBy(events, ({ bookId }) => bookId).values()) {
    // Pages above that of a later correction were not read.
    let most = Number.POSITIVE_INFINITY
    for (const event of ofBook.sort((one, other) => other.at - one.at)) {
      const { kind, page } = event
      const isNewReading = kind === 'PROGRESS' && page < (event.previous ?? 0)
      const from = isNewReading ? 0 : (event.previous ?? 0)
      pages.set(event, kind === 'PROGRESS' ? Math.max(0, Math.min(page, most) - Math.min(from, most)) : 0)
      if (kind === 'CORRECTION') most = Math.min(most, page)
      if (isNewReading) most = Number.POSITIVE_INFINITY
    }
  }
  return pages
}

/** The rows of a year, with the local dates on which they count. */
export const toYear = (year: number, { readings, events, memos }: YearRows, zone: Zone, serviceZone: Zone) => {
  const isInYear = ({ date }: { date: string }) => date.startsWith(`${year}-`)
  const dated = events.map((event) => ({ ...event, date: zone.toDate(event.at) })).filter(isInYear)
  const pages = toPages(dated)
  return {
    year,
    readings: readings.map((reading) => ({ ...reading, tags: JSON.parse(reading.tags) as string[] })),
    events: dated.map((event) => ({ ...event, pages: pages.get(event) ?? 0 })),
    memos: memos.map((memo) => ({ ...memo, date: zone.toDate(serviceZone.toTime(memo.createdAt)) })).filter(isInYear),
  }
}
export type Year = ReturnType<typeof toYear>
export type CountedReading = Year['readings'][number]

const dayOf = (date: string) => Date.parse(date) / DAY_MS

/** The days of a year with an event or a memo, in order, with the pages read on each. */
export const daysOf = ({ events, memos }: Year) => {
  const days = new Map<string, number>()
  for (const { date } of memos) days.set(date, 0)
  for (const { date, pages } of events) days.set(date, (days.get(date) ?? 0) + pages)
  return [...days].map(([date, pages]) => ({ date, pages })).sort((one, other) => (one.date < other.date ? -1 : 1))
}

/** The longest streak, of several the first, and the one that has not ended. One missing day does not end a streak. */
export const findStreaks = (days: { date: string }[], today: string) => {
  const streaks: string[][] = []
  for (const { date } of days) {
    const last = streaks.at(-1)
    if (last && dayOf(date) - dayOf(last.at(-1) ?? date) <= 2) last.push(date)
    else streaks.push([date])
  }
  const longest = streaks.reduce((best, streak) => (streak.length > best.length ? streak : best), [])
  const last = streaks.at(-1) ?? []
  const isOpen = dayOf(today) - dayOf(last.at(-1) ?? '1900-01-01') <= 2
  return { longest, current: isOpen ? last : [] }
}

/** Days from the start to the end of a reading, both included. Undefined unless both are known and in order. */
export const daysToFinish = ({ startedAt, finishedAt }: CountedReading) =>
  startedAt?.length === 10 && finishedAt?.length === 10 && startedAt <= finishedAt
    ? dayOf(finishedAt) - dayOf(startedAt) + 1
    : undefined
