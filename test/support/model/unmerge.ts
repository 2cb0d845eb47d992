// The restore of a book that was merged into another one: takes back what is unchanged since.
import { editionOf } from './editions'
import {
  type Book,
  findBook,
  type Library,
  type Merged,
  memosOf,
  type ProgressEvent,
  type Reading,
  settle,
  type Target,
} from './library'
import { eventsOf, recordProgress } from './progress'
import { change, currentOf, forgetCurrent, listReadings, ownOf, pastOf, promote, unarchive } from './readings'

const FILLED = ['cover', 'author', 'publisher', 'itemPage'] as const
const READING = ['bookStatus', 'readStartDate', 'readEndDate', 'star'] as const

export const snapshotOf = (library: Library, book: Book): Target =>
  structuredClone({
    book,
    edition: editionOf(library, book.bookId),
    own: ownOf(library, book.bookId),
    readingIds: listReadings(library, book).map(({ readingId }) => readingId),
  })

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
const readingOf = ({ book, own }: Target) => [...READING.map((name) => book[name]), Object.entries(own).sort()]
const valuesOf = ({ startedAt, finishedAt, outcome, quarters, format, note, paused }: Reading) => [
  ...[startedAt, finishedAt, outcome, quarters, format, note, paused],
]

const isUnchanged = (library: Library, target: Book, own: Reading) => {
  const isSame = (one: Reading | undefined, other: Reading) => one && isEqual(valuesOf(one), valuesOf(other))
  const asPast = { ...own, outcome: own.outcome ?? ('STOPPED' as const), paused: false }
  const current = currentOf(library, target)
  if (current?.readingId === own.readingId) return isSame(current, own)
  return isSame(
    pastOf(library, target.bookId).find(({ readingId }) => readingId === own.readingId),
    asPast,
  )
}

const makeUnread = (library: Library, book: Book) => {
  Object.assign(book, { bookStatus: 'YET', readStartDate: null, readEndDate: null })
  forgetCurrent(library, book.bookId)
  unarchive(library, book.bookId)
}

const forget = (library: Library, { bookId }: Book) => {
  const { archivedId } = ownOf(library, bookId)
  if (archivedId !== null && pastOf(library, bookId).every(({ readingId }) => readingId !== archivedId))
    unarchive(library, bookId)
}

const takeReadings = (library: Library, target: Book, back: number[], { before, after }: Merged) => {
  const isExact = isEqual(readingOf(snapshotOf(library, target)), readingOf(after))
  const { bookId } = target
  library.readings.set(
    bookId,
    pastOf(library, bookId).filter(({ readingId }) => !back.includes(readingId)),
  )
  const current = currentOf(library, target)
  if (current && back.includes(current.readingId) && !promote(library, target)) makeUnread(library, target)
  const [wasUnread, isUnread] = [before.book.bookStatus === 'YET', target.bookStatus === 'YET']
  const isThere = isUnread || ownOf(library, bookId).readingId === before.own.readingId
  if (!isExact || wasUnread !== isUnread || !isThere) return
  for (const name of READING) Object.assign(target, { [name]: before.book[name] })
  change(library, bookId, before.own)
}

const takeProgress = (library: Library, target: Book, events: ProgressEvent[], merged: Merged) => {
  const { before } = merged
  const isIn = (event: ProgressEvent, others: ProgressEvent[]) => others.some((each) => isEqual(each, event))
  const isTaken = (event: ProgressEvent) => isIn(event, events) && !isIn(event, merged.events)
  library.events.set(
    target.bookId,
    eventsOf(library, target.bookId).filter((event) => !isTaken(event)),
  )
  const [latest] = eventsOf(library, target.bookId)
  const earlier = { ...target }
  target.currentPage = latest?.page ?? before.book.currentPage
  if (!latest) recordProgress(library, earlier, target)
}

const emptyFilled = (library: Library, target: Book, { before, after }: Merged) => {
  const { author } = target
  for (const name of FILLED) if (target[name] === after.book[name]) Object.assign(target, { [name]: before.book[name] })
  const edition = editionOf(library, target.bookId)
  const restored = Object.entries(edition).map(([name, value]) => {
    const key = name as keyof typeof edition
    return [name, isEqual(value, after.edition[key]) ? before.edition[key] : value]
  })
  library.editions.set(target.bookId, Object.fromEntries(restored))
  settle(library, target, author)
}

/** Takes back what came from the book, which is in the library again, without memos. */
export const unmerge = (library: Library, source: Book, merged: Merged) => {
  const target = findBook(library, merged.into)
  const { bookId } = source
  const isBack = (own: Reading) =>
    !merged.after.readingIds.includes(own.readingId) || (target && isUnchanged(library, target, own))
  const back = merged.readings.filter(isBack).map(({ readingId }) => readingId)
  if (target) takeReadings(library, target, back, merged)
  library.readings.set(
    bookId,
    pastOf(library, bookId).filter(({ readingId }) => back.includes(readingId)),
  )
  const current = currentOf(library, source)
  if (current && !back.includes(current.readingId)) {
    forgetCurrent(library, bookId)
    if (!promote(library, source)) makeUnread(library, source)
  }
  forget(library, source)
  if (!target) return
  forget(library, target)
  takeProgress(library, target, eventsOf(library, bookId), merged)
  for (const memo of memosOf(library, target.bookId)) {
    const version = merged.memos.get(memo.memoId)
    if (version && version === library.versions.get(memo.memoId)?.at(-1)) memo.bookId = bookId
  }
  const tags = library.bookTags.get(target.bookId) ?? []
  library.bookTags.set(
    target.bookId,
    tags.filter((key) => !merged.tags.includes(key)),
  )
  emptyFilled(library, target, merged)
}
