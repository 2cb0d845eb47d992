import { describe, expect, it } from 'vitest'
import file from '../../fixtures/imports/storygraph.csv?raw'
import old from '../../fixtures/imports/storygraph-2021.csv?raw'
import { read, readByTitle, readRow } from '../../support/transfer/import-files'

const storygraph = (cells: Record<string, string>) =>
  readRow({ Title: 'A', 'Read Status': 'read', 'Star Rating': '', ...cells })

describe('an import from StoryGraph', () => {
  const books = readByTitle(file)

  it('is recognized, also in the form of 2021', () => {
    expect(read(file)).toMatchObject({ format: 'storygraph', unknownColumns: [] })
    expect(read(old)).toMatchObject({
      format: 'storygraph',
      unknownColumns: [],
      entries: [
        {
          author: 'Mina Oh',
          isbn: '9780446675505',
          status: 'DONE',
          quarters: 18,
          readings: [{ startedAt: '2021-03-01', finishedAt: '2021-03-14' }],
          losses: [],
        },
      ],
    })
  })

  it('has the fields of a book, and names what has no place', () => {
    const book = books['The Salt Archive']
    expect(book).toMatchObject({
      author: 'Mina Oh, Joon Park',
      isbn: '9780446675505',
      format: 'PAPER',
      status: 'DONE',
      addedAt: '2025-12-30',
      quarters: 15,
      tags: ['sea'],
      memos: [{ type: 'THOUGHT', content: '<div>Slow.&nbsp;</div>', page: 0 }],
    })
    expect(book?.losses.map(({ field }) => field)).toEqual([
      'Contributors',
      'Moods',
      'Pace',
      'Character- or Plot-Driven?',
      'Strong Character Development?',
      'Loveable Characters?',
      'Diverse Characters?',
      'Flawed Characters?',
      'Owned?',
    ])
  })

  it('keeps the HTML of a review, and names contributors and content warnings', () => {
    expect(books['Left Half Way']).toMatchObject({
      author: 'Mina Oh',
      isbn: '9780306406157',
      format: 'AUDIO',
      readings: [
        { startedAt: '2022', finishedAt: '2023', outcome: 'FINISHED' },
        { startedAt: '2024-05', finishedAt: '2024-06', outcome: 'FINISHED' },
      ],
      quarters: 17,
      memos: [{ content: '<div>Slow.<br>Then&nbsp;not.</div><span class="spoiler">She stays.</span>' }],
      losses: ['Contributors', 'Read Count', 'Content Warnings', 'Content Warning Description'].map((field) => ({
        code: 'not-supported',
        field,
      })),
    })
  })

  it('has read books without a date', () => {
    expect(books['The Ferry Song']).toMatchObject({ status: 'DONE', readings: [], losses: [] })
  })

  it('has one reading for each session, oldest first, with dates as exact as they are', () => {
    expect(books['The Salt Archive']?.readings).toMatchObject([
      { startedAt: null, finishedAt: '2024-05', outcome: 'FINISHED', quarters: null },
      { startedAt: '2026-03-01', finishedAt: '2026-03-14', outcome: 'FINISHED', quarters: null },
    ])
    expect(books['A Lamp for the Tide']).toMatchObject({
      status: 'DONE',
      readings: [{ startedAt: null, finishedAt: '2025', outcome: 'STOPPED' }],
      quarters: 1,
    })
  })

  it.each([
    ['2024/05/01-2024/05/09', '2024-05-01', '2024-05-09'],
    ['2024/05-2024/06', '2024-05', '2024-06'],
    ['2023-2024', '2023', '2024'],
    ['2024/05/09', null, '2024-05-09'],
    ['2024', null, '2024'],
  ])('has the session %s', (session, startedAt, finishedAt) => {
    expect(storygraph({ 'Dates Read': session })).toMatchObject({ readings: [{ startedAt, finishedAt }], losses: [] })
  })

  it.each(['2024-05-01', '2024/05/01-2024/05/02-2024/05/03', '2024/13', 'May'])('reports the session %s', (session) => {
    expect(storygraph({ 'Dates Read': session })).toMatchObject({
      readings: [],
      losses: [{ code: 'bad-date', field: 'Dates Read' }],
    })
  })

  it('takes Last Date Read only if no session has it', () => {
    const finishes = (cells: Record<string, string>) => storygraph(cells).readings.map(({ finishedAt }) => finishedAt)
    expect(finishes({ 'Last Date Read': '2025/06' })).toEqual(['2025-06'])
    expect(finishes({ 'Last Date Read': '2025/06', 'Dates Read': '2025/06/03, 2024' })).toEqual(['2024', '2025-06-03'])
    expect(finishes({ 'Last Date Read': '2025/07/01', 'Dates Read': '2025/06/03' })).toEqual([
      '2025-06-03',
      '2025-07-01',
    ])
  })

  it('reports readings without dates', () => {
    expect(storygraph({ 'Read Count': '3', 'Last Date Read': '2025' })).toMatchObject({
      losses: [{ code: 'not-supported', field: 'Read Count' }],
    })
  })

  it('has books without a status, which were only tagged', () => {
    expect(books['The Grey Shelf']).toMatchObject({
      status: null,
      addedAt: null,
      tags: ['owned', 'gift'],
      readings: [],
    })
  })

  it('has paused books, without a date', () => {
    expect(books['Nine Quiet Doors']).toMatchObject({
      status: 'ING',
      readings: [{ startedAt: null, finishedAt: null, outcome: null, isPaused: true }],
    })
  })

  it('has rows that are shorter or longer than the header, and wrong dates', () => {
    expect(books['Tide Tables']).toMatchObject({
      status: 'DONE',
      readings: [{ finishedAt: '2025-06' }],
      losses: [{ code: 'short-row', field: 'Dates Read' }],
    })
    expect(books['Low Tide']).toMatchObject({ status: 'YET', losses: [{ code: 'bad-row', field: 'column 25' }] })
    expect(books['Bad Dates']).toMatchObject({
      status: 'ING',
      addedAt: null,
      readings: [{ startedAt: '2025-01-05', finishedAt: null, outcome: null }],
      losses: [
        { code: 'short-row', field: 'Moods' },
        { code: 'bad-date', field: 'Date Added' },
        { code: 'bad-date', field: 'Dates Read' },
      ],
    })
  })

  it.each([
    ['9780446675505', { isbn: '9780446675505', sourceIds: [] }],
    ['0446675504', { isbn: '9780446675505', sourceIds: [] }],
    ['B0ABCDEF12', { isbn: null, sourceIds: ['asin:B0ABCDEF12'] }],
    [
      '0f8fad5b-d9cb-469f-a165-70867728950e',
      { isbn: null, sourceIds: ['storygraph:0f8fad5b-d9cb-469f-a165-70867728950e'] },
    ],
    ['', { isbn: null, sourceIds: [], losses: [] }],
    ['what', { isbn: null, sourceIds: [], losses: [{ code: 'bad-isbn', field: 'ISBN/UID' }] }],
  ])('has the identifier %s', (id, expected) => {
    expect(storygraph({ 'ISBN/UID': id })).toMatchObject(expected)
  })

  it('reports an unknown status', () => {
    expect(storygraph({ 'Read Status': 'shelved' })).toMatchObject({
      status: null,
      losses: [{ code: 'unknown-status', field: 'Read Status' }],
    })
  })
})
