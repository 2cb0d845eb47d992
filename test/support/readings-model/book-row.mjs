// A book with its readings, and the building blocks of all requests, as plain JavaScript.
import { LIMIT } from './statements/schema.mjs'

export const day = (time) => time?.slice(0, 10) ?? null
export const isFull = (date) => date?.length === 10
export const toTime = (date, stored) => (isFull(date) ? (day(stored) === date ? stored : `${date}T00:00:00`) : null)
export const stars = (quarters) => (quarters ? Math.max(1, (quarters + 2) >> 2) : undefined)
export const NONE = { startedAt: null, finishedAt: null, isStopped: false, quarters: null, note: null, isPaused: false }
export const PLAIN = { archivedId: null, archivedStart: null, archivedEnd: null, archivedStar: null }
export const dateOf = ({ finishedAt, startedAt }) => finishedAt ?? startedAt ?? ''
const NAMES = ['readingId', 'startedAt', 'finishedAt', 'outcome', 'quarters', 'note', 'isPaused']
export const toText = (reading) =>
  JSON.stringify(NAMES.map((name) => reading[name] ?? (name === 'isPaused' ? false : null)))

export class BookRow {
  book = { bookStatus: 'YET', readStartDate: null, readEndDate: null, star: 0 }
  past = []
  /** @param ids shared by the books of a member */
  constructor(bookId, ids, seen) {
    Object.assign(this, { bookId, ids, seen })
    this.own = { readingId: bookId, importId: null, ...NONE, ...PLAIN }
  }
  reach(name) {
    this.seen[name] = (this.seen[name] ?? 0) + 1
  }
  current() {
    const { book, own } = this
    if (book.bookStatus === 'YET') return undefined
    const except = (date, archived) => (date === archived ? null : date)
    const isDone = book.bookStatus === 'DONE'
    const end = except(day(book.readEndDate), own.archivedEnd)
    const isExact = own.quarters && stars(own.quarters) === book.star
    return {
      readingId: own.readingId,
      startedAt: except(day(book.readStartDate), own.archivedStart) ?? own.startedAt,
      finishedAt: isDone ? (end ?? own.finishedAt) : null,
      outcome: isDone ? (own.isStopped && !end ? 'STOPPED' : 'FINISHED') : null,
      quarters: isExact ? own.quarters : book.star === own.archivedStar ? null : book.star * 4 || null,
      note: own.note,
      isPaused: own.isPaused && book.bookStatus === 'ING',
    }
  }
  all() {
    const current = this.current()
    const past = this.past.map((each) => ({ ...each, isPaused: false, isCurrent: false }))
    return [...(current ? [{ ...current, isCurrent: true }] : []), ...past]
  }
  columns = () => JSON.stringify([this.book, Object.entries(this.own).sort()])
  state = () => JSON.stringify(this.all().map(toText).sort())
  isRefined = () => this.own.note !== null || this.own.startedAt !== null || this.own.quarters !== null
  hasRoom = () => this.past.length < LIMIT
  newest = () =>
    this.past.toSorted((a, b) =>
      dateOf(a) === dateOf(b) ? b.readingId - a.readingId : dateOf(a) < dateOf(b) ? 1 : -1,
    )[0]
  nextId = () => ++this.ids.last
  /** The current reading becomes a past one. */
  keep() {
    const { isPaused: _, ...reading } = this.current()
    this.past.push({ ...reading, outcome: reading.outcome ?? 'STOPPED' })
  }
  /** And a blank one takes its place. */
  renew() {
    const { readStartDate, readEndDate, star } = this.book
    const archived = {
      archivedId: this.own.readingId,
      archivedStart: day(readStartDate),
      archivedEnd: day(readEndDate),
      archivedStar: star,
    }
    this.own = { ...this.own, readingId: this.nextId(), ...NONE, ...archived }
  }
  take(reading) {
    const { readingId, startedAt, finishedAt, outcome, quarters, note } = reading
    const isStopped = outcome === 'STOPPED'
    this.past = this.past.filter((each) => each !== reading)
    this.own = {
      ...this.own,
      ...NONE,
      ...PLAIN,
      readingId,
      startedAt: isFull(startedAt) ? null : startedAt,
      finishedAt: isFull(finishedAt) && !isStopped ? null : finishedAt,
      isStopped,
      quarters,
      note,
    }
  }
  promote() {
    const newest = this.newest()
    if (!newest) return false
    const { startedAt, finishedAt, outcome, quarters } = newest
    const { book } = this
    this.book = {
      bookStatus: 'DONE',
      readStartDate: toTime(startedAt, book.readStartDate),
      readEndDate: outcome === 'FINISHED' ? toTime(finishedAt, book.readEndDate) : null,
      star: stars(quarters) ?? book.star,
    }
    this.take(newest)
    return true
  }
  isOvertaken() {
    const [current, newest] = [this.current(), this.newest()]
    return Boolean(current?.outcome && newest && dateOf(newest) > dateOf(current))
  }
  settle() {
    if (!this.isOvertaken()) return
    this.reach('settled')
    this.keep()
    this.promote()
  }
  /** The book shows these values of its reading. */
  describe({ startedAt, finishedAt, outcome, quarters, note, isPaused }, star, readingId = this.own.readingId) {
    const isStopped = outcome === 'STOPPED'
    const { book } = this
    this.book = {
      bookStatus: outcome ? 'DONE' : 'ING',
      readStartDate: toTime(startedAt, book.readStartDate),
      readEndDate: outcome === 'FINISHED' ? toTime(finishedAt, book.readEndDate) : null,
      star: stars(quarters) ?? star,
    }
    this.own = {
      ...this.own,
      ...PLAIN,
      readingId,
      startedAt: isFull(startedAt) ? null : startedAt,
      finishedAt: isFull(finishedAt) && !isStopped ? null : finishedAt,
      isStopped,
      quarters,
      note,
      isPaused,
    }
  }
  /** A book without readings. */
  unread(readingId = this.nextId()) {
    this.ids.last = Math.max(this.ids.last, readingId)
    this.book = { ...this.book, bookStatus: 'YET', readStartDate: null, readEndDate: null }
    this.own = { ...this.own, ...NONE, ...PLAIN, readingId }
  }
  forget() {
    if (!this.past.some(({ readingId }) => readingId === this.own.archivedId)) this.own = { ...this.own, ...PLAIN }
  }
  /** What an undo needs. */
  before() {
    const newest = this.newest()
    const { book, own, past } = this
    return {
      columns: this.columns(),
      book,
      own,
      status: book.bookStatus,
      id: own.readingId,
      last: this.ids.last,
      past: past.length,
      newest: newest && { ...newest },
    }
  }
  complete(row, isAdded) {
    const all = this.all()
    Object.assign(row, { after: this.columns(), afterId: this.own.readingId, added: all.filter(isAdded) })
    row.kept = this.past.find(({ readingId }) => readingId === row.id)
  }
}
