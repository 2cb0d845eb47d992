import { describe, expect, it } from 'vitest'
import bookCatalogue from '../../fixtures/imports/book-catalogue.csv?raw'
import booklogr from '../../fixtures/imports/booklogr.csv?raw'
import bookwyrm from '../../fixtures/imports/bookwyrm.csv?raw'
import bookwyrmOrder from '../../fixtures/imports/bookwyrm-order.csv?raw'
import calibre from '../../fixtures/imports/calibre.csv?raw'
import hardcover from '../../fixtures/imports/hardcover.csv?raw'
import jelu from '../../fixtures/imports/jelu.csv?raw'
import libib from '../../fixtures/imports/libib.csv?raw'
import library from '../../fixtures/imports/library.json?raw'
import librarythingJson from '../../fixtures/imports/librarything.json?raw'
import librarything from '../../fixtures/imports/librarything.tsv?raw'
import openreads from '../../fixtures/imports/openreads.csv?raw'
import { read, readByTitle, readRow, utf16Of } from '../../support/transfer/import-files'

const loss = (field: string, code = 'not-supported') => ({ code, field })
const losses = (...fields: string[]) => fields.map((field) => loss(field))

it.each([
  ['hardcover', hardcover],
  ['librarything', librarything],
  ['librarything-json', librarythingJson],
  ['bookwyrm', bookwyrm],
  ['bookwyrm', bookwyrmOrder],
  ['openreads', openreads],
  ['booklogr', booklogr],
  ['libib', libib],
  ['jelu', jelu],
  ['book-catalogue', bookCatalogue],
  ['library', library],
])('recognizes a file of %s, and all its columns', (format, file) => {
  expect(read(file)).toMatchObject({ format, unknownColumns: [] })
})

describe('an import from Book Catalogue', () => {
  const books = readByTitle(bookCatalogue)

  it('has the fields of a book', () => {
    expect(books['The Salt Archive']).toMatchObject({
      ...{ author: 'Mina Oh, Joon Park', isbn: '9780446675505', publisher: 'Quay House', publishedYear: 2019 },
      ...{ itemPage: 312, series: 'Harbour', seriesNumber: 2, format: 'PAPER', language: 'en', quarters: 18 },
      ...{ sourceIds: ['book-catalogue:0123456789abcdef0123456789abcdef', 'goodreads:81234'], status: 'DONE' },
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14' }],
      tags: ['Sea'],
      memos: [{ content: 'Lent, then back.' }],
      addedAt: '2025-12-30T10:15:30',
      losses: losses('series_details', 'genre', 'description', 'list_price', 'location', 'signed', 'loaned_to'),
    })
  })

  it('is read, begun or neither', () => {
    expect(books['Tide Tables']).toMatchObject({
      ...{ status: 'ING', series: 'Harbour', seriesNumber: null, sourceIds: [expect.stringMatching(/^book-cat/)] },
      ...{ readings: [{ startedAt: '2026-03-20', finishedAt: null }], losses: [] },
    })
    expect(books['Low Tide']).toMatchObject({ status: 'DONE', format: 'EBOOK', publishedYear: 2021, readings: [] })
    expect(books['Field Notes']).toMatchObject({ status: 'YET', readings: [] })
  })
})

