import * as read from '../rows/columns'
import { addReading, shelve, sortReadings } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { splitList } from '../rows/values'
import { findGoodreadsShelf } from './goodreads'

const EVENTS = ['read_dates', 'dropped_dates', 'currently_reading']
/** Jelu's date for events without one. */
const UNKNOWN = '1970-01-01'

const ends =
  (outcome: 'FINISHED' | 'STOPPED'): ReadCell =>
  (row, cell, column) => {
    for (const item of splitList(cell, ',')) {
      const date = row.date(item, column)
      if (date && date !== UNKNOWN) addReading(row, { finishedAt: date, outcome }, column)
    }
    sortReadings(row)
  }

/** The start of the reading that goes on, unless a later event ended it. */
const start: ReadCell = (row, cell, column) => {
  const isReading = findGoodreadsShelf(row.get('shelves')) === 'ING'
  for (const item of splitList(cell, ',')) {
    const date = row.date(item, column)
    if (isReading) addReading(row, { startedAt: date === UNKNOWN ? null : date }, column)
    else row.lose('not-supported', column)
  }
}

/** Books that are read or to be read are on a shelf. Of others, the newest event says the status. */
const shelf: ReadCell = (row, cell, column) => {
  const [isRead, isDropped] = [row.get('read_dates') !== '', row.get('dropped_dates') !== '']
  if (findGoodreadsShelf(cell) === 'ING' || !(isRead || isDropped)) {
    return shelve(row, cell, column, findGoodreadsShelf)
  }
  if (cell) row.lose('not-supported', column)
  const last = row.entry.readings.at(-1)
  row.shelf = (last ? last.outcome === 'STOPPED' : !isRead) ? 'STOPPED' : 'DONE'
}

/** The date of the latest event of any kind, which one of the lists has. */
const lastEvent: ReadCell = (row, cell, column) => {
  if (cell && !EVENTS.some((list) => splitList(row.get(list), ',').includes(cell))) row.lose('not-supported', column)
}

export const jelu = tableFormat((has) => has('dropped_dates'), {
  ...read.each('authors,author', read.authors(',')),
  ...read.each('isbn13,isbn10,isbn', read.isbn),
  read_dates: ends('FINISHED'),
  dropped_dates: ends('STOPPED'),
  currently_reading: start,
  shelves: shelf,
  'date read': lastEvent,
  tags: read.tags(','),
  // The tags without their blanks.
  bookshelves: read.ignored,
  owned: read.unsupported,
})
