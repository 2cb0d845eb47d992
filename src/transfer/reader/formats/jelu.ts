import * as read from '../rows/columns'
import { addReading, findMapped, shelve, sortReadings } from '../rows/readings'
import type { ReadCell, Row } from '../rows/row'
import { tableFormat } from '../rows/table'
import { parseDate, splitList } from '../rows/values'
import { findGoodreadsShelf } from './goodreads'

/** Jelu's date for readings without one. */
const UNKNOWN = '1970-01-01'

const ends =
  (outcome: 'FINISHED' | 'STOPPED'): ReadCell =>
  (row, cell, column) => {
    const { readings } = row.entry
    for (const end of splitList(cell, /[,;]/)) {
      const date = parseDate(end)
      if (date === undefined) row.lose('bad-date', column)
      const isKnown = readings.some(({ finishedAt }) => finishedAt === date)
      if (!date || date === UNKNOWN || isKnown) continue
      addReading(row, null, date, column, outcome)
    }
    sortReadings(row)
  }

const hasEnds = (row: Row, column: string) => splitList(row.get(column), /[,;]/).length > 0

/** The status that the readings say, else that of a shelf. Other shelves are tags. */
const shelves: ReadCell = (row, cell, column) => {
  const isReading = /^(?:true|1|yes)$/i.test(row.get('currently_reading'))
  const isRead = hasEnds(row, 'read_dates') || hasEnds(row, 'date read')
  const isDropped = hasEnds(row, 'dropped_dates')
  const isStopped = isDropped && (!isRead || row.entry.readings.at(-1)?.outcome === 'STOPPED')
  if (isReading || isStopped || isRead) row.shelf = isReading ? 'ING' : isStopped ? 'STOPPED' : 'DONE'
  const shelves = [...splitList(cell, ','), ...splitList(row.get('bookshelves'), ',')]
  const shelf = row.shelf ? '' : shelves.find((name) => findGoodreadsShelf(name) || findMapped(name, row))
  shelve(row, shelf ?? '', column, findGoodreadsShelf)
  const tags = [...splitList(row.get('tags'), ','), ...shelves]
  const others = tags.filter((tag) => tag !== shelf && !findGoodreadsShelf(tag))
  read.addTags(row, others, 'tags')
}

export const jelu = tableFormat('jelu', (has) => has('title') && has('dropped_dates'), {
  ...read.each('authors,author', read.authors(/[,;]/)),
  ...read.each('isbn13,isbn10,isbn', read.isbn),
  ...read.each('read_dates,date read', ends('FINISHED')),
  dropped_dates: ends('STOPPED'),
  shelves,
  ...read.each('bookshelves,tags,currently_reading', read.ignored),
  owned: read.unsupported,
})
