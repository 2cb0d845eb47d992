// @module-tag one-slot
import { beforeAll, describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { expectSmallParameters, importFile, rowsOf, startImport } from '../../support/transfer/imports'

// Exports that were edited before they are imported.

// biome-ignore lint/suspicious/noExplicitAny: the file is changed in ways that no type allows
type Json = any

const LINE = '2026-01-01T00:00:00'
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const times = (count: number, make: (n: number) => Json) => Array.from({ length: count }, (_, n) => make(n))
const lost = (code: string, ...fields: string[]) => ({ losses: fields.map((field) => ({ code, field })) })

let owner: Reader
let file: Json
let original: Json
beforeAll(async () => {
  owner = await signUp()
  const { bookId } = await owner.createBook({ title: 'Low Tide', author: 'Ana Ruiz', itemPage: 300 })
  await owner.post(`/books/${bookId}/readings`, { startedAt: '2019', finishedAt: '2020-03', rating: 3.25 })
  await owner.post(`/books/${bookId}/readings`, { startedAt: '2026-01-02', note: 'Again.' })
  await owner.post(`/books/${bookId}/progress`, { page: 12, at: '2026-01-02T03:04:05Z' })
  await owner.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['sea'] } })
  await owner.createMemo(bookId)
  file = (await owner.get('/export')).body
  original = file.books[0]
})

/** Imports an edited file and returns the report. Expects a consistent library that can be exported, whatever the file has. */
const importInto = async (reader: Reader, changed: unknown) => {
  const text = typeof changed === 'string' ? changed : JSON.stringify(changed)
  const { status, importId } = await importFile(reader, text)
  expect(status).toBe('DONE')
  expect(await findMismatches(memberDatabase())).toEqual([])
  expect((await reader.get(`/imports/${importId}/failed.csv`)).status).toBe(200)
  const { status: exportStatus, body } = await reader.get('/export')
  expect(exportStatus).toBe(200)
  return { rows: await rowsOf(reader, importId), books: body.books as Json[] }
}

describe('an import of an edited export is refused with', () => {
  it.each<[string, () => unknown, string]>([
    ['no array of books', () => ({ ...file, books: null }), 'not in a known format'],
    ['an object of books', () => ({ ...file, books: { 0: original } }), 'not in a known format'],
    ['another format', () => ({ ...file, format: 'Reading-Library' }), 'not in a known format'],
    ['a later version', () => ({ ...file, version: 2 }), 'version of the export'],
    ['a version that is not a number', () => ({ ...file, version: [1] }), 'Only version 1'],
    ['its end cut off', () => JSON.stringify(file).slice(0, -20), 'cut off'],
    ['its beginning cut off', () => JSON.stringify(file).slice(20), 'cut off'],
    ['two files in one', () => JSON.stringify(file).repeat(2), 'cut off'],
    ['more books than a file may have', () => ({ ...file, books: times(10_001, () => 0) }), '10,000 books'],
  ])('%s', async (_, change, reason) => {
    const changed = change()
    const answer = await startImport(owner, typeof changed === 'string' ? changed : JSON.stringify(changed))
    expect(answer).toMatchObject({ status: 422, body: { message: expect.stringContaining(reason) } })
  })
})

const IN_FUTURE = '2999-01-01T00:00:00.000Z'
const newest = (change: object) => ({ readings: [{ ...original.readings.at(-1), ...change }] })

