import { type Row, shelve, sortReadings } from '../row'
import type { Shelf } from '../status'
import { tableFormat } from '../table'
import { cutText, parseDate, splitList, toKey } from '../values'

const SHELVES: Record<string, Shelf> = {
  read: 'DONE',
  'currently-reading': 'ING',
  'to-read': 'YET',
  'did-not-finish': 'STOPPED',
}
export const findGoodreadsShelf = (name: string) =>
  Object.hasOwn(SHELVES, toKey(name)) ? SHELVES[toKey(name)] : undefined

/**
 * Adds the readings of a `read_dates` cell, separated by `;`, oldest first: `start|finish`, where each may be empty, or only a
 * finish. Dates are yyyy, yyyy-MM or yyyy-MM-dd, also with slashes: `2024-05;2026-03-01|2026-03-14;2026-11-01|`.
 */
export const addReadDates = (row: Row, column: string) => {
  for (const reading of splitList(row.get(column), ';')) {
    const dates = reading.split('|')
    const [finishedAt, startedAt = null] = dates.reverse().map((date) => parseDate(date))
    if (finishedAt === undefined || startedAt === undefined || dates.length > 2) row.lose('bad-date', column)
    if (startedAt || finishedAt) row.addReading(startedAt ?? null, finishedAt ?? null, column)
  }
}

/** The finish of the newest reading, unless `read_dates` has it. Other readings have no dates in the file. */
const addDateRead = (row: Row) => {
  const { entry } = row
  const finishedAt = row.date('date read')
  if (finishedAt && !entry.readings.some((reading) => reading.finishedAt === finishedAt)) {
    row.addReading(null, finishedAt, 'date read')
    sortReadings(row)
  }
  const count = row.integer('read count') ?? 0
  if (count > Math.max(1, entry.readings.length)) row.lose('not-supported', 'read count')
}

export const goodreads = tableFormat({
  name: 'goodreads',
  matches: (has) =>
    has('title') &&
    !has('dropped_dates') &&
    (has('exclusive shelf') || has('bookshelves with positions') || (has('book id') && has('my rating'))),
  columns:
    'book id,title,author,author l-f,additional authors,isbn,isbn13,my rating,average rating,publisher,binding,number of pages,year published,original publication year,date read,date added,bookshelves,bookshelves with positions,exclusive shelf,my review,private notes,read count,read_dates',
  unsupported:
    'spoiler,owned copies,genres,recommended for,recommended by,original purchase date,original purchase location,condition,condition description,bcid',
  read: (row, options) => {
    const { entry, get } = row
    row.identify('goodreads', get('book id'), 'book id')
    entry.title = row.text('title')
    row.authors([get('author'), ...splitList(get('additional authors'), ',')], 'author')
    row.isbn('isbn13', 'isbn')
    entry.publisher = row.text('publisher')
    row.format('binding')
    entry.pages = row.pages('number of pages')
    entry.publishedYear =
      row.integer('year published', -3000, 9999) ?? row.integer('original publication year', -3000, 9999)
    row.rate('my rating')
    row.added('date added')
    addReadDates(row, 'read_dates')
    addDateRead(row)
    const shelf = get('exclusive shelf')
    shelve(row, shelf, 'exclusive shelf', options, findGoodreadsShelf)
    const tags = splitList(get('bookshelves'), ',')
    row.tag(
      tags.filter((tag) => toKey(tag) !== toKey(shelf) && !findGoodreadsShelf(tag)),
      'bookshelves',
    )
    row.memo(get('my review'), 'my review')
    row.memo(get('private notes'), 'private notes')
    entry.series = cutText(/ \(([^()]+), #\d+(?:\.\d+)?\)$/.exec(entry.title ?? '')?.[1] ?? '', 500) || null
    entry.seriesNumber = entry.series
      ? Number(/#(\d{1,5}(?:\.\d{1,3})?)\)$/.exec(entry.title ?? '')?.[1] ?? Number.NaN)
      : null
  },
})
