// Readings that members add, change and delete.
import * as fc from 'fast-check'
import { BOOK_FORMATS, READING_OUTCOMES } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, type Expected, NOT_FOUND, position } from './commands'
import { createOnce, someKey, withKey } from './keys'
import { findBook, type Library, type Reading, tickForReading } from './library'
import { recordProgress } from './progress'
import {
  addPast,
  begin,
  changeCurrent,
  currentOf,
  forgetCurrent,
  listReadings,
  ownOf,
  pastOf,
  promote,
  settleReadings,
  toReading,
  unarchive,
} from './readings'
import { DAYS, TEXTS } from './values'

const date = fc.constantFrom(null, ...DAYS)
const fields = {
  startedAt: date,
  finishedAt: date,
  outcome: fc.constantFrom(null, ...READING_OUTCOMES),
  rating: fc.constantFrom(null, 0.25, 2.5, 3.75, 5),
  format: fc.constantFrom(null, ...BOOK_FORMATS),
  note: fc.constantFrom(null, '', ...TEXTS.slice(0, 2)),
  paused: fc.boolean(),
}
type Sent = Partial<{
  startedAt: string | null
  finishedAt: string | null
  outcome: Reading['outcome']
  rating: number | null
  format: Reading['format']
  note: string | null
  paused: boolean
}>

/** Whether a reading does not end before it starts, as far as both dates are known. */
const isInOrder = ({ startedAt, finishedAt }: Sent) =>
  !startedAt || !finishedAt || finishedAt.slice(0, startedAt.length) >= startedAt.slice(0, finishedAt.length)
const isValid = (sent: Sent) =>
  isInOrder(sent) && !(sent.outcome === null && sent.finishedAt) && !(sent.paused && (sent.outcome || sent.finishedAt))

const create = command(
  'create reading',
  6,
  fc.tuple(position, anyOf(fields), someKey),
  (library, [index, body, key]) => {
    const bookId = at(library.bookIds, index)
    if (!bookId) return undefined
    const path = `/books/${bookId}/readings`
    const create = (library: Library, readingId: unknown): Expected & { id?: number } => {
      const book = findBook(library, bookId)
      if (!book) return NOT_FOUND
      const { startedAt = null, finishedAt = null, rating, format = null, paused = false } = body
      const created: Reading = {
        readingId: Number(readingId),
        createdAt: tickForReading(library, bookId),
        startedAt,
        finishedAt,
        outcome: body.outcome ?? (finishedAt ? 'FINISHED' : null),
        quarters: rating ? rating * 4 : null,
        format,
        note: body.note || null,
        paused,
      }
      if (!created.outcome && book.bookStatus === 'ING') return { status: 409 }
      if (!created.outcome) begin(library, book, created)
      else {
        addPast(library, bookId, created)
        if (book.bookStatus === 'YET') promote(library, book)
        else settleReadings(library, book)
      }
      return { status: 201, body: toReading(created), id: created.readingId }
    }
    const respond = (library: Library, { readingId }: Record<string, unknown>) => {
      if (!isValid(body)) return { status: 400 }
      return createOnce(library, key, {
        request: { path, body },
        create: () => create(library, readingId),
        show: (id) => {
          const readings = library.books.flatMap((book) => listReadings(library, book))
          return readings.filter((reading) => reading.readingId === id).map(toReading)[0]
        },
      })
    }
    return { method: 'POST', path, body, ...withKey(key), respond }
  },
)

/** The book of a reading. */
const bookOf = (library: Library, readingId: number) =>
  library.books.find((book) => listReadings(library, book).some((reading) => reading.readingId === readingId))

const readingIds = ({ bookIds, readingIds }: Library) => [...readingIds.filter(Number.isInteger), ...bookIds]

const update = command('update reading', 6, fc.tuple(position, anyOf(fields)), (library, [index, body]) => {
  const readingId = at(readingIds(library), index)
  if (!readingId) return undefined
  const respond = (library: Library) => {
    if (!isValid(body)) return { status: 400 }
    const book = bookOf(library, readingId)
    if (!book) return NOT_FOUND
    const { startedAt, finishedAt, outcome, rating, format, note, paused } = body
    const stored = listReadings(library, book).find((each) => each.readingId === readingId) as Reading
    if (Object.keys(body).length === 0) return { status: 200, body: toReading(stored) }
    const isCurrent = currentOf(library, book)?.readingId === readingId
    const reading = { ...stored }
    if (!isCurrent && outcome === null) return { status: 400 }
    if (paused && outcome === undefined && reading.outcome !== null) return { status: 400 }
    if (outcome !== null && (startedAt || finishedAt) && !isInOrder({ ...reading, ...body })) return { status: 400 }
    if (startedAt !== undefined) reading.startedAt = startedAt
    if (finishedAt !== undefined) reading.finishedAt = finishedAt
    if (outcome !== undefined) reading.outcome = outcome
    else if (finishedAt) reading.outcome ??= 'FINISHED'
    if (outcome === null) reading.finishedAt = null
    if (rating !== undefined) reading.quarters = rating && rating * 4
    if (format !== undefined) reading.format = format
    if (note !== undefined) reading.note = note || null
    if (paused !== undefined) reading.paused = paused
    if (outcome || finishedAt) reading.paused = false
    if (isCurrent) {
      const before = { ...book }
      const sent = { startedAt, finishedAt, outcome, quarters: rating === undefined ? undefined : reading.quarters }
      changeCurrent(library, book, sent, reading)
      if (reading.outcome === 'FINISHED') recordProgress(library, before, book)
    } else {
      const others = pastOf(library, book.bookId).filter((each) => each.readingId !== readingId)
      library.readings.set(book.bookId, [...others, { ...reading, paused: false }])
    }
    if ([startedAt, finishedAt, outcome].some((sent) => sent !== undefined)) settleReadings(library, book)
    return { status: 200, body: toReading(isCurrent ? reading : { ...reading, paused: false }) }
  }
  return { method: 'PATCH', path: `/readings/${readingId}`, body, respond }
})

const remove = command('delete reading', 3, position, (library, index) => {
  const readingId = at(readingIds(library), index)
  if (!readingId) return undefined
  const respond = (library: Library) => {
    const book = bookOf(library, readingId)
    if (!book) return NOT_FOUND
    const { bookId } = book
    if (currentOf(library, book)?.readingId !== readingId) {
      const others = pastOf(library, bookId).filter((reading) => reading.readingId !== readingId)
      library.readings.set(bookId, others)
      if (ownOf(library, bookId).archivedId === readingId) unarchive(library, bookId)
    } else if (!promote(library, book)) {
      forgetCurrent(library, bookId)
      unarchive(library, bookId)
      Object.assign(book, { bookStatus: 'YET', readStartDate: null, readEndDate: null })
    }
    return { status: 204, body: null }
  }
  return { method: 'DELETE', path: `/readings/${readingId}`, respond }
})

export const readingCommands: Commands[] = [create, update, remove]
