import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import type { LibraryExport } from '../../../src/transfer/export/responses'
import { BOOK_FORMATS, BOOK_STATUSES, MEMO_AUTHORITIES, MEMO_TYPES, PROGRESS_KINDS } from '../../../src/values/contract'
import { MAX_EVENTS } from '../../../src/values/prices'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase, memberSlot } from '../../support/database'
import { editionFields } from '../../support/model/editions'
import { commandsUpTo, sendCommands } from '../../support/model/run'
import { TAGS, TEXTS } from '../../support/model/values'
import { libraryFile } from '../../support/transfer/import-files'
import { countsOf, download, expectSmallParameters, importFile, rowsOf } from '../../support/transfer/imports'

const load = async (reader: Reader) => {
  const response = await download(reader, '/export')
  expect(response.status).toBe(200)
  return response.text()
}
const parse = (file: string): LibraryExport => JSON.parse(file)
const exported = async (reader: Reader) => parse(await load(reader))

/**
 * What an import of an export must give again: the books, without their identifiers and those of readings and memos. The head
 * of the file differs: its time, the profile, and the addresses of images.
 */
const toLibrary = ({ books }: Pick<LibraryExport, 'books'>) =>
  books.map(({ bookId: _, ...book }) => ({
    ...book,
    readings: book.readings.map(({ readingId: _, ...reading }) => reading),
    memos: book.memos.map(({ memoId: _, ...memo }) => memo),
  }))

const KEEP = '?keepVisibility=true'
/** Imports a file, and expects the outcomes of its books. */
const expectImport = async (reader: Reader, file: string, expected: object, query = KEEP) => {
  const ended = await importFile(reader, file, query)
  expect(ended).toMatchObject({ status: 'DONE', format: 'library', counts: countsOf(expected) })
  return ended
}
const expectIntegrity = async () => expect(await findMismatches(memberDatabase())).toEqual([])

/** Enough for a few books, each with some readings, events, tags and memos. */
const manyCommands = commandsUpTo(120, 40)
/** A member whose library was filled by random requests. */
const fillLibrary = async (commands: Parameters<typeof sendCommands>[1]) => {
  const member = await signUp()
  await sendCommands(({ method, path, ...rest }) => member.send(method, path, rest), commands)
  return member
}

const check = (property: fc.IAsyncProperty<unknown>, numRuns: number) =>
  // In another slot, on which nothing should depend, a quarter suffices.
  fc.assert(property, {
    numRuns: memberSlot() > 0 ? Math.ceil(numRuns / 4) : numRuns,
    seed: env.SEED,
    endOnFailure: true,
  })

