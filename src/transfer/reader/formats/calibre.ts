import * as read from '../rows/columns'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { parseIsbn, splitList } from '../rows/values'

/** A list such as `goodreads:1,isbn:9780446675505`. */
const identifiers: ReadCell = (row, cell, column) => {
  for (const identifier of splitList(cell, ',')) {
    const isbn = identifier.replace(/^isbn\s*:/i, '')
    if (isbn === identifier) read.sourceId(row, identifier, column)
    else row.entry.isbn ??= parseIsbn(isbn) ?? null
  }
}

/** Dates that Calibre writes where it has none. */
const UNKNOWN_DATE = /^(?:0101-01-01|1970-01-01|0100-12-31)/

/** Calibre doubles `&` in names, and writes `Unknown` for a book without authors. */
const authors: ReadCell = (row, cell, column) => {
  const names = cell === 'Unknown' ? [] : cell.split(' & ').map((name) => name.replaceAll('&&', '&'))
  read.addAuthors(row, names, column)
}

const formats: ReadCell = ({ entry }, cell) => {
  if (cell) entry.format = /m4b|mp3|audio/i.test(cell) ? 'AUDIO' : 'EBOOK'
}

/** Calibre writes 1.0 for a book in no series. */
const numberInSeries: ReadCell = (row, cell, column) => {
  if (row.entry.series) read.seriesNumber(row, cell, column)
}

export const calibre = tableFormat(
  (has) => (has('title_sort') || has('author_sort')) && (has('uuid') || has('identifiers')),
  {
    uuid: read.identifier('calibre'),
    identifiers,
    authors,
    pubdate: read.unless(UNKNOWN_DATE, read.published),
    languages: read.languages,
    formats,
    timestamp: read.unless(UNKNOWN_DATE, read.added),
    series_index: numberInSeries,
    tags: read.tags(','),
    ...read.each('author_sort,cover,id,library_name,size,title_sort', read.ignored),
    comments: read.unsupported,
  },
)
