import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'
import { rowsOf } from '../../support/transfer/imports'

const BOOK = { title: 'Low Tide', author: 'Ana Ruiz' }
const fileOf = (...readings: object[]) => libraryFile({ ...BOOK, readings })
const importFile = async (reader: Reader, file: string, query = '') => {
  const ended = await transfer.importFile(reader, file, query)
  expect(await findMismatches(memberDatabase())).toEqual([])
  return ended
}
const undo = async (reader: Reader, importId: number) => {
  const { status, body } = await reader.delete(`/imports/${importId}`)
  expect(status).toBe(200)
  expect(await findMismatches(memberDatabase())).toEqual([])
  return body
}
const libraryOf = async (reader: Reader) => (await reader.get('/export')).body.books

const FINISHED = {
  bookStatus: 'DONE',
  readStartDate: '2024-01-01T20:00:00',
  readEndDate: '2024-02-01T21:30:00',
  star: 4,
}
const OLD = { startedAt: '2024-01-01', finishedAt: '2024-02-01', rating: 4 }
const BEGUN = { startedAt: '2026-03-01', outcome: null }
const withBook = async (values: object) => {
  const reader = await signUp()
  const { bookId } = await reader.createBook(BOOK)
  await reader.patch(`/books/${bookId}`, values)
  return { reader, bookId }
}

describe('an import', () => {
  it.each<[string, object[]]>([
    ['that began later', [BEGUN]],
    ['of which the file has the finished reading, too', [OLD, { outcome: null }]],
  ])('begins a finished book again for an open reading %s', async (_, readings) => {
    const { reader, bookId } = await withBook(FINISHED)
    const before = await libraryOf(reader)
    const { importId } = await importFile(reader, fileOf(...readings))
    expect(await libraryOf(reader)).toMatchObject([
      {
        bookStatus: 'ING',
        star: 4,
        readings: [
          { ...OLD, readingId: bookId },
          { outcome: null, rating: null },
        ],
      },
    ])
    expect((await importFile(reader, fileOf(...readings))).counts).toMatchObject({ unchanged: 1 })
    expect((await undo(reader, importId)).restored).toBe(1)
    expect(await libraryOf(reader)).toEqual(before)
  })

  it('does not begin a book again that was finished since the file was written', async () => {
    const { reader } = await withBook({})
    const file = fileOf(OLD, BEGUN)
    await importFile(reader, file)
    const [{ bookId }] = await libraryOf(reader)
    await reader.patch(`/books/${bookId}`, { bookStatus: 'DONE', readEndDate: '2026-04-01T00:00:00' })
    const { importId, counts } = await importFile(reader, file)
    expect(counts).toMatchObject({ unchanged: 1 })
    expect(await rowsOf(reader, importId)).toMatchObject([{ code: 'newer-here' }])
  })

  it('ends the open reading of a book that is read again, but not with one from before', async () => {
    const { reader, bookId } = await withBook(FINISHED)
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING' })
    await importFile(reader, fileOf({ finishedAt: '2019-05' }))
    expect(await libraryOf(reader)).toMatchObject([
      { bookStatus: 'ING', readings: [{ finishedAt: '2019-05' }, OLD, { outcome: null }] },
    ])
    await importFile(reader, fileOf({ finishedAt: '2026-05', note: 'Again.' }))
    expect(await libraryOf(reader)).toMatchObject([
      { bookStatus: 'DONE', readings: [{}, OLD, { finishedAt: '2026-05', note: 'Again.' }] },
    ])
  })

  it('keeps the finished reading of a book that it moves back', async () => {
    const { reader } = await withBook(FINISHED)
    const before = await libraryOf(reader)
    const { importId } = await importFile(reader, libraryFile({ ...BOOK, bookStatus: 'YET' }), '?merge=overwrite')
    expect(await libraryOf(reader)).toMatchObject([{ bookStatus: 'YET', readings: [OLD] }])
    expect((await undo(reader, importId)).restored).toBe(1)
    expect(await libraryOf(reader)).toEqual(before)
  })

  it('makes a later reading the current one, and adds no progress event of today', async () => {
    const { reader, bookId } = await withBook(FINISHED)
    expect(await libraryOf(reader)).toMatchObject([{ progress: [{ kind: 'FINISHED' }] }])
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING' })
    await importFile(
      reader,
      fileOf({ ...BEGUN, finishedAt: '2026-03-09', outcome: 'STOPPED' }, { finishedAt: '2026-05' }),
    )
    const [{ progress, readings }] = await libraryOf(reader)
    expect(readings).toMatchObject([OLD, { outcome: 'STOPPED' }, { finishedAt: '2026-05' }])
    expect(progress).toHaveLength(1)
  })
})

