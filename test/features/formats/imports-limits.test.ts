import { describe, expect, it } from 'vitest'
import { cellsOf, libraryFile, read, readRow } from '../../support/transfer/import-files'

const firstOf = (json: object) => read(JSON.stringify(json)).entries[0]
const fromExport = (book: object) => read(libraryFile({ title: 'Low Tide', ...book })).entries[0]

describe('an entry', () => {
  it('stays as it is if it can be stored', () => {
    const book = {
      author: '오미나',
      cover: 'https://covers.library.test/1.jpg',
      itemPage: 312,
      publishedYear: -700,
      seriesNumber: 2.5,
      sourceIds: ['goodreads:1'],
      createdAt: '2024-02-29T23:59:59',
      readings: [{ startedAt: '2024', finishedAt: '2024-02', outcome: 'FINISHED', rating: 5 }],
      tags: ['sea'],
      memos: [{ memoContent: 'Slow.', createdAt: '2024-02-29T23:59:59' }],
    }
    expect(fromExport(book)).toMatchObject({
      title: 'Low Tide',
      author: '오미나',
      cover: 'https://covers.library.test/1.jpg',
      itemPage: 312,
      publishedYear: -700,
      seriesNumber: 2.5,
      sourceIds: ['goodreads:1'],
      addedAt: '2024-02-29T23:59:59',
      quarters: 20,
      readings: [{ startedAt: '2024', finishedAt: '2024-02', outcome: 'FINISHED', quarters: 20 }],
      tags: ['sea'],
      memos: [{ content: 'Slow.', createdAt: '2024-02-29T23:59:59' }],
      losses: [],
      failure: null,
    })
  })

  it.each(['2023-02-29T00:00:00', '2024-1-1', '2024-01-01T25:00:00'])('loses the time %s', (createdAt) => {
    const losses = [{ code: 'bad-date', field: 'createdAt' }]
    expect(fromExport({ createdAt })).toMatchObject({ addedAt: null, losses })
  })

  it.each(['2024-13', '2024-02-30', '24', '2024-02-01T00:00:00'])('loses the date %s of a reading', (startedAt) => {
    const losses = [{ code: 'bad-date', field: 'readings 1 startedAt' }]
    expect(fromExport({ readings: [{ startedAt }] })).toMatchObject({ readings: [{ startedAt: null }], losses })
  })

  it('loses what is too long or too much', () => {
    const tags = Array.from({ length: 31 }, (_, n) => `tag ${n}`)
    const long = readRow({ Title: 'a'.repeat(501), Tags: tags.join(), Review: 'b'.repeat(65_536) })
    expect([long.title?.length, long.tags.length, long.memos[0]?.content.length]).toEqual([500, 30, 65_535])
    expect(long.losses.map(({ field }) => field).sort()).toEqual(['Review', 'Tags', 'Title'])
  })

  it('has a tag once, regardless of case', () => {
    const entry = readRow({ Title: 'Low Tide', Tags: 'sea, Owned, Sea, SEA' })
    expect(entry).toMatchObject({ tags: ['sea', 'Owned'], losses: [] })
  })

  it('has no text that the database does not store', () => {
    const entries = [{ text: '\0', time: 1 }]
    expect(firstOf({ title: 'Low\0 Tide\ud800', author: '\0', entries })).toMatchObject({
      title: 'Low Tide\ufffd',
      author: null,
      memos: [],
    })
  })

  it('fails without a title, and keeps its cells within bounds', () => {
    const failed = firstOf({ 1: { title: ' ', workcode: '1', review: 'c'.repeat(200_000) } })
    expect(failed?.failure).toBe('no-title')
    expect(cellsOf(failed)).toEqual({ title: ' ', workcode: '1', review: 'c'.repeat(2000) })
  })

  it('lists at most a hundred losses, and the number of the others', () => {
    const items = Array.from({ length: 500 }, () => ({ sort: 'bookmark', time: 1 }))
    const entry = firstOf({ title: 'Low Tide', entries: [{ text: 'Words', time: 1 }, ...items] })
    expect(entry?.losses).toHaveLength(101)
    expect(entry?.losses.at(-1)).toEqual({ code: 'bookmark', field: 'more', count: 400 })
  })
})
