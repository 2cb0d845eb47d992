import { describe, expect, it } from 'vitest'
import appleBooks from '../../fixtures/imports/apple-books.csv?raw'
import kobo from '../../fixtures/imports/kobo.csv?raw'
import douban from '../../fixtures/imports/real/douban-1.json?raw'
import libby from '../../fixtures/imports/real/libby-1.csv?raw'
import allLoans from '../../fixtures/imports/real/libby-2.json?raw'
import skoob from '../../fixtures/imports/skoob.csv?raw'
import { read, readByTitle, reasonOf } from '../../support/transfer/import-files'

// Files that tools and lending libraries write. imports-real.test.ts compares the whole files of Libby and Douban.

describe('the timeline of Libby', () => {
  const readingsOf = (file: string, shelfMap = {}) =>
    Object.fromEntries(
      Object.entries(readByTitle(file, { shelfMap })).map(([title, { status, readings }]) => [
        title,
        [status, ...readings.map(({ startedAt, finishedAt }) => `${startedAt ?? ''}/${finishedAt ?? ''}`)],
      ]),
    )

  it('says nothing about reading unless the member does', () => {
    expect(readByTitle(libby)['Ferry Song']).toMatchObject({
      status: null,
      readings: [],
      tags: ['Returned'],
      losses: [
        { code: 'not-supported', field: 'timestamp' },
        { code: 'custom-shelf-needs-choice', field: 'activity: Returned' },
      ],
    })
  })

  it('has a reading for each loan if the member says so, one for copies borrowed at the same time', () => {
    expect(readingsOf(libby, { returned: 'DONE', borrowed: 'ING', 'placed on hold': 'YET' })).toEqual({
      'Ferry Song': ['DONE', '2022-02-14/2022-02-28'],
      Lantern: ['ING', '2022-02-03/'],
      'Nine Quiet Doors': ['DONE', '2021-12-02/2021-12-16', '2021-12-17/2021-12-24'],
      Nightjar: ['YET'],
      Plain: ['YET'],
      'Prelude to Harbour': ['DONE', '2022-01-06/2022-01-31'],
      'The Tide, the Salt, and the Rope': ['DONE', '2022-01-04/2022-01-18'],
    })
    const { losses } = readByTitle(libby, { shelfMap: { Returned: 'DONE' } })['Prelude to Harbour'] ?? {}
    expect(losses).toEqual([{ code: 'not-supported', field: 'isbn' }])
  })

  it('has the identifiers of e-book and audiobook, and only the last of the loans whose ends are unknown', () => {
    const books = readByTitle(allLoans, { shelfMap: { Borrowed: 'DONE' } })
    expect(books['Harbour and Empire']).toMatchObject({
      sourceIds: ['overdrive:1000065', 'overdrive:1000091'],
      format: 'AUDIO',
      readings: [{ finishedAt: null, outcome: 'FINISHED' }],
      losses: [
        { code: 'not-supported', field: 'isbn' },
        { code: 'not-supported', field: 'timestamp' },
      ],
    })
  })

  it('reports what is missing or cannot be read', () => {
    const rows = libby
      .replace('"February 28, 2022 00:04"', 'soon')
      .replace(',Borrowed, 14 days ,Harbour Digital Library', '')
    const { losses } = readByTitle(rows)['Ferry Song'] ?? {}
    expect(losses).toContainEqual({ code: 'short-row', field: 'library' })
    expect(losses).toContainEqual({ code: 'bad-date', field: 'timestamp' })
    expect(read(libby.replaceAll('Plain', ' ')).entries.at(-1)).toMatchObject({ failure: 'no-title', line: 4 })
    const undated = allLoans.replaceAll(/"timestamp": \d+/g, '"timestamp": 1e308')
    for (const { losses } of read(undated).entries)
      expect(losses).toContainEqual({ code: 'bad-date', field: 'timestamp' })
  })

  it('keeps an undated activity after the next older one in the file', () => {
    const undated = libby.replace('"February 28, 2022 00:04"', 'soon')
    expect(readingsOf(undated, { returned: 'DONE', borrowed: 'ING' })['Ferry Song']).toEqual(['DONE', '2022-02-14/'])
  })

  it('refuses more than 10,000 activities', () => {
    const { timeline } = JSON.parse(allLoans)
    const file = JSON.stringify({ timeline: Array.from({ length: 10_001 }, () => timeline[0]) })
    expect(reasonOf(file)).toMatch('more than 10,000 activities')
  })

  it('has one book for titles that differ only in case', () => {
    const [{ readings = [] } = {}, ...others] = read(
      'cover,title,author,publisher,isbn,timestamp,activity,details,library\n' +
        ',The Lantern,Tove Berg,,,"February 28, 2026 00:04",Returned,,\n,The Lantern,Tove Berg,,,"February 14, 2026 00:04",Borrowed,,\n' +
        ',the lantern,Tove Berg,,,"January 20, 2026 00:04",Returned,,\n,the lantern,Tove Berg,,,"January 7, 2026 00:04",Borrowed,,\n',
      { shelfMap: { Returned: 'DONE' } },
    ).entries
    expect([readings.length, others.length]).toEqual([2, 0])
  })

  it('can be corrected in failed.csv, in the columns of its CSV', () => {
    const [{ cells } = {}] = read('{"timeline":[{"title":{"text":""},"activity":"Borrowed"}]}').entries
    expect(cells?.names).toEqual(expect.arrayContaining(libby.split('\n', 1)[0]?.split(',').slice(1) ?? []))
  })
})