describe('an import with the rating of a past reading', () => {
  const LATER = { startedAt: '2026-03-01', finishedAt: '2026-03-09' }
  const rated = (rating: number | null) => fileOf({ ...OLD, rating }, LATER)
  /** A library with two readings, of which the first may have a rating. */
  const withPast = async (rating: number | null) => {
    const reader = await signUp()
    await importFile(reader, rated(rating))
    return { reader, before: await libraryOf(reader) }
  }

  it('fills it in if it is absent, once, and its undo takes it away', async () => {
    const { reader, before } = await withPast(null)
    const dryRun = await importFile(reader, rated(2.5), '?dryRun=true')
    expect(await rowsOf(reader, dryRun.importId)).toMatchObject([
      { outcome: 'updated', changes: [{ field: 'readings', from: '2', to: '2' }] },
    ])
    const { importId } = await importFile(reader, rated(2.5))
    expect(await libraryOf(reader)).toMatchObject([{ readings: [{ ...OLD, rating: 2.5 }, LATER] }])
    for (const rating of [2.5, 4]) expect((await importFile(reader, rated(rating))).counts.unchanged).toBe(1)
    expect(await undo(reader, importId)).toMatchObject({ restored: 1 })
    expect(await libraryOf(reader)).toEqual(before)
  })

  it('replaces another one only if it overwrites', async () => {
    const { reader, before } = await withPast(4)
    expect((await importFile(reader, rated(2.5))).counts.unchanged).toBe(1)
    const { importId } = await importFile(reader, rated(2.5), '?merge=overwrite')
    expect(await libraryOf(reader)).toMatchObject([{ readings: [{ ...OLD, rating: 2.5 }, LATER] }])
    expect(await undo(reader, importId)).toMatchObject({ restored: 1 })
    expect(await libraryOf(reader)).toEqual(before)
  })

  it.each<[string, (reader: Reader, ids: { readingId: number }[]) => Promise<unknown>]>([
    ['was changed', (reader, [first]) => reader.patch(`/readings/${first?.readingId}`, { rating: 1 })],
    ['is of the current reading now', (reader, [, last]) => reader.delete(`/readings/${last?.readingId}`)],
  ])('is left by the undo, which names it, if it %s', async (_, change) => {
    const { reader } = await withPast(null)
    const { importId } = await importFile(reader, rated(2.5))
    const [{ readings }] = await libraryOf(reader)
    await change(reader, readings)
    const after = await libraryOf(reader)
    expect(await undo(reader, importId)).toMatchObject({ restored: 0, kept: [{ left: ['history'] }] })
    expect(await libraryOf(reader)).toEqual(after)
  })
})

describe('undoing an import', () => {
  it('removes the reading that it added, and leaves one that was begun since', async () => {
    const { reader, bookId } = await withBook({})
    const { importId } = await importFile(reader, fileOf(OLD))
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING' })
    expect((await undo(reader, importId)).kept).toMatchObject([{ left: [] }])
    expect(await libraryOf(reader)).toMatchObject([{ bookStatus: 'ING', readings: [{ outcome: null }] }])
  })

  it('leaves a reading that has a note since, and names it', async () => {
    const { reader } = await withBook(FINISHED)
    const { importId } = await importFile(reader, fileOf({ finishedAt: '2019' }, { finishedAt: '2020' }))
    const [{ readings }] = await libraryOf(reader)
    await reader.patch(`/readings/${readings[0].readingId}`, { note: 'Mine.' })
    expect((await undo(reader, importId)).kept).toMatchObject([{ left: ['history'] }])
    expect(await libraryOf(reader)).toMatchObject([
      { ...FINISHED, readings: [{ finishedAt: '2019', note: 'Mine.' }, OLD] },
    ])
  })

  it('never gives the identifier of a removed reading to another one', async () => {
    const { reader, bookId } = await withBook({})
    const { importId } = await importFile(reader, fileOf(OLD))
    await undo(reader, importId)
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING' })
    const [{ readings }] = await libraryOf(reader)
    expect(readings).toHaveLength(1)
    expect(readings[0].readingId).not.toBe(bookId)
  })
})

