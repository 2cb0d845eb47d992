import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import type { Bindings } from '../../../src/env'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'
import { booksOf, rowsOf } from '../../support/transfer/imports'
import { wrapEnv } from '../../support/wrap-database'

const HEADER =
  'Book Id,Title,Author,ISBN13,My Rating,Publisher,Number of Pages,Date Read,Bookshelves,Exclusive Shelf,My Review,read_dates'
type Cells = { title?: string; rating?: number; publisher?: string; finished?: string; tags?: string; shelf?: string }
const row = (id: number, cells: Cells & { review?: string; readings?: string; isbn?: string } = {}) => {
  const { title = 'Low Tide', rating = 0, publisher = '', finished = '', tags = '', shelf = 'to-read' } = cells
  const { review = '', readings = '', isbn = '' } = cells
  return `${id},${title},Ana Ruiz,${isbn},${rating},${publisher},,${finished},${tags},${shelf},"${review}",${readings}`
}
const goodreads = (...rows: string[]) => [HEADER, ...rows].join('\n')
const OVERWRITE = '?merge=overwrite'

const importFile = async (reader: Reader, file: string, query = '') => {
  const { status, importId } = await transfer.importFile(reader, file, query)
  expect(status).toBe('DONE')
  return importId
}
const undo = async (reader: Reader, importId: number) => {
  const { status, body } = await reader.delete(`/imports/${importId}`)
  expect(status).toBe(200)
  expect(await findMismatches(memberDatabase())).toEqual([])
  return body
}

/** All that a client sees of the library, without versions and times of edits. */
const stateOf = async (reader: Reader) => {
  const { body } = await reader.get('/export')
  return body.books
}
const withBook = async (values: object = {}) => {
  const reader = await signUp()
  const { bookId } = await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz', ...values })
  return { reader, bookId }
}

const DONE = { bookStatus: 'DONE', readStartDate: '2026-01-01T20:00:00', readEndDate: '2026-01-09T21:30:00', star: 3 }
const FULL = {
  ...{ rating: 4, publisher: 'Quay House', finished: '2026/03/14', tags: 'sea', shelf: 'read' },
  ...{ review: 'Slow.', isbn: '9780306406157' },
}

it('dry runs do not end the undo of an import', async () => {
  const { reader } = await withBook()
  const imported = await importFile(reader, goodreads(row(1)))
  for (let run = 0; run < 11; run++) await importFile(reader, goodreads(row(1)), '?dryRun=true')
  const { body } = await reader.get('/imports')
  expect(body.map(({ dryRun }: { dryRun: boolean }) => dryRun)).toEqual([...Array(10).fill(true), false])
  expect((await reader.delete(`/imports/${imported}`)).status).toBe(200)
})

describe('undoing an import restores', () => {
  it.each<[string, object, Parameters<typeof row>[1], string]>([
    ['an unread book that was completed', {}, FULL, ''],
    ['a finished book that was overwritten', { ...DONE, publisher: 'Ebb' }, FULL, OVERWRITE],
    ['a finished book that became unread', DONE, { rating: 2, shelf: 'to-read' }, OVERWRITE],
    ['a finished book that is read again', DONE, { rating: 5, shelf: 'currently-reading' }, OVERWRITE],
    ['a finished book with further readings', DONE, { shelf: 'read', readings: '2024-05;2026-08-01,2026-08-09' }, ''],
    ['an unread book with readings', {}, { shelf: 'read', rating: 5, readings: '2024-05;2026-08-01,2026-08-09' }, ''],
    ['a book that is being read', { bookStatus: 'ING', currentPage: 20, itemPage: 90 }, FULL, ''],
  ])('%s', async (_, values, cells, query) => {
    const { reader } = await withBook(values)
    const before = await stateOf(reader)
    const importId = await importFile(reader, goodreads(row(1, cells)), query)
    expect(await stateOf(reader)).not.toEqual(before)
    expect(await undo(reader, importId)).toMatchObject({ removed: 0, restored: 1, kept: [{ left: [] }] })
    expect(await stateOf(reader)).toEqual(before)
  })

  it('titles, replaced reviews and tags, but not what was there before', async () => {
    const { reader, bookId } = await withBook({ title: 'Élow Tide', publisher: 'Ebb' })
    await reader.patch(`/books/${bookId}/edition`, { isbn: '9780306406157' })
    await importFile(reader, goodreads(row(1, { title: 'Élow Tide', review: 'First.', tags: 'sea' })))
    const before = await stateOf(reader)
    const second = goodreads(row(1, { ...FULL, tags: '"sea, coast"', review: 'Second.' }))
    const importId = await importFile(reader, second, OVERWRITE)
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide', publisher: 'Quay House' }])
    expect((await undo(reader, importId)).restored).toBe(1)
    expect(await stateOf(reader)).toEqual(before)
    // The review is again that of the first import.
    await importFile(reader, goodreads(row(1, { review: 'Third.' })), OVERWRITE)
    expect(JSON.stringify(await stateOf(reader))).toMatch(/Third\.(?!.*(First|Second))/)
  })

  it('the readings, progress and memos of an export', async () => {
    const { reader, bookId } = await withBook({ itemPage: 300 })
    for (const page of [10, 20])
      await reader.post(`/books/${bookId}/progress`, { page, at: `2026-01-0${page / 10}T00:00:00Z` })
    await reader.createMemo(bookId, { memoContent: 'Kept.' })
    const file = JSON.stringify((await reader.get('/export')).body)
    const other = await withBook()
    const before = await stateOf(other.reader)
    const importId = await importFile(other.reader, file)
    expect(JSON.stringify(await stateOf(other.reader))).toContain('"page":20')
    expect((await undo(other.reader, importId)).restored).toBe(1)
    expect(await stateOf(other.reader)).toEqual(before)
    expect(await select('select * from progress where memberId = ?', await memberIdOf(other.reader))).toEqual([])
  })
})

