// Readings that members add, change and delete.
import * as fc from 'fast-check'
import { BOOK_FORMATS, READING_OUTCOMES } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, NOT_FOUND, position } from './commands'
import { addId, findBook, type Library, type Reading, tick } from './library'
import { followReading, keepFirst, listReadings, newestFirst, store, storedOf, toReading } from './readings'
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

const create = command('create reading', 6, fc.tuple(position, anyOf(fields)), (library, [index, body]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = ({ readingId }: Record<string, unknown>) => {
    if (!isValid(body)) return { status: 400 }
    const book = findBook(library, bookId)
    if (!book) return NOT_FOUND
    keepFirst(library, book)
    const { startedAt = null, finishedAt = null, rating, format = null, paused = false } = body
    const created: Reading = {
      readingId: addId(library.readingIds, readingId),
      createdAt: tick(library),
      startedAt,
      finishedAt,
      outcome: body.outcome ?? (finishedAt ? 'FINISHED' : null),
      quarters: rating ? rating * 4 : null,
      format,
      note: body.note || null,
      paused,
    }
    store(library, bookId, created)
    const [newest] = storedOf(library, bookId).toSorted(newestFirst)
    if (newest === created) followReading(library, book, created, {})
    return { status: 201, body: toReading(created) }
  }
  return { method: 'POST', path: `/books/${bookId}/readings`, body, respond }
})

/** The book of a reading. The first reading has the identifier of its book, also before it is stored. */
const bookOf = (library: Library, readingId: number) =>
  library.books.find((book) => listReadings(library, book).some((reading) => reading.readingId === readingId))

const readingIds = ({ bookIds, readingIds }: Library) => [...readingIds, ...bookIds]

const update = command('update reading', 6, fc.tuple(position, anyOf(fields)), (library, [index, body]) => {
  const readingId = at(readingIds(library), index)
  if (!readingId) return undefined
  const respond = () => {
    if (!isValid(body)) return { status: 400 }
    const book = bookOf(library, readingId)
    if (!book) return NOT_FOUND
    const { startedAt, finishedAt, outcome, rating, format, note, paused } = body
    const stored = listReadings(library, book).find((each) => each.readingId === readingId) as Reading
    if (Object.keys(body).length === 0) return { status: 200, body: toReading(stored) }
    keepFirst(library, book)
    const reading = storedOf(library, book.bookId).find((each) => each.readingId === readingId) as Reading
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
    const sets = {
      start: startedAt !== undefined,
      end: finishedAt !== undefined || outcome !== undefined,
      outcome: outcome !== undefined,
      star: rating !== undefined,
    }
    const isReordered = sets.start || sets.end
    const isNewest = library.newest.get(book.bookId) === readingId
    const staysDone = isNewest && book.bookStatus === 'DONE' && !sets.outcome
    const others = storedOf(library, book.bookId).filter((each) => each === reading || each.outcome || !staysDone)
    const first = isReordered ? others.toSorted(newestFirst)[0] : reading
    if (first && (isNewest ? isReordered || sets.star : isReordered && first === reading))
      followReading(library, book, first, sets)
    return { status: 200, body: toReading(reading) }
  }
  return { method: 'PATCH', path: `/readings/${readingId}`, body, respond }
})

const remove = command('delete reading', 3, position, (library, index) => {
  const readingId = at(readingIds(library), index)
  if (!readingId) return undefined
  const respond = () => {
    const book = bookOf(library, readingId)
    if (!book) return NOT_FOUND
    keepFirst(library, book)
    const others = storedOf(library, book.bookId).filter((reading) => reading.readingId !== readingId)
    const [first] = others.toSorted(newestFirst)
    if (library.newest.get(book.bookId) === readingId) {
      if (first) followReading(library, book, first, {})
      else {
        library.newest.delete(book.bookId)
        Object.assign(book, { bookStatus: 'YET', readStartDate: null, readEndDate: null })
      }
    }
    library.readings.set(book.bookId, others)
    return { status: 204, body: null }
  }
  return { method: 'DELETE', path: `/readings/${readingId}`, respond }
})

export const readingCommands: Commands[] = [create, update, remove]
