import { MEMO_TYPES } from '../../values/contract'
import { toSortKey } from '../../values/text/fold'
import { toMinutes } from '../../values/time'
import type { YearPicture } from './picture/draw'
import type { loadYear } from './store'
import { type CountedReading, daysOf, daysToFinish, findStreaks } from './year'

type MemoType = (typeof MEMO_TYPES)[number]
export type Loaded = Omit<Awaited<ReturnType<typeof loadYear>>, 'extra'>

const MAX_LISTED = 10

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other))
const byTitle = (one: CountedReading, other: CountedReading) =>
  byText(one.title, other.title) || one.bookId - other.bookId
const byEnd = (one: CountedReading, other: CountedReading) =>
  byText(one.finishedAt ?? '', other.finishedAt ?? '') || one.readingId - other.readingId

export const finishesOf = ({ readings }: Pick<Loaded, 'readings'>) =>
  readings.filter(({ outcome }) => outcome === 'FINISHED').sort(byEnd)

/** One finish of each book: the first one of the order. */
const oneOfEach = (finishes: CountedReading[], order: typeof byEnd = byEnd) =>
  [...Map.groupBy(finishes.toSorted(order), ({ bookId }) => bookId).values()].flatMap(([first]) => first ?? [])

/** The values of finishes that the lists count, as pairs of a key and its spelling. */
const LISTS = {
  authors: ({ author }: CountedReading) => (author === null ? [] : [[toSortKey(author), author] as const]),
  tags: ({ tags }: CountedReading) => tags.map((tag) => [tag, tag] as const),
  languages: ({ language }: CountedReading) => (language === null ? [] : [[language, language] as const]),
  formats: ({ format }: CountedReading) => (format === null ? [] : [[format, format] as const]),
}
export type ListName = keyof typeof LISTS
export const isList = (figure: string): figure is ListName => figure in LISTS

/** The most frequent values, each with one finish of each of its books, in the spelling of its first finish. */
export const rankValues = (name: ListName, finishes: CountedReading[]) => {
  const values = finishes.flatMap((finish) => LISTS[name](finish).map(([key, value]) => ({ key, value, finish })))
  return [...Map.groupBy(values, ({ key }) => key).values()]
    .map((all) => ({ value: all[0]?.value ?? '', books: oneOfEach(all.map(({ finish }) => finish)) }))
    .sort((one, other) => other.books.length - one.books.length || byText(one.value, other.value))
    .slice(0, MAX_LISTED)
}

const ofRating = (one: CountedReading, other: CountedReading) => (other.rating ?? 0) - (one.rating ?? 0)
/** The best rating of each book counts. */
export const bestRated = (finishes: CountedReading[]) =>
  oneOfEach(
    finishes.filter(({ rating }) => rating !== null),
    (one, other) => ofRating(one, other) || byEnd(one, other),
  )
    .sort((one, other) => ofRating(one, other) || byTitle(one, other))
    .slice(0, MAX_LISTED)

/** The book with the most pages, or the fewest. Books without pages do not count. */
export const extreme = (finishes: CountedReading[], sign: 1 | -1) =>
  oneOfEach(finishes)
    .filter(({ pages }) => pages)
    .sort((one, other) => sign * ((other.pages ?? 0) - (one.pages ?? 0)) || byTitle(one, other))
    .slice(0, 1)

const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0)
const rounded = (value: number) => Math.round(value * 100) / 100
const averages = (values: number[]) => {
  const sorted = values.toSorted((one, other) => one - other)
  const { length } = sorted
  const [lower = 0, upper = 0] = [sorted[Math.ceil(length / 2) - 1], sorted[Math.floor(length / 2)]]
  const isEmpty = length === 0
  return {
    count: length,
    mean: isEmpty ? null : rounded(sum(sorted) / length),
    median: isEmpty ? null : rounded((lower + upper) / 2),
  }
}

const toBook = ({ bookId, title, author, pages, rating }: CountedReading) => ({ bookId, title, author, pages, rating })

const countBooks = (finishes: CountedReading[]) => new Set(finishes.map(({ bookId }) => bookId)).size

