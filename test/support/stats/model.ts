// The statistics of a year, computed from an export by the definitions of the document, without code of the service.
import type { LibraryExport } from '../../../src/transfer/export/responses.ts'
import { localOf } from './local-time.ts'
import { type DayTime, type DeviceTime, modelTimes, toMinutes } from './reading-time.ts'

type Book = LibraryExport['books'][number]
type Reading = Book['readings'][number]
type Event = Book['progress'][number]
type Finish = { book: Book; reading: Reading }

const QUARTER = 15 * 60_000
/** When the clocks of a zone first show a local time. One that they skip counts as an hour after the local time an hour earlier. */
const timeOf = (zone: string, local: string): number => {
  const time = Date.parse(`${local}Z`)
  for (let offset = 14 * 4; offset >= -12 * 4; offset--) {
    if (localOf(zone, time - offset * QUARTER) === local) return time - offset * QUARTER
  }
  return timeOf(zone, new Date(time - 4 * QUARTER).toISOString().slice(0, 19)) + 4 * QUARTER
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const distinct = <Value>(values: Value[]) => [...new Set(values)]
const compare = (one: string | number, other: string | number) => (one < other ? -1 : one > other ? 1 : 0)

const hundredths = (value: number) => Math.round(value * 100) / 100
const describe = (values: number[]) => {
  if (values.length === 0) return { count: 0, mean: null, median: null }
  const sorted = [...values].sort((one, other) => one - other)
  const half = sorted.length / 2
  const median = Number.isInteger(half)
    ? ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2
    : (sorted[half - 0.5] ?? 0)
  return { count: values.length, mean: hundredths(sum(values) / values.length), median: hundredths(median) }
}

/** What each event of a book in the year adds. */
const pagesOf = (all: Event[], isInYear: (event: Event) => boolean) => {
  const startsReading = (at: number) => at > 0 && (all[at]?.page ?? 0) < (all[at - 1]?.page ?? 0)
  return all.map((event, at) => {
    if (event.kind !== 'PROGRESS' || !isInYear(event)) return 0
    const before = at === 0 || startsReading(at) ? 0 : (all[at - 1]?.page ?? 0)
    let most = Number.POSITIVE_INFINITY
    for (let later = at + 1; later < all.length; later++) {
      const next = all[later] as Event
      if (!isInYear(next) || (next.kind === 'PROGRESS' && startsReading(later))) break
      if (next.kind === 'CORRECTION') most = Math.min(most, next.page)
    }
    return Math.max(0, Math.min(event.page, most) - Math.min(before, most))
  })
}

const isFull = (date: string | null): date is string => date?.length === 10
const dayNumber = (date: string) => Date.parse(`${date}T00:00:00Z`) / 86_400_000

/** A counted row: `StatsRow` without the title and the cover. */
type Row = {
  bookId: number
  date: string
  readingId?: number
  memoId?: number
  at?: string
  amount?: number
  name?: string
}
const toRow = ({ bookId, date, readingId = 0, memoId = 0, at = '', amount, name = '' }: Row) =>
  [bookId, date, readingId, memoId, at, amount ?? '', name].join(' ')
const rowOf = ({ book, reading }: Finish, rest: { amount?: number; name?: string } = {}): Row => ({
  bookId: book.bookId,
  date: reading.finishedAt ?? reading.startedAt ?? '',
  readingId: reading.readingId,
  ...rest,
})

export type Zones = { member: string; service: string }

/** The statistics of a year, and by figure the rows that each counts. */
export const modelYear = (books: Book[], devices: DeviceTime[], year: number, zones: Zones, now: number) => {
  const isOfYear = (date: string | null) => date?.slice(0, 4) === String(year)
  const all = books.flatMap((book) => book.readings.map((reading) => ({ book, reading })))
  const finishes = all
    .filter(({ reading }) => reading.outcome === 'FINISHED' && isOfYear(reading.finishedAt))
    .sort(
      (one, other) =>
        compare(one.reading.finishedAt ?? '', other.reading.finishedAt ?? '') ||
        one.reading.readingId - other.reading.readingId,
    )
  const isReread = ({ book, reading }: Finish) =>
    book.readings.some(
      (other) =>
        other.outcome === 'FINISHED' &&
        (compare(other.finishedAt ?? '', reading.finishedAt ?? '') || other.readingId - reading.readingId) < 0,
    )
  const stopped = all.filter(({ reading }) => reading.outcome === 'STOPPED' && isOfYear(reading.finishedAt))
  const paused = all.filter(({ reading }) => reading.paused && isOfYear(reading.startedAt))
  const dateOf = (event: Event) => localOf(zones.member, Date.parse(event.at)).slice(0, 10)
  const events = books.flatMap((book) => {
    const pages = pagesOf(book.progress, (event) => isOfYear(dateOf(event)))
    return book.progress
      .map((event, at) => ({ ...event, bookId: book.bookId, date: dateOf(event), pages: pages[at] ?? 0 }))
      .filter(({ date, kind }) => isOfYear(date) && kind !== 'UNDATED')
  })
  const memos = books
    .flatMap(({ bookId, memos }) =>
      memos.map(({ memoId, memoType, createdAt }) => ({
        bookId,
        memoId,
        memoType,
        date: localOf(zones.member, timeOf(zones.service, createdAt)).slice(0, 10),
      })),
    )
    .filter(({ date }) => isOfYear(date))

  const times = modelTimes(books, devices, zones.member).filter(({ date }) => isOfYear(date))
  const secondsIf = (isCounted: (date: string) => boolean) =>
    sum(times.filter(({ date }) => isCounted(date)).map(({ seconds }) => seconds))
  const minutesOn = (date: string) => toMinutes(secondsIf((each) => each === date))
  const longest = distinct(times.map(({ date }) => date)).sort(
    (one, other) => minutesOn(other) - minutesOn(one) || compare(one, other),
  )[0]
  const dates = distinct([...events, ...memos, ...times].map(({ date }) => date)).sort()
  const streaks: string[][] = []
  for (const date of dates) {
    const last = streaks.at(-1)
    if (last && dayNumber(date) - dayNumber(last.at(-1) as string) < 3) last.push(date)
    else streaks.push([date])
  }
  const longestStreak = [...streaks].sort((one, other) => other.length - one.length)[0] ?? []
  const lastStreak = streaks.at(-1) ?? []
  const today = localOf(zones.member, now).slice(0, 10)
  const isAlive = lastStreak.length > 0 && dayNumber(today) - dayNumber(lastStreak.at(-1) as string) <= 2
  const currentStreak = isAlive ? lastStreak : []

  const finishedBooks = distinct(finishes.map(({ book }) => book))
  const firstFinish = (book: Book) => finishes.find((finish) => finish.book === book) as Finish
  const lastFinish = (book: Book) => finishes.findLast((finish) => finish.book === book) as Finish
  const bySize = (sign: number) =>
    finishedBooks
      .filter(({ itemPage }) => itemPage !== null && itemPage > 0)
      .sort(
        (one, other) =>
          sign * ((one.itemPage ?? 0) - (other.itemPage ?? 0)) ||
          compare(one.title, other.title) ||
          one.bookId - other.bookId,
      )
      .slice(0, 1)
      .map(firstFinish)
  const ratingOf = ({ reading }: Finish) => reading.rating ?? 0
  const rated = finishes.filter(({ reading }) => reading.rating !== null)
  const bestRated = distinct(rated.map(({ book }) => book))
    .map((book) => {
      const ofBook = rated.filter((finish) => finish.book === book)
      const best = Math.max(...ofBook.map(ratingOf))
      return ofBook.find((finish) => ratingOf(finish) === best) as Finish
    })
    .sort(
      (one, other) =>
        ratingOf(other) - ratingOf(one) ||
        compare(one.book.title, other.book.title) ||
        one.book.bookId - other.book.bookId,
    )
    .slice(0, 10)
  const toBook = ({ book, reading }: Finish) => ({
    bookId: book.bookId,
    title: book.title,
    author: book.author,
    pages: book.itemPage,
    rating: reading.rating,
  })
  const top = (valuesOf: (finish: Finish) => string[], key = (value: string) => value) => {
    const entries = finishes.flatMap((finish) => valuesOf(finish).map((value) => ({ value, finish })))
    return distinct(entries.map(({ value }) => key(value)))
      .map((wanted) => {
        const same = entries.filter(({ value }) => key(value) === wanted)
        const firsts = distinct(same.map(({ finish }) => finish.book)).map(
          (book) => same.find(({ finish }) => finish.book === book)?.finish as Finish,
        )
        return { value: same[0]?.value as string, firsts }
      })
      .sort((one, other) => other.firsts.length - one.firsts.length || compare(one.value, other.value))
      .slice(0, 10)
  }
  const present = (value: string | null) => (value === null ? [] : [value])
  const authors = top(
    ({ book }) => present(book.author),
    (author) => author.toLowerCase(),
  )
  const tags = top(({ book }) => book.tags)
  const languages = top(({ book }) => present(book.language))
  const formats = top(({ book, reading }) => present(reading.format ?? book.format))
  const pagesIn = (some: Finish[]) => sum(some.map(({ book }) => book.itemPage ?? 0))
  const days = ({ reading: { startedAt, finishedAt } }: Finish) =>
    isFull(startedAt) && isFull(finishedAt) && startedAt <= finishedAt
      ? dayNumber(finishedAt) - dayNumber(startedAt) + 1
      : null
  const inOrder = finishes.filter((finish) => days(finish) !== null)
  const ratings = rated.map(ratingOf)
  const unread = books.filter(({ bookStatus }) => bookStatus === 'YET')

  const stats = {
    year,
    books: finishedBooks.length,
    readings: finishes.length,
    rereads: finishes.filter(isReread).length,
    stopped: stopped.length,
    paused: paused.length,
    pagesFinished: pagesIn(finishes),
    pagesRead: sum(events.map(({ pages }) => pages)),
    minutesRead: toMinutes(secondsIf(() => true)),
    ratings: {
      ...describe(ratings),
      distribution: distinct(ratings)
        .sort((one, other) => one - other)
        .map((rating) => ({ rating, count: ratings.filter((each) => each === rating).length })),
    },
    daysToFinish: describe(inOrder.map((finish) => days(finish) ?? 0)),
    months: Array.from({ length: 12 }, (_, at) => {
      const isInMonth = (date: string | null) => Number(date?.slice(5, 7)) === at + 1
      const ended = finishes.filter(({ reading }) => isFull(reading.finishedAt) && isInMonth(reading.finishedAt))
      return {
        month: at + 1,
        books: distinct(ended.map(({ book }) => book)).length,
        readings: ended.length,
        pagesFinished: pagesIn(ended),
        pagesRead: sum(events.filter(({ date }) => isInMonth(date)).map(({ pages }) => pages)),
        minutesRead: toMinutes(secondsIf(isInMonth)),
      }
    }),
    longest: bySize(-1).map(toBook)[0] ?? null,
    shortest: bySize(1).map(toBook)[0] ?? null,
    bestRated: bestRated.map(toBook),
    authors: authors.map(({ value, firsts }) => ({ author: value, books: firsts.length })),
    tags: tags.map(({ value, firsts }) => ({ tag: value, books: firsts.length })),
    languages: languages.map(({ value, firsts }) => ({ language: value, books: firsts.length })),
    formats: formats.map(({ value, firsts }) => ({ format: value, books: firsts.length })),
    memos: Object.fromEntries(
      ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'].map((type) => [
        type,
        memos.filter(({ memoType }) => memoType === type).length,
      ]),
    ),
    longestDay: longest === undefined ? null : { date: longest, minutes: minutesOn(longest) },
    daysRead: dates.length,
    longestStreak: longestStreak.length,
    currentStreak: currentStreak.length,
    days: dates.map((date) => ({
      date,
      pages: sum(events.filter((event) => event.date === date).map(({ pages }) => pages)),
      minutes: minutesOn(date),
    })),
    undated: books.filter(({ bookStatus, readings }) => {
      const current = readings.at(-1)
      return bookStatus === 'DONE' && current?.outcome === 'FINISHED' && current.finishedAt === null
    }).length,
    backlog: { books: unread.length, oldestCreatedAt: unread.map(({ createdAt }) => createdAt).sort()[0] ?? null },
  }

  const eventRow = ({ bookId, at, date, pages }: (typeof events)[number]): Row => ({
    bookId,
    date,
    at: `${at.slice(0, 19)}Z`,
    amount: pages,
  })
  const memoRow = ({ bookId, memoId, memoType, date }: (typeof memos)[number]): Row => ({
    bookId,
    date,
    memoId,
    name: memoType,
  })
  const byBook = [...Map.groupBy(times, ({ bookId, date }) => `${bookId} ${date}`).values()] as [
    DayTime,
    ...DayTime[],
  ][]
  const activityOn = (some: string[]) => [
    ...events.filter(({ date }) => some.includes(date)).map(eventRow),
    ...memos.filter(({ date }) => some.includes(date)).map(memoRow),
    ...byBook.flatMap(([{ bookId, date, tokenId }]) => (tokenId && some.includes(date) ? { bookId, date } : [])),
  ]
  const plain = (finish: Finish) => rowOf(finish)
  const withPages = (finish: Finish) => rowOf(finish, { amount: finish.book.itemPage ?? undefined })
  const withRating = (finish: Finish) => rowOf(finish, { amount: ratingOf(finish) })
  const named = (list: ReturnType<typeof top>) =>
    list.flatMap(({ value, firsts }) => firsts.map((finish) => rowOf(finish, { name: value })))
  const rows: Record<string, Row[]> = {
    books: finishedBooks.map(lastFinish).map(plain),
    readings: finishes.map(plain),
    rereads: finishes.filter(isReread).map(plain),
    stopped: stopped.map(plain),
    paused: paused.map(plain),
    pagesFinished: finishes.filter(({ book }) => book.itemPage !== null).map(withPages),
    pagesRead: events.filter(({ pages }) => pages > 0).map(eventRow),
    minutesRead: byBook.map((ofDay) => ({
      bookId: ofDay[0].bookId,
      date: ofDay[0].date,
      amount: toMinutes(sum(ofDay.map(({ seconds }) => seconds))),
    })),
    ratings: rated.map(withRating),
    daysToFinish: inOrder.map((finish) => rowOf(finish, { amount: days(finish) ?? undefined })),
    longest: bySize(-1).map(withPages),
    shortest: bySize(1).map(withPages),
    bestRated: bestRated.map(withRating),
    authors: named(authors),
    tags: named(tags),
    languages: named(languages),
    formats: named(formats),
    memos: memos.map(memoRow),
    daysRead: activityOn(dates),
    longestStreak: activityOn(longestStreak),
    currentStreak: activityOn(currentStreak),
    backlog: unread.map(({ bookId, createdAt }) => ({ bookId, date: createdAt.slice(0, 10) })),
  }
  return {
    stats,
    rows: new Map(Object.entries(rows).map(([figure, list]) => [figure, list.map(toRow).sort()])),
  }
}

