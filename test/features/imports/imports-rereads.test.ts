// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { randomFrom } from '../../support/inputs/malformed-files'
import { importFile, rowsOf } from '../../support/transfer/imports'

type Reading = { startedAt: string | null; finishedAt: string | null; outcome: string | null; rating: number | null }
type Book = { title: string; bookStatus: string; publisher: string | null; tags: string[]; readings: Reading[] } & {
  memos: { memoContent: string }[]
}
const libraryOf = async (reader: Reader): Promise<Book[]> => (await reader.get('/export')).body.books

const COLUMNS = ['title', 'author', 'status', 'rating', 'started', 'finished', 'tags', 'review', 'publisher'] as const
type Row = Record<(typeof COLUMNS)[number], string>
const fileOf = (rows: Partial<Row>[]) =>
  [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name] ?? ''))].map((row) => row.join(',')).join('\n')
const DUNE = { title: 'Dune', author: 'x', status: 'read' }

/** Imports rows of one book. Returns it, with its readings as text, and the codes and losses of the rows. */
const importRows = async (...rows: Partial<Row>[]) => {
  const reader = await signUp()
  const { importId } = await importFile(reader, fileOf(rows.map((row) => ({ ...DUNE, ...row }))))
  const [book] = await libraryOf(reader)
  const report = await rowsOf(reader, importId)
  return {
    readings: book?.readings.map(({ startedAt, finishedAt, outcome, rating }) =>
      [startedAt, finishedAt, outcome, rating].map((value) => value ?? '-').join(' '),
    ),
    codes: report.map(({ code }) => code),
    losses: report.flatMap(({ losses }) => losses.map(({ code, field }) => `${code} ${field}`)),
  }
}
const MERGED = { codes: [null, 'merged-in-file'], losses: [] }

describe('a later row of the same book', () => {
  it('is a further reading with its rating', async () => {
    const rows = [
      { rating: '5', finished: '2014-01-02' },
      { rating: '4', finished: '2024-02-02' },
    ]
    const readings = ['- 2014-01-02 FINISHED 5', '- 2024-02-02 FINISHED 4']
    expect(await importRows(...rows)).toEqual({ readings, ...MERGED })
    expect(await importRows(...rows.toReversed())).toEqual({ readings, ...MERGED })
  })

  it.each<[string, Partial<Row>[], string[]]>([
    [
      'that goes on',
      [
        { finished: '2014-01-02', rating: '5' },
        { status: 'reading', started: '2024-02-01' },
      ],
      ['- 2014-01-02 FINISHED 5', '2024-02-01 - - -'],
    ],
    [
      'without dates that goes on',
      [{ status: 'reading' }, { finished: '2014-01-02' }],
      ['- 2014-01-02 FINISHED -', '- - - -'],
    ],
    [
      'after one without dates',
      [{ rating: '3.5' }, { finished: '2014-01-02', rating: '4' }],
      ['- - FINISHED 3.5', '- 2014-01-02 FINISHED 4'],
    ],
    [
      'that was stopped',
      [{ finished: '2014-01-02' }, { status: 'dnf', finished: '2020-05-01', rating: '2' }],
      ['- 2014-01-02 FINISHED -', '- 2020-05-01 STOPPED 2'],
    ],
    [
      'of a book that was unread',
      [{ status: 'to read' }, { finished: '2014-01-02', rating: '4' }],
      ['- 2014-01-02 FINISHED 4'],
    ],
    [
      'with more of the same one',
      [{ finished: '2014' }, { started: '2014-01-01', finished: '2014-01-02', rating: '4' }],
      ['2014-01-01 2014-01-02 FINISHED 4'],
    ],
  ])('is a reading %s', async (_, rows, readings) => {
    expect(await importRows(...rows)).toEqual({ readings, ...MERGED })
  })

  it.each<[string, Partial<Row>[], string[]]>([
    [
      'another rating',
      [
        { finished: '2014-01-02', rating: '5' },
        { finished: '2014-01-02', rating: '4' },
      ],
      ['rating'],
    ],
    ['another rating without dates', [{ rating: '5' }, { rating: '4' }], ['rating']],
    ['another outcome', [{ finished: '2014-01-02' }, { finished: '2014-01-02', status: 'dnf' }], ['status']],
    ['an earlier status', [{ finished: '2014-01-02' }, { status: 'to read' }], ['status']],
    [
      'another start',
      [
        { started: '2014-01-01', finished: '2014-02-02' },
        { started: '2014-01-05', finished: '2014-02-02' },
      ],
      ['startedAt'],
    ],
    ['another publisher', [{ publisher: 'Quay' }, { publisher: 'Ebb' }], ['publisher']],
    ['further authors', [{ author: 'Mina Oh' }, { author: 'Mina Oh; Ana Ruiz' }], ['author']],
  ])('is left out with the loss of %s', async (_, rows, fields) => {
    expect(await importRows(...rows)).toMatchObject({
      codes: [null, 'duplicate-in-file'],
      losses: fields.map((field) => `duplicate-in-file ${field}`),
    })
  })
})