describe('undoing an import leaves', () => {
  it('fields that were changed since, and names them', async () => {
    const { reader, bookId } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, { ...FULL, review: 'Slow.' })))
    await reader.patch(`/books/${bookId}`, { publisher: 'Mine', currentPage: 7 })
    const [{ memos }] = await stateOf(reader)
    await reader.patch(`/memos/${memos[0].memoId}`, { memoContent: 'Edited.' })
    const { restored, kept } = await undo(reader, importId)
    expect({ restored, kept }).toEqual({
      restored: 0,
      kept: [{ bookId, title: 'Low Tide', left: ['publisher', 'memos'] }],
    })
    const [book] = await stateOf(reader)
    expect(book).toMatchObject({ publisher: 'Mine', currentPage: 7, bookStatus: 'YET', star: 0, isbn: null, tags: [] })
    expect(book.memos).toMatchObject([{ memoContent: 'Edited.' }])
  })

  it('fields that a later import overwrote, which that one restores', async () => {
    const { reader } = await withBook({ publisher: 'Ebb' })
    const before = await stateOf(reader)
    const first = await importFile(reader, goodreads(row(1, { ...FULL, publisher: 'First' })), OVERWRITE)
    const second = goodreads(row(1, { ...FULL, publisher: 'Second', review: 'Corrected.' }))
    const later = await importFile(reader, second, OVERWRITE)
    expect((await undo(reader, first)).kept).toMatchObject([{ left: ['publisher', 'memos'] }])
    expect((await undo(reader, later)).kept).toMatchObject([{ left: [] }])
    const [book] = await stateOf(reader)
    expect(book).toMatchObject({ publisher: 'First', bookStatus: 'YET' })
    expect({ ...book, publisher: 'Ebb', memos: [] }).toEqual({ ...before[0], memos: [] })
  })

  it('a memo whose text a later import replaced, and names it', async () => {
    const { reader, bookId } = await withBook()
    const first = await importFile(reader, goodreads(row(1, { review: 'First.' })))
    await importFile(reader, goodreads(row(1, { review: 'Second.' })), OVERWRITE)
    expect(await undo(reader, first)).toMatchObject({ restored: 0, kept: [{ bookId, left: ['memos'] }] })
  })

  it('nothing if the later import is undone first', async () => {
    const { reader } = await withBook(DONE)
    const before = await stateOf(reader)
    const first = await importFile(reader, goodreads(row(1, FULL)), OVERWRITE)
    const later = await importFile(
      reader,
      goodreads(row(1, { ...FULL, rating: 1, review: 'B', readings: '2023' })),
      OVERWRITE,
    )
    for (const importId of [later, first]) expect((await undo(reader, importId)).restored).toBe(1)
    expect(await stateOf(reader)).toEqual(before)
  })

  it('a book that was deleted', async () => {
    const { reader, bookId } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    await reader.delete(`/books/${bookId}`)
    expect(await undo(reader, importId)).toEqual({ removed: 0, restored: 0, kept: [] })
  })

  it('everything as it is when it is repeated', async () => {
    const { reader, bookId } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    await undo(reader, importId)
    await reader.patch(`/books/${bookId}`, { publisher: 'Quay House' })
    expect((await reader.delete(`/imports/${importId}`)).status).toBe(404)
    expect(await booksOf(reader)).toMatchObject([{ publisher: 'Quay House' }])
  })

  it('texts for which the quota has no room, until there is', async () => {
    const { reader, bookId } = await withBook({ publisher: 'x'.repeat(400) })
    const importId = await importFile(reader, goodreads(row(1, FULL)), OVERWRITE)
    const memberId = await memberIdOf(reader)
    await select('update members set maxTextBytes = textBytes + 300 where memberId = ?', memberId)
    const refused = await reader.delete(`/imports/${importId}`)
    expect([refused.status, refused.headers.get('X-Error-Code')]).toEqual([409, 'MAX_MEMBER_TEXT_BYTES'])
    expect(await booksOf(reader)).toMatchObject([{ bookId, publisher: 'Quay House' }])
    await select('update members set maxTextBytes = null where memberId = ?', memberId)
    expect((await undo(reader, importId)).restored).toBe(1)
    expect(await booksOf(reader)).toMatchObject([{ publisher: 'x'.repeat(400) }])
  })
})