describe('importing an export', () => {
  const repeatAndUndo = (libraries: number) => {
    const property = fc.asyncProperty(manyCommands, async (commands) => {
      const file = await load(await fillLibrary(commands))
      const { books } = parse(file)
      const other = await signUp()
      const { importId } = await expectImport(other, file, { created: books.length })
      const copy = await exported(other)
      expect(toLibrary(copy)).toEqual(toLibrary({ books }))
      await expectImport(other, file, { unchanged: books.length })
      expect((await exported(other)).books).toEqual(copy.books)
      await expectIntegrity()
      const { body } = await other.delete(`/imports/${importId}`)
      expect(body).toEqual({ removed: books.length, restored: 0, kept: [] })
      expect((await exported(other)).books).toEqual([])
      await expectIntegrity()
    })
    return check(property, libraries)
  }
  it('gives the same library, changes nothing the second time, and can be undone', () => repeatAndUndo(1))
  it('gives the same eight libraries, changes nothing the second time, and can be undone', { tags: ['slow'] }, () =>
    repeatAndUndo(8),
  )

  it('changes nothing in the exported library, with either merge rule', { tags: ['slow'] }, async () => {
    const property = fc.asyncProperty(manyCommands, async (commands) => {
      const member = await fillLibrary(commands)
      const file = await load(member)
      const { books } = parse(file)
      for (const query of [KEEP, `${KEEP}&merge=overwrite`, KEEP]) {
        await expectImport(member, file, { unchanged: books.length }, query)
        expect((await exported(member)).books).toEqual(books)
      }
      await expectIntegrity()
    })
    await check(property, 8)
  })

  it('changes nothing if the library came from an export itself', async () => {
    const [reader, other] = [await signUp(), await signUp()]
    // So the identifiers of the copies differ from those of the originals.
    await other.createBook({ title: 'Another' })
    for (const title of ['Low Tide', '램프']) await reader.createBook({ title })
    await expectImport(other, await load(reader), { created: 2 })
    const copy = await load(other)
    await expectImport(other, copy, { unchanged: 3 })
    await expectImport(other, await load(reader), { unchanged: 2 })
  })

  it('restores readings that do not follow from the dates of their books', async () => {
    const [member, other] = [await signUp(), await signUp()]
    const add = async (changes: object) => {
      const { bookId } = await member.createBook({ bookStatus: 'DONE', readEndDate: '2020-01-02T03:04:05' })
      const { body } = await member.post(`/books/${bookId}/readings`, { finishedAt: '2024-05-06', ...changes })
      return { bookId, readingId: body.readingId }
    }
    const withoutFirst = await add({})
    await member.delete(`/readings/${withoutFirst.bookId}`)
    const unreadAgain = await add({ rating: 2.25 })
    await member.patch(`/books/${unreadAgain.bookId}`, { bookStatus: 'YET', star: 5 })
    const earlier = await add({})
    await member.patch(`/books/${earlier.bookId}`, { readEndDate: '2001-01-01T00:00:00' })
    const unrated = await member.createBook({ bookStatus: 'DONE' })
    await member.patch(`/books/${unrated.bookId}`, { star: 3 })
    await member.post(`/books/${unrated.bookId}/readings`, { startedAt: '2025' })
    const file = await load(member)
    await expectImport(other, file, { created: 4 })
    const { books } = await exported(other)
    expect(toLibrary({ books })).toEqual(toLibrary(parse(file)))
    expect(books).toMatchObject([
      { readings: [{ createdAt: expect.any(String) }] },
      { bookStatus: 'YET', star: 5, readings: [{}, { rating: 2.25 }] },
      { readings: [{ finishedAt: '2020-01-02' }, { finishedAt: '2001-01-01' }] },
      { star: 3, readings: [{ rating: 3 }, { rating: null }] },
    ])
    await expectIntegrity()
  })

  it('works part by part', { tags: ['slow'] }, async () => {
    const property = fc.asyncProperty(manyCommands, fc.nat(), async (commands, seed) => {
      const member = await fillLibrary(commands)
      const { books } = await exported(member)
      if (books.length < 2) return
      const cut = 1 + (seed % (books.length - 1))
      const [other, third] = [await signUp(), await signUp()]
      for (const ofPart of [books.slice(0, cut), books.slice(cut)]) {
        await expectImport(other, libraryFile(...ofPart), { created: ofPart.length })
      }
      await expectImport(third, libraryFile(...books.slice(cut)), { created: books.length - cut })
      expect(toLibrary(await exported(third))).toEqual(toLibrary({ books: books.slice(cut) }))
      expect(toLibrary(await exported(other))).toEqual(toLibrary({ books }))
    })
    await check(property, 5)
  })
})