describe('an import from Hardcover', () => {
  const books = readByTitle(hardcover)

  it('has the authors, but not those with another role', () => {
    expect(books['The Salt Archive']).toMatchObject({
      author: 'Mina Oh, Joon Park',
      losses: [loss('Author'), loss('Owned')],
    })
  })

  it('has the fields of a book', () => {
    expect(books['The Salt Archive']).toMatchObject({
      sourceIds: ['hardcover:99', 'hardcover-edition:1001'],
      series: 'Harbour',
      seriesNumber: 2,
      language: 'ko',
      publishedYear: 2019,
      status: 'DONE',
      quarters: 14,
      readings: [{ startedAt: '2026-03-01', finishedAt: null, outcome: 'STOPPED' }],
      tags: ['sea', 'Owned'],
      memos: [
        { content: 'A review', createdAt: '2026-03-15T10:20:30' },
        { content: 'A note', createdAt: null },
      ],
    })
  })

  it('has paused books and those to be ignored', () => {
    expect(books['Tide Tables']).toMatchObject({
      status: 'ING',
      readings: [{ isPaused: true }],
      format: 'AUDIO',
      seconds: 3600,
      language: 'en',
    })
    expect(books['Nine Quiet Doors']).toMatchObject({ status: null, format: 'PAPER', tags: ['Ignored'] })
  })

  it('has finished, current and wanted books', () => {
    expect(books['A Lamp for the Tide']).toMatchObject({
      status: 'DONE',
      format: 'EBOOK',
      readings: [{ startedAt: '2026-01-02', finishedAt: '2026-01-09', outcome: 'FINISHED' }],
      quarters: 18,
      tags: ['gift', 'Sea'],
    })
    expect(books['The Grey Shelf']).toMatchObject({
      status: 'ING',
      format: 'PAPER',
      readings: [{ startedAt: '2026-03-01', finishedAt: null, outcome: null }],
      losses: [],
    })
    expect(books['The Ferry Song']).toMatchObject({ status: 'YET', readings: [], losses: [] })
  })

  it('keeps a review as private, and names what the library has no place for', () => {
    const book = books['A Lamp for the Tide']
    expect(book?.memos).toEqual([
      {
        type: 'THOUGHT',
        content: '<p>Slow.</p>',
        page: 0,
        createdAt: '2026-01-10T21:05:00',
        source: 'hardcover review',
      },
    ])
    expect(book?.losses).toEqual(
      losses(
        'Genres',
        'Moods',
        'Content Warnings',
        'Review Contains Spoilers',
        'Sponsored Review',
        'Review URL',
        'Review Media URL',
      ),
    )
  })

  it('reports an unknown status', () => {
    const book = readRow({ Title: 'A', 'Hardcover Book ID': '1', Status: 'Lost at sea' })
    expect(book).toMatchObject({ status: null, tags: [], losses: [loss('Status', 'unknown-status')] })
  })
})

