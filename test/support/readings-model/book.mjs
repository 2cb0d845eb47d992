// The rules of the requests that change one book, as plain JavaScript.
import { BookRow, day, isFull, NONE, PLAIN, stars, toTime } from './book-row.mjs'

export class Book extends BookRow {
  patchBook(patch) {
    const { bookStatus: status } = patch
    const { book } = this
    const after = { ...book, ...patch }
    const current = this.current()
    if (current && (status === 'YET' || status === 'ING')) {
      const isTraceless = status === 'YET' && !current.outcome && !this.isRefined()
      if (isTraceless) this.own = { ...this.own, ...NONE, readingId: this.nextId() }
      else if ((current.outcome || status === 'YET') && this.hasRoom()) {
        this.keep()
        this.renew()
      } else if (current.outcome || status === 'YET') this.reach('full')
    }
    let isRestored = false
    const archived = this.past.find(({ readingId }) => readingId === this.own.archivedId)
    if (archived && !this.isRefined() && day(after.readStartDate) === this.own.archivedStart) {
      const wasGivenUp = book.bookStatus === 'YET' && archived.outcome === 'STOPPED' && !archived.finishedAt
      const isFinishedAgain = archived.outcome === 'FINISHED' && book.bookStatus !== 'DONE'
      const isSameEnd = day(after.readEndDate) === this.own.archivedEnd
      const isDone = status === 'DONE' && isSameEnd && (isFinishedAgain || wasGivenUp)
      const goesOn = status === 'ING' && wasGivenUp
      if (isDone || goesOn) {
        this.reach('restored')
        isRestored = true
        this.take(archived)
      }
    }
    if (status && status !== 'YET' && book.bookStatus !== 'DONE') this.own = { ...this.own, isStopped: false }
    if (after.bookStatus === 'DONE' && book.bookStatus !== 'DONE' && !isRestored) this.ids.finishes.push(this.bookId)
    this.book = after
  }
  createReading({ isPaused, ...reading }) {
    const { bookStatus } = this.book
    if (!this.hasRoom() || (!reading.outcome && bookStatus === 'ING')) return
    if (reading.outcome) {
      this.past.push({ readingId: this.nextId(), ...reading })
      if (bookStatus === 'YET') this.promote()
      else this.settle()
    } else this.begin({ ...reading, isPaused })
  }
  begin(reading, readingId) {
    const isKept = this.book.bookStatus === 'DONE'
    if (isKept) this.keep()
    if (isKept) this.ids.last = Math.max(this.ids.last, readingId ?? this.ids.last + 1)
    this.describe(reading, this.book.star, isKept ? (readingId ?? this.ids.last) : undefined)
  }
  /** What is not sent stays, hidden dates included. */
  updateCurrent(patch) {
    const { startedAt, finishedAt, outcome, quarters, note, isPaused } = patch
    const { book, own } = this
    if (startedAt !== undefined) {
      Object.assign(book, { readStartDate: toTime(startedAt, book.readStartDate) })
      Object.assign(own, { startedAt: isFull(startedAt) ? null : startedAt, archivedStart: null })
    }
    if (outcome !== undefined) {
      const isStopped = outcome === 'STOPPED'
      const readEndDate = outcome === 'FINISHED' ? toTime(finishedAt, book.readEndDate) : null
      Object.assign(book, { bookStatus: outcome ? 'DONE' : 'ING', readEndDate })
      const partial = isFull(finishedAt) && !isStopped ? null : finishedAt
      Object.assign(own, { finishedAt: partial, isStopped, isPaused, archivedEnd: null })
    }
    if (quarters !== undefined) {
      Object.assign(book, { star: stars(quarters) ?? 0 })
      Object.assign(own, { quarters, archivedStar: null })
    }
    if (note !== undefined) Object.assign(own, { note })
  }
  /** The columns of the book, as planned. */
  refine({ bookStatus, readStartDate, readEndDate, star, ...own }) {
    this.book = { bookStatus, readStartDate, readEndDate, star }
    this.own = { ...this.own, ...own }
  }
  updateReading({ readingId, ...patch }) {
    const { isPaused: _, ...past } = patch
    if (this.current()?.readingId === readingId) {
      if (this.book.bookStatus === 'ING' && patch.outcome === 'FINISHED') this.ids.finishes.push(this.bookId)
      this.book = { ...this.book }
      this.own = { ...this.own }
      this.updateCurrent(patch)
    } else this.past = this.past.map((each) => (each.readingId === readingId ? { ...each, ...past } : each))
    // A rating or a note changes no order.
    if ('startedAt' in patch || 'outcome' in patch) this.settle()
  }
  deleteReading({ readingId }) {
    if (this.current()?.readingId === readingId) {
      if (!this.promote()) this.unread()
    } else {
      this.past = this.past.filter((each) => each.readingId !== readingId)
      if (this.own.archivedId === readingId) this.own = { ...this.own, ...PLAIN }
    }
  }
}
