import * as read from '../rows/columns'
import { addDates, status } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { splitList } from '../rows/values'

/** Readings such as `2026-03-01|2026-03-14|0`, separated by `;`. The last part is the time spent in milliseconds. */
const readings: ReadCell = (row, cell, column) => {
  for (const reading of splitList(cell, ';')) {
    const [start = '', finish = '', milliseconds = ''] = reading.split('|')
    if (Number(milliseconds) !== 0) row.lose('not-supported', column)
    addDates(row, start, finish, column)
  }
}

export const openreads = tableFormat(
  (has) => has('readings') && (has('my_review') || has('olid') || has('book_format')),
  {
    olid: read.identifier('openlibrary'),
    subtitle: read.subtitle,
    author: read.authors(','),
    publication_year: read.publishedYear,
    book_format: read.format,
    readings,
    status: read.unless(/^unknown$/, status),
    tags: read.tags('|||||'),
    // Books in the trash have `true` or `1`.
    deleted: read.failUnless(/^(?!(?:true|1)$)/i),
    date_modified: read.ignored,
    ...read.each('description,favourite', read.unsupported),
  },
)