describe('an import from LibraryThing', () => {
  it('has the fields of a book, without brackets', () => {
    expect(readByTitle(librarything)['"Wait," Said the Harbour']).toMatchObject({
      author: 'Mina Oh, Joon Park',
      publisher: 'Quay House',
      publishedYear: 2019,
      itemPage: 312,
      isbn: '9780446675505',
      language: 'ko',
      sourceIds: ['librarything:501', 'librarything-work:777', 'oclc:12345'],
      addedAt: '2025-12-30',
      status: 'DONE',
      quarters: 14,
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14' }],
      tags: ['sea', 'gift'],
      memos: [{ content: 'Slow.' }, { content: 'Lent once' }],
      losses: [loss('Secondary Author')],
    })
  })

  it('leaves out translators and others in the files of older years, too', () => {
    const book = readRow({
      ...{ 'Book ID': '1', Title: 'A', 'Sort Character': '1', 'Primary Author': 'Oh, Mina' },
      ...{ 'Secondary Author': 'Park, Joon|Ruiz, Ana', 'Secondary Author Role': 'Translator|' },
    })
    expect(book).toMatchObject({ author: 'Mina Oh, Ana Ruiz', losses: [loss('Secondary Author')] })
  })

  it('treats quotation marks as text', () => {
    const books = readByTitle(librarything)
    expect(Object.keys(books).slice(0, 3)).toEqual(['"Wait," Said the Harbour', 'Tide Tables', '"Unclosed Title'])
    expect(books['"Unclosed Title']).toMatchObject({ line: 4, status: null, tags: [] })
  })

  it('has the status of a collection if there are no dates', () => {
    const book = readByTitle(librarything)['Tide Tables']
    expect(book).toMatchObject({ status: 'ING', tags: ['Attic'], losses: [loss('Languages'), loss('Copies')] })
    const mapped = readByTitle(librarything, { shelfMap: { attic: 'YET', 'currently reading': 'TAG' } })['Tide Tables']
    expect(mapped).toMatchObject({ status: 'YET', tags: ['Currently reading'] })
  })

  it('has 49 columns, and names those of the member that it has no place for', () => {
    expect(librarything.slice(0, librarything.indexOf('\n')).split('\t')).toHaveLength(49)
    expect(readByTitle(librarything)['A Lamp for the Tide']).toMatchObject({
      author: 'Ana Ruiz',
      publisher: 'Harbour Books',
      publishedYear: 1998,
      itemPage: 96,
      isbn: '9780306406157',
      language: 'en',
      format: 'PAPER',
      addedAt: '2025-12-30',
      quarters: 16,
      memos: [{ content: 'For the club' }, { content: 'Signed' }],
      losses: losses(
        'Acquired',
        'Other Call Number',
        'Barcode',
        'BCID',
        'From Where',
        'Lending Patron',
        'Lending Status',
        'Lending Start',
        'Lending End',
      ),
    })
  })

  it('has books that were read and not owned, and collections in other languages', () => {
    const books = readByTitle(librarything)
    expect(books['A Lamp for the Tide']).toMatchObject({ status: 'DONE', readings: [], tags: [] })
    expect(books['Nine Quiet Doors']).toMatchObject({
      status: 'YET',
      addedAt: '2025-11-01',
      tags: ['Meine Bibliothek'],
      losses: [],
    })
    expect(books['Left Half Way']).toMatchObject({
      status: 'ING',
      readings: [{ startedAt: '2026-03-01', finishedAt: null, outcome: null }],
      tags: [],
      losses: [],
    })
  })

  it('may be in UTF-16, as older exports are', () => {
    expect(read(utf16Of(librarything, false))).toEqual({ ...read(librarything), encoding: 'utf-16le' })
  })

  it('may be JSON, with entities, and a list or an object of ISBNs', () => {
    const books = readByTitle(librarythingJson)
    expect(books['Salt & Archive']).toMatchObject({
      line: 1,
      author: 'Mina Oh',
      isbn: '9780446675505',
      itemPage: 312,
      language: 'ko',
      series: 'Harbour',
      sourceIds: ['librarything:501', 'librarything-work:777'],
      status: 'DONE',
      quarters: 14,
      tags: ['sea', 'gift'],
      losses: [loss('authors')],
    })
    expect(books['Tide Tables']).toMatchObject({ author: 'Ana Ruiz', isbn: '9780446675505', status: 'YET' })
  })

  it('has the same in JSON, and names the same as lost', () => {
    const books = readByTitle(librarythingJson)
    expect(books.Työpäivä).toMatchObject({
      author: 'Ana Ruiz',
      publisher: 'Harbour Books',
      publishedYear: 1998,
      isbn: '9780306406157',
      language: 'en',
      format: 'PAPER',
      addedAt: '2025-12-30',
      status: 'DONE',
      readings: [],
      tags: ['Meine Bibliothek'],
      memos: [{ content: 'For the club' }, { content: 'Signed' }],
      losses: losses('circulation', 'language', 'dateacquired', 'copies', 'callnumber', 'barcode', 'fromwhere'),
    })
    expect(books['Nine Quiet Doors']).toMatchObject({ status: 'YET', addedAt: '2025-11-01', losses: [] })
  })

  it('has all Latin letters of JSON', () => {
    const file =
      '{"1":{"books_id":"1","title":"&Aring;rdb&aelig;k &amp; L&oacute;p&ecirc;z, Stra&szlig;e &Scaron; &Oslash; &nope;"}}'
    expect(read(file).entries[0]?.title).toBe('Årdbæk & Lópêz, Straße Š Ø &nope;')
  })

  it('keeps HTML of reviews in JSON', () => {
    expect(readByTitle(librarythingJson)['Salt & Archive']?.memos[0]?.content).toBe('Slow &lt;b&gt;&nbsp;&hellip;')
  })

  it('removes characters that cannot be stored', () => {
    const file = '{"1":{"title":"A\\u0000B\\ud800","books_id":"1","review":"\\udc00C\\u0000","tags":["\\ud800"]}}'
    expect(read(file).entries[0]).toMatchObject({
      title: 'AB\ufffd',
      memos: [{ content: '\ufffdC' }],
      tags: ['\ufffd'],
    })
  })

  it('has an entry for each item of JSON, even if it is not a book', () => {
    expect(read(librarythingJson).entries.slice(4)).toMatchObject([
      { line: 5, failure: 'no-title' },
      { line: 6, failure: 'no-title' },
    ])
  })
})