it('undoing an import removes its books first, to make room for the texts that it restores', async () => {
  const { reader } = await withBook({ publisher: 'x'.repeat(400) })
  const long = row(2, { title: 'Lamp', review: 'y'.repeat(5000) })
  const importId = await importFile(reader, goodreads(row(1, FULL), long), OVERWRITE)
  await select('update members set maxTextBytes = textBytes where memberId = ?', await memberIdOf(reader))
  expect(await undo(reader, importId)).toMatchObject({ removed: 1, restored: 1 })
  expect(await booksOf(reader)).toMatchObject([{ publisher: 'x'.repeat(400) }])
})

describe('undoing an import leaves what the member made of it:', { tags: ['slow'] }, () => {
  const READINGS = [2020, 2021, 2022].map((year, at) => ({
    startedAt: `${year}`,
    finishedAt: `${year}-02-10`,
    outcome: 'FINISHED',
    rating: at + 2,
    note: `note ${at}`,
  }))
  const PROGRESS = [1, 2].map((day) => ({ at: `2024-01-0${day}T00:00:00Z`, page: 10 * day }))
  type Left = { readings: number; progress: number }
  /** `left`: what an undo leaves in a book of the library, of which the rest is as it was imported. */
  const edits: [string, (reader: Reader, bookId: number) => Promise<unknown>, left: Left][] = [
    [
      'ratings of two readings that were exchanged',
      async (reader, bookId) => {
        const [one, other] = (await reader.get(`/books/${bookId}/readings`)).body.toReversed()
        await reader.patch(`/readings/${one.readingId}`, { rating: other.rating })
        await reader.patch(`/readings/${other.readingId}`, { rating: one.rating })
      },
      { readings: 2, progress: 0 },
    ],
    [
      'a note of a reading with another letter',
      async (reader, bookId) => {
        const { body } = await reader.get(`/books/${bookId}/readings`)
        await reader.patch(`/readings/${body.at(-1).readingId}`, { note: 'nota 0' })
      },
      { readings: 1, progress: 0 },
    ],
    [
      'an earlier page that was corrected',
      (reader, bookId) => reader.post(`/books/${bookId}/progress`, { page: 12, at: PROGRESS[0]?.at }),
      { readings: 0, progress: 3 },
    ],
    [
      'the minutes of a sitting',
      (reader, bookId) => reader.post(`/books/${bookId}/progress`, { minutes: 30, at: PROGRESS[0]?.at }),
      { readings: 0, progress: 2 },
    ],
  ]

  it.each(edits)('%s', async (_, change, left) => {
    const source = await withBook({ itemPage: 300 })
    for (const reading of READINGS) await source.reader.post(`/books/${source.bookId}/readings`, reading)
    for (const event of PROGRESS) await source.reader.post(`/books/${source.bookId}/progress`, event)
    const file = JSON.stringify((await source.reader.get('/export')).body)
    const all = { readings: 3, progress: 3 }
    for (const { reader, ofBook, left: expected } of [
      { reader: await signUp(), ofBook: { removed: 0, kept: [{ left: ['all'] }] }, left: all },
      { reader: (await withBook()).reader, ofBook: { restored: 0, kept: [{ left: ['history'] }] }, left },
    ]) {
      const importId = await importFile(reader, file)
      const [{ bookId }] = await booksOf(reader)
      await change(reader, bookId)
      const [{ readings, progress }] = await stateOf(reader)
      expect(readings).toHaveLength(3)
      expect(await undo(reader, importId)).toMatchObject(ofBook)
      expect(await stateOf(reader)).toMatchObject([
        { readings: readings.slice(0, expected.readings), progress: progress.slice(0, expected.progress) },
      ])
    }
  })

  it.each<[string, (reader: Reader, bookId: number, other: number) => Promise<unknown>]>([
    ['merged into that of the file', (reader) => reader.patch('/tags', { from: 'mine', to: 'sea' })],
    [
      'renamed to that of the file, which was renamed before',
      async (reader) => {
        await reader.patch('/tags', { from: 'sea', to: 'coast' })
        await reader.patch('/tags', { from: 'mine', to: 'sea' })
      },
    ],
    ['of a book that was merged', (reader, bookId, from) => reader.post(`/books/${bookId}/merge`, { from })],
    [
      'that was set again in another spelling',
      async (reader, bookId) => {
        await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['mine', 'Sea'] } })
        await reader.patch('/tags', { from: 'sea', to: 'Sea' })
      },
    ],
  ])('a tag %s', async (_, change) => {
    const { reader, bookId } = await withBook()
    const { bookId: other } = await reader.createBook({ title: 'Lamp' })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['mine'] } })
    await reader.send('PUT', `/books/${other}/tags`, { body: { tags: ['sea'] } })
    const importId = await importFile(reader, goodreads(row(1, { tags: 'sea' })))
    await change(reader, bookId, other)
    const tags = async () => (await stateOf(reader)).find((book: { bookId: number }) => book.bookId === bookId)?.tags
    const before = await tags()
    expect(await undo(reader, importId)).toMatchObject({ restored: 0, kept: [{ bookId, left: ['tags'] }] })
    expect(await tags()).toEqual(before)
  })

  it('a rating of a reading that has more since', async () => {
    const { reader, bookId } = await withBook({ ...DONE, star: 0 })
    const importId = await importFile(reader, goodreads(row(1, { rating: 4, shelf: 'read' })))
    await reader.patch(`/readings/${bookId}`, { note: 'Mine.' })
    expect(await undo(reader, importId)).toMatchObject({ restored: 0, kept: [{ bookId, left: ['history'] }] })
    expect(await booksOf(reader)).toMatchObject([{ star: 4 }])
  })

  it('a tag of a link, but not in its books', async () => {
    const { reader } = await withBook()
    const importId = await importFile(
      reader,
      goodreads(row(1, { tags: 'sea' }), row(2, { title: 'Lamp', tags: 'sea' })),
    )
    await reader.post('/links', { name: 'By the sea', kind: 'SHELF', tag: 'sea' })
    expect(await undo(reader, importId)).toMatchObject({ removed: 1, restored: 1 })
    expect((await reader.get('/tags')).body).toEqual([{ tag: 'sea', bookCount: 0 }])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('but takes its tags away beside others that were added', async () => {
    const { reader, bookId } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, { tags: 'sea' })))
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['sea', 'mine'] } })
    expect(await undo(reader, importId)).toMatchObject({ restored: 1 })
    expect(await stateOf(reader)).toMatchObject([{ tags: ['mine'] }])
  })
})

