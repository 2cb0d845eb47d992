// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import type { Bindings } from '../../../src/env'
import kindle from '../../fixtures/imports/kindle.txt?raw'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import * as transfer from '../../support/transfer/imports'
import { booksOf } from '../../support/transfer/imports'
import { wrapEnv } from '../../support/wrap-database'

/** Imports a file, and returns the ended import. */
const importFile = async (...request: Parameters<typeof transfer.importFile>) => {
  const ended = await transfer.importFile(...request)
  expect(ended.status).toBe('DONE')
  expect(await findMismatches(memberDatabase())).toEqual([])
  return ended
}
const readingsOf = async (reader: Reader, bookId: number) => (await reader.get(`/books/${bookId}/readings`)).body

const STORYGRAPH =
  'Title,Authors,Contributors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,Dates Read,Read Count,Star Rating,Review,Tags,Owned?'
const storygraph = (...rows: string[]) => [STORYGRAPH, ...rows].join('\n')
const REREAD =
  '"The Salt Archive","Mina Oh",,9780446675505,paperback,read,2025/12/30,2026/03/14,"2024/05, 2026/03/01-2026/03/14",2,3.75,"<div>Slow.</div>","sea",Yes'

describe('readings of a file', () => {
  it('become readings, with partial dates and quarter stars', async () => {
    const reader = await signUp()
    await importFile(reader, storygraph(REREAD))
    const [book] = await booksOf(reader)
    expect(book).toMatchObject({
      bookStatus: 'DONE',
      star: 4,
      readStartDate: '2026-03-01T00:00:00',
      readEndDate: '2026-03-14T00:00:00',
    })
    expect(await readingsOf(reader, book.bookId)).toMatchObject([
      { startedAt: '2026-03-01', finishedAt: '2026-03-14', outcome: 'FINISHED', rating: 3.75 },
      { startedAt: null, finishedAt: '2024-05', outcome: 'FINISHED', rating: null },
    ])
  })

  it('that were stopped or paused are not finished', async () => {
    const reader = await signUp()
    await importFile(
      reader,
      storygraph(
        '"Low Tide","Ana Ruiz",,,digital,did-not-finish,2025/12/30,,,1,,,,No',
        '"Lamp","Oh Mina",,,audio,paused,2025/12/30,,,1,,,,No',
      ),
    )
    const [stopped, paused] = await booksOf(reader)
    expect(stopped).toMatchObject({ bookStatus: 'DONE', readEndDate: null })
    expect(await readingsOf(reader, stopped.bookId)).toMatchObject([{ outcome: 'STOPPED' }])
    expect(paused).toMatchObject({ bookStatus: 'ING' })
    expect(await readingsOf(reader, paused.bookId)).toMatchObject([{ outcome: null, paused: true }])
  })

  it('are added to a book until it has 200', async () => {
    const reader = await signUp()
    const withDates = (count: number) => {
      const dates = Array.from({ length: count }, (_, n) => `${1800 + n}/05`).join(', ')
      return storygraph(`"The Salt Archive","Mina Oh",,,,read,,,"${dates}",${count},,,,No`)
    }
    await importFile(reader, withDates(199))
    expect((await importFile(reader, withDates(200))).counts).toMatchObject({ updated: 1 })
    expect(await readingsOf(reader, (await booksOf(reader))[0].bookId)).toHaveLength(200)
  })

  it('of a newer file are added once', async () => {
    const reader = await signUp()
    await importFile(reader, storygraph(REREAD))
    const newer = REREAD.replace(
      '"2024/05, 2026/03/01-2026/03/14",2',
      '"2024/05, 2026/03/01-2026/03/14, 2026/10/01-2026/10/20",3',
    )
    expect((await importFile(reader, storygraph(newer))).counts).toMatchObject({ updated: 1, created: 0 })
    expect((await importFile(reader, storygraph(newer))).counts).toMatchObject({ unchanged: 1 })
    const [book] = await booksOf(reader)
    expect(book).toMatchObject({ readStartDate: '2026-10-01T00:00:00', readEndDate: '2026-10-20T00:00:00' })
    expect(await readingsOf(reader, book.bookId)).toHaveLength(3)
  })

  it('are not all matched by one stored reading of which only the year is known', async () => {
    const reader = await signUp()
    const withDates = (dates: string) => storygraph(`"The Salt Archive","Mina Oh",,,,read,,,"${dates}",2,,,,No`)
    await importFile(reader, withDates('2024'))
    const file = withDates('2024/03/01-2024/03/05, 2024/09/01-2024/09/07')
    expect((await importFile(reader, file)).counts).toMatchObject({ updated: 1 })
    expect((await importFile(reader, file)).counts).toMatchObject({ unchanged: 1 })
    expect(await readingsOf(reader, (await booksOf(reader))[0].bookId)).toHaveLength(2)
  })

  it('are added to a book that was registered here', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({
      title: 'The Salt Archive',
      author: 'Mina Oh',
      bookStatus: 'DONE',
      readStartDate: '2026-03-01T20:00:00',
      readEndDate: '2026-03-14T21:30:00',
    })
    expect((await importFile(reader, storygraph(REREAD))).counts).toMatchObject({ updated: 1, created: 0 })
    const [book] = await booksOf(reader)
    expect(book).toMatchObject({ bookId, readEndDate: '2026-03-14T21:30:00' })
    expect(await readingsOf(reader, bookId)).toMatchObject([{ finishedAt: '2026-03-14' }, { finishedAt: '2024-05' }])
  })

  const FINISHED = {
    title: 'The Salt Archive',
    author: 'Mina Oh',
    bookStatus: 'DONE',
    readEndDate: '2024-01-01T00:00:00',
    star: 3,
  }
  const file = [
    'Book Id,Title,Author,ISBN13,My Rating,Publisher,Number of Pages,Date Read,Date Added,Exclusive Shelf,read_dates',
    '9,The Salt Archive,Mina Oh,9780306406157,5,Quay House,312,2026/05/05,2023/12/30,read,2024/01/01;2026/05/05',
  ].join('\n')

  it('come with the details of their book', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook(FINISHED)
    expect((await importFile(reader, file)).counts).toMatchObject({ updated: 1 })
    expect((await booksOf(reader))[0]).toMatchObject({
      star: 5,
      readEndDate: '2026-05-05T00:00:00',
      publisher: 'Quay House',
      itemPage: 312,
    })
    expect((await reader.get(`/books/${bookId}/edition`)).body).toMatchObject({
      isbn: '9780306406157',
      sourceIds: ['goodreads:9'],
    })
    expect(await readingsOf(reader, bookId)).toMatchObject([{ finishedAt: '2026-05-05' }, { finishedAt: '2024-01-01' }])
    expect((await importFile(reader, file)).counts).toMatchObject({ unchanged: 1 })
  })

  it('leave an edit that was made since they were planned', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook(FINISHED)
    const edit = `update books set sourceIds = '["isbn:1"]' where bookId = ?`
    // No other call of an import has as many statements as the one that commits its rows.
    const withEdit = wrapEnv<Bindings>(() => async (call, queries) => {
      if (queries > 5) await memberDatabase().prepare(edit).bind(bookId).run()
      return call()
    })
    const { body } = await transfer.startImport(reader, file, '', withEdit(env))
    expect((await reader.get(`/imports/${body.importId}`)).body.counts).toMatchObject({ updated: 1 })
    expect((await reader.get(`/books/${bookId}/edition`)).body.sourceIds).toEqual(['isbn:1'])
    expect(await readingsOf(reader, bookId)).toHaveLength(2)
    expect((await importFile(reader, file)).counts).toMatchObject({ updated: 1 })
    expect((await reader.get(`/books/${bookId}/edition`)).body.sourceIds).toEqual(['isbn:1', 'goodreads:9'])
  })
})

