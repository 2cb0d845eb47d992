// @module-tag one-slot
import { beforeEach, expect, it } from 'vitest'
import type { ExportedBook, LibraryExport } from '../../../src/transfer/export/responses'
import { MAX_EVENTS } from '../../../src/values/prices'
import { type Reader, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { insertSittings } from '../../support/devices/sittings'
import { memberIdOf } from '../../support/images/images'
import { importFile } from '../../support/transfer/imports'

const DAYS = [
  { day: '2024-03-01', seconds: 600 },
  { day: '2024-03-05', seconds: 3600 },
  { day: '2024-03-05', seconds: 1200, document: 'another' },
  { day: '2024-04-01', seconds: 100_000 },
]

let reader: Reader
let bookId: number
beforeEach(async () => {
  reader = await signUp()
  bookId = (await reader.createBook({ title: 'Demian', itemPage: 300 })).bookId
  const add = (at: string, progress: object) => reader.post(`/books/${bookId}/progress`, { at, ...progress })
  await add('2024-03-03T10:00:00Z', { page: 50, minutes: 30 })
  await add('2024-03-05T10:00:00Z', { page: 100, minutes: 10 })
  await add('2024-03-05T20:00:00Z', { page: 90 })
  await insertSittings(await memberIdOf(reader), bookId, DAYS)
})

const exported = async (from: Reader): Promise<LibraryExport> => (await from.get('/export')).body
const onlyBook = async (of: Reader) => (await exported(of)).books[0] as ExportedBook
const yearOf = async (of: Reader) => {
  const { backlog: _, ...year } = (await of.get('/stats?year=2024')).body
  return year
}
const importInto = async (other: Reader, library: object) => importFile(other, JSON.stringify(library))

it('becomes minutes of events in another account, with the same statistics', async () => {
  const library = await exported(reader)
  const before = await yearOf(reader)
  expect(before).toMatchObject({ minutesRead: 1787, pagesRead: 90, longestDay: { date: '2024-04-01', minutes: 1667 } })
  const other = await signUp()
  expect(await importInto(other, library)).toMatchObject({ counts: { created: 1 } })
  const [march, april] = [before.months[2], before.months[3]]
  // An event has at most the minutes of a day.
  expect(await yearOf(other)).toMatchObject({
    ...{
      minutesRead: 1787 - 1667 + 1440,
      pagesRead: 90,
      daysRead: before.daysRead,
      longestStreak: before.longestStreak,
    },
    months: expect.arrayContaining([march, { ...april, minutesRead: 1440 }]),
  })
  const { progress, sittings, currentPage } = await onlyBook(other)
  expect([sittings, currentPage]).toEqual([[], 90])
  expect(progress.map(({ at, kind, page, minutes }) => [at.slice(0, 16), kind, page, minutes])).toEqual([
    ['2024-03-01T12:00', 'PROGRESS', 0, 10],
    ['2024-03-03T10:00', 'PROGRESS', 50, 30],
    ['2024-03-05T10:00', 'PROGRESS', 100, null],
    ['2024-03-05T12:00', 'PROGRESS', 100, 80],
    ['2024-03-05T20:00', 'CORRECTION', 90, null],
    ['2024-04-01T12:00', 'PROGRESS', 90, 1440],
  ])
})

it('adds nothing if it is imported again, also in another time zone', async () => {
  const library = await exported(reader)
  const other = await signUp()
  await importInto(other, library)
  const before = await onlyBook(other)
  await other.patch('/members/me', { timeZone: 'Pacific/Kiritimati' })
  expect(await importInto(other, { ...library, exportedAt: '2026-01-01T00:00:00Z' })).toMatchObject({
    counts: { unchanged: 1, updated: 0 },
  })
  expect(await onlyBook(other)).toEqual(before)
})

it('changes nothing in the account of origin', async () => {
  const [library, before] = [await exported(reader), await yearOf(reader)]
  expect(await importInto(reader, library)).toMatchObject({ counts: { unchanged: 1, updated: 0 } })
  expect(await yearOf(reader)).toEqual(before)
  expect(await onlyBook(reader)).toEqual(library.books[0])
})

it('keeps the page that later events of the library have, and is undone with the import', async () => {
  const library = await exported(reader)
  const other = await signUp()
  const { bookId: known } = await other.createBook({ title: 'Demian', itemPage: 300 })
  await other.post(`/books/${known}/progress`, { page: 200, at: '2024-03-20T10:00:00Z' })
  const before = await onlyBook(other)
  const { importId } = await importInto(other, library)
  const { progress, currentPage } = await onlyBook(other)
  expect([currentPage, progress.at(-1)]).toMatchObject([200, { page: 200, minutes: 1440 }])
  expect((await other.delete(`/imports/${importId}`)).body).toMatchObject({ restored: 1 })
  expect(await onlyBook(other)).toMatchObject({ progress: before.progress, currentPage: 200 })
})

it('adds no pages to a book that has a page, but no events', async () => {
  const library = await exported(reader)
  const [book] = library.books
  const other = await signUp()
  await importInto(other, { ...library, books: [{ ...book, progress: [], currentPage: 120 }] })
  expect(await yearOf(other)).toMatchObject({ pagesRead: 0, minutesRead: 1440 + 90 })
  expect(await onlyBook(other)).toMatchObject({ currentPage: 120 })
})

it('keeps the newest days for which a book has room, and none in the future', async () => {
  const library = await exported(reader)
  const [book] = library.books
  const sittings = Array.from({ length: MAX_EVENTS }, (_, n) => {
    return { date: new Date(Date.UTC(2010, 0, 1 + n)).toISOString().slice(0, 10), minutes: 1 }
  })
  const other = await signUp()
  const late = { date: '9999-12-31', minutes: 5 }
  const { importId } = await importInto(other, {
    ...library,
    books: [{ ...book, sittings: [...sittings.slice(1), late] }],
  })
  const { item } = (await other.get(`/imports/${importId}/rows?page=1&size=1&outcome=ALL`)).body
  expect(item[0].losses).toEqual([{ code: 'too-many', field: 'sittings' }])
  const { progress } = await onlyBook(other)
  expect([progress.length, progress[0]?.at.slice(0, 10)]).toEqual([MAX_EVENTS, '2010-01-04'])
  expect(
    await select('select max(total) as total from progress where bookId = ?', (await onlyBook(other)).bookId),
  ).toEqual([{ total: MAX_EVENTS }])
})

it('reports sittings that it cannot read', async () => {
  const library = await exported(reader)
  const [book] = library.books
  const good = { date: '2024-05-05', minutes: 5 }
  const bad = [
    { ...good, minutes: 0 },
    { ...good, date: '2024-02-30' },
    { ...good, date: '1899-12-31' },
    good,
    good,
    'x',
  ]
  const other = await signUp()
  const { importId } = await importInto(other, { ...library, books: [{ ...book, sittings: bad }] })
  const { item } = (await other.get(`/imports/${importId}/rows?page=1&size=1&outcome=ALL`)).body
  expect(item[0].losses.map(({ field }: { field: string }) => field)).toEqual(
    [1, 2, 3, 5, 6].map((n) => `sittings ${n}`),
  )
})

it('of many days reads each of them a few times, however many parts the list has', { tags: ['slow'] }, async () => {
  const days = Array.from({ length: 40_000 }, (_, n) => new Date(n * 86_400_000).toISOString().slice(0, 10))
  await select('delete from sittings where memberId = ?', await memberIdOf(reader))
  await select(
    `insert into sittings (memberId, tokenId, at, document, day, seconds)
    select memberId, 'a', 0, document, value, 60 from documents cross join json_each(?) where bookId = ?`,
    JSON.stringify(days),
    bookId,
  )
  const { read } = await measure(async () => {
    const { sittings } = await onlyBook(reader)
    expect(sittings.map(({ date }) => date)).toEqual(days)
  })
  expect(read).toBeLessThan(20 * days.length)
})