/** A row of the service in the form of the model's. */
export const comparableRow = (row: Record<keyof Row, number | string | null>) =>
  toRow(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row)

/** The years that have anything to count. */
export const modelYears = (books: Book[], devices: DeviceTime[], zones: Zones) => {
  const dates = books.flatMap(({ readings, progress, memos }) => [
    ...readings.flatMap(({ startedAt, finishedAt, paused }) => finishedAt ?? (paused ? (startedAt ?? []) : [])),
    ...progress.flatMap(({ at, kind }) => (kind === 'UNDATED' ? [] : localOf(zones.member, Date.parse(at)))),
    ...memos.map(({ createdAt }) => localOf(zones.member, timeOf(zones.service, createdAt))),
  ])
  dates.push(...devices.flatMap(({ bookId, day }) => (bookId === null ? [] : day)))
  return distinct(dates.map((date) => Number(date.slice(0, 4)))).sort((one, other) => other - one)
}

/** The progress of a goal. */
export const modelGoal = (
  books: Book[],
  { year, metric, target }: { year: number; metric: string; target: number },
  zones: Zones,
  now: number,
) => {
  const { stats } = modelYear(books, [], year, zones, now)
  const today = localOf(zones.member, now).slice(0, 10)
  const first = dayNumber(`${year}-01-01`)
  const length = dayNumber(`${year}-12-31`) - first + 1
  const begun = Math.min(Math.max(dayNumber(today) - first + 1, 0), length)
  const done = metric === 'BOOKS' ? stats.books : stats.pagesFinished
  const expected = Math.round((target * begun) / length)
  return { year, metric, target, done, expected, ahead: done - expected }
}