const date = fc.constantFrom(null, '2020', '2021-03', '2022-05-06', '2023-01-02', '2024-02-03')
const time = fc.constantFrom(null, '2020-05-05T10:00:00', '2022-05-06T08:30:00', '2024-02-03T00:00:00')
const optional = { requiredKeys: [] }
const reading = fc.record(
  {
    ...{ startedAt: date, finishedAt: date, outcome: fc.constantFrom('FINISHED', 'STOPPED', null) },
    ...{ rating: fc.constantFrom(null, 1, 2.25, 4), note: fc.constantFrom(null, 'a', 'b') },
    ...{ format: fc.constantFrom(null, 'AUDIO'), paused: fc.boolean() },
  },
  optional,
)
const status = fc.constantFrom('YET', 'ING', 'DONE')
const patch = fc.record({ bookStatus: status, readStartDate: time, readEndDate: time, star: fc.nat(5) }, optional)
const request = fc.oneof(
  fc.record({ kind: fc.constant('book' as const), body: patch, at: fc.nat(9) }),
  fc.record({ kind: fc.constantFrom('new', 'change' as const), body: reading, at: fc.nat(9) }),
  fc.record({ kind: fc.constant('delete' as const), body: fc.constant({}), at: fc.nat(9) }),
)
const requests = fc.array(request, { maxLength: 14 })
type Requests = typeof requests extends fc.Arbitrary<infer List> ? List : never

/** Changes the readings of a library by random requests, some of which are refused. */
const change = async (reader: Reader, list: Requests) => {
  const ids: number[] = (await libraryOf(reader)).map(({ bookId }: { bookId: number }) => bookId)
  for (const { kind, body, at } of list) {
    const bookId = ids[at % ids.length]
    if (kind === 'book') await reader.patch(`/books/${bookId}`, body)
    else if (kind === 'new') await reader.post(`/books/${bookId}/readings`, body)
    else {
      const { body: known } = await reader.get(`/books/${bookId}/readings`)
      const path = `/readings/${known[at % (known.length || 1)]?.readingId ?? 1}`
      await (kind === 'change' ? reader.patch(path, body) : reader.delete(path))
    }
  }
}
const createLibrary = async (list: Requests) => {
  const reader = await signUp()
  for (const title of ['One', 'Two', 'Three']) await reader.createBook({ title })
  await change(reader, list)
  return reader
}
const exportOf = async (list: Requests) => JSON.stringify((await (await createLibrary(list)).get('/export')).body)
const rule = fc.constantFrom('', '?merge=overwrite')
const check = (property: fc.IAsyncProperty<unknown>, numRuns: number) =>
  fc.assert(property, { numRuns, seed: env.SEED, endOnFailure: true })

describe('an import of any readings into any library', () => {
  type Listed = { readings: { readingId: number; outcome: string | null }[] }
  const idsOf = (books: Listed[]) => books.flatMap(({ readings }) => readings.map(({ readingId }) => readingId))

  const importAndUndo = (numRuns: number) => {
    const property = fc.asyncProperty(requests, requests, rule, async (ofFile, ofLibrary, query) => {
      const file = await exportOf(ofFile)
      const reader = await createLibrary(ofLibrary)
      const before = await libraryOf(reader)
      const { importId, counts } = await importFile(reader, file, query)
      const after: Listed[] = await libraryOf(reader)
      expect(idsOf(after)).toEqual(expect.arrayContaining(idsOf(before)))
      for (const { readings } of after) expect(readings.slice(0, -1).every(({ outcome }) => outcome)).toBe(true)
      expect((await importFile(reader, file, query)).counts).toMatchObject({ unchanged: 3 })
      expect((await undo(reader, importId)).restored).toBe(counts.updated)
      expect(await libraryOf(reader)).toEqual(before)
    })
    return check(property, numRuns)
  }

  const undoInAnyOrder = (numRuns: number) => {
    const property = fc.asyncProperty(
      fc.array(requests, { minLength: 4, maxLength: 4 }),
      rule,
      async (lists, query) => {
        const [ofFile = [], ofOther = [], ofLibrary = [], since = []] = lists
        const reader = await createLibrary(ofLibrary)
        const { importId } = await importFile(reader, await exportOf(ofFile), query)
        await change(reader, since)
        const later = await importFile(reader, await exportOf(ofOther), query)
        for (const id of [importId, later.importId]) await undo(reader, id)
        const ids = idsOf(await libraryOf(reader))
        expect(new Set(ids).size).toBe(ids.length)
      },
    )
    return check(property, numRuns)
  }

  for (const { runs, tags } of [
    { runs: 2, tags: [] },
    { runs: 10, tags: ['slow'] },
  ]) {
    it(`loses none, changes nothing the second time, and can be undone (${runs} times)`, { tags }, () =>
      importAndUndo(runs),
    )
    it(`can be undone in any order after other changes (${runs} times)`, { tags }, () => undoInAnyOrder(runs))
  }
})