describe('an import from BookWyrm', () => {
  const books = readByTitle(bookwyrm)

  it('has all identifiers, its own first', () => {
    expect(books['The Salt Archive']?.sourceIds).toEqual([
      'bookwyrm:https://books.example/book/7',
      'openlibrary:OL12M',
      'inventaire:isbn:9780446675505',
      'librarything-work:777',
      'goodreads:81234',
      'bnf:cb1',
      'viaf:123',
      'wikidata:Q42',
      'asin:B0ABCDEF12',
      'audible:B0ABCDEF13',
      'isfdb:55',
      'oclc:12345',
      'finna:finna.1',
      'libris:bv1abc',
    ])
  })

  it('has identifiers that BookWyrm did not have before', () => {
    expect(readByTitle(bookwyrmOrder)['The Salt Archive']).toMatchObject({
      author: 'Mina Oh',
      sourceIds: ['bookwyrm:https://books.example/book/7', 'goodreads:81234', 'moonbase:m1'],
      status: 'DONE',
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14' }],
      memos: [{ content: 'Storms\n\nThen not.' }],
      losses: [],
    })
  })

  it('has current and unread books', () => {
    expect(books['The Grey Shelf']).toMatchObject({
      status: 'ING',
      readings: [{ startedAt: '2026-03-01', finishedAt: null, outcome: null }],
      tags: [],
    })
    expect(books['The Ferry Song']).toMatchObject({ status: 'YET', readings: [], tags: [] })
  })

  it('has finished, stopped and shelved books', () => {
    expect(books['The Salt Archive']).toMatchObject({
      status: 'DONE',
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14', outcome: 'FINISHED' }],
      memos: [{ content: 'Slow\n\nStorms\n\nThen not.', createdAt: '2026-03-15T00:00:00' }],
      addedAt: '2025-12-30',
    })
    expect(books['Tide Tables']).toMatchObject({
      status: 'DONE',
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-02', outcome: 'STOPPED' }],
    })
    expect(books['Nine Quiet Doors']).toMatchObject({
      status: null,
      tags: ['By the sea'],
      readings: [],
      losses: [loss('shelf: By the sea', 'custom-shelf-needs-choice')],
    })
  })
})

describe('an import from Openreads', () => {
  const books = readByTitle(openreads)

  it('has all readings, and tags between five bars', () => {
    expect(books['The Salt Archive']).toMatchObject({
      subtitle: 'A Novel',
      status: 'DONE',
      quarters: 18,
      readings: [
        { startedAt: '2024-05-01', finishedAt: '2024-05-09' },
        { startedAt: '2026-03-01', finishedAt: '2026-03-14' },
      ],
      tags: ['sea', 'gift'],
      memos: [{ content: 'Slow.' }, { content: 'Lent' }],
      addedAt: '2025-12-30T10:00:00',
      losses: losses('readings', 'favourite'),
    })
  })

  it('has readings without a start or a finish', () => {
    expect(books['The Grey Shelf']).toMatchObject({
      status: 'ING',
      quarters: null,
      readings: [{ startedAt: '2026-03-01', finishedAt: null, outcome: null }],
      losses: [],
    })
    expect(books['A Lamp for the Tide']).toMatchObject({
      status: 'DONE',
      format: 'AUDIO',
      readings: [{ startedAt: null, finishedAt: '2025-02-03', outcome: 'FINISHED' }],
      losses: [],
    })
  })

  it('has planned books, and those without a status', () => {
    expect(books['The Ferry Song']).toMatchObject({ status: 'YET', quarters: null, readings: [], losses: [] })
    expect(books['Low Tide']).toMatchObject({ status: null, losses: [] })
  })

  it('does not invent a date for an abandoned book', () => {
    expect(books['Tide Tables']).toMatchObject({
      status: 'DONE',
      readings: [{ startedAt: null, finishedAt: null, outcome: 'STOPPED' }],
    })
  })

  it('leaves out books from the trash, by name', () => {
    expect(books['Nine Quiet Doors']).toMatchObject({ failure: 'not-supported', losses: [loss('deleted')] })
  })
})

