import { describe, expect, it } from 'vitest'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import { readwise } from '../../../src/transfer/reader/formats/highlights/tables'
import file from '../../fixtures/imports/readwise.csv?raw'
import importFile from '../../fixtures/imports/readwise-import.csv?raw'
import * as files from '../../support/transfer/import-files'

const source = (text: string) => files.sourceOf(text, undefined, parseTable(text))
const readRows = (cells: string[][]) => {
  const rows = cells.map((cells, at) => ({ line: at + 1, cells }))
  return readwise.read(files.sourceOf('', undefined, rows), files.NO_OPTIONS)
}
const read = (text: string) => readwise.read(source(text), files.NO_OPTIONS)

describe('Readwise’s export', () => {
  const entries = read(file)

  it('has an entry for each book', () => {
    expect(entries).toHaveLength(4)
    expect(entries[0]).toMatchObject({
      line: 2,
      title: 'The Salt Archive',
      author: 'Mina Oh',
      sourceIds: ['asin:B0INVENTED'],
      tags: ['sea', 'harbours'],
      failure: null,
      cells: { names: [], values: [] },
    })
    expect(entries[1]).toMatchObject({ title: 'Field Notes', author: null, sourceIds: [], tags: [], status: null })
  })

  it('appends notes, converts times to UTC, and ignores locations that are not pages', () => {
    expect(entries[0]?.memos).toEqual([
      {
        type: 'BOOK_CONTENT',
        content: 'Salt keeps what the sea forgets.\n\nCompare with chapter two.',
        page: 0,
        createdAt: '2026-03-14T10:15:30',
      },
      {
        type: 'BOOK_CONTENT',
        content: 'The first shelf was empty.\nSo was the second.',
        page: 31,
        createdAt: '2026-03-15T04:30:00',
      },
      {
        type: 'BOOK_CONTENT',
        content: 'Salt is a kind of memory.\n\n.quote .opening Where it begins',
        page: 0,
        createdAt: '2026-03-14T11:00:00',
      },
      { type: 'THOUGHT', content: '.reread the ending', page: 0, createdAt: '2026-03-14T15:30:00' },
    ])
  })

  it('lists tags of highlights, also their markers, and colours as a loss once for each book', () => {
    expect(entries[0]?.losses).toEqual([
      { code: 'not-supported', field: 'Tags' },
      { code: 'not-supported', field: 'Color' },
    ])
  })

  it('lists a bad date as a loss', () => {
    expect(entries[1]?.memos).toMatchObject([{ page: 0, createdAt: null }])
    expect(entries[1]?.losses).toEqual([{ code: 'bad-date', field: 'line 8' }])
  })

  it('returns the cells of rows without highlight or title', () => {
    expect(entries[2]).toMatchObject({
      line: 7,
      title: 'The Salt Archive',
      failure: 'empty-highlight',
      losses: [{ code: 'empty-highlight', field: 'Highlight' }],
      memos: [],
    })
    expect(files.cellsOf(entries[2])).toMatchObject({
      Highlight: '',
      'Book Title': 'The Salt Archive',
      Location: '180',
    })
    expect(entries[3]).toMatchObject({ line: 9, failure: 'no-title' })
    expect(files.cellsOf(entries[3])).toMatchObject({ Highlight: 'Lost words.', 'Book Author': 'Mina Oh' })
  })
})

it('reports an invalid Amazon Book ID once for each book', () => {
  const text = 'Highlight,Title,Amazon Book ID\nWords,Demian,B0TOOLONG123\nMore,Demian,B0TOOLONG123\nWords,Low Tide,\n'
  expect(read(text)).toMatchObject([
    { title: 'Demian', sourceIds: [], losses: [{ code: 'not-supported', field: 'Amazon Book ID' }] },
    { title: 'Low Tide', sourceIds: [], losses: [] },
  ])
})

it('lists columns that Readwise does not have', () => {
  expect(files.read(file)).toMatchObject({ format: 'readwise', unknownColumns: [] })
  expect(files.read('Highlight,Title,Zodiac\nWords,Demian,Leo\n').unknownColumns).toEqual(['Zodiac'])
})