describe('the marks of Douban', () => {
  it.each([
    ['mark', 'YET'],
    ['doing', 'ING'],
    ['done', 'DONE'],
  ])('with the status %s are %s', (status, expected) => {
    const file = douban.replaceAll('"status": "done"', `"status": "${status}"`)
    expect(read(file).entries.map((entry) => entry.status)).toEqual([expected, expected, expected])
  })

  it('keep an author who is only in brackets, and texts in place of lists', () => {
    const [entry] = read(douban.replace(/"author": \[[^\]]*\]/, '"author": "[佚名]"')).entries
    expect(entry?.author).toBe('[佚名]')
  })

  it('fail for films and music', () => {
    const { entries } = read(douban.replace('"type": "book"', '"type": "movie"'))
    expect(entries.map(({ failure }) => failure)).toEqual(['not-supported', null, null])
    expect(entries[0]?.cells.names).toEqual(['title', 'author', 'publisher', 'pages', 'status'])
  })

  it('are refused as CSV, which has no status', () => {
    // https://github.com/lizheming/drone-doumark, src/store/csv.js
    const header = 'id,title,intro,poster,pubdate,url,rating,genres,star,comment,tags,star_time,card'
    expect(reasonOf(`${header}\n1,A,,,2018-8,,7.5,,4,,,2018-09-30 11:47:01,A / 2018 / B\n`)).toMatch('doumark-action')
  })
})

const BOOKS = [
  {
    ...{ title: 'The Salt Archive', author: 'Mina Oh' },
    memos: [
      {
        type: 'BOOK_CONTENT',
        content: 'Salt keeps, what the sea "forgets".',
        page: 0,
        createdAt: '2026-03-14T10:15:30',
      },
      {
        ...{ type: 'BOOK_CONTENT', page: 0, createdAt: '2026-03-15T21:00:00' },
        content: 'The first shelf was empty.\n\nCompare with chapter two.',
      },
    ],
  },
  { title: 'Field Notes', author: null, memos: [{ type: 'BOOK_CONTENT', content: 'Two\nlines.' }] },
]

describe('the highlights of', () => {
  it('Apple Books are those that apple-books-export writes', () => {
    const { format, unknownColumns, entries } = read(appleBooks)
    expect([format, unknownColumns]).toEqual(['apple-books', []])
    expect(entries).toMatchObject(BOOKS)
    expect(entries.map(({ sourceIds }) => sourceIds)).toEqual([
      ['apple-books:9C1D4A77B0F24E6AB1C2D3E4F5061728'],
      ['apple-books:1234567890'],
    ])
    expect(entries[0]?.losses).toEqual([
      { code: 'not-supported', field: 'color' },
      { code: 'bookmark', field: 'line 4' },
    ])
    expect(entries[1]?.memos[0]?.createdAt).toBe('2026-04-01T00:00:01')
  })

  it('Kobo are those that export-kobo writes, without a header', () => {
    const { format, unknownColumns, entries } = read(kobo)
    expect([format, unknownColumns]).toEqual(['kobo', []])
    expect(entries).toMatchObject(BOOKS)
    expect(entries[0]?.losses).toEqual([{ code: 'bookmark', field: 'line 3' }])
    expect(entries[1]?.memos[0]?.createdAt).toBeNull()
    // Python writes these line ends on Windows.
    expect(read(kobo.replaceAll(/\r?\n/g, '\r\r\n')).entries.map(({ memos }) => memos.length)).toEqual([2, 1])
  })

  it('Kobo are not mixed up if export-kobo writes them as clippings of a Kindle', () => {
    const clipping = (kind: string, text: string, second: number) =>
      `Low Tide (Ana Ruiz)\n- Your ${kind} on page 1 | location 1 | Added on Friday, 19 June 2026 19:54:1${second}\n\n${text}\n==========\n`
    const file =
      clipping('Highlight', 'The sea', 1) + clipping('Highlight', 'The sea rises', 2) + clipping('Note', 'Why?', 3)
    expect(read(file).entries).toMatchObject([
      { memos: [{ content: 'The sea' }, { content: 'The sea rises', page: 0 }, { content: 'Why?' }], losses: [] },
    ])
  })
})

it('the books of Skoob are in the columns of Goodreads, as skoob-exporter writes them', () => {
  const { format, unknownColumns, entries } = read(skoob)
  expect([format, unknownColumns]).toEqual(['goodreads', []])
  expect(entries).toMatchObject([
    {
      ...{ title: 'Maré Baixa', subtitle: 'Uma história', author: 'Ana Ruiz', isbn: '9780446675505', quarters: 10 },
      ...{ publisher: 'Cais', publishedYear: 2022, readings: [{ finishedAt: '2023-03-09' }], losses: [] },
    },
    { title: 'O Arquivo de Sal', isbn: '9780306406157', quarters: null, readings: [], status: null },
  ])
})
