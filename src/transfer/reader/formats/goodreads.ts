import * as read from '../rows/columns'
import { addDates, finishedLast, readCount, shelfFinder, shelve } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { parseDecimal, splitList, toKey } from '../rows/values'

const findShelf = shelfFinder({
  read: 'DONE',
  'currently-reading': 'ING',
  'to-read': 'YET',
  'did-not-finish': 'STOPPED',
})
export const findGoodreadsShelf = (name: string) => findShelf(toKey(name))

/**
 * `(Harbour, #2)`; the comma may be missing, the number a range. Further series follow after a semicolon or in brackets
 * of their own, as an edition does.
 */
const SERIES = / \(([^()#;]{1,500}?),? #(\d{1,9}(?:\.\d{1,9})?)([^()]{0,500})\)((?: \([^()]{0,500}\)){0,3})$/

/** A title, with its series at the end: `The Salt Archive (Harbour, #2)`. The first of several is kept. */
const titleWithSeries: ReadCell = (row, cell, column) => {
  read.title(row, cell, column)
  const [, series = null, number = '', rest = '', others = ''] = SERIES.exec(row.entry.title ?? '') ?? []
  if (rest || others.includes('#')) row.lose('not-supported', column)
  row.entry.series = series
  row.entry.seriesNumber = parseDecimal(number) ?? null
}

const authors: ReadCell = (row, cell, column) =>
  read.addAuthors(row, [cell, ...splitList(row.get('additional authors'), ',')], column)

/** Readings, oldest first, such as `2024-05;2026-03-01,2026-03-14;2026-11-01,`: start and finish, or only a finish. */
const readDates: ReadCell = (row, cell, column) => {
  for (const reading of splitList(cell, ';')) {
    const [finish = '', start = '', ...others] = reading.split(',').reverse()
    if (others.length > 0) row.lose('bad-date', column)
    addDates(row, start, finish, column)
  }
}

/** The exclusive shelf may be one of these, too. Without a cell for it, one of these says the status. */
const bookshelves: ReadCell = (row, cell, column) => {
  const exclusive = toKey(row.get('exclusive shelf'))
  const names = splitList(cell, ',')
  const status = exclusive ? undefined : names.find(findGoodreadsShelf)
  if (status) shelve(row, status, column, findGoodreadsShelf)
  const others = names.filter((tag) => (exclusive ? toKey(tag) !== exclusive : tag !== status))
  const tags = others.filter((tag) => !exclusive || !findGoodreadsShelf(tag))
  if (tags.length < others.length) row.lose('not-supported', column)
  read.addTags(row, tags, column)
}

export const goodreads = tableFormat(
  (has) =>
    !has('dropped_dates') &&
    (has('exclusive shelf') ||
      has('bookshelves with positions') ||
      // Files for its import, as skoob-exporter writes them, have no identifiers.
      (has('my rating') && (has('bookshelves') || (has('book id') && has('date read'))))),
  {
    'book id': read.identifier('goodreads'),
    title: titleWithSeries,
    subtitle: read.subtitle,
    author: authors,
    ...read.each('isbn13,isbn', read.isbn),
    ...read.each('year published,original publication year', read.publishedYear),
    read_dates: readDates,
    'date read': finishedLast,
    'read count': readCount,
    'exclusive shelf': (row, cell, column) => shelve(row, cell, column, findGoodreadsShelf),
    bookshelves,
    ...read.each('author l-f,additional authors,average rating,n_ratings,bookshelves with positions', read.ignored),
    ...read.each(
      'spoiler,owned copies,genres,recommended for,recommended by,original purchase date,original purchase location,condition,condition description,bcid',
      read.unsupported,
    ),
  },
)