describe('an import of an edited export loses only what cannot be stored, with', { tags: ['slow'] }, () => {
  it.each<[string, () => object, object, object?]>([
    ['a title that is not text', () => ({ title: [original.title] }), { outcome: 'failed', code: 'no-title' }],
    ['a blank title', () => ({ title: ' \u2003\n' }), { outcome: 'failed', code: 'no-title' }],
    ['half a surrogate pair in the title', () => ({ title: 'a\ud800' }), { outcome: 'failed', code: 'no-title' }],
    ['a NUL in a text', () => ({ author: 'a\0b' }), lost('bad-row', 'author'), { author: null }],
    ['texts of another type', () => ({ publisher: 5, series: {} }), lost('bad-row', 'publisher', 'series')],
    ['a script as cover', () => ({ cover: 'javascript:alert(1)' }), lost('bad-row', 'cover'), { cover: null }],
    ['half a surrogate pair in the cover', () => ({ cover: 'https://a.test/\udfff' }), lost('bad-row', 'cover')],
    [
      'numbers beyond their ranges',
      () => ({
        currentPage: 2 ** 31,
        itemPage: -1,
        publishedYear: 1e308,
        seriesNumber: 100_001,
        seconds: 0,
        progress: [],
      }),
      lost('bad-number', 'itemPage', 'currentPage', 'publishedYear', 'seriesNumber', 'seconds'),
      { currentPage: 0, itemPage: null, publishedYear: null, seriesNumber: null, seconds: null },
    ],
    ['numbers as text', () => ({ itemPage: '300', star: '4' }), { outcome: 'created' }, { itemPage: null, star: 0 }],
    ['half a star', () => ({ star: 3.5 }), lost('bad-rating', 'star'), { star: 0 }],
    [
      'times that do not exist',
      () => ({ createdAt: '2026-02-29T00:00:00', readStartDate: '2026-01-01T24:00:00', readEndDate: '1e9' }),
      lost('bad-date', 'createdAt', 'readStartDate', 'readEndDate'),
    ],
    ['the first and last times', () => ({ createdAt: '0000-01-01T00:00:00', readEndDate: '9999-12-31T23:59:59' }), {}],
    ['years of five digits', () => ({ createdAt: '+010000-01-01T00:00:00' }), lost('bad-date', 'createdAt')],
    ['a status that does not exist', () => ({ bookStatus: 'LOST' }), lost('unknown-status', 'bookStatus')],
    [
      'a status that its newest reading contradicts',
      () => ({ bookStatus: 'DONE', readEndDate: LINE, star: 1, ...newest({ rating: 4.75 }) }),
      { losses: [] },
      { bookStatus: 'ING', star: 5, readStartDate: '2026-01-02T00:00:00' },
    ],
    [
      'dates that its newest reading contradicts',
      () => ({ bookStatus: 'DONE', readEndDate: LINE, ...newest({ outcome: 'FINISHED', finishedAt: '2026-02-03' }) }),
      { losses: [] },
      { bookStatus: 'DONE', readEndDate: '2026-02-03T00:00:00' },
    ],
    [
      'the end of a reading that was stopped',
      () => ({ bookStatus: 'DONE', readEndDate: LINE, ...newest({ outcome: 'STOPPED', finishedAt: '2026-02' }) }),
      { losses: [] },
      { bookStatus: 'DONE', readEndDate: null },
    ],
    ['the end of an open reading', () => newest({ outcome: null, finishedAt: '2026' }), { losses: [] }],
    [
      'a reading that is paused and finished',
      () => newest({ paused: true, outcome: 'FINISHED' }),
      { losses: [] },
      { readings: [{ paused: false, outcome: 'FINISHED' }] },
    ],
    [
      'readings of wrong values',
      () => newest({ createdAt: IN_FUTURE, startedAt: '2026-13', rating: 0.3, outcome: 1, format: 'CD', note: [] }),
      {
        losses: expect.arrayContaining([
          { code: 'bad-date', field: 'readings 1 createdAt' },
          { code: 'bad-rating', field: 'readings 1 rating' },
          { code: 'unknown-status', field: 'readings 1 outcome' },
        ]),
      },
    ],
    [
      'readings that all are the first',
      () => ({ readings: times(5, (n) => ({ readingId: original.bookId, finishedAt: `${2001 + n}` })) }),
      { losses: [] },
      { bookStatus: 'DONE', readings: times(5, (n) => ({ finishedAt: `${2001 + n}` })) },
    ],
    ['too many readings', () => ({ readings: times(300, () => ({})) }), lost('too-many', 'readings')],
    [
      'events at the same time',
      () => ({ progress: [...original.progress, ...original.progress] }),
      lost('bad-row', 'progress 2'),
      { progress: [{ page: 12 }] },
    ],
    [
      'events in the future, before books, and of wrong values',
      () => ({
        progress: [
          { ...original.progress[0], at: IN_FUTURE },
          { ...original.progress[0], at: '0001-01-01T00:00:00.000Z' },
          { ...original.progress[0], page: -1 },
          { ...original.progress[0], kind: 'LOST' },
          [],
        ],
      }),
      lost('bad-row', ...times(5, (n) => `progress ${n + 1}`)),
      { progress: [], currentPage: 12 },
    ],
    ['a page other than that of its progress', () => ({ currentPage: 200 }), { losses: [] }, { currentPage: 12 }],
    [
      'repeated identifiers of services',
      () => ({ sourceIds: ['goodreads:1', 'goodreads:1', 'Goodreads:2', 5] }),
      lost('bad-row', 'sourceIds 2', 'sourceIds 3', 'sourceIds 4'),
      { sourceIds: ['goodreads:1'] },
    ],
    [
      'tags that are equal, blank, long or not text',
      () => ({ tags: ['Sea', 'SEA', ' ', 'x'.repeat(101), 'e\u0301', null] }),
      lost('bad-row', 'tags 2', 'tags 3', 'tags 4', 'tags 5', 'tags 6'),
      { tags: ['Sea'] },
    ],
    [
      'memos that are blank, long or of wrong values',
      () => ({
        memos: [
          { ...original.memos[0], memoContent: '\t' },
          { ...original.memos[0], memoContent: 'x'.repeat(65_536) },
          { memoContent: 'Kept', memoType: 'LOST', memoBookPage: -1, createdAt: 'now', memoLikesCount: 1e9, memoId: 1 },
        ],
      }),
      {
        losses: expect.arrayContaining([
          { code: 'bad-row', field: 'memos 1' },
          { code: 'review-truncated', field: 'memos 2 memoContent' },
          { code: 'bad-date', field: 'memos 3 createdAt' },
        ]),
      },
      { memos: [{}, { memoContent: 'Kept', memoType: 'THOUGHT', memoBookPage: 0, memoLikesCount: 0 }] },
    ],
    ['lists that are not arrays', () => ({ readings: 1, tags: {}, memos: 'x', progress: true, sourceIds: null }), {}],
    ['properties of object prototypes', () => JSON.parse('{"__proto__":{"a":1},"constructor":1,"toString":1}'), {}],
    ['a member', () => ({ memberId: 1, member: { memberId: 1 } }), { losses: [] }],
  ])('%s', async (_, change, row, stored = {}) => {
    const reader = await signUp()
    const { rows, books } = await importInto(reader, { ...file, books: [{ ...original, ...change() }, original] })
    expect(rows).toMatchObject([{ outcome: 'created', ...row }, { outcome: 'created' }])
    // The copy is last, with new identifiers.
    expect(books.at(-1)).toMatchObject({ title: original.title, readings: [{}, { note: 'Again.' }], memos: [{}] })
    if (books.length > 1) expect(books[0]).toMatchObject(stored)
  })

  it('items that are not books', async () => {
    const reader = await signUp()
    const { rows } = await importInto(reader, { ...file, books: [1, null, 'book', [original], true, {}] })
    expect(rows.map(({ outcome, code }) => [outcome, code])).toEqual([
      ...times(5, () => ['failed', 'bad-row']),
      ['failed', 'no-title'],
    ])
  })

  it('arrays nested a hundred thousand deep', async () => {
    const reader = await signUp()
    const text = JSON.stringify({ ...file, books: [{ ...original, title: 'DEEP' }, { author: 'DEEP' }, original] })
    const { rows } = await importInto(reader, text.replaceAll('"DEEP"', nested(100_000)))
    expect(rows).toMatchObject([{ code: 'no-title' }, { code: 'no-title' }, { outcome: 'created' }])
  })

  it('a failed book with huge values', { tags: ['slow'] }, async () => {
    const reader = await signUp()
    const cells = Object.fromEntries(times(4, (n) => [`${n}${'\u0001'.repeat(2000)}`, '\u0002'.repeat(20_000)]))
    const changed = { ...file, books: times(17, () => cells) }
    const { rows } = await expectSmallParameters(() => importInto(reader, changed))
    expect(rows).toMatchObject(times(17, () => ({ outcome: 'failed', code: 'no-title' })))
  })
})