const monthsOf = (year: number, finishes: CountedReading[], days: ReturnType<typeof daysOf>) =>
  Array.from({ length: 12 }, (_, at) => {
    const month = `${year}-${String(at + 1).padStart(2, '0')}-`
    const ended = finishes.filter(({ finishedAt }) => finishedAt?.startsWith(month))
    return {
      month: at + 1,
      books: countBooks(ended),
      readings: ended.length,
      pagesFinished: sum(ended.map(({ pages }) => pages)),
      pagesRead: sum(days.map(({ date, pages }) => (date.startsWith(month) ? pages : 0))),
      minutesRead: toMinutes(sum(days.map(({ date, seconds }) => (date.startsWith(month) ? seconds : 0)))),
    }
  })

const minutesOf = ({ sittings }: Loaded) => toMinutes(sum(sittings.map(({ seconds }) => seconds)))

/** The statistics of a year. */
export const toStats = (loaded: Loaded) => {
  const { year, readings, events, memos, undated, backlog, today } = loaded
  const finishes = finishesOf(loaded)
  const ratings = finishes.flatMap(({ rating }) => rating ?? [])
  const read = daysOf(loaded)
  const days = read.map(({ date, pages, seconds }) => ({ date, pages, minutes: toMinutes(seconds) }))
  const [longestDay] = days.filter(({ minutes }) => minutes > 0).sort((one, other) => other.minutes - one.minutes)
  const streaks = findStreaks(days, today)
  const countMemos = (type: string) => memos.filter(({ memoType }) => memoType === type).length
  const counted = <Name extends ListName>(name: Name) =>
    rankValues(name, finishes).map(({ value, books }) => ({ value, books: books.length }))
  return {
    year,
    books: countBooks(finishes),
    readings: finishes.length,
    rereads: finishes.filter(({ isReread }) => isReread).length,
    stopped: readings.filter(({ outcome }) => outcome === 'STOPPED').length,
    paused: readings.filter(({ outcome }) => outcome === null).length,
    pagesFinished: sum(finishes.map(({ pages }) => pages)),
    pagesRead: sum(events.map(({ pages }) => pages)),
    minutesRead: minutesOf(loaded),
    ratings: {
      ...averages(ratings),
      distribution: [...Map.groupBy(ratings, (rating) => rating)]
        .map(([rating, { length }]) => ({ rating, count: length }))
        .sort((one, other) => one.rating - other.rating),
    },
    daysToFinish: averages(finishes.flatMap((finish) => daysToFinish(finish) ?? [])),
    months: monthsOf(year, finishes, read),
    longest: extreme(finishes, 1).map(toBook)[0] ?? null,
    shortest: extreme(finishes, -1).map(toBook)[0] ?? null,
    bestRated: bestRated(finishes).map(toBook),
    authors: counted('authors').map(({ value, books }) => ({ author: value, books })),
    tags: counted('tags').map(({ value, books }) => ({ tag: value, books })),
    languages: counted('languages').map(({ value, books }) => ({ language: value, books })),
    formats: counted('formats').map(({ value, books }) => ({ format: value, books })),
    memos: Object.fromEntries(MEMO_TYPES.map((type) => [type, countMemos(type)])) as Record<MemoType, number>,
    longestDay: longestDay ? { date: longestDay.date, minutes: longestDay.minutes } : null,
    daysRead: days.length,
    longestStreak: streaks.longest.length,
    currentStreak: streaks.current.length,
    days,
    undated,
    backlog,
  }
}

/** What the picture of a year shows. */
export const toPicture = (loaded: Loaded): YearPicture => {
  const finishes = finishesOf(loaded)
  return {
    year: loaded.year,
    books: countBooks(finishes),
    pagesFinished: sum(finishes.map(({ pages }) => pages)),
    minutesRead: minutesOf(loaded),
    months: monthsOf(loaded.year, finishes, []),
    bestRated: bestRated(finishes).map(({ title, author, rating }) => ({ title, author, rating: rating ?? 0 })),
    spines: finishes.map(({ title, pages }) => ({ title, pages })),
  }
}
