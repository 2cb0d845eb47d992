// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import type { Entry, ExactValues } from '../../../src/transfer/entries/entry'
import type { LibraryExport } from '../../../src/transfer/export/responses'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import { fieldsOf } from '../../../src/values/book-fields'
import { type Reader, signUp } from '../../support/api'
import { pick, SOME_EDITION } from '../../support/model/library'
import { bytesOf, libraryFile, read } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'

const table = async (reader: Reader, query = '') => {
  const [header, ...rows] = parseTable((await reader.get(`/export.csv${query}`)).body).map(({ cells }) => cells)
  return rows.map((cells) => Object.fromEntries(cells.map((cell, at) => [header?.[at], cell])))
}
const download = async (reader: Reader, path: string) =>
  new Uint8Array(await (await transfer.download(reader, path)).arrayBuffer())

// Formulas, quotes, every line end, byte order marks, other Unicode and the delimiters of the file.
const HOSTILE = [
  '=HYPERLINK("https://evil.test","x")',
  '+1+1',
  '-2',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '"quoted", and; more',
  'line\nline\r\nline\rline',
  ' blank ',
  '\ufeff한국어 👩‍👩‍👧 \u2028 e\u0301',
  "'=1",
  '# Heading\n---\n```\n</blockquote><h1>',
]