describe('an import from BookLogr', () => {
  const books = readByTitle(booklogr)

  it('has the current page, and notes with their pages', () => {
    expect(books['The Salt Archive']).toMatchObject({
      line: 2,
      status: 'ING',
      currentPage: 120,
      itemPage: 312,
      quarters: 14,
      memos: [
        {
          ...{ type: 'BOOK_CONTENT', content: 'A line\nof two', page: 12, isPublic: true },
          createdAt: '2026-03-14T10:15:30',
        },
        { type: 'THOUGHT', content: 'My thought', page: 0 },
      ],
    })
  })

  it('has the four statuses', () => {
    const statuses = read(booklogr).entries.map(({ status, readings }) => [status, readings[0]?.outcome])
    expect(statuses).toEqual([
      ['ING', undefined],
      ['DONE', 'STOPPED'],
      ['YET', undefined],
      ['DONE', undefined],
    ])
  })

  it('reports the description of the book, which is not a note', () => {
    expect(books['The Salt Archive']?.losses).toEqual(losses('description'))
  })

  it('keeps notes that are not JSON as one', () => {
    expect(books['Tide Tables']).toMatchObject({
      readings: [{ outcome: 'STOPPED' }],
      memos: [],
    })
    expect(readRow({ title: 'A', reading_status: 'Read', notes: '[not json' })).toMatchObject({
      memos: [{ content: '[not json' }],
    })
  })
})

describe('an import from Jelu', () => {
  const books = readByTitle(jelu)
  const readingsOf = (title: string) =>
    books[title]?.readings.map(({ startedAt, finishedAt, outcome }) => [startedAt, finishedAt, outcome])

  it('has the fields of a book, and each finish', () => {
    expect(books['The Salt Archive']).toMatchObject({
      author: 'Mina Oh, Joon Park',
      isbn: '9780446675505',
      publisher: 'Quay House',
      status: 'DONE',
      tags: ['sea', 'long voyage'],
      losses: losses('owned'),
    })
    expect(readingsOf('The Salt Archive')).toEqual([
      [null, '2024-05-09', 'FINISHED'],
      [null, '2026-03-14', 'FINISHED'],
    ])
  })

  it('does not make a dropped book or one that is being read a finished one, although `Date Read` is set', () => {
    expect(books['Nine Quiet Doors']).toMatchObject({ status: 'DONE', losses: [] })
    expect(readingsOf('Nine Quiet Doors')).toEqual([[null, '2025-02-03', 'STOPPED']])
    expect(books['The Grey Shelf']).toMatchObject({ status: 'ING', losses: [] })
    expect(readingsOf('The Grey Shelf')).toEqual([
      [null, '2023-02-10', 'STOPPED'],
      [null, '2024-02-10', 'STOPPED'],
      [null, '2025-01-01', 'FINISHED'],
      ['2026-02-10', null, null],
    ])
  })

  it('has unread books, and reports that a book is to be read again', () => {
    expect(books.Later).toMatchObject({ status: 'YET', readings: [], tags: [], losses: [] })
    expect(books['The Ferry Song']).toMatchObject({ status: 'DONE', losses: losses('Shelves') })
    expect(readingsOf('The Ferry Song')).toEqual([
      [null, '2023-02-10', 'FINISHED'],
      [null, '2024-02-10', 'STOPPED'],
      [null, '2025-02-03', 'FINISHED'],
    ])
  })

  it.each([
    [{ currently_reading: '2025/01/01', read_dates: '2025/03/01' }, 'currently_reading'],
    [{ 'Date Read': '2025/01/01' }, 'Date Read'],
  ])('reports a date that belongs to no reading: %o', (cells, field) => {
    expect(readRow({ Title: 'A', dropped_dates: '', ...cells })).toMatchObject({ losses: losses(field) })
  })

  it('may have each whole line in quotes once more', () => {
    const wrap = (line: string) => line && `"${line.replaceAll('"', '""')}"`
    expect(read(jelu.split('\r\n').map(wrap).join('\r\n'))).toEqual(read(jelu))
  })

  it('has no date where Jelu writes 1970/01/01', () => {
    expect(books['Tide Tables']).toMatchObject({ status: 'DONE', readings: [], losses: [] })
  })
})

