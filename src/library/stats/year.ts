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
export type EventRow = OfBook &
  Pick<ProgressEvent, 'page' | 'kind'> & {
    at: number
    minutes: number | null
    previous: number | null
  }
/** `createdAt`: in the time zone of the service. */
export type MemoRow = OfBook & Pick<Memo, 'memoId' | 'memoType' | 'createdAt'>
/** What devices read of a book on a day. `bookId`: null for documents without a book. */
export type SittingRow = Omit<OfBook, 'bookId'> & { bookId: number | null; date: string; seconds: number }
export type YearRows = { readings: ReadingRow[]; events: EventRow[]; memos: MemoRow[]; devices: SittingRow[] }

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

type Dated<Row> = Row & { date: string }
/** How long a book was read on a day. `isOfDevice`: otherwise, the minutes of its events, which are ignored beside a device. */
export type Sitting = Dated<OfBook> & { seconds: number; isOfDevice: boolean }
const toSittings = (devices: SittingRow[], events: Dated<EventRow>[]) => {
  const keyOf = ({ date, bookId }: { date: string; bookId: number | null }) => `${date} ${bookId}`
  const sittings = new Map<string, Sitting>()
  for (const { bookId, ...row } of devices)
    if (bookId !== null) sittings.set(keyOf({ ...row, bookId }), { ...row, bookId, isOfDevice: true })
  for (const { date, bookId, title, cover, minutes } of events) {
    const known = sittings.get(keyOf({ date, bookId }))
    if (minutes === null || known?.isOfDevice) continue
    const seconds = (known?.seconds ?? 0) + 60 * minutes
    sittings.set(keyOf({ date, bookId }), { date, bookId, title, cover, seconds, isOfDevice: false })
  }
  return [...sittings.values()]
}

/** The rows of a year, with the local dates on which they count. */
export const toYear = (year: number, { readings, events, memos, devices }: YearRows, zone: Zone, serviceZone: Zone) => {
  const isInYear = ({ date }: { date: string }) => date.startsWith(`${year}-`)
  const dated = events.map((event) => ({ ...event, date: zone.toDate(event.at) })).filter(isInYear)
  const pages = toPages(dated)
  return {
    year,
    readings: readings.map((reading) => ({ ...reading, tags: JSON.parse(reading.tags) as string[] })),
    events: dated.map((event) => ({ ...event, pages: pages.get(event) ?? 0 })),
    memos: memos.map((memo) => ({ ...memo, date: zone.toDate(serviceZone.toTime(memo.createdAt)) })).filter(isInYear),
    sittings: toSittings(devices, dated),
  }
}
export type Year = ReturnType<typeof toYear>
export type CountedReading = Year['readings'][number]

const dayOf = (date: string) => Date.parse(date) / DAY_MS

/** The days of a year with an event, a memo or a sitting, in order, with the pages and seconds read on each. */
export const daysOf = ({ events, memos, sittings }: Year) => {
  const days = new Map<string, { pages: number; seconds: number }>()
  const add = (date: string, pages: number, seconds: number) => {
    const day = days.get(date)
    days.set(date, { pages: pages + (day?.pages ?? 0), seconds: seconds + (day?.seconds ?? 0) })
  }
  for (const { date } of memos) add(date, 0, 0)
  for (const { date, pages } of events) add(date, pages, 0)
  for (const { date, seconds } of sittings) add(date, 0, seconds)
  return [...days].map(([date, read]) => ({ date, ...read })).sort((one, other) => (one.date < other.date ? -1 : 1))
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
