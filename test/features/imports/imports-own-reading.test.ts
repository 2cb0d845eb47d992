// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import * as transfer from '../../support/transfer/imports'
import { rowsOf } from '../../support/transfer/imports'

const STORYGRAPH = 'Title,Authors,Read Status,Dates Read,Read Count,Star Rating'
const GOODREADS = 'Book Id,Title,Author,My Rating,Date Read,Exclusive Shelf'
const storygraph = (status: string, dates = '', stars = '') =>
  `${STORYGRAPH}\nLow Tide,Ana Ruiz,${status},"${dates}",1,${stars}\n`
const goodreads = (shelf: string, finished = '') => `${GOODREADS}\n1,Low Tide,Ana Ruiz,0,${finished},${shelf}\n`
const libraryOf = async (reader: Reader) => (await reader.get('/export')).body.books

const ING = { bookStatus: 'ING' }
const DONE = { bookStatus: 'DONE', readEndDate: '2026-03-14T21:30:00' }
const SAME = { finishedAt: '2026-03-14', outcome: 'FINISHED' }

describe('the reading of a book that was registered here matches one of a file', { tags: ['slow'] }, () => {
  it.each<[string, object, string, object]>([
    [
      'with quarter stars, which are kept',
      DONE,
      storygraph('read', '2026/03/14', '3.75'),
      { ...DONE, star: 4, readings: [{ ...SAME, rating: 3.75 }] },
    ],
    [
      'that ended it with quarter stars',
      ING,
      storygraph('read', '2026/03/01-2026/03/14', '3.75'),
      { bookStatus: 'DONE', star: 4, readings: [{ ...SAME, startedAt: '2026-03-01', rating: 3.75 }] },
    ],
    [
      'that ended it in a month',
      ING,
      storygraph('read', '2026/03'),
      { bookStatus: 'DONE', readings: [{ finishedAt: '2026-03' }] },
    ],
    ['that was stopped', ING, goodreads('did-not-finish'), { bookStatus: 'DONE', readings: [{ outcome: 'STOPPED' }] }],
    [
      'that was stopped on a day',
      ING,
      goodreads('did-not-finish', '2026/03/14'),
      { bookStatus: 'DONE', readings: [{ outcome: 'STOPPED', finishedAt: '2026-03-14' }] },
    ],
    ['that is paused', ING, storygraph('paused'), { bookStatus: 'ING', readings: [{ paused: true }] }],
  ])('%s', async (_, values, file, expected) => {
    const reader = await signUp()
    await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...values })
    const before = await libraryOf(reader)
    const { importId, counts } = await transfer.importFile(reader, file)
    expect(counts).toMatchObject({ updated: 1 })
    expect(await libraryOf(reader)).toMatchObject([expected])
    const again = await transfer.importFile(reader, file)
    expect(again.counts).toMatchObject({ unchanged: 1 })
    expect(await rowsOf(reader, again.importId)).toMatchObject([{ losses: [] }])
    expect((await reader.delete(`/imports/${importId}`)).body).toMatchObject({ restored: 1, kept: [{ left: [] }] })
    expect(await libraryOf(reader)).toEqual(before)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('with a note, a rating and a format', async () => {
    const [owner, reader] = [await signUp(), await signUp()]
    const book = { title: 'Low Tide', author: 'Ana Ruiz', ...DONE }
    const { bookId } = await owner.createBook(book)
    await owner.patch(`/readings/${bookId}`, { note: 'Loved it.', rating: 4.5, format: 'AUDIO' })
    await reader.createBook(book)
    await transfer.importFile(reader, JSON.stringify((await owner.get('/export')).body))
    expect(await libraryOf(reader)).toMatchObject([
      { readings: [{ ...SAME, note: 'Loved it.', rating: 4.5, format: 'AUDIO' }] },
    ])
  })

  it('but not one that ended before it began', async () => {
    const reader = await signUp()
    await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...ING, readStartDate: '2026-10-01T00:00:00' })
    await transfer.importFile(reader, goodreads('read', '2019/03/14'))
    expect(await libraryOf(reader)).toMatchObject([
      { bookStatus: 'ING', readEndDate: null, readings: [{ finishedAt: '2019-03-14' }, { startedAt: '2026-10-01' }] },
    ])
  })

  it('but not an earlier one if it goes on in the file, too', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...ING })
    await reader.patch(`/books/${bookId}`, { star: 4 })
    await transfer.importFile(reader, storygraph('currently-reading', '2023/01/02-2023/02/01', '3'))
    const [book] = await libraryOf(reader)
    expect(book).toMatchObject({ bookStatus: 'ING', star: 4 })
    expect(book.readings).toMatchObject([
      { startedAt: '2023-01-02', finishedAt: '2023-02-01', rating: 3 },
      { readingId: bookId, outcome: null, rating: 4 },
    ])
  })

  it('whose rating is that of the one before, which the file has too', async () => {
    const again = storygraph('currently-reading', '2023/01/02-2023/02/01', '4.5')
    const PAST = { startedAt: '2023-01-02', finishedAt: '2023-02-01', outcome: 'FINISHED' }
    const reader = await signUp()
    await transfer.importFile(reader, again)
    const created = await libraryOf(reader)
    expect(created).toMatchObject([
      {
        ...{ bookStatus: 'ING', star: 5 },
        readings: [
          { ...PAST, rating: 4.5 },
          { outcome: null, rating: null },
        ],
      },
    ])
    for (const query of ['', '?merge=overwrite']) {
      expect((await transfer.importFile(reader, again, query)).counts).toMatchObject({ unchanged: 1 })
    }
    expect(await libraryOf(reader)).toEqual(created)
    const another = await signUp()
    await transfer.importFile(another, storygraph('currently-reading', '2023/01/02-2023/02/01'))
    const before = await libraryOf(another)
    const { importId } = await transfer.importFile(another, again)
    // The past reading gets its rating, and the book shows its stars.
    expect(await libraryOf(another)).toMatchObject([
      {
        ...{ bookStatus: 'ING', star: 5 },
        readings: [
          { ...PAST, rating: 4.5 },
          { outcome: null, rating: null },
        ],
      },
    ])
    expect((await another.delete(`/imports/${importId}`)).body).toMatchObject({ restored: 1 })
    expect(await libraryOf(another)).toEqual(before)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it.each(['2020-05-01T00:00:00', '2026-05-01T00:00:00'])(
    'which ends it on its own date, not on %s, which the book has',
    async (readEndDate) => {
      const reader = await signUp()
      await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...ING, readEndDate })
      await transfer.importFile(reader, storygraph('read', '2026/03/01-2026/03/14', '3.75'))
      expect(await libraryOf(reader)).toMatchObject([
        { bookStatus: 'DONE', readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14', rating: 3.75 }] },
      ])
    },
  )

  it.each([
    ['', '2026-03-01'],
    ['?merge=overwrite', '2026-03-05'],
  ])('whose start the file replaces only if it overwrites: %s', async (query, startedAt) => {
    const reader = await signUp()
    await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...DONE, readStartDate: '2026-03-01T08:00:00' })
    await transfer.importFile(reader, storygraph('read', '2026/03/05-2026/03/14', '3.75'), query)
    expect(await libraryOf(reader)).toMatchObject([{ ...DONE, readings: [{ ...SAME, startedAt, rating: 3.75 }] }])
  })

  it('or the report says what is not kept', async () => {
    const reader = await signUp()
    await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...ING })
    await transfer.importFile(reader, storygraph('read'))
    const stopped = await transfer.importFile(reader, goodreads('did-not-finish'))
    expect(await rowsOf(reader, stopped.importId)).toMatchObject([
      { losses: [{ code: 'newer-here', field: 'status' }] },
    ])
  })
})

