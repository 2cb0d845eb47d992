import * as read from '../rows/columns'
import { finished, started } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { parseDecimal, splitList, toNaturalOrder } from '../rows/values'

const authors: ReadCell = (row, cell, column) => read.addAuthors(row, splitList(cell, '|').map(toNaturalOrder), column)

/** `Harbour (2)|Tides (7)`. The first one is kept. */
const series: ReadCell = (row, cell, column) => {
  const [first = '', ...others] = splitList(cell, '|')
  const [, name = first, number = ''] = /^(.+?) ?\((\d[\d.]{0,9})\)$/.exec(first) ?? []
  if (others.length > 0) row.lose('not-supported', column)
  read.series(row, name, column)
  row.entry.seriesNumber = parseDecimal(number) ?? null
}

const isRead: ReadCell = (row, cell) => {
  const last = row.entry.readings.at(-1)
  if (/^(?:1|true)$/i.test(cell) || last?.finishedAt) row.shelf = 'DONE'
  else row.shelf = last ? 'ING' : 'YET'
}

const shelves: ReadCell = (row, cell, column) =>
  read.addTags(
    row,
    splitList(cell, ',').filter((name) => name !== 'Default'),
    column,
  )

/** The CSV of the Android app Book Catalogue. */
export const bookCatalogue = tableFormat(
  (has) => ['author_details', 'series_details', 'bookshelf_id'].every(has),
  {
    book_uuid: read.identifier('book-catalogue'),
    goodreads_book_id: read.unless(/^0$/, read.identifier('goodreads')),
    author_details: authors,
    series_details: series,
    date_published: read.published,
    read_start: started,
    read_end: finished,
    read: isRead,
    bookshelf: shelves,
    ...read.each('genre,description,list_price,location,signed,loaned_to', read.unsupported),
    ...read.each('_id,bookshelf_id,anthology,anthology_titles,last_goodreads_sync_date,last_update_date', read.ignored),
  },
  (keys) => read.each(keys.filter((key) => /^\(\d+\)$/.test(key)).join(), read.ignored),
)