const dateTime = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())
const pastTime = fc
  .date({ min: new Date('1971-01-01'), max: new Date('2025-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())
const timestamp = fc.option(dateTime.map((time) => time.slice(0, 19)))
const day = fc.option(fc.tuple(dateTime, fc.constantFrom(4, 7, 10)).map(([time, length]) => time.slice(0, length)))
const page = fc.oneof(fc.nat(5), fc.nat(2 ** 31 - 1))
const text = fc.oneof(fc.constantFrom(null, ...TEXTS), fc.string({ unit: 'binary', maxLength: 20 }))
const quarter = fc.option(fc.integer({ min: 1, max: 20 }).map((quarters) => quarters / 4))

const reading = fc.record({
  ...{ createdAt: fc.option(pastTime), startedAt: day, finishedAt: day, rating: quarter },
  ...{ outcome: fc.constantFrom('FINISHED', 'STOPPED', null), format: fc.constantFrom(null, ...BOOK_FORMATS) },
  ...{ note: text, paused: fc.boolean() },
})
const event = fc.record(
  {
    ...{ at: pastTime, page, kind: fc.constantFrom(...PROGRESS_KINDS) },
    minutes: fc.option(fc.integer({ min: 1, max: 1440 })),
    seconds: fc.option(fc.nat(3_600_000)),
  },
  { requiredKeys: ['at', 'page', 'kind'] },
)
const memo = fc.record({
  ...{ memoType: fc.constantFrom(...MEMO_TYPES), memoAuthority: fc.constantFrom(...MEMO_AUTHORITIES) },
  ...{ memoContent: text, memoBookPage: page, createdAt: timestamp, updatedAt: timestamp },
})
/** A book with values that are valid, each by itself. */
const book = fc.record({
  ...editionFields,
  ...{ bookId: fc.integer({ min: 1, max: 9 }), title: text, author: text, publisher: text, createdAt: timestamp },
  ...{ star: fc.nat(5), currentPage: page, itemPage: fc.option(page), bookStatus: fc.constantFrom(...BOOK_STATUSES) },
  ...{ readStartDate: timestamp, readEndDate: timestamp, isbn: fc.constantFrom(null, '9788936434120') },
  ...{ language: fc.constantFrom(null, 'ko', 'zh-hant-TW'), format: fc.constantFrom(null, ...BOOK_FORMATS) },
  ...{ publishedYear: fc.option(fc.integer({ min: -3000, max: 9999 })), series: text },
  seriesNumber: fc.option(fc.double({ min: 0, max: 100_000, noNaN: true })),
  sourceIds: fc.array(fc.constantFrom('goodreads:1', 'calibre:a:b', 'a:~!'), { maxLength: 3 }),
  tags: fc.array(fc.constantFrom(...TAGS), { maxLength: 4 }),
  readings: fc.array(reading, { maxLength: 4 }),
  progress: fc.array(event, { maxLength: 4 }),
  memos: fc.array(memo, { maxLength: 4 }),
})

it('an export restores any library that an import can create', { tags: ['slow'] }, async () => {
  const property = fc.asyncProperty(fc.array(book, { maxLength: 8 }), async (books) => {
    const [first, second] = [await signUp(), await signUp()]
    const { rows, counts: outcomes } = await importFile(first, libraryFile(...books), KEEP)
    expect(outcomes).toEqual(countsOf({ created: outcomes.created, failed: rows - outcomes.created }))
    await expectIntegrity()
    const file = await load(first)
    await expectImport(second, file, { created: outcomes.created })
    expect(toLibrary(await exported(second))).toEqual(toLibrary(parse(file)))
    await expectImport(second, file, { unchanged: outcomes.created })
    await expectIntegrity()
  })
  await check(property, 15)
})

describe('an export that is imported into a library with books', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

  it('adds what is new since the last one', async () => {
    const [member, other] = [await signUp(), await signUp()]
    const { bookId } = await member.createBook({ title: 'The Salt Archive', itemPage: 300 })
    await member.createMemo(bookId, { memoContent: 'One' })
    await member.post(`/books/${bookId}/progress`, { page: 10, at: at(1) })
    await expectImport(other, await load(member), { created: 1 })
    await member.patch(`/books/${bookId}`, { publisher: 'Quay House' })
    await member.post(`/books/${bookId}/progress`, { page: 5, at: at(0) })
    await member.post(`/books/${bookId}/progress`, { page: 20, at: at(2) })
    await member.createMemo(bookId, { memoContent: 'Two', memoType: 'THOUGHT' })
    await member.createMemo(bookId, { memoContent: 'Three', memoType: 'THOUGHT' })
    const newer = await load(member)
    await expectImport(other, newer, { updated: 1 })
    const [copy] = (await exported(other)).books
    expect(copy?.progress.map((each) => each.page)).toEqual([5, 10, 20])
    expect(copy).toMatchObject({
      publisher: 'Quay House',
      currentPage: 20,
      memos: [{}, { memoContent: 'Two' }, { memoContent: 'Three' }],
    })
    await expectImport(other, newer, { unchanged: 1 })
    await expectIntegrity()
  })

  it('keeps a later page', async () => {
    const [member, other] = [await signUp(), await signUp()]
    const { bookId } = await member.createBook()
    await member.post(`/books/${bookId}/progress`, { page: 10, at: at(1) })
    const file = await load(member)
    const owned = await other.createBook()
    await other.post(`/books/${owned.bookId}/progress`, { page: 99, at: at(2) })
    await expectImport(other, file, { updated: 1 })
    const [copy] = (await exported(other)).books
    expect(copy).toMatchObject({ currentPage: 99, progress: [{ page: 10 }, { page: 99 }] })

    const third = await signUp()
    await third.createBook({ currentPage: 50, bookStatus: 'ING' })
    const { importId } = await expectImport(third, file, { unchanged: 1 })
    expect(await rowsOf(third, importId)).toMatchObject([
      { code: 'newer-here', losses: [{ code: 'newer-here', field: 'progress' }] },
    ])
    expect((await exported(third)).books).toMatchObject([{ currentPage: 50, progress: [] }])
    await expectImport(third, file, { updated: 1 }, '?merge=overwrite')
    expect((await exported(third)).books).toMatchObject([{ currentPage: 10, progress: [{ page: 10 }] }])
    await expectIntegrity()
  })

  it('matches its books after their author and date were changed', async () => {
    const [member, other] = [await signUp(), await signUp()]
    for (const author of ['Mina Oh', 'Ana Ruiz']) await member.createBook({ author })
    const file = await load(member)
    await expectImport(other, file, { created: 2 })
    for (const each of [member, other]) {
      for (const { bookId } of (await exported(each)).books) {
        await each.patch(`/books/${bookId}`, { author: 'Oh Mina' })
        await each.send('PATCH', `/books/created-date/${bookId}`, { body: '2001-01-01T00:00:00' })
      }
      await expectImport(each, file, { unchanged: 2 })
    }
  })

  it('keeps books at undo if a memo, a page or a tag was changed since', async () => {
    const [member, other] = [await signUp(), await signUp()]
    for (const title of ['Memo', 'Page', 'Tag', 'None']) {
      const { bookId } = await member.createBook({ title })
      const { memoId } = await member.createMemo(bookId)
      await member.patch(`/memos/${memoId}`, { memoContent: title })
      await member.post(`/books/${bookId}/progress`, { page: 10, at: at(1) })
    }
    const { books } = parse(await load(member))
    const memos = [{ memoContent: 'Edited', createdAt: '2020-01-01T00:00:00', updatedAt: '2020-01-02T00:00:00' }]
    const { importId } = await expectImport(other, libraryFile(...books.map((each) => ({ ...each, memos }))), {
      created: 4,
    })
    const [memo, page, tag] = (await exported(other)).books
    await other.patch(`/memos/${memo?.memos[0]?.memoId}`, { memoBookPage: 2 })
    await other.post(`/books/${page?.bookId}/progress`, { page: 5, at: at(0) })
    await other.send('PUT', `/books/${tag?.bookId}/tags`, { body: { tags: ['new'] } })
    expect((await other.delete(`/imports/${importId}`)).body).toMatchObject({
      removed: 1,
      kept: [{ title: 'Memo' }, { title: 'Page' }, { title: 'Tag' }],
    })
    await expectIntegrity()
  })

  it('keeps books at undo if as many tags, memos or readings are there, but not the same', async () => {
    const member = await signUp()
    const reading = { startedAt: '2020-01-02', finishedAt: '2020-02', format: 'EBOOK', note: 'é', rating: 4.5 }
    const book = {
      tags: ['É', 'sea'],
      readings: [reading, { finishedAt: '2021', outcome: 'STOPPED' }, { startedAt: '2022', paused: true }],
      memos: [{ memoContent: 'Tide 책' }],
    }
    const titles = ['Tags', 'Memo', 'Date', 'Note', 'Format', 'None']
    const file = libraryFile(...titles.map((title) => ({ ...book, title })))
    const { importId } = await expectImport(member, file, { created: 6 })
    const [tags, memo, ...read] = (await exported(member)).books
    await member.send('PUT', `/books/${tags?.bookId}/tags`, { body: { tags: ['É', 'coast'] } })
    // In the same second, the time of the change is that of the import.
    await member.patch(`/memos/${memo?.memos[0]?.memoId}`, { memoContent: 'Edited' })
    const changes = [{ startedAt: '2019-12-31' }, { note: 'Edited' }, { format: 'PAPER' }]
    for (const [at, change] of changes.entries()) {
      const { status } = await member.patch(`/readings/${read[at]?.readings[0]?.readingId}`, change)
      expect(status).toBe(200)
    }
    expect((await member.delete(`/imports/${importId}`)).body).toMatchObject({
      removed: 1,
      kept: titles.slice(0, 5).map((title) => ({ title })),
    })
    await expectIntegrity()
  })
})

it('an import of an export restores a book of the largest size', { tags: ['slow'] }, async () => {
  const [first, second] = [await signUp(), await signUp()]
  // In JSON, this text is six times as long.
  const long = `${'\u0001'.repeat(65_000)}É`
  const readings = Array.from({ length: 6 }, (_, n) => ({ finishedAt: String(2001 + n), note: long }))
  const memos = Array.from({ length: 6 }, (_, n) => ({ memoContent: `${n}${long}` }))
  const progress = Array.from({ length: MAX_EVENTS }, (_, n) => ({
    ...{ at: new Date(n * 60_000).toISOString(), page: n, kind: 'PROGRESS' },
  }))
  const file = libraryFile({ title: 'Large', readings, memos, progress }, { title: 'Next', readings, memos })
  const { counts: outcomes } = await expectSmallParameters(() => importFile(first, file, KEEP))
  expect(outcomes).toEqual(countsOf({ created: 2 }))
  const copy = await load(first)
  await expectImport(second, copy, { created: 2 })
  const { books } = await exported(second)
  expect(toLibrary({ books })).toEqual(toLibrary(parse(copy)))
  expect([books[0]?.progress.length, books[1]?.readings.length]).toEqual([MAX_EVENTS, 6])
  await expectSmallParameters(() => expectImport(second, copy, { unchanged: 2 }))
  await expectIntegrity()
})
