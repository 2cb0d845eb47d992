import { describe, expect, it } from 'vitest'
import { toCsv } from '../../../src/transfer/entries/csv-writer'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import bookCatalogue from '../../fixtures/imports/book-catalogue.csv?raw'
import booklogr from '../../fixtures/imports/booklogr.csv?raw'
import bookwyrm from '../../fixtures/imports/bookwyrm.csv?raw'
import calibre from '../../fixtures/imports/calibre.csv?raw'
import goodreads from '../../fixtures/imports/goodreads.csv?raw'
import goodreads31 from '../../fixtures/imports/goodreads-31.csv?raw'
import hardcover from '../../fixtures/imports/hardcover.csv?raw'
import jelu from '../../fixtures/imports/jelu.csv?raw'
import librarything from '../../fixtures/imports/librarything.tsv?raw'
import openLibrary from '../../fixtures/imports/open-library-log.csv?raw'
import openreads from '../../fixtures/imports/openreads.csv?raw'
import readwise from '../../fixtures/imports/readwise.csv?raw'
import storygraph from '../../fixtures/imports/storygraph.csv?raw'
import { read } from '../../support/transfer/import-files'

/** What an import takes from a file: the entries with their losses, and the columns it does not know. */
const takenFrom = (file: string) => {
  const { entries, unknownColumns } = read(file)
  return JSON.stringify([entries.map((entry) => ({ ...entry, cells: undefined })), unknownColumns])
}

/** The columns that can be emptied without any effect: their cells are neither kept nor reported. */
const findIgnored = (file: string) => {
  const [header = [], ...rows] = parseTable(file.replace(/^\ufeff/, '')).map(({ cells }) => cells)
  const write = (rows: string[][]) =>
    file.includes('\t') ? [header, ...rows].map((row) => row.join('\t')).join('\n') : toCsv([header, ...rows])
  const taken = takenFrom(write(rows))
  return header.filter(
    (_, at) => takenFrom(write(rows.map((row) => row.map((cell, i) => (i === at ? '' : cell))))) === taken,
  )
}

describe('a fixture', () => {
  it.each(
    Object.entries({
      booklogr,
      bookwyrm,
      calibre,
      goodreads,
      goodreads31,
      hardcover,
      jelu,
      librarything,
      openLibrary,
      openreads,
      readwise,
      storygraph,
    }),
  )('has a value in every column: %s', (_, file) => {
    const [header = [], ...rows] = parseTable(file).map(({ cells }) => cells)
    expect(header.filter((_, at) => !rows.some((row) => row[at]?.trim()))).toEqual([])
  })
})

// Columns about the work, the app or the file, which are left out without a report, and those that repeat another column.
describe('an import ignores only data about the book or the file', () => {
  it.each([
    ['Goodreads', goodreads, ['Author l-f', 'ISBN', 'ISBN13', 'Bookshelves with positions']],
    [
      'Goodreads before 2022',
      goodreads31,
      ['Author l-f', 'ISBN', 'ISBN13', 'Average Rating', 'Original Publication Year', 'Bookshelves with positions'],
    ],
    ['StoryGraph', storygraph, []],
    ['Hardcover', hardcover, ['Privacy', 'ISBN 10', 'ISBN 13', 'Country Code', 'Compilation', 'Review Slate']],
    [
      'LibraryThing',
      librarything,
      [
        'Sort Character',
        'Primary Author Role',
        'Summary',
        'Physical Description',
        'Weight',
        'Height',
        'Thickness',
        'Length',
        'Dimensions',
        'LCCN',
        'Original Languages',
        'LC Classification',
        'ISBN',
        'ISBNs',
        'Subjects',
        'Dewey Decimal',
        'Dewey Wording',
        'Source',
      ],
    ],
    ['BookWyrm', bookwyrm, ['isbn_10', 'isbn_13']],
    ['Openreads', openreads, ['date_modified']],
    ['BookLogr', booklogr, []],
    ['Jelu', jelu, ['Author', 'ISBN', 'Date Read', 'Bookshelves', 'isbn10', 'isbn13']],
    // #read is a custom column, which unknownColumns lists.
    ['Calibre', calibre, ['author_sort', 'cover', 'id', 'isbn', 'library_name', 'size', 'title_sort', '#read']],
    ['Readwise', readwise, []],
    [
      'Open Library',
      openLibrary,
      [
        'Edition Count',
        'Ratings Average',
        'Ratings Count',
        'Has Ebook',
        'Subjects',
        'Subject People',
        'Subject Places',
        'Subject Times',
      ],
    ],
    [
      'Book Catalogue',
      bookCatalogue,
      ['_id', 'bookshelf_id', 'anthology', 'anthology_titles', 'last_goodreads_sync_date', 'last_update_date', ''],
    ],
  ])('%s', (_, file, columns) => {
    expect(findIgnored(file)).toEqual(columns)
  })
})
