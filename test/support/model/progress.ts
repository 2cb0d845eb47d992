// Progress in books: changes of the current page.
import * as fc from 'fast-check'
import { at, type Commands, command, NOT_FOUND, position } from './commands'
import { editionOf } from './editions'
import {
  type Book,
  descending,
  findBook,
  type Library,
  NOW,
  type ProgressEvent,
  RUN,
  tick,
  tickUnlessTied,
} from './library'
import { change, currentOf, followBook, toTimestamp } from './readings'
import { DAYS, INSTANTS } from './values'
import type { View } from './views'

export const eventsOf = ({ events }: Library, bookId: number) =>
  (events.get(bookId) ?? []).toSorted(descending((event) => event.at))

/** When the current reading began, by the clock of the model. */
const readingSince = ({ current }: Library, bookId: number) => current.get(bookId)?.createdAt ?? 0

const addEvent = (library: Library, bookId: number, event: ProgressEvent) => {
  const others = eventsOf(library, bookId).filter((each) => each.at !== event.at)
  library.events.set(bookId, [event, ...others])
}

/** What was sent, as a page and a second. Neither if only minutes were. */
type Reached = { page: number | undefined; seconds: number | undefined }
const isSame = (event: ProgressEvent, { page, seconds }: Reached) =>
  (page === undefined || event.page === page) && (seconds === undefined || event.seconds === seconds)
/** Whether an event has something that another one at its time lacks. */
export const addsTo = (other: ProgressEvent, { page, minutes, seconds }: ProgressEvent) =>
  page !== other.page || (minutes ?? other.minutes) !== other.minutes || (seconds ?? other.seconds) !== other.seconds

/** When an event happened that was sent with `at`: that of the same one, or a time that has none. */
const timeOf = (events: ProgressEvent[], at: number, reached: Reached) => {
  const last = at % 1000 === 0 ? at + 999 : at
  const others = events.filter((event) => event.at >= at && event.at <= last)
  if (others.length === 0) return at
  const latest = Math.max(...others.map((event) => event.at))
  if (reached.page === undefined && reached.seconds === undefined) {
    // `events` has the latest first.
    return others.find(({ minutes }) => minutes !== null)?.at ?? latest
  }
  let free = latest + 1
  while (events.some((event) => event.at === free)) free++
  return events.find((event) => event.at >= at && event.at < free && isSame(event, reached))?.at ?? free
}

/** A change of the current page, or the end of reading, is an event. */
export const recordProgress = (library: Library, before: Book, { bookId, currentPage, bookStatus }: Book) => {
  const isFinished = bookStatus === 'DONE' && before.bookStatus !== 'DONE'
  if (currentPage === before.currentPage && !isFinished) return
  const [latest] = eventsOf(library, bookId)
  const isReadAgain =
    (bookStatus === 'ING' && before.bookStatus !== 'ING') || readingSince(library, bookId) > (latest?.at ?? 0)
  const isCorrection = currentPage < before.currentPage && !isReadAgain
  const kind = isFinished ? 'FINISHED' : isCorrection ? 'CORRECTION' : 'PROGRESS'
  const seconds = currentPage === before.currentPage ? (latest?.seconds ?? null) : null
  addEvent(library, bookId, { at: tick(library), page: currentPage, kind, minutes: null, seconds })
}

const progress = fc.record(
  {
    reached: fc.oneof(
      fc.record({ page: fc.constantFrom(0, 1, 10, 50, 300) }),
      fc.record({ percent: fc.constantFrom(0, 12.5, 100) }),
      fc.record({ seconds: fc.constantFrom(0, 1, 17_100, 34_200, 34_201) }),
      fc.record({ minutes: fc.constantFrom(1, 30) }),
    ),
    minutes: fc.constantFrom(undefined, undefined, 45),
    at: fc.constantFrom(undefined, null, ...INSTANTS),
    finishedAt: fc.constantFrom(undefined, undefined, ...DAYS.filter((day) => day.length === 10)),
  },
  { requiredKeys: ['reached'] },
)

/** The latest event begins a book that is YET; the end of reading finishes one that is not finished. */
const followProgress = (library: Library, book: Book, isBegun: boolean, finishedAt: string | undefined) => {
  const isFinished = finishedAt && currentOf(library, book)?.outcome !== 'FINISHED'
  if (!isFinished && (finishedAt || !isBegun || book.bookStatus !== 'YET')) return
  const before = { ...book }
  book.bookStatus = isFinished ? 'DONE' : 'ING'
  if (isFinished) book.readEndDate = toTimestamp(finishedAt, book.readEndDate)
  recordProgress(library, followBook(library, before, book), book)
  change(library, book.bookId, { isStopped: false, ...(isFinished && { archivedEnd: null }) })
}