describe('a rating in quarter stars', () => {
  const ratingsOf = async (reader: Reader) =>
    (await libraryOf(reader)).map(({ star, readings }: { star: number; readings: { rating: number }[] }) => [
      star,
      ...readings.map(({ rating }) => rating),
    ])
  const file =
    'title,author,status,rating\nA,x,read,4.5\nB,x,read,4.25\nC,x,dnf,2.5\nD,x,reading,3.5\nE,x,to read,1.5\n'

  it('is that of a book without dates, unless it is unread', async () => {
    const reader = await signUp()
    const { importId } = await transfer.importFile(reader, file)
    expect(await ratingsOf(reader)).toEqual([[5, 4.5], [4, 4.25], [3, 2.5], [4, 3.5], [2]])
    expect((await rowsOf(reader, importId)).map(({ losses }) => losses)).toEqual([
      ...[[], [], [], []],
      [{ code: 'rating-rounded', field: 'rating' }],
    ])
    for (const query of ['', '?merge=overwrite']) {
      expect((await transfer.importFile(reader, file, query)).counts).toMatchObject({ unchanged: 5 })
    }
  })

  it('is kept in each step and form, of finished, stopped and open readings', async () => {
    const steps = Array.from({ length: 20 }, (_, at) => (at + 1) / 4)
    const forms: ((rating: number) => string)[] = [
      (rating) => rating.toFixed(2),
      (rating) => `"${String(rating).replace('.', ',')}"`,
      (rating) => `${rating}/5`,
      (rating) => `${rating * 2}/10`,
      (rating) => `${rating} stars`,
    ]
    const statuses = ['read', '완독', 'abandonné', 'lendo', '読了']
    // Each form with each status, and each step with all forms.
    const rows = forms.flatMap((form, at) =>
      steps.map((rating, step) => ({
        rating,
        row: `Book ${at} of ${step},x,${statuses[(at + step) % 5]},${form(rating)}`,
      })),
    )
    const reader = await signUp()
    const { importId } = await transfer.importFile(
      reader,
      `title,author,status,rating\n${rows.map(({ row }) => row).join('\n')}\n`,
    )
    // The stars are rounded half up, and at least one.
    const expected = rows.map(({ rating }) => [Math.max(1, Math.floor(rating + 0.5)), rating])
    expect(await ratingsOf(reader)).toEqual(expected)
    expect((await rowsOf(reader, importId)).flatMap(({ losses }) => losses)).toEqual([])
  })

  it('is added to a book of the library', async () => {
    const reader = await signUp()
    for (const [title, bookStatus] of [
      ['A', 'DONE'],
      ['B', 'ING'],
      ['D', 'ING'],
      ['E', 'YET'],
    ]) {
      await reader.createBook({ title, author: 'x', bookStatus })
    }
    const { importId } = await transfer.importFile(reader, file)
    expect(await ratingsOf(reader)).toEqual([[5, 4.5], [4, 4.25], [4, 3.5], [2], [3, 2.5]])
    expect((await reader.delete(`/imports/${importId}`)).status).toBe(200)
    expect(await ratingsOf(reader)).toEqual([[0, null], [0, null], [0, null], [0]])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})

describe('an import of the CSV of the own library changes nothing', () => {
  it.each<[string, object, object[]]>([
    [
      'if a past reading has no finish',
      {},
      [{ startedAt: '2024-06', outcome: 'FINISHED' }, { finishedAt: '2025-01-01' }],
    ],
    [
      'if the current one began before it',
      { bookStatus: 'DONE', readStartDate: '2024-06-10T00:00:00' },
      [{ startedAt: '2022' }],
    ],
    ['if only the past one is rated', {}, [{ finishedAt: '2023-05-01', rating: 4.5 }, { startedAt: '2025-01-01' }]],
  ])('%s', async (_, values, readings) => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tide', ...values })
    for (const body of readings)
      expect(await reader.post(`/books/${bookId}/readings`, body)).toMatchObject({ status: 201 })
    const before = await libraryOf(reader)
    const file = await (await transfer.download(reader, '/export.csv')).text()
    expect((await transfer.importFile(reader, file)).counts).toMatchObject({ unchanged: 1 })
    expect(await libraryOf(reader)).toEqual(before)
  })
})