describe('identifiers in an edited export', () => {
  it('do not match books of other members', async () => {
    const reader = await signUp()
    const before = (await owner.get('/export')).body.books
    const { rows, books } = await importInto(reader, file)
    expect(rows).toMatchObject([{ outcome: 'created' }])
    expect(books[0].bookId).not.toBe(original.bookId)
    expect((await owner.get('/export')).body.books).toEqual(before)
  })

  it('do not match books with another title', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Another' })
    const { rows, books } = await importInto(reader, { ...file, books: [{ ...original, bookId }] })
    expect(rows).toMatchObject([{ outcome: 'created' }])
    expect(books).toMatchObject([{ bookId, title: 'Another', memos: [] }, { title: original.title }])
  })

  it('may be repeated, missing or invalid', async () => {
    const reader = await signUp()
    const ids = [original.bookId, original.bookId, -1, 0, 1.5, 1e300, 2 ** 53, '1', null, undefined, {}]
    const changed = { ...file, books: ids.map((bookId) => ({ ...original, bookId })) }
    const { books } = await importInto(reader, changed)
    expect(books).toHaveLength(ids.length)
    const again = await importInto(reader, { ...file, books: changed.books.slice(0, 2) })
    expect(again.rows).toMatchObject([{ outcome: 'unchanged' }, { outcome: 'unchanged' }])
    expect(again.books).toEqual(books)
  })
})