describe('a file for Readwise’s import', () => {
  it('has highlights with notes, and links, which are lost', () => {
    expect(files.read(importFile)).toMatchObject({
      format: 'readwise',
      unknownColumns: [],
      entries: [
        {
          title: 'The Salt Archive',
          author: 'Mina Oh',
          sourceIds: [],
          memos: [
            {
              content: 'Salt keeps what the sea forgets.\n\nCompare with chapter two.',
              page: 0,
              createdAt: '2026-03-14T10:15:30',
            },
            { content: 'The first shelf was empty.', page: 0, createdAt: null },
          ],
          losses: [{ code: 'not-supported', field: 'URL' }],
        },
        {
          title: 'Field Notes',
          author: null,
          memos: [{ content: 'A day without wind.', createdAt: '2026-03-15T00:00:00' }],
          losses: [],
        },
      ],
    })
  })

  it('may have its columns in any order and case', () => {
    const text = 'Title,NOTE,Highlight,Author,Location,Date\nDemian,Why?,Words,Mina Oh,12,2026-03-14\n'
    expect(readwise.matches(source(text))).toBe(true)
    expect(read(text)).toMatchObject([
      {
        title: 'Demian',
        author: 'Mina Oh',
        memos: [{ type: 'BOOK_CONTENT', content: 'Words\n\nWhy?', page: 0, createdAt: '2026-03-14T00:00:00' }],
        losses: [],
      },
    ])
  })

  it('may have only highlights', () => {
    expect(read('Highlight\nWords\n')).toMatchObject([
      { failure: 'no-title', cells: { names: ['Highlight'], values: ['Words'] } },
    ])
  })
})

describe('dates', () => {
  it.each([
    ['2026-03-14T10:15:30Z', '2026-03-14T10:15:30'],
    ['2026-03-14T10:15:30.123456+09:00', '2026-03-14T01:15:30'],
    ['2026-03-14 10:15+0530', '2026-03-14T04:45:00'],
    ['2026-01-01 00:30:00+01', '2025-12-31T23:30:00'],
    ['2026-02-30 10:15:30+00:00', null],
    ['2026-03-14 10:15:30', '2026-03-14T10:15:30'],
  ])('reads %s', (date, createdAt) => {
    expect(read(`Highlight,Title,Date\nWords,Demian,${date}\n`)[0]?.memos[0]?.createdAt).toBe(createdAt)
  })

  it('may be missing', () => {
    expect(read('Highlight,Title,Date\nWords,Demian,\n')[0]).toMatchObject({ memos: [{ createdAt: null }], losses: [] })
  })
})

describe('detection', () => {
  it('needs columns of highlights and titles', () => {
    expect(readwise.matches(source(file))).toBe(true)
    expect(readwise.matches(files.sourceOf('', undefined, [{ line: 1, cells: ['\uFEFF Highlight ', 'Title'] }]))).toBe(
      true,
    )
    expect(readwise.matches(source('Title,Author\nDemian,Mina Oh'))).toBe(false)
    expect(readwise.matches(source('Highlight,Author\nWords,Mina Oh'))).toBe(false)
    expect(readwise.matches(files.sourceOf('{}', {}))).toBe(false)
  })
})

describe('malformed rows', () => {
  it('reads rows that are shorter or longer than the header', () => {
    const rows = [
      ['Highlight', 'Title', 'Note'],
      ['Words'],
      ['', 'Demian', '', 'more'],
      [''],
      ['Words', 'Demian', '', 'more'],
      ['More words', 'Demian'],
    ]
    const entries = readRows(rows)
    expect(entries).toMatchObject([
      {
        title: 'Demian',
        memos: [{ content: 'Words' }, { content: 'More words' }],
        losses: [
          { code: 'bad-row', field: 'line 5' },
          { code: 'short-row', field: 'line 6' },
        ],
      },
      { failure: 'no-title' },
      { failure: 'empty-highlight' },
    ])
    expect(entries.slice(1).map(files.cellsOf)).toMatchObject([{ Highlight: 'Words' }, { 'column 4': 'more' }])
  })

  it('cuts a long highlight and removes what the database cannot store', () => {
    const [entry] = read(`Highlight,Title\n${'x'.repeat(65_536)},De\0mian\ny\ud800,Demian\n`)
    expect(entry).toMatchObject({ title: 'Demian', losses: [{ code: 'review-truncated', field: 'line 2' }] })
    expect(entry?.memos[0]?.content).toHaveLength(65_535)
    expect(entry?.memos[1]?.content.isWellFormed()).toBe(true)
  })

  const wide = (size: number) => [
    ['Highlight', 'Title', 'Document tags', ...Array.from({ length: size / 2 }, (_, at) => `c${at}`)],
    ...Array.from({ length: size }, (_, at) => (at % 2 ? ['Words', 'Demian', `t${at}`] : [`x${at}`])),
  ]

  it('reads 100,000 rows, and a wide header', { tags: ['slow'] }, () => {
    expect(readRows(wide(100_000))).toHaveLength(50_001)
  })
})
