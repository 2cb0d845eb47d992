// Merges of two books.
import * as fc from 'fast-check'
import { MAX_SOURCE_IDS } from '../../../src/library/editions/schema'
import { at, type Commands, command, NOT_FOUND, position } from './commands'
import { editionOf } from './editions'
import {
  type Book,
  deleteBook,
  type Edition,
  findBook,
  type Library,
  memosOf,
  type ProgressEvent,
  type Reading,
  RUN,
  settle,
} from './library'
import { addsTo, eventsOf, recordProgress } from './progress'
import {
  change,
  currentOf,
  isRefined,
  keep,
  listReadings,
  ownOf,
  pastOf,
  promote,
  settleReadings,
  showOpen,
} from './readings'
import { trashedBook } from './trash'
import { snapshotOf } from './unmerge'

/** Whether a reading adds nothing to another. */
const isIn = (reading: Reading, other: Reading) =>
  (['startedAt', 'finishedAt', 'outcome'] as const).every((name) => reading[name] === other[name]) &&
  (['quarters', 'format', 'note'] as const).every((name) => reading[name] === null || reading[name] === other[name])

const addUnlessKnown = (library: Library, book: Book, readings: Reading[]) => {
  const known = [currentOf(library, book), ...pastOf(library, book.bookId)].filter((each) => each !== undefined)
  const added = readings.filter((reading) => !known.some((each) => isIn(reading, each)))
  library.readings.set(book.bookId, [...pastOf(library, book.bookId), ...added])
}

/** The open reading of the source becomes the current one; a stopped one, if the target has one, too. */
const moveReadings = (library: Library, target: Book, source: Book) => {
  const moved = currentOf(library, source)
  const shown = currentOf(library, target)
  const isBeingRead = shown?.outcome === null
  if (moved && (moved.outcome || (isBeingRead && isRefined(ownOf(library, source.bookId))))) {
    addUnlessKnown(library, target, [{ ...moved, outcome: moved.outcome ?? 'STOPPED', paused: false }])
  } else if (moved && !isBeingRead) {
    keep(library, target)
    showOpen(library, target, moved)
  }
  addUnlessKnown(library, target, pastOf(library, source.bookId))
}

const fillEdition = (target: Edition, source: Edition): Edition => {
  const names = ['subtitle', 'isbn', 'language', 'format', 'publishedYear', 'series'] as const
  const filled = Object.fromEntries(names.map((name) => [name, target[name] ?? source[name]]))
  const isSameSeries = !target.series || !source.series || target.series === source.series
  const otherIsbn = target.isbn && source.isbn && target.isbn !== source.isbn ? [`isbn:${source.isbn}`] : []
  return {
    ...target,
    ...filled,
    seriesNumber: isSameSeries ? (target.seriesNumber ?? source.seriesNumber) : target.seriesNumber,
    sourceIds: [...new Set([...target.sourceIds, ...otherIsbn, ...source.sourceIds])].slice(0, MAX_SOURCE_IDS),
  }
}

const fillBook = (library: Library, target: Book, source: Book) => {
  const before = target.author
  const dates = target.bookStatus === 'YET' ? (['readStartDate', 'readEndDate'] as const) : []
  const names = ['cover', 'author', 'publisher', 'itemPage', ...dates] as const
  Object.assign(target, Object.fromEntries(names.map((name) => [name, target[name] ?? source[name]])))
  if (target.star === 0 && target.bookStatus !== 'YET') change(library, target.bookId, { archivedStar: source.star })
  target.star ||= source.star
  library.editions.set(target.bookId, fillEdition(editionOf(library, target.bookId), editionOf(library, source.bookId)))
  settle(library, target, before)
}

/** The dates of a reading of the source keep their times of day. */
const setTimes = (library: Library, target: Book, source: Book) => {
  if (ownOf(library, target.bookId).readingId !== currentOf(library, source)?.readingId) return
  for (const name of ['readStartDate', 'readEndDate'] as const) {
    if (target[name]?.slice(0, 10) === source[name]?.slice(0, 10)) target[name] = source[name]
  }
}

/** An event of another page at the time of one of the target comes later. */
const separateProgress = (library: Library, target: Book, source: Book) => {
  const [own, others] = [eventsOf(library, target.bookId), eventsOf(library, source.bookId)]
  const [latest, latestOther] = [own[0], others[0]]
  const isRecent = latest !== undefined && latest.at >= RUN && latestOther !== undefined && latestOther.at >= RUN
  if (isRecent) library.couldTie = true
  const times = new Set([...own, ...others].map((event) => event.at))
  const timeOf = (event: ProgressEvent) => {
    const time = isRecent && library.isTied && event === latestOther ? latest.at : event.at
    if (!own.some((each) => each.at === time && addsTo(each, event))) return time
    // The next times by the clock of the model are whole numbers.
    return time >= RUN
      ? time + 0.5
      : ([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => time + n).find((each) => !times.has(each)) ?? time)
  }
  const separated = others.map((event) => ({ ...event, at: timeOf(event) }))
  library.events.set(source.bookId, separated)
}

const moveProgress = (library: Library, target: Book, source: Book) => {
  const own = eventsOf(library, target.bookId)
  const added = eventsOf(library, source.bookId).filter(({ at: time }) => own.every((event) => event.at !== time))
  library.events.set(target.bookId, [...own, ...added])
}

const syncPage = (library: Library, target: Book, source: Book) => {
  const [latest] = eventsOf(library, target.bookId)
  const before = { ...target }
  target.currentPage = latest?.page ?? (target.currentPage || source.currentPage)
  if (!latest) recordProgress(library, before, target)
}

const merge = command('merge', 3, fc.tuple(position, position), (library, [index, other]) => {
  const [bookId, from] = [at(library.bookIds, index), at(library.bookIds, other)]
  if (!bookId) return undefined
  const respond = (library: Library) => {
    const [target, source] = [findBook(library, bookId), findBook(library, from ?? 0)]
    if (!target || !source) return NOT_FOUND
    if (target === source) return { status: 400 }
    const before = snapshotOf(library, target)
    const events = eventsOf(library, bookId)
    const [ofTarget, ofSource] = [bookId, source.bookId].map((id) => library.bookTags.get(id) ?? [])
    const memos = memosOf(library, source.bookId).map(
      ({ memoId }) => [memoId, library.versions.get(memoId)?.at(-1)] as const,
    )
    const readings = listReadings(library, source)
    separateProgress(library, target, source)
    const entry = trashedBook(library, source)
    moveReadings(library, target, source)
    moveProgress(library, target, source)
    const tags = [bookId, source.bookId].flatMap((id) => library.bookTags.get(id) ?? [])
    library.bookTags.set(bookId, [...new Set(tags)])
    for (const memo of memosOf(library, source.bookId)) memo.bookId = bookId
    fillBook(library, target, source)
    if (target.bookStatus === 'YET') promote(library, target)
    else settleReadings(library, target)
    setTimes(library, target, source)
    syncPage(library, target, source)
    deleteBook(library, source.bookId)
    const tagsAdded = (ofSource ?? []).filter((key) => !ofTarget?.includes(key))
    const after = snapshotOf(library, target)
    library.trash.push({
      ...entry,
      merged: { into: bookId, memos: new Map(memos), readings, tags: tagsAdded, events, before, after },
    })
    return { status: 200, body: { ...target, memoCount: memosOf(library, bookId).length } }
  }
  return { method: 'POST', path: `/books/${bookId}/merge`, body: { from }, respond }
})

export const mergeCommands: Commands[] = [merge]
