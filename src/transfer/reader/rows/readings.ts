import { isInOrder, MAX_LISTED_READINGS } from '../../../library/readings/schema'
import type { EntryReading, PartialDate, Shelf } from '../../entries/entry'
import { isSameDate } from '../../entries/readings'
import { addTags } from './columns'
import { isFuture } from './dates'
import type { ReadCell, Row } from './row'
import { parseInteger, toKey } from './values'
import { findStatus } from './words'

/**
 * Adds a reading, by default a finished one if it has the date. Without the start if that is after the finish, and
 * without dates in the future.
 */
export const addReading = (row: Row, reading: Partial<EntryReading>, column: string) => {
  const { readings } = row.entry
  if (readings.length === MAX_LISTED_READINGS) return row.lose('too-many', column)
  const [startedAt = null, finishedAt = null] = [reading.startedAt, reading.finishedAt].map((date) => {
    if (!date || !isFuture(date)) return date ?? null
    row.lose('bad-date', column, date)
    return null
  })
  // Without the dates in the future, nothing is left of the reading.
  if ((reading.startedAt || reading.finishedAt) && !startedAt && !finishedAt && !reading.outcome) return
  const isOrdered = isInOrder({ startedAt, finishedAt })
  if (!isOrdered) row.lose('bad-date', column)
  const outcome = reading.outcome ?? (finishedAt ? 'FINISHED' : null)
  const dates = { startedAt: isOrdered ? startedAt : null, finishedAt }
  readings.push({ ...dates, outcome, quarters: null, isPaused: false, note: null })
}

/** Adds a reading of a cell with several, if one of its dates can be read. */
export const addDates = (row: Row, start: string, finish: string, column: string) => {
  const [startedAt, finishedAt] = [row.date(start, column), row.date(finish, column)]
  if (startedAt || finishedAt) addReading(row, { startedAt, finishedAt }, column)
}

const order = ({ startedAt, finishedAt }: EntryReading) => finishedAt ?? `9999${startedAt}`
/** Sorts readings by their finish. A reading without one goes on. */
export const sortReadings = ({ entry }: Row) =>
  entry.readings.sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0))

/** Reads the column of starts, before that of finishes. A range has the finish, too. */
export const started: ReadCell = (row, cell, column) => {
  for (const [startedAt, finishedAt] of row.dates(cell, column)) {
    addReading(row, { startedAt, finishedAt }, column)
    row.startColumn = column
  }
}

/** Takes the starts out of the readings that the column of starts added. */
const takeStarts = ({ entry, startColumn }: Row) => {
  if (startColumn === undefined) return []
  const starts = entry.readings.filter(({ finishedAt }) => !finishedAt)
  entry.readings = entry.readings.filter(({ finishedAt }) => finishedAt)
  return starts.flatMap(({ startedAt }) => startedAt ?? [])
}

/**
 * Reads the column of finishes, each with its start: that of a range, or the last one between the finish before and
 * this one. A start after all finishes is an open reading.
 */
export const finished: ReadCell = (row, cell, column) => {
  const dates = row.dates(cell, column)
  if (dates.length === 0) return
  const starts = takeStarts(row)
  const startColumn = row.startColumn ?? column
  // One start and one finish belong together even if they are not in order, which `addReading` reports.
  const isOnly = starts.length === 1 && dates.length === 1
  let before: PartialDate | null = null
  for (const [finishedAt = null, startedAt] of dates.map((range) => range.toReversed()).sort()) {
    const isOwn = (start: PartialDate) =>
      startedAt === undefined
        ? isOnly || (isInOrder({ startedAt: start, finishedAt }) && isInOrder({ startedAt: before, finishedAt: start }))
        : isSameDate(start, startedAt)
    const at = starts.findLastIndex(isOwn)
    const [start] = at === -1 ? [] : starts.splice(at, 1)
    addReading(row, { startedAt: startedAt ?? start, finishedAt }, start ? startColumn : column)
    before = finishedAt
  }
  for (const start of starts) {
    if (isInOrder({ startedAt: before, finishedAt: start })) addReading(row, { startedAt: start }, startColumn)
    else row.lose('bad-date', startColumn)
  }
  sortReadings(row)
}

/** The finish of the newest reading, unless an earlier column has it. */
export const finishedLast: ReadCell = (row, cell, column) => {
  const finishedAt = row.date(cell, column)
  if (!finishedAt) return
  if (row.entry.readings.some((reading) => reading.finishedAt && isSameDate(reading.finishedAt, finishedAt))) return
  addReading(row, { finishedAt }, column)
  sortReadings(row)
}
/** The number of readings. Those without dates in the file cannot be kept. */
export const readCount: ReadCell = (row, cell, column) => {
  const count = parseInteger(cell)
  if (count === undefined) row.lose('bad-number', column)
  else if (Number(count) > Math.max(1, row.entry.readings.length)) row.lose('not-supported', column)
}

/** Sets the status by the shelf, and what the last reading says about it. */
export const applyShelf = (row: Row) => {
  const { entry, shelf } = row
  if (!shelf || shelf === 'TAG') return
  if (shelf === 'YET' && entry.readings.length > 0) {
    row.lose('unread-with-dates', 'status')
    entry.readings = []
  }
  const isEnded = shelf === 'DONE' || shelf === 'STOPPED'
  entry.status = isEnded ? 'DONE' : shelf === 'YET' ? 'YET' : 'ING'
  const last = entry.readings.at(-1)
  // A finished reading of a book that is being read is an earlier one.
  const needsReading = isEnded ? !last && shelf === 'STOPPED' : last ? Boolean(last.finishedAt) : shelf === 'PAUSED'
  if (needsReading) addReading(row, {}, 'status')
  const current = entry.readings.at(-1)
  if (current && isEnded) current.outcome = shelf === 'STOPPED' ? 'STOPPED' : 'FINISHED'
  else if (current) current.isPaused = shelf === 'PAUSED'
  // The last one of the file is the current one, so an earlier one without a finish does not go on.
  for (const earlier of entry.readings.slice(0, -1)) earlier.outcome ??= 'STOPPED'
}

/** What a shelf means, by the member's map, whose keys are folded. */
export const findMapped = (name: string, { shelfMap }: Row) =>
  Object.hasOwn(shelfMap, toKey(name)) ? shelfMap[toKey(name)] : undefined

export const shelfFinder = (meanings: Record<string, Shelf>) => {
  const known = new Map(Object.entries(meanings))
  return (name: string) => known.get(name)
}

/** Sets the shelf as the member maps it, else as the format does. The name of another shelf is kept as a tag. */
export const shelve = (row: Row, name: string, column: string, find: (name: string) => Shelf | undefined) => {
  if (!name) return
  const shelf = findMapped(name, row) ?? find(name)
  if (!shelf) row.lose('custom-shelf-needs-choice', column, name)
  if (!shelf || shelf === 'TAG') addTags(row, [name], column)
  else row.shelf = shelf
}

export const status: ReadCell = (row, cell, column) => {
  if (findMapped(cell, row) ?? findStatus(cell)) shelve(row, cell, column, findStatus)
  else if (cell) row.lose('unknown-status', column)
}
