import { describe, expect, it } from 'vitest'
import booklogr from '../fixtures/imports/booklogr.csv?raw'
import bookwyrm from '../fixtures/imports/bookwyrm.csv?raw'
import calibre from '../fixtures/imports/calibre.csv?raw'
import hardcover from '../fixtures/imports/hardcover.csv?raw'
import jelu from '../fixtures/imports/jelu.csv?raw'
import library from '../fixtures/imports/library.json?raw'
import librarythingJson from '../fixtures/imports/librarything.json?raw'
import librarything from '../fixtures/imports/librarything.tsv?raw'
import openreads from '../fixtures/imports/openreads.csv?raw'
import { read, readByTitle, readRow } from '../support/import-files'

const loss = (field: string, code = 'not-supported') => ({ code, field })

it.each([
  ['hardcover', hardcover],
  ['librarything', librarything],
  ['librarything-json', librarythingJson],
  ['bookwyrm', bookwyrm],
  ['openreads', openreads],
  ['booklogr', booklogr],
  ['jelu', jelu],
  ['library', library],
])('recognizes a file of %s, and all its columns', (format, file) => {
  expect(read(file)).toMatchObject({ format, unknownColumns: [] })
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
      language: 'en',
    })
    expect(books['Nine Quiet Doors']).toMatchObject({ status: null, tags: ['Ignored'] })
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
      pages: 312,
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

  it('treats quotation marks as text', () => {
    const books = readByTitle(librarything)
    expect(Object.keys(books)).toEqual(['"Wait," Said the Harbour', 'Tide Tables', '"Unclosed Title'])
    expect(books['"Unclosed Title']).toMatchObject({ line: 4, status: null, tags: [] })
  })

  it('has the status of a collection if there are no dates', () => {
    const book = readByTitle(librarything)['Tide Tables']
    expect(book).toMatchObject({ status: 'ING', tags: ['Attic'], losses: [loss('Languages'), loss('Copies')] })
    const mapped = readByTitle(librarything, { shelfMap: { attic: 'YET', 'currently reading': 'TAG' } })['Tide Tables']
    expect(mapped).toMatchObject({ status: 'YET', tags: ['Currently reading'] })
  })

  it('may be JSON, with entities, and a list or an object of ISBNs', () => {
    const books = readByTitle(librarythingJson)
    expect(books['Salt & Archive']).toMatchObject({
      line: 1,
      author: 'Mina Oh',
      isbn: '9780446675505',
      pages: 312,
      language: 'ko',
      sourceIds: ['librarything:501', 'librarything-work:777'],
      status: 'DONE',
      quarters: 14,
      tags: ['sea', 'gift'],
      losses: [loss('authors')],
    })
    expect(books['Tide Tables']).toMatchObject({ author: 'Ana Ruiz', isbn: '9780446675505', status: 'YET' })
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
    expect(read(librarythingJson).entries.slice(2)).toMatchObject([
      { line: 3, failure: 'no-title' },
      { line: 4, failure: 'no-title' },
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
      'wikidata:Q42',
    ])
  })

  it('has identifiers that BookWyrm did not have before', () => {
    const row = readRow({ title: 'A', author_text: 'B', remote_id: 'https://b.example/1', moonbase_key: 'm1' })
    expect(row.sourceIds).toEqual(['bookwyrm:https://b.example/1', 'moonbase:m1'])
  })

  it('has finished, stopped and shelved books', () => {
    expect(books['The Salt Archive']).toMatchObject({
      status: 'DONE',
      readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14', outcome: 'FINISHED' }],
      memos: [{ content: 'Slow\n\nThen not.', createdAt: '2026-03-15T00:00:00' }],
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
      losses: [loss('shelf', 'custom-shelf-needs-choice')],
    })
  })
})

describe('an import from Openreads', () => {
  const books = readByTitle(openreads)

  it('has all readings, and tags between five bars', () => {
    expect(books['The Salt Archive: A Novel']).toMatchObject({
      status: 'DONE',
      quarters: 18,
      readings: [
        { startedAt: '2024-05-01', finishedAt: '2024-05-09' },
        { startedAt: '2026-03-01', finishedAt: '2026-03-14' },
      ],
      tags: ['sea', 'gift'],
      memos: [{ content: 'Slow.' }, { content: 'Lent' }],
      addedAt: '2025-12-30T10:00:00',
      losses: [loss('favourite')],
    })
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
      pages: 312,
      quarters: 14,
      memos: [
        { type: 'BOOK_CONTENT', content: 'A line\nof two', page: 12, isPublic: true },
        { type: 'THOUGHT', content: 'My thought', page: 0 },
      ],
    })
  })

  it('keeps notes that are not JSON as one', () => {
    expect(books['Tide Tables']).toMatchObject({
      line: 4,
      readings: [{ outcome: 'STOPPED' }],
      memos: [{ content: '[not json' }],
    })
  })
})

describe('an import from Jelu', () => {
  const books = readByTitle(jelu)

  it('has all events', () => {
    expect(books['The Salt Archive']).toMatchObject({
      author: 'Mina Oh, Joon Park',
      status: 'DONE',
      readings: [{ finishedAt: '2024-05-09' }, { finishedAt: '2026-03-14' }],
      tags: ['sea', 'gift'],
    })
    expect(books['Nine Quiet Doors']).toMatchObject({
      status: 'DONE',
      readings: [{ finishedAt: '2025-02-03', outcome: 'STOPPED' }],
    })
    expect(books['The Grey Shelf']).toMatchObject({
      status: 'ING',
      readings: [
        { finishedAt: '2025-01-01', outcome: 'FINISHED' },
        { finishedAt: null, outcome: null },
      ],
    })
    expect(books.Later).toMatchObject({ status: 'YET', readings: [], tags: [] })
  })

  it('has no date where Jelu writes 1970-01-01', () => {
    expect(books['Tide Tables']).toMatchObject({ status: 'DONE', readings: [], losses: [] })
  })
})

describe('an import from Calibre', () => {
  const books = readByTitle(calibre)

  it('has the fields of a book, and no status', () => {
    expect(read(calibre)).toMatchObject({ format: 'calibre', unknownColumns: ['#read'] })
    expect(books['The Salt Archive']).toMatchObject({
      author: 'Mina Oh, Joon Park',
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

  it('has no dates where Calibre writes 0101-01-01 and 1970-01-01', () => {
    expect(books['Tide Tables']).toMatchObject({ publishedYear: null, addedAt: null, losses: [] })
  })

  it('has at most 20 identifiers, and names those that cannot be kept', () => {
    const book = readRow({ title: 'A', title_sort: 'A', uuid: 'u', identifiers: 'x:a b,한:1,nothing' })
    expect(book).toMatchObject({ sourceIds: ['calibre:u'], losses: [loss('identifiers')] })
    const identifiers = Array.from({ length: 25 }, (_, at) => `x:${at}`).join()
    const many = readRow({ title: 'A', title_sort: 'A', uuid: 'u', identifiers })
    expect(many.sourceIds).toHaveLength(20)
    expect(many.losses).toEqual([loss('identifiers', 'too-many')])
  })
})