describe('the export as CSV', () => {
  it('has Goodreads’ columns and the dates of all readings', async () => {
    const reader = await signUp()
    const dates = { readStartDate: '2026-03-01T20:30:00', readEndDate: '2026-03-14T23:10:05' }
    const book = { title: 'The Salt Archive', author: 'Mina Oh', publisher: 'Quay House', isbn: '0446675504' }
    const { bookId } = await reader.createBook({ ...book, itemPage: 312, bookStatus: 'DONE', ...dates })
    await reader.patch(`/books/${bookId}`, { star: 4 })
    await reader.patch(`/books/${bookId}/edition`, {
      subtitle: 'A Novel',
      format: 'AUDIO',
      publishedYear: 2019,
      sourceIds: ['a:1', 'goodreads:81234'],
    })
    await reader.send('PATCH', `/books/created-date/${bookId}`, { body: '2025-12-30T08:00:00' })
    await reader.post(`/books/${bookId}/readings`, { startedAt: '2019', finishedAt: '2019-08', note: 'Slow.' })
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2018', note: 'Old.' })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['sea', 'favourites'] } })
    const [row] = await table(reader)
    expect(row).toEqual({
      ...{
        'Book Id': '81234',
        Title: 'The Salt Archive',
        Author: 'Mina Oh',
        'Author l-f': '',
        'Additional Authors': '',
      },
      ...{ ISBN: '="0446675504"', ISBN13: '="9780446675505"', 'My Rating': '4', 'Average Rating': '' },
      ...{ Publisher: 'Quay House', Binding: 'Audiobook', 'Number of Pages': '312', 'Year Published': '2019' },
      ...{ 'Original Publication Year': '', 'Date Read': '2026/03/14', 'Date Added': '2025/12/30' },
      ...{ Bookshelves: 'favourites, sea', 'Bookshelves with positions': '', 'Exclusive Shelf': 'read' },
      ...{ 'My Review': 'Old.', Spoiler: '', 'Private Notes': '', 'Read Count': '3', 'Owned Copies': '' },
      read_dates: ',2018;2019,2019-08;2026-03-01,2026-03-14',
      Subtitle: 'A Novel',
    })
  })

  it('has the first thought without a page as the review, and keeps the note apart from it', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ bookStatus: 'DONE' })
    await reader.patch(`/readings/${bookId}`, { note: 'Lent.' })
    const reviews = async () => (await table(reader)).map((row) => [row['My Review'], row['Private Notes']])
    await reader.createMemo(bookId, { memoType: 'THOUGHT', memoBookPage: 12, memoContent: 'A page' })
    await reader.createMemo(bookId, { memoType: 'SUMMARY', memoBookPage: 0, memoContent: 'A summary' })
    expect(await reviews()).toEqual([['Lent.', '']])
    await reader.createMemo(bookId, { memoType: 'THOUGHT', memoBookPage: 0, memoContent: '=1<br/>\nSlow, "then" not.' })
    await reader.createMemo(bookId, { memoType: 'THOUGHT', memoBookPage: 0, memoContent: 'Later' })
    expect(await reviews()).toEqual([['=1<br/>\nSlow, "then" not.', 'Lent.']])
    expect((await table(reader, '?for=spreadsheet'))[0]?.['My Review']).toBe(`'=1<br/>\nSlow, "then" not.`)
  })

  it('has the review of an imported book, but not its private notes', async () => {
    const reader = await signUp()
    const header = 'Title,Exclusive Shelf,My Review,Private Notes'
    const earlier = await reader.createBook({ title: 'A' })
    await reader.createMemo(earlier.bookId, { memoType: 'THOUGHT', memoBookPage: 0, memoContent: 'Earlier' })
    await transfer.importFile(reader, `${header}\nA,read,Slow.,Lent once\nB,to-read,,\nC,read,,Only a note\n`)
    expect((await table(reader)).map((row) => [row.Title, row['My Review']])).toEqual([
      ['A', 'Slow.'],
      ['B', ''],
      ['C', ''],
    ])
  })

  it('writes the shelf of each status, and leaves an unknown ISBN empty', async () => {
    const reader = await signUp()
    await reader.createBook({ isbn: '9791162540640' })
    await reader.createBook({ bookStatus: 'ING', readStartDate: '2026-01-02T03:04:05' })
    const { bookId } = await reader.createBook({ bookStatus: 'ING' })
    await reader.patch(`/readings/${bookId}`, { outcome: 'STOPPED' })
    const rows = await table(reader)
    expect(rows.map((row) => [row['Exclusive Shelf'], row['Read Count'], row.read_dates])).toEqual([
      ['to-read', '0', ''],
      ['currently-reading', '0', '2026-01-02,'],
      ['did-not-finish', '0', ''],
    ])
    expect(rows.map((row) => [row.ISBN, row.ISBN13])).toEqual([
      ['=""', '="9791162540640"'],
      ['=""', '=""'],
      ['=""', '=""'],
    ])
  })

  it('can be imported', async () => {
    const reader = await signUp()
    const dates = { readStartDate: '2026-03-01T20:30:00', readEndDate: '2026-03-14T23:10:05' }
    const { bookId } = await reader.createBook({
      title: 'A',
      isbn: '080442957X',
      bookStatus: 'DONE',
      ...dates,
      star: 2,
    })
    await reader.patch(`/books/${bookId}`, { star: 2 })
    await reader.post(`/books/${bookId}/readings`, { startedAt: '2019', finishedAt: '2019-08' })
    const { format, entries } = read(await download(reader, '/export.csv'))
    expect(format).toBe('goodreads')
    expect(entries).toMatchObject([
      {
        ...{ title: 'A', isbn: '9780804429573', status: 'DONE', quarters: 8, losses: [], failure: null },
        readings: [
          { startedAt: '2019', finishedAt: '2019-08' },
          { startedAt: '2026-03-01', finishedAt: '2026-03-14' },
        ],
      },
    ])
  })

  it('keeps every text as it is stored', async () => {
    const reader = await signUp()
    for (const title of HOSTILE) await reader.createBook({ title, author: title, publisher: title })
    const bytes = await download(reader, '/export.csv')
    expect([...bytes.subarray(0, 4)]).toEqual([...bytesOf('Book')])
    const rows = await table(reader)
    for (const column of ['Title', 'Author', 'Publisher']) expect(rows.map((row) => row[column])).toEqual(HOSTILE)
  })

  it('for a spreadsheet has a byte order mark and no formulas', async () => {
    const reader = await signUp()
    for (const title of HOSTILE) await reader.createBook({ title, author: title, isbn: '0446675504' })
    expect([...(await download(reader, '/export.csv?for=spreadsheet')).subarray(0, 7)]).toEqual([
      ...bytesOf('\ufeffBook'),
    ])
    const rows = await table(reader, '?for=spreadsheet')
    // In a list of the file, a line begins with a hyphen.
    const escaped = HOSTILE.map((text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text.replace('\n---', "\n'---")))
    expect(rows.map((row) => row.Title)).toEqual(escaped)
    for (const cell of rows.flatMap((row) => Object.values(row))) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    expect(rows[0]).toMatchObject({ ISBN: '0446675504', ISBN13: '9780446675505' })
    expect((await reader.get('/export.csv?for=excel')).status).toBe(400)
  })

  it.each([
    ['text; =1+1', "text; '=1+1"],
    ['text;"=1+1;"', `text;"'=1+1;"`],
    ['text\n\r\n@SUM(A1)', "text\n\r\n'@SUM(A1)"],
    ['text\t\u00a0-1', "text\t\u00a0'-1"],
    [' =1+1', "' =1+1"],
    ['\ntext', "'\ntext"],
    ['＝1+1', "'＝1+1"],
    ['a=b, c - d; e-mail', 'a=b, c - d; e-mail'],
  ])('for a spreadsheet escapes %j, whatever separates its columns', async (author, expected) => {
    const reader = await signUp()
    await reader.createBook({ author })
    expect((await table(reader, '?for=spreadsheet'))[0]?.Author).toBe(expected)
    expect((await table(reader))[0]?.Author).toBe(author)
  })

  it('for a spreadsheet keeps long runs of separators', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const note = `a${';\n"\t '.repeat(13_000)}`
    await reader.post(`/books/${bookId}/readings`, { note })
    expect((await table(reader, '?for=spreadsheet'))[0]?.['My Review']).toBe(note)
  })
})