type Sent = Partial<Record<'page' | 'percent' | 'seconds' | 'minutes', number>>
/** Undefined if it is refused. */
const toReached = ({ page, percent, seconds }: Sent, pages: number | null, length: number | null) => {
  if (page !== undefined) return page > (pages ?? page) ? undefined : { page, seconds: undefined }
  if (percent !== undefined) {
    if (pages !== null) return { page: Math.round((pages * percent) / 100), seconds: undefined }
    return length === null ? undefined : { page: undefined, seconds: Math.round((length * percent) / 100) }
  }
  if (seconds === undefined) return { page: undefined, seconds: undefined }
  if (length === null || seconds > length) return undefined
  return { page: pages === null ? undefined : Math.round((pages * seconds) / length), seconds }
}

const add = command('add progress', 6, fc.tuple(position, progress), (library, [index, sent]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const finished = sent.finishedAt && { finish: true, date: sent.finishedAt }
  const minutes = sent.minutes === undefined ? {} : { minutes: sent.minutes }
  const body = { ...minutes, ...sent.reached, ...(sent.at !== undefined && { at: sent.at }), ...finished }
  const respond = (library: Library) => {
    const book = findBook(library, bookId)
    if (!book) return NOT_FOUND
    const reached = toReached(body, book.itemPage, editionOf(library, bookId).seconds)
    if (!reached) return { status: 400 }
    const events = eventsOf(library, bookId)
    // If the latest event is not before its time, and is the same, it replaces that one.
    const tied = events[0] && isSame(events[0], reached) ? events[0].at : 0
    const time = sent.at ? timeOf(events, Date.parse(sent.at), reached) : tickUnlessTied(library, tied)
    const previous = events.find((event) => event.at < time)
    const pageBefore = previous?.page ?? (events.length === 0 ? book.currentPage : 0)
    const isReadAgain = readingSince(library, bookId) > (previous?.at ?? 0)
    const page = reached.page ?? (isReadAgain && events.length > 0 ? 0 : pageBefore)
    const secondsBefore = previous?.seconds ?? null
    const seconds = reached.seconds ?? (reached.page === undefined && isReadAgain ? secondsBefore && 0 : null)
    const kept = reached.page === undefined && !isReadAgain ? secondsBefore : null
    const isLatest = time >= (events[0]?.at ?? 0)
    const begins = isLatest && [reached.page, reached.seconds, body.minutes].some((value) => value && value > 0)
    const isLower = page < pageBefore || (page === pageBefore && (reached.seconds ?? Infinity) < (secondsBefore ?? 0))
    const isFirst = reached.page === undefined && events.length === 0
    const isCorrection = isFirst ? pageBefore > 0 : isLower && !isReadAgain && !(begins && book.bookStatus === 'YET')
    const same = events.find((event) => event.at === time)
    const event: ProgressEvent = {
      ...(same ?? { at: time, page, kind: isCorrection ? 'CORRECTION' : 'PROGRESS', seconds: seconds ?? kept }),
      minutes: same?.kind === 'FINISHED' && sent.finishedAt ? same.minutes : (body.minutes ?? same?.minutes ?? null),
    }
    addEvent(library, bookId, event)
    book.currentPage = eventsOf(library, bookId)[0]?.page ?? page
    const answer = toEvent(library, bookId)(event)
    followProgress(library, book, begins, sent.finishedAt)
    const { bookStatus, readEndDate } = book
    return { status: 201, body: { ...answer, bookStatus, readEndDate } }
  }
  return { method: 'POST', path: `/books/${bookId}/progress`, body, respond }
})

export const progressCommands: Commands[] = [add]

type Length = { itemPage: number | null; seconds: number | null }
/** Of the length of a book. */
export const percentOf = ({ page, seconds }: Pick<ProgressEvent, 'page' | 'seconds'>, length: Length) => {
  const ofSeconds = seconds === null || length.seconds === null ? null : seconds / length.seconds
  const part = ofSeconds ?? (length.itemPage ? page / length.itemPage : null)
  return part === null ? null : Math.min(100, Math.round(part * 1000) / 10)
}

/** Times by the clock of the model are after all that are sent. */
export const toEvent =
  (library: Library, bookId: number) =>
  ({ at, ...event }: ProgressEvent) => {
    const { seconds } = editionOf(library, bookId)
    const itemPage = findBook(library, bookId)?.itemPage ?? null
    const percent = percentOf(event, { itemPage, seconds })
    return { at: at >= RUN ? NOW : new Date(at).toISOString().replace(/\.\d+/, ''), ...event, percent, source: null }
  }

export const progressViews = (library: Library, bookId: number | undefined, size: number): View[] =>
  bookId
    ? [{ path: `/books/${bookId}/progress?`, size, items: eventsOf(library, bookId).map(toEvent(library, bookId)) }]
    : []
