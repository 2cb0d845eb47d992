// Progress in books: changes of the current page.
import * as fc from 'fast-check'
import { at, type Commands, command, NOT_FOUND, position } from './commands'
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

/** When an event happened that was sent with `at`: no other page was reached at its time. */
const timeOf = (events: ProgressEvent[], at: number, page: number) => {
  const last = at % 1000 === 0 ? at + 999 : at
  const others = events.filter((event) => event.at >= at && event.at <= last)
  if (others.length === 0) return at
  let free = Math.max(...others.map((event) => event.at)) + 1
  while (events.some((event) => event.at === free)) free++
  return events.find((event) => event.at >= at && event.at < free && event.page === page)?.at ?? free
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
  addEvent(library, bookId, { at: tick(library), page: currentPage, kind })
}

const progress = fc.record(
  {
    reached: fc.oneof(
      fc.record({ page: fc.constantFrom(0, 1, 10, 50, 300) }),
      fc.record({ percent: fc.constantFrom(0, 12.5, 100) }),
    ),
    at: fc.constantFrom(undefined, null, ...INSTANTS),
    finishedAt: fc.constantFrom(undefined, undefined, ...DAYS.filter((day) => day.length === 10)),
  },
  { requiredKeys: ['reached'] },
)

/** A page begins a book that is YET; the end of reading finishes one that is not finished. */
const followProgress = (library: Library, book: Book, page: number, finishedAt: string | undefined) => {
  const isFinished = finishedAt && currentOf(library, book)?.outcome !== 'FINISHED'
  const isBegun = !finishedAt && book.bookStatus === 'YET' && page > 0 && book.currentPage === page
  if (!isFinished && !isBegun) return
  const before = { ...book }
  book.bookStatus = isFinished ? 'DONE' : 'ING'
  if (isFinished) book.readEndDate = toTimestamp(finishedAt, book.readEndDate)
  recordProgress(library, followBook(library, before, book), book)
  change(library, book.bookId, { isStopped: false, ...(isFinished && { archivedEnd: null }) })
}

const add = command('add progress', 6, fc.tuple(position, progress), (library, [index, sent]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = (library: Library) => {
    const book = findBook(library, bookId)
    if (!book) return NOT_FOUND
    if ('percent' in sent.reached && book.itemPage === null) return { status: 400 }
    const page =
      'page' in sent.reached ? sent.reached.page : Math.round(((book.itemPage ?? 0) * sent.reached.percent) / 100)
    if (page > (book.itemPage ?? page)) return { status: 400 }
    const events = eventsOf(library, bookId)
    // If the latest event is not before its time, and has the same page, it replaces that one.
    const tied = events[0]?.page === page ? events[0].at : 0
    const time = sent.at ? timeOf(events, Date.parse(sent.at), page) : tickUnlessTied(library, tied)
    const previous = events.find((event) => event.at < time)
    const pageBefore = previous?.page ?? (events.length === 0 ? book.currentPage : 0)
    const isReadAgain = readingSince(library, bookId) > (previous?.at ?? 0)
    const begins = book.bookStatus === 'YET' && page > 0 && time >= (events[0]?.at ?? 0)
    const kind = page < pageBefore && !isReadAgain && !begins ? 'CORRECTION' : 'PROGRESS'
    const same = events.find((event) => event.at === time)
    const event: ProgressEvent = same ?? { at: time, page, kind }
    addEvent(library, bookId, event)
    book.currentPage = eventsOf(library, bookId)[0]?.page ?? page
    followProgress(library, book, page, sent.finishedAt)
    const { bookStatus, readEndDate } = book
    return { status: 201, body: { ...toEvent(event), bookStatus, readEndDate } }
  }
  const finished = sent.finishedAt && { finish: true, date: sent.finishedAt }
  const body = { ...sent.reached, ...(sent.at !== undefined && { at: sent.at }), ...finished }
  return { method: 'POST', path: `/books/${bookId}/progress`, body, respond }
})

export const progressCommands: Commands[] = [add]

/** Times by the clock of the model are after all that are sent. */
export const toEvent = ({ at, page, kind }: ProgressEvent) => ({
  at: at >= RUN ? NOW : new Date(at).toISOString().replace(/\.\d+/, ''),
  page,
  kind,
  source: null,
})

export const progressViews = (library: Library, bookId: number | undefined, size: number): View[] =>
  bookId ? [{ path: `/books/${bookId}/progress?`, size, items: eventsOf(library, bookId).map(toEvent) }] : []
