import { type List, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { toMinutes } from '../../values/time'
import { bestRated, extreme, finishesOf, isList, type Loaded, rankValues } from './figures'
import type { StatsRow } from './responses'
import type { FigureName, RowsQuery } from './schema'
import { type Context, loadUnread, loadYear } from './store'
import { type CountedReading, daysOf, daysToFinish, findStreaks } from './year'

/** A row with the key by which the list is sorted. */
type KeyedRow = { row: StatsRow; key: string }
// Times before 1970 are negative.
const digits = (number: number) => String(number + 10 ** 14).padStart(16, '0')
const toKey = ({ date, bookId }: StatsRow, ...ids: (number | string)[]) =>
  [date, ...[bookId, ...ids].map((id) => (typeof id === 'number' ? digits(id) : id))].join('|')

const NONE = { readingId: null, memoId: null, at: null, amount: null, name: null }

const toReading = (reading: CountedReading, amount: number | null = null, name: string | null = null): KeyedRow => {
  const { bookId, title, cover, readingId, startedAt, finishedAt } = reading
  const row = { ...NONE, bookId, title, cover, date: finishedAt ?? startedAt ?? '', readingId, amount, name }
  return { row, key: toKey(row, readingId, name ?? '') }
}
const toEvent = ({ bookId, title, cover, date, at, pages }: Loaded['events'][number]): KeyedRow => {
  const row = { ...NONE, bookId, title, cover, date, at: toInstant(at), amount: pages }
  return { row, key: toKey(row, 'event', at) }
}
const toMemo = ({ bookId, title, cover, date, memoId, memoType }: Loaded['memos'][number]): KeyedRow => {
  const row = { ...NONE, bookId, title, cover, date, memoId, name: memoType }
  return { row, key: toKey(row, 'memo', memoId) }
}

const toSitting =
  (isCounted: boolean) =>
  ({ bookId, title, cover, date, seconds }: Loaded['sittings'][number]): KeyedRow => {
    const row = { ...NONE, bookId, title, cover, date, amount: isCounted ? toMinutes(seconds) : null }
    return { row, key: toKey(row, 'sitting') }
  }

const ofActivity = (loaded: Loaded, dates?: string[]) => {
  const counted = dates && new Set(dates)
  const isCounted = ({ date }: { date: string }) => counted?.has(date) ?? true
  return [
    ...loaded.events.filter(isCounted).map(toEvent),
    ...loaded.memos.filter(isCounted).map(toMemo),
    ...loaded.sittings
      .filter(({ isOfDevice }) => isOfDevice)
      .filter(isCounted)
      .map(toSitting(false)),
  ]
}
const streaksOf = (loaded: Loaded) => findStreaks(daysOf(loaded), loaded.today)
const withPages = (finish: CountedReading) => toReading(finish, finish.pages)
const withRating = (finish: CountedReading) => toReading(finish, finish.rating)
const lastOfEach = (finishes: CountedReading[]) => [
  ...new Map(finishes.map((finish) => [finish.bookId, finish])).values(),
]

type Collect = (loaded: Loaded, finishes: CountedReading[]) => KeyedRow[]
/** What the figures of readings count. */
const OF_READINGS: Partial<Record<FigureName, Collect>> = {
  books: (_, finishes) => lastOfEach(finishes).map((finish) => toReading(finish)),
  readings: (_, finishes) => finishes.map((finish) => toReading(finish)),
  rereads: (_, finishes) => finishes.filter(({ isReread }) => isReread).map((finish) => toReading(finish)),
  stopped: ({ readings }) => readings.filter(({ outcome }) => outcome === 'STOPPED').map((each) => toReading(each)),
  paused: ({ readings }) => readings.filter(({ outcome }) => outcome === null).map((each) => toReading(each)),
  pagesFinished: (_, finishes) => finishes.filter(({ pages }) => pages !== null).map(withPages),
  ratings: (_, finishes) => finishes.filter(({ rating }) => rating !== null).map(withRating),
  daysToFinish: (_, finishes) =>
    finishes.flatMap((finish) => {
      const days = daysToFinish(finish)
      return days === undefined ? [] : toReading(finish, days)
    }),
  longest: (_, finishes) => extreme(finishes, 1).map(withPages),
  shortest: (_, finishes) => extreme(finishes, -1).map(withPages),
  bestRated: (_, finishes) => bestRated(finishes).map(withRating),
}
/** What the figures of events, memos and sittings count. */
const OF_ACTIVITY: Partial<Record<FigureName, Collect>> = {
  pagesRead: ({ events }) => events.filter(({ pages }) => pages > 0).map(toEvent),
  minutesRead: ({ sittings }) => sittings.map(toSitting(true)),
  memos: ({ memos }) => memos.map(toMemo),
  daysRead: (loaded) => ofActivity(loaded),
  longestStreak: (loaded) => ofActivity(loaded, streaksOf(loaded).longest),
  currentStreak: (loaded) => ofActivity(loaded, streaksOf(loaded).current),
}
const ofLists =
  (figure: FigureName): Collect =>
  (_, finishes) =>
    isList(figure)
      ? rankValues(figure, finishes).flatMap(({ value, books }) => books.map((book) => toReading(book, null, value)))
      : []

/**
 * What a figure of a year counted, in the order of its dates.
 * @throws MAX_STATS_ROWS
 */
export const listRows = async (
  context: Context,
  { year, figure, cursor, size }: RowsQuery,
): Promise<List<StatsRow>> => {
  const after = cursor?.[2] ?? ''
  const toList = (rows: KeyedRow[]) => {
    const page = rows.slice(0, size)
    const next = rows.length > size ? toCursor([year, figure, page.at(-1)?.key]) : null
    return { item: page.map(({ row }) => row), next }
  }
  if (figure === 'backlog') {
    const unread = await loadUnread(context, after, size + 1)
    return toList(
      unread.map(({ createdAt, key, ...book }) => ({ row: { ...NONE, ...book, date: createdAt.slice(0, 10) }, key })),
    )
  }
  const loaded = await loadYear(context, year, figure in OF_ACTIVITY ? 'activityRows' : 'readingRows')
  const collect = OF_ACTIVITY[figure] ?? OF_READINGS[figure] ?? ofLists(figure)
  const rows = collect(loaded, finishesOf(loaded)).sort((one, other) => (one.key < other.key ? -1 : 1))
  return toList(rows.filter(({ key }) => key > after))
}