describe('undoing an import keeps a book that it created', () => {
  const created = async (cells: Parameters<typeof row>[1]) => {
    const reader = await signUp()
    const importId = await importFile(reader, goodreads(row(1, cells)))
    const [{ bookId, memos }] = await stateOf(reader)
    return { reader, importId, bookId, memoId: memos[0]?.memoId }
  }

  it.each<[string, (each: Awaited<ReturnType<typeof created>>) => Promise<unknown>]>([
    [
      'a memo of the same length took the place of its own',
      async ({ reader, bookId, memoId }) => {
        await reader.delete(`/memos/${memoId}`)
        await reader.createMemo(bookId, { memoContent: 'Mine!' })
      },
    ],
    [
      'a memo that was moved into it took the place of its own',
      async ({ reader, bookId, memoId }) => {
        await reader.delete(`/memos/${memoId}`)
        const { bookId: from } = await reader.createBook({ title: 'Lamp' })
        await reader.createMemo(from, { memoContent: 'Mine!' })
        await reader.post(`/books/${bookId}/merge`, { from })
      },
    ],
    [
      'its memo has another text of the same length since the same second',
      async ({ reader, memoId }) => {
        await reader.patch(`/memos/${memoId}`, { memoContent: 'Mine!' })
        await select('update memos set updatedAt = createdAt where memoId = ?', memoId)
      },
    ],
    [
      'a book that adds nothing was merged into it',
      async ({ reader, bookId }) => {
        const { bookId: from } = await reader.createBook({ title: 'Lamp' })
        await reader.post(`/books/${bookId}/merge`, { from })
      },
    ],
  ])('if %s', async (_, change) => {
    const each = await created({ shelf: 'to-read', review: 'Slow.' })
    await change(each)
    const { reader, importId, bookId } = each
    const before = await stateOf(reader)
    expect(await undo(reader, importId)).toMatchObject({ removed: 0, kept: [{ bookId, left: ['all'] }] })
    expect(await stateOf(reader)).toEqual(before)
  })

  it('not after changes that were refused', async () => {
    const { reader, importId, bookId } = await created({ shelf: 'read', finished: '2026/03/14' })
    const key = { 'Idempotency-Key': 'a-key' }
    const other = await reader.createBook({ title: 'Lamp' })
    const post = (book: number, note: string) =>
      reader.send('POST', `/books/${book}/readings`, { body: { startedAt: '2020', note }, headers: key })
    const refused = [
      await reader.patch(`/readings/${bookId}`, { startedAt: '2027-01-01' }),
      await reader.patch(`/readings/${bookId}`, { paused: true }),
      await post(other.bookId, 'one'),
      await post(bookId, 'another'),
    ]
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 201, 422])
    await select('update members set maxTextBytes = textBytes where memberId = ?', await memberIdOf(reader))
    const note = 'x'.repeat(100)
    const full = [
      await reader.patch(`/readings/${bookId}`, { note }),
      await reader.post(`/books/${bookId}/readings`, { startedAt: '2020', note }),
    ]
    expect(full.map(({ status }) => status)).toEqual([409, 409])
    expect(await undo(reader, importId)).toEqual({ removed: 1, restored: 0, kept: [] })
  })
})