describe('the export of memos as Markdown', () => {
  it('has the memos by book, with type, page and date', async () => {
    const reader = await signUp()
    await reader.createBook({ title: 'Without memos' })
    const { bookId } = await reader.createBook({ title: 'The Salt Archive', author: 'Mina Oh' })
    const second = await reader.createBook({ title: 'Second' })
    await reader.createMemo(bookId, { memoBookPage: 12, memoContent: 'One\n\nTwo', memoType: 'BOOK_CONTENT' })
    await reader.createMemo(bookId, { memoBookPage: 0, memoContent: 'Why?', memoType: 'QUESTION' })
    await reader.createMemo(second.bookId, { memoBookPage: 3, memoContent: 'Short', memoType: 'SUMMARY' })
    const { body } = await reader.get('/export/memos.md')
    expect(body.replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE')).toBe(
      [
        '# Memos',
        '## The Salt Archive',
        'Author: Mina Oh',
        '### Quotation, page 12, DATE',
        '> One\n> \n> Two',
        '### Question, DATE',
        '> Why?',
        '## Second',
        '### Summary, page 3, DATE',
        '> Short',
        '',
      ].join('\n\n'),
    )
  })

  it('has every line of a memo in its block quote, and titles as plain text', async () => {
    const reader = await signUp()
    const title = '# <b>Salt</b>\n\n## [x](https://evil.test) `*_~|&amp; !\\'
    const { bookId } = await reader.createBook({ title, author: '- 1. author\n===\n> x' })
    for (const memoContent of HOSTILE) await reader.createMemo(bookId, { memoContent })
    const { body } = await reader.get('/export/memos.md')
    const lines: string[] = body.split(/\r\n|\r|\n/)
    const outside = lines.filter((line) => line && !line.startsWith('> '))
    expect(outside.slice(0, 3)).toEqual([
      '# Memos',
      '## \\# \\<b\\>Salt\\</b\\> \\#\\# \\[x\\](https://evil.test) \\`\\*\\_\\~\\|\\&amp; \\!\\\\',
      'Author: - 1. author === \\> x',
    ])
    expect(outside.slice(3)).toHaveLength(HOSTILE.length)
    for (const line of outside.slice(3)) expect(line).toMatch(/^### Quotation, page 1, \d{4}-\d\d-\d\d$/)
    expect(body).toContain('> # Heading\n> ---\n> ```\n> </blockquote><h1>\n\n')
  })
})

describe('the export as JSON', () => {
  it('can be imported without loss', async () => {
    const reader = await signUp()
    const dates = { readStartDate: '2026-03-01T20:30:00', readEndDate: '2026-03-14T23:10:05' }
    for (const title of HOSTILE) {
      const { bookId } = await reader.createBook({
        title,
        author: title,
        publisher: title,
        bookStatus: 'DONE',
        ...dates,
      })
      await reader.createMemo(bookId, { memoContent: title, memoType: 'SUMMARY', memoAuthority: 'PUBLIC' })
    }
    // The same book twice.
    for (let n = 0; n < 2; n++) {
      const demian = await reader.createBook({ title: 'Demian', isbn: '0446675504' })
      await reader.patch(`/books/${demian.bookId}`, { star: 3 })
    }
    const { bookId } = await reader.createBook({ title: 'Read often', itemPage: 300, currentPage: 10 })
    await reader.patch(`/books/${bookId}/edition`, {
      ...SOME_EDITION,
      ...{ language: 'zh-hant-TW', publishedYear: -380, seriesNumber: 0.5, sourceIds: ['goodreads:1', 'calibre:a:b'] },
    })
    for (const year of ['2019', '2020-02', '2021-02-28']) {
      await reader.post(`/books/${bookId}/readings`, { finishedAt: year, rating: 2.75, note: ' n\n', format: 'AUDIO' })
    }
    await reader.post(`/books/${bookId}/readings`, { startedAt: '2026-01', paused: true })
    await reader.post(`/books/${bookId}/progress`, { page: 12, at: '2026-01-02T03:04:05Z' })
    await reader.post(`/books/${bookId}/progress`, { page: 99 })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['소설', 'a, b; c'] } })

    const { books }: LibraryExport = (await reader.get('/export')).body
    const { format, entries } = read(await download(reader, '/export'))
    expect(format).toBe('library')
    expect(entries.map(toExported)).toEqual(books.map(withoutIds))
    expect(entries.flatMap(({ losses, failure }) => [...losses, failure]).filter(Boolean)).toEqual([])
  })

  it.each<[string, object, Partial<Entry>]>([
    ['no title', { title: null }, { failure: 'no-title', title: null }],
    ['a title that is not text', { title: 1 }, { failure: 'no-title', losses: [{ code: 'bad-row', field: 'title' }] }],
    ['a NUL', { title: 'a', author: 'a\0' }, { author: null, losses: [{ code: 'bad-row', field: 'author' }] }],
    [
      'a long title',
      { title: 'x'.repeat(501) },
      { title: 'x'.repeat(500), losses: [{ code: 'too-long', field: 'title' }] },
    ],
    [
      'a script as cover',
      { title: 'a', cover: 'javascript:x' },
      { cover: null, losses: [{ code: 'bad-row', field: 'cover' }] },
    ],
    [
      'a day that does not exist',
      { title: 'a', readEndDate: '2026-02-30T00:00:00' },
      { exact: exactly({}), losses: [{ code: 'bad-date', field: 'readEndDate' }] },
    ],
    [
      'a number beyond its range',
      { title: 'a', star: 6 },
      { quarters: null, losses: [{ code: 'bad-rating', field: 'star' }] },
    ],
    [
      'readings that are no list',
      { title: 'a', readings: {} },
      { readings: [], losses: [{ code: 'bad-row', field: 'readings' }] },
    ],
    [
      'an event without a time',
      { title: 'a', progress: [{ page: 1 }] },
      { exact: exactly({}), losses: [{ code: 'bad-row', field: 'progress 1' }] },
    ],
    [
      'a reading with a wrong rating',
      { title: 'a', readings: [{ rating: 0.3 }] },
      { losses: [{ code: 'bad-rating', field: 'readings 1 rating' }] },
    ],
    [
      'a blank memo',
      { title: 'a', memos: [{ memoContent: ' ' }] },
      { memos: [], losses: [{ code: 'bad-row', field: 'memos 1' }] },
    ],
    [
      'too many tags',
      { title: 'a', tags: Array.from({ length: 31 }, (_, n) => `${n}`) },
      { losses: [{ code: 'too-many', field: 'tags' }] },
    ],
  ])('with %s loses only that when it is imported', (_, book, expected) => {
    const { entries } = read(libraryFile(book, { title: 'Whole' }, 1))
    expect(entries).toMatchObject([
      { failure: null, ...expected },
      { title: 'Whole', losses: [] },
      { failure: 'bad-row' },
    ])
  })

  it('with an unknown version cannot be imported', () => {
    const file = JSON.stringify({ format: 'reading-library', version: 2, books: [] })
    expect(() => read(file)).toThrow('version of the export')
  })
})