const STATUSES: Record<string, [outcome: string | null, bookStatus: string]> = {
  read: ['FINISHED', 'DONE'],
  dnf: ['STOPPED', 'DONE'],
  reading: [null, 'ING'],
  'to read': [null, 'YET'],
}

describe('a list with a row for each reading', () => {
  it.each([1, 2, 3])('is in the library or in the report, row by row, and again: %s', async (seed) => {
    const random = randomFrom(seed)
    const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item
    const day = (year: number) => `${year}-0${1 + random(9)}-${10 + random(18)}`
    const rows: Row[] = Array.from({ length: 60 }, (_, at) => {
      const [status, year] = [pick(['read', 'read', 'read', 'dnf', 'reading', 'to read']), 2010 + random(8)]
      const isEnded = status === 'read' || status === 'dnf'
      return {
        ...{ title: `Book ${random(15)}`, author: 'x', status },
        rating: pick(['', '1', '2.5', '3.75', '5']),
        started: status !== 'to read' && random(2) ? day(year) : '',
        finished: isEnded && random(4) ? pick([day(year + 1), day(year + 1), `${year + 1}`]) : '',
        ...{
          tags: pick(['', 'sea', 'gift;sea']),
          review: random(3) ? '' : `Text ${at}`,
          publisher: pick(['', 'Quay', 'Ebb']),
        },
      }
    })
    const reader = await signUp()
    const { importId, counts } = await importFile(reader, fileOf(rows))
    expect(counts.failed).toBe(0)
    const [library, report] = [await libraryOf(reader), await rowsOf(reader, importId)]
    // The plainest reader: each cell is in the book, or the row says which is not.
    for (const [at, row] of rows.entries()) {
      const { losses = [] } = report[at] ?? {}
      const isLost = (field: string) => losses.some((loss) => loss.field === field)
      const book = library.find(({ title }) => title === row.title) as Book
      const [wanted, bookStatus] = STATUSES[row.status] as [string | null, string]
      const begins = (date: string | null, cell: string) => date?.startsWith(cell) ?? cell === ''
      const ofRow = book.readings.filter(
        (reading) =>
          begins(reading.finishedAt, row.finished) &&
          (isLost('startedAt') || begins(reading.startedAt, row.started)) &&
          // An open reading before another one does not go on.
          (isLost('status') || reading.outcome === wanted || (wanted === null && reading.outcome === 'STOPPED')),
      )
      const context = JSON.stringify({ row, book, losses })
      if (row.status !== 'to read') expect(ofRow.length, context).toBeGreaterThan(0)
      else if (book.bookStatus !== bookStatus) {
        // The rows after it say more, those before it contradict it.
        const isFirst = rows.slice(0, at).every(({ title, status }) => title !== row.title || status === row.status)
        expect(isFirst || isLost('status'), context).toBe(true)
      }
      const rated = row.status === 'to read' ? book.readings : ofRow
      const isRated =
        row.rating === '' || row.status === 'to read' || rated.some(({ rating }) => rating === Number(row.rating))
      expect(isRated || isLost('rating'), context).toBe(true)
      expect(row.publisher === '' || book.publisher === row.publisher || isLost('publisher'), context).toBe(true)
      expect(book.tags, context).toEqual(expect.arrayContaining(row.tags.split(';').filter(Boolean)))
      const texts = book.memos.map(({ memoContent }) => memoContent)
      expect(row.review === '' || texts.includes(row.review), context).toBe(true)
    }
    expect((await importFile(reader, fileOf(rows))).counts).toMatchObject({ created: 0, updated: 0 })
    expect(await libraryOf(reader)).toEqual(library)
    expect(await findMismatches(memberDatabase())).toEqual([])
    expect((await reader.delete(`/imports/${importId}`)).body).toMatchObject({ removed: library.length })
  })
})

it('keeps the reviews of more rows than a batch writes memos', { tags: ['slow'] }, async () => {
  const reader = await signUp()
  const reviews = Array.from({ length: 1900 }, (_, n) => `Review ${n}`)
  const { counts } = await importFile(reader, fileOf(reviews.map((review) => ({ ...DUNE, review }))))
  expect(counts).toMatchObject({ created: 1, skipped: 1899 })
  const [book] = await libraryOf(reader)
  expect(book?.memos.map(({ memoContent }) => memoContent).sort()).toEqual(reviews.sort())
})

it('keeps the text of a further column in the last of those rows', { tags: ['slow'] }, async () => {
  const reader = await signUp()
  const reviews = Array.from({ length: 1900 }, (_, n) => `Dune,x,Review ${n},`)
  await importFile(reader, ['title,author,review,notes', ...reviews, 'Dune,x,,On sand.'].join('\n'))
  const [book] = await libraryOf(reader)
  expect(book?.memos).toHaveLength(1901)
  expect(book?.memos.filter(({ memoContent }) => memoContent === 'On sand.')).toHaveLength(1)
})
