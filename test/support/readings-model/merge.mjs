// The rules of a merge, as plain JavaScript.
import { day, PLAIN, stars } from './book-row.mjs'

/** Takes everything of another book, which is deleted. */
export const mergeBooks = (target, from) => {
  const { isPaused: _, ...source } = from.current() ?? {}
  const shown = target.current()
  const isSame = (one, other) => ['startedAt', 'finishedAt', 'outcome'].every((name) => one[name] === other[name])
  const isKnown = (reading) => [target.current(), ...target.past].some((each) => each && isSame(each, reading))
  const add = (reading) => {
    if (!isKnown(reading)) target.past.push(reading)
  }
  const isOpen = source.readingId && !source.outcome
  if (source.outcome) add(source)
  // Both are open: the source's was stopped, if more is known of it than a book shows.
  else if (isOpen && shown && !shown.outcome && from.isRefined()) add({ ...source, outcome: 'STOPPED' })
  else if (isOpen && !(shown && !shown.outcome)) {
    if (shown) target.keep()
    const readStartDate = source.startedAt === day(from.book.readStartDate) ? from.book.readStartDate : null
    target.book = {
      bookStatus: 'ING',
      readStartDate,
      readEndDate: null,
      star: stars(source.quarters) ?? target.book.star,
    }
    target.own = { ...from.own, importId: target.own.importId, ...PLAIN, finishedAt: null, isStopped: false }
  }
  const known = [target.current(), ...target.past].filter(Boolean)
  target.past.push(...from.past.filter((each) => !known.some((other) => isSame(other, each))))
  if (target.book.bookStatus === 'YET') target.promote()
  else target.settle()
}