describe("what a member changes in a book's own reading since it was planned", () => {
  const STARTED = { readStartDate: '2026-03-05T00:00:00' }
  const AGAIN = { bookStatus: 'ING' }
  it.each([
    ['a date', STARTED, 'DONE', { startedAt: '2026-03-05', finishedAt: '2026-03-14' }],
    ['the status', AGAIN, 'ING', { startedAt: null, finishedAt: '2026-03-14' }],
  ])('stays: %s', async (_, edit, bookStatus, own) => {
    const reader = await signUp()
    const end = '2026-03-14T00:00:00'
    const book = { title: 'Low Tide', author: 'Ana Ruiz', bookStatus: 'DONE', readEndDate: end }
    const { bookId } = await reader.createBook(book)
    const withEdit = wrapEnv<Bindings>(() => async (call, queries) => {
      if (queries > 5) await reader.patch(`/books/${bookId}`, edit)
      return call()
    })
    const rated =
      'Title,Authors,Read Status,Dates Read,Read Count,Star Rating,Tags\nLow Tide,Ana Ruiz,read,2026/03/14,1,3.75,sea\n'
    const { body } = await transfer.startImport(reader, rated, '', withEdit(env))
    expect((await reader.get(`/imports/${body.importId}`)).body).toMatchObject({ status: 'DONE' })
    expect((await reader.get('/export')).body.books).toMatchObject([{ bookStatus }])
    expect(await readingsOf(reader, bookId)).toContainEqual(expect.objectContaining({ readingId: bookId, ...own }))
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})

describe('highlights', () => {
  it('are added once, also to an existing book', async () => {
    const reader = await signUp()
    const first = await importFile(reader, kindle)
    expect(first.format).toBe('kindle')
    expect(first.counts.created).toBeGreaterThan(0)
    const before = await booksOf(reader)
    const again = await importFile(reader, kindle)
    expect(again.counts).toMatchObject({ created: 0, updated: 0, unchanged: first.counts.created })
    expect(await booksOf(reader)).toEqual(before)
    const [book] = before
    const [memo] = (await reader.get(`/books/${book.bookId}?memoAuthority=ALL`)).body.memosList
    await reader.delete(`/memos/${memo.memoId}`)
    expect((await importFile(reader, kindle)).counts).toMatchObject({ updated: 1 })
  })

  it('that a book has already do not count towards its quotas again', async () => {
    const reader = await signUp()
    await importFile(reader, kindle)
    const [full] = await select(
      'select bookId, memoCount, memoBytes from books where memberId = ? order by memoCount desc limit 1',
      await memberIdOf(reader),
    )
    const [memo] = (await reader.get(`/books/${full?.bookId}?memoAuthority=ALL`)).body.memosList
    await reader.delete(`/memos/${memo.memoId}`)
    const changed = { MAX_MEMOS_PER_BOOK: String(full?.memoCount), MAX_BOOK_TEXT_BYTES: String(full?.memoBytes) }
    const { body } = await transfer.startImport(reader, kindle, '', changed)
    expect((await reader.get(`/imports/${body.importId}`)).body.counts).toMatchObject({ updated: 1, failed: 0 })
  })
})

const GOODREADS = 'Book Id,Title,Author,My Rating,Date Read,Date Added,Exclusive Shelf'

describe('the rules of merging', () => {
  it('never move a book back, unless file values replace stored ones', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({
      title: 'Low Tide',
      author: 'Ana Ruiz',
      bookStatus: 'DONE',
      readEndDate: '2026-05-01T00:00:00',
    })
    const file = [GOODREADS, '1,Low Tide,Ana Ruiz,2,,2026/01/02,to-read'].join('\n')
    const { importId } = await importFile(reader, file)
    expect((await reader.get(`/imports/${importId}/rows?page=1&size=10`)).body.item).toMatchObject([
      { outcome: 'updated', code: 'newer-here', bookId },
    ])
    expect((await booksOf(reader))[0]).toMatchObject({ bookStatus: 'DONE', star: 2 })
    await importFile(reader, file.replace(',2,', ',3,'), '?merge=overwrite')
    expect((await booksOf(reader))[0]).toMatchObject({ bookStatus: 'YET', star: 3 })
  })

  it('add no progress event of today', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz' })
    await importFile(reader, [GOODREADS, '1,Low Tide,Ana Ruiz,4,2019/03/14,2018/01/02,read'].join('\n'))
    expect((await booksOf(reader))[0]).toMatchObject({ bookStatus: 'DONE', star: 4 })
    expect((await reader.get(`/books/${bookId}/progress?size=10`)).body.item).toEqual([])
  })

  it('take shelves for what shelfMap says', async () => {
    const reader = await signUp()
    const file = [
      GOODREADS,
      '1,Low Tide,Ana Ruiz,0,,2026/01/02,abandonados',
      '2,Lamp,Oh Mina,0,,2026/01/02,someday',
    ].join('\n')
    const { importId } = await importFile(reader, transfer.importForm(file, { shelfMap: { abandonados: 'STOPPED' } }))
    const [stopped, other] = await booksOf(reader)
    expect(await readingsOf(reader, stopped.bookId)).toMatchObject([{ outcome: 'STOPPED' }])
    expect(other).toMatchObject({ bookStatus: 'YET' })
    expect((await reader.get(`/imports/${importId}/rows?page=2&size=1`)).body.item).toMatchObject([
      { losses: [{ code: 'custom-shelf-needs-choice' }] },
    ])
  })

  it('skip a row that several books could be', async () => {
    const reader = await signUp()
    for (let n = 0; n < 2; n++) await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz' })
    const { importId } = await importFile(reader, [GOODREADS, '1,Low Tide,Ana Ruiz,0,,2026/01/02,to-read'].join('\n'))
    expect((await reader.get(`/imports/${importId}/rows?page=1&size=10`)).body.item).toMatchObject([
      { outcome: 'skipped', code: 'ambiguous-match' },
    ])
  })
})

it.each([
  ['a quota', '3', null],
  ['a quota of the member', '5', 3],
])('fails the rows that %s has no room for', async (_, MAX_BOOKS, maxBooks) => {
  const reader = await signUp()
  await select('update members set maxBooks = ? where email = ?', maxBooks, reader.email)
  const rows = Array.from({ length: 5 }, (_, n) => `${n + 1},Book ${n + 1},Ana Ruiz,0,,2026/01/02,to-read`)
  const started = await transfer.startImport(reader, [GOODREADS, ...rows].join('\n'), '', { MAX_BOOKS })
  const { importId } = started.body
  expect((await reader.get(`/imports/${importId}`)).body).toMatchObject({
    status: 'DONE',
    counts: { created: 3, failed: 2 },
  })
  expect((await reader.get(`/imports/${importId}/rows?page=1&size=10&outcome=failed`)).body.item).toMatchObject([
    { code: 'quota', title: 'Book 4' },
    { code: 'quota', title: 'Book 5' },
  ])
})
