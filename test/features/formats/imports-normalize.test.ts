import { describe, expect, it } from 'vitest'
import { type Entry, emptyEntry } from '../../../src/transfer/entry'
import { normalize } from '../../../src/transfer/reader/normalize'

const entry = (changes: Partial<Entry>) => normalize({ ...emptyEntry(2), title: 'Low Tide', ...changes })
const reading = { startedAt: null, finishedAt: null, outcome: null, quarters: null, isPaused: false, note: null }
const memo = { type: 'THOUGHT' as const, content: 'Slow.', page: 0, createdAt: null }

describe('an entry', () => {
  it('stays as it is if it can be stored', () => {
    const whole: Entry = {
      ...emptyEntry(2),
      title: 'Low Tide',
      author: '오미나',
      cover: 'https://covers.library.test/1.jpg',
      pages: 312,
      publishedYear: -700,
      seriesNumber: 2.5,
      sourceIds: ['goodreads:1'],
      addedAt: '2024-02-29',
      quarters: 15,
      readings: [{ ...reading, startedAt: '2024', finishedAt: '2024-02', outcome: 'FINISHED', quarters: 20 }],
      tags: ['sea'],
      memos: [{ ...memo, createdAt: '2024-02-29T23:59:59' }],
    }
    expect(normalize(whole)).toEqual(whole)
  })

  it.each([
    ['addedAt', '2023-02-29'],
    ['addedAt', '2024-1-1'],
    ['addedAt', '2024-01-01T25:00:00'],
  ])('loses %s %s', (name, value) => {
    expect(entry({ [name]: value })).toMatchObject({ addedAt: null, losses: [{ code: 'bad-date', field: name }] })
  })

  it.each(['2024-13', '2024-02-30', '24', '2024-02-01T00:00:00'])('loses the date %s of a reading', (startedAt) => {
    const { readings, losses } = entry({ readings: [{ ...reading, startedAt }] })
    expect([readings[0]?.startedAt, losses]).toEqual([null, [{ code: 'bad-date', field: 'startedAt' }]])
  })

  it('loses what is too long or too much', () => {
    const long = entry({
      title: 'a'.repeat(501),
      tags: Array.from({ length: 31 }, (_, n) => `tag ${n}`),
      memos: [{ ...memo, content: 'b'.repeat(65_536) }],
    })
    expect([long.title?.length, long.tags.length, long.memos[0]?.content.length]).toEqual([500, 30, 65_535])
    expect(long.losses.map(({ field }) => field).sort()).toEqual(['memo', 'tags', 'title'])
  })

  it('has a tag once, regardless of case', () => {
    expect(entry({ tags: ['sea', 'Owned', 'Sea', 'SEA'] })).toMatchObject({ tags: ['sea', 'Owned'], losses: [] })
  })

  it('has no text that the database does not store', () => {
    expect(entry({ title: 'Low\0 Tide\ud800', author: '\0', memos: [{ ...memo, content: '\0' }] })).toMatchObject({
      title: 'Low Tide\ufffd',
      author: null,
      memos: [],
    })
  })

  it('fails without a title, and keeps its cells within bounds', () => {
    const failed = entry({ title: ' ', cells: { names: ['title', 'review'], values: ['', 'c'.repeat(200_000)] } })
    expect(failed.failure).toBe('no-title')
    expect(failed.cells).toEqual({ names: ['title', 'review'], values: ['', 'c'.repeat(2000)] })
  })

  it('lists at most a hundred losses', () => {
    const losses = Array.from({ length: 500 }, () => ({ code: 'bookmark' as const, field: 'line 1' }))
    expect(entry({ losses }).losses).toHaveLength(101)
  })
})