describe('undoing an import', () => {
  it('that is running cancels it, and restores what it had done', async () => {
    const { reader } = await withBook()
    const before = await stateOf(reader)
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    const running = `update imports set status = 'RUNNING', total = 2, leaseEndsAt = ? where memberId = ?`
    await select(running, Date.now() + 60_000, await memberIdOf(reader))
    expect((await undo(reader, importId)).restored).toBe(1)
    expect(await stateOf(reader)).toEqual(before)
  })

  it('that is sent several times at once undoes it once', async () => {
    const { reader } = await withBook(DONE)
    const before = await stateOf(reader)
    const others = Array.from({ length: 250 }, (_, n) => row(n + 2, { title: `Book ${n}`, review: 'x' }))
    const importId = await importFile(reader, goodreads(row(1, FULL), ...others), OVERWRITE)
    const answers = await Promise.all(Array.from({ length: 4 }, () => reader.delete(`/imports/${importId}`)))
    const undone = answers.filter(({ status }) => status === 200)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(4 - undone.length)
    expect(undone.reduce((sum, { body }) => sum + body.removed, 0)).toBe(250)
    expect(undone.flatMap(({ body }) => body.kept)).toMatchObject([{ left: [] }])
    expect(await stateOf(reader)).toEqual(before)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('is continued by the next DELETE after a failure', async () => {
    const { reader } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    // Its last call has the guard and three statements, like the one that marks the rows.
    let found = 0
    const isLast = (queries: number) => queries === 4 && ++found === 2
    const broken = wrapEnv<Bindings>(
      () => (call, queries) => (isLast(queries) ? Promise.reject(new Error('x')) : call()),
    )
    const failed = await reader.send('DELETE', `/imports/${importId}`, { changed: broken(env) })
    vi.restoreAllMocks()
    expect(failed.status).toBe(500)
    expect(await booksOf(reader)).toMatchObject([{ publisher: null }])
    await reader.patch(`/books/${(await booksOf(reader))[0].bookId}`, { publisher: 'Quay House' })
    expect(await undo(reader, importId)).toMatchObject({ restored: 1, kept: [{ left: [] }] })
    expect(await booksOf(reader)).toMatchObject([{ publisher: 'Quay House' }])
  })

  it('restores long texts of many books', { tags: ['slow'] }, async () => {
    const reader = await signUp()
    const file = (letter: string) =>
      goodreads(...Array.from({ length: 14 }, (_, n) => row(n, { title: `Book ${n}`, review: letter.repeat(60_000) })))
    await importFile(reader, file('가'))
    const before = await stateOf(reader)
    const importId = await transfer.expectSmallParameters(() => importFile(reader, file('Ǆ'), OVERWRITE))
    const [replaced] = await select(
      'select max(octet_length(texts)) as bytes from importRows where importId = ?',
      importId,
    )
    expect(replaced?.bytes).toBeLessThan(400_000)
    expect((await undo(reader, importId)).restored).toBe(14)
    expect(await stateOf(reader)).toEqual(before)
  })
})

it('reads each book of the library once, and for the undo only those that were changed', async () => {
  const reads = async (books: number) => {
    const { reader } = await withBook(DONE)
    await fillShelf(await memberIdOf(reader), books)
    await importFile(reader, goodreads(row(1, { review: 'Slow.' })))
    const file = goodreads(row(1, { ...FULL, tags: 'sea', readings: '2024-05' }))
    let importId = 0
    const imported = await measure(async () => {
      importId = await importFile(reader, file, OVERWRITE)
    })
    const undone = await measure(() => reader.delete(`/imports/${importId}`))
    return { imported: imported.read, undone: undone.read }
  }
  const [few, many] = [await reads(20), await reads(6020)]
  // Each book's row and an entry of an index; the library takes four pages.
  expect(many.imported - few.imported).toBeLessThan(2 * 6000 + 50)
  expect(many.undone - few.undone).toBeLessThan(20)
})

it('reads each memo of a book once, also to compare it with those of the file', async () => {
  const read = async (memos: number) => {
    const reader = await signUp()
    const fileOf = (first: number) => {
      const contents = Array.from({ length: memos }, (_, n) => ({ memoContent: `${first + n}` }))
      return libraryFile({ title: 'Lamp', author: 'A', memos: contents })
    }
    await importFile(reader, fileOf(0))
    return (await measure(() => importFile(reader, fileOf(memos)))).read
  }
  const [few, many] = [await read(50), await read(200)]
  expect(many).toBeLessThan(4 * few)
})

describe('the report', () => {
  it('lists what a row changes in a book, in a dry run too', async () => {
    const { reader } = await withBook({ publisher: 'Ebb' })
    const file = goodreads(row(1, { ...FULL, tags: '"sea, coast"' }), row(2, { title: 'Lamp' }))
    const changes = [
      { field: 'publisher', from: 'Ebb', to: 'Quay House' },
      { field: 'isbn', from: null, to: '9780306406157' },
      { field: 'sourceIds', from: null, to: '["goodreads:1"]' },
      { field: 'bookStatus', from: 'YET', to: 'DONE' },
      { field: 'readEndDate', from: null, to: '2026-03-14T00:00:00' },
      { field: 'star', from: '0', to: '4' },
      { field: 'tags', from: '0', to: '2' },
      { field: 'memos', from: '0', to: '1' },
    ]
    for (const query of [`${OVERWRITE}&dryRun=true`, OVERWRITE]) {
      const [updated, created] = await rowsOf(reader, await importFile(reader, file, query))
      expect(updated).toMatchObject({ outcome: 'updated' })
      expect(updated?.changes).toEqual(changes)
      expect(created).toMatchObject({ outcome: 'created', changes: [] })
    }
    const again = goodreads(row(1, { ...FULL, tags: '', review: 'x'.repeat(300) }))
    const [replaced] = await rowsOf(reader, await importFile(reader, again, `${OVERWRITE}&dryRun=true`))
    expect(replaced?.changes).toEqual([{ field: 'memo: my review', from: 'Slow.', to: 'x'.repeat(200) }])
  })
})

it('enters the feed of changes with all that an undo changes', async () => {
  const { reader, bookId } = await withBook({ itemPage: 300 })
  const importId = await importFile(reader, goodreads(row(1, FULL)))
  const load = async (query = '') => (await reader.get(`/changes${query}`)).body
  let page = await load()
  while (page.hasMore) page = await load(`?cursor=${encodeURIComponent(page.next)}`)
  await undo(reader, importId)
  const { item } = await load(`?cursor=${encodeURIComponent(page.next)}`)
  const values = Object.fromEntries(item.map(({ kind, value }: { kind: string; value: unknown }) => [kind, value]))
  expect(Object.keys(values).toSorted()).toEqual(['book', 'memo', 'reading', 'tag'])
  expect(values).toMatchObject({ memo: null, reading: null, tag: null })
  expect(values.book).toMatchObject({ bookId, bookStatus: 'YET', publisher: null, tagIds: [], progress: { count: 0 } })
})

describe('undoing an import after a merge', () => {
  const merge = async (reader: Reader, bookId: number, from: number) =>
    expect((await reader.post(`/books/${bookId}/merge`, { from })).status).toBe(200)
  const created = async (reader: Reader, importId: number) => (await rowsOf(reader, importId))[0]?.bookId ?? 0

  it('leaves what was merged into a book of the library', async () => {
    const { reader, bookId } = await withBook({ title: 'Low Tide: A Story' })
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    await merge(reader, bookId, await created(reader, importId))
    const before = await stateOf(reader)
    expect(before).toMatchObject([{ bookId, memos: [{ memoContent: 'Slow.' }], tags: ['sea'], star: 4 }])
    expect(await undo(reader, importId)).toEqual({ removed: 0, restored: 0, kept: [] })
    expect(await stateOf(reader)).toEqual(before)
  })

  it('keeps a book that it created and that another one was merged into', async () => {
    const { reader, bookId: from } = await withBook({ title: 'Low Tide: A Story' })
    await reader.createMemo(from)
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    const bookId = await created(reader, importId)
    await merge(reader, bookId, from)
    const before = await stateOf(reader)
    expect(await undo(reader, importId)).toMatchObject({ removed: 0, kept: [{ bookId, left: ['all'] }] })
    expect(await stateOf(reader)).toEqual(before)
  })

  it('leaves memos of the import that the merge added to a book that it updated', async () => {
    const { reader, bookId } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, { review: 'Of one.' }), row(2, { review: 'Of two.' })))
    const other = (await rowsOf(reader, importId)).find(({ outcome }) => outcome === 'created')
    await merge(reader, bookId, other?.bookId ?? 0)
    expect(await undo(reader, importId)).toMatchObject({
      restored: 0,
      kept: [{ bookId, left: ['sourceIds', 'memos'] }],
    })
    expect(JSON.stringify(await stateOf(reader))).toContain('Of two.')
  })

  it('leaves the rating that the merge gave a book that it updated', async () => {
    const { reader, bookId } = await withBook()
    const importId = await importFile(reader, goodreads(row(1, { shelf: 'read', readings: '2024-05' })))
    const { bookId: from } = await reader.createBook({ title: 'Lamp' })
    await reader.patch(`/books/${from}`, { star: 5 })
    await merge(reader, bookId, from)
    expect(await undo(reader, importId)).toMatchObject({ restored: 1, kept: [{ bookId, left: [] }] })
    expect(await booksOf(reader)).toMatchObject([{ bookStatus: 'YET', star: 5 }])
  })

  it('restores what the merge did not change in a book that it updated', async () => {
    const { reader, bookId } = await withBook()
    const { bookId: from } = await reader.createBook(DONE)
    const { memoId } = await reader.createMemo(from)
    const importId = await importFile(reader, goodreads(row(1, FULL)))
    await merge(reader, bookId, from)
    expect(await undo(reader, importId)).toMatchObject({ removed: 0, kept: [{ bookId, left: ['tags'] }] })
    const [book] = await stateOf(reader)
    expect(book).toMatchObject({ publisher: null, tags: ['sea'], memos: [{ memoId }] })
    expect(book.readings).toMatchObject([{ startedAt: '2026-01-01', finishedAt: '2026-01-09' }])
  })
})