describe('an import from Calibre', () => {
  const books = readByTitle(calibre)

  it('has the fields of a book, and no status', () => {
    expect(read(calibre)).toMatchObject({ format: 'calibre', unknownColumns: ['#read'] })
    expect(books['The Salt Archive']).toMatchObject({
      author: 'Mina Oh, Joon Park, Quay & Sons',
      isbn: '9780446675505',
      language: 'ko',
      format: 'EBOOK',
      publishedYear: 2019,
      series: 'Harbour',
      seriesNumber: 2.5,
      sourceIds: ['calibre:0f8fad5b-d9cb-469f-a165-70867728950e', 'goodreads:81234', 'url:https://x.example'],
      addedAt: '2025-12-30T10:20:30',
      quarters: 16,
      status: null,
      cover: null,
      memos: [],
      tags: ['sea', 'gift'],
      losses: [loss('comments')],
    })
  })

  it('has no author where Calibre writes Unknown, and no dates where it writes 0101-01-01 and 1970-01-01', () => {
    expect(books['Tide Tables']).toMatchObject({ author: null, publishedYear: null, addedAt: null, losses: [] })
  })

  const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'

  it('has at most 20 identifiers, and names those that cannot be kept', () => {
    const book = readRow({ title: 'A', title_sort: 'A', uuid: UUID, identifiers: 'x:a b,한:1,nothing' })
    expect(book).toMatchObject({ sourceIds: [`calibre:${UUID}`], losses: [loss('identifiers')] })
    const identifiers = Array.from({ length: 25 }, (_, at) => `x:${at}`).join()
    const many = readRow({ title: 'A', title_sort: 'A', uuid: UUID, identifiers })
    expect(many.sourceIds).toHaveLength(20)
    expect(many.losses).toEqual([loss('identifiers', 'too-many')])
  })
})

describe('an import from Libib', () => {
  const books = readByTitle(libib)

  it('has the fields of a book, with its collection and group as tags', () => {
    expect(books['The Salt Archive']).toMatchObject({
      author: 'Mina Oh, Joon Park',
      isbn: '9780306406157',
      publisher: 'Harbour Press',
      publishedYear: 2019,
      itemPage: 312,
      addedAt: '2025-12-30',
      status: 'DONE',
      quarters: 18,
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14', outcome: 'FINISHED' }],
      tags: ['sea', 'gift', 'Living room', 'Harbour'],
      memos: [{ content: 'Slow, in a good way.' }, { content: 'Lent to Ana' }],
      losses: losses('copies', 'price', 'review_date'),
    })
  })

  it('has the names of the first author if there are no others', () => {
    expect(books['Tide Tables']).toMatchObject({
      author: 'Ana Ruiz',
      status: 'YET',
      quarters: null,
      readings: [],
      losses: [],
    })
    expect(books['Low Tide']).toMatchObject({
      status: 'ING',
      readings: [{ startedAt: '2026-11-01', finishedAt: null }],
    })
  })

  it('fails what is no book', () => {
    expect(books['The Ferry']).toMatchObject({ failure: 'not-supported', losses: losses('item_type') })
  })
})