const exactly = (values: Partial<ExactValues>): ExactValues => ({
  ...{ bookId: null, star: 0, readStartDate: null, readEndDate: null, progress: [], sittings: [], ...values },
})

/** A book of the export without identifiers, which an import gives anew. */
const withoutIds = ({ bookId: _, ...book }: LibraryExport['books'][number]) => ({
  ...book,
  readings: book.readings.map(({ readingId: _, ...reading }) => reading),
  memos: book.memos.map(({ memoId: _, memoLikesCount: __, ...memo }) => memo),
})

/** The book of the export from which an entry was read. */
const toExported = (entry: Entry) => {
  const { title, sourceIds, tags } = entry
  const { bookId: _, ...exact } = entry.exact ?? exactly({})
  return {
    ...pick(entry, ...fieldsOf('fill')),
    ...{ title, sourceIds, tags, ...exact, createdAt: entry.addedAt, bookStatus: entry.status },
    currentPage: entry.currentPage,
    readings: entry.readings.map(({ quarters, isPaused, ...reading }) => ({
      ...reading,
      rating: quarters && quarters / 4,
      paused: isPaused,
    })),
    memos: entry.memos.map(({ type, content, page, isPublic, ...times }) => ({
      ...times,
      ...{ memoType: type, memoContent: content, memoBookPage: page, memoAuthority: isPublic ? 'PUBLIC' : 'PRIVATE' },
    })),
  }
}
