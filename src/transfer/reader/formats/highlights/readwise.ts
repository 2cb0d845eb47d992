import * as read from '../../rows/columns'
import type { ReadCell } from '../../rows/row'
import { highlightRows } from './highlight-rows'

const asin: ReadCell = (row, cell, column) => {
  if (/^[\dA-Z]{10}$/.test(cell)) read.identify(row, 'asin', cell, column)
  else if (cell) row.lose('not-supported', column)
}

/** Readwise's CSV export, and CSV files for Readwise's import. Several rows have highlights of one book. */
export const readwise = highlightRows({
  matches: ({ keys }) => keys.includes('highlight'),
  // If a column has two names, Readwise's export uses the first, and files for Readwise's import the second one.
  book: Object.entries({
    ...read.each('book title,title', read.title),
    ...read.each('book author,author', read.authors()),
    'amazon book id': asin,
  }),
  others: Object.entries({
    'document tags': read.tags(','),
    ...read.each('tags,color,url', read.unsupported),
    ...read.each('highlight,note,location type,location,highlighted at,date', read.ignored),
  }),
  toHighlight: ({ get }) => {
    const isPage = /^page$/i.test(get('location type')) && /^\d{1,9}$/.test(get('location'))
    return {
      text: get('highlight'),
      note: get('note'),
      date: get('highlighted at') || get('date'),
      page: isPage ? Number(get('location')) : 0,
    }
  },
})
