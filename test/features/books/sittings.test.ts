import { expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { addDevice } from '../../support/devices/device'
import { type Counted, TOKENS } from '../../support/devices/sitting-rows'
import { insertMinutes, insertSittings } from '../../support/devices/sittings'
import { memberIdOf } from '../../support/images/images'

const atTime = (time: string) => Date.parse(time)
const TYPED = { source: null, tokenId: null, tokenName: null }

const begin = async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook()
  const memberId = await memberIdOf(reader)
  return {
    ...{ reader, bookId, memberId },
    count: (counted: Counted[], book: number | null = bookId) => insertSittings(memberId, book, counted),
    type: (at: string, minutes: number, book = bookId) => insertMinutes(memberId, book, atTime(at), minutes),
    list: async (query = '') => (await reader.get(`/books/${bookId}/sittings${query}`)).body,
  }
}
type Listed = { date: string; minutes: number }
const listAll = async (reader: Reader, bookId: number, size: number) => {
  const all: Listed[] = []
  let pages = 0
  for (let cursor = ''; ; pages++) {
    const { item, next } = (await reader.get(`/books/${bookId}/sittings?size=${size}${cursor}`)).body
    all.push(...item)
    if (next === null) return { all, pages }
    cursor = `&cursor=${next}`
  }
}

it('lists the minutes of devices and of events by day, latest first', async () => {
  const { reader, count, type, list } = await begin()
  const { tokenId } = await addDevice(reader)
  await count([
    { tokenId, day: '2026-05-01', seconds: 600 },
    { tokenId, day: '2026-05-01', seconds: 49, at: 1 },
    { tokenId, day: '2026-05-03', seconds: 5 },
  ])
  await type('2026-05-02T10:00:00Z', 20)
  await type('2026-05-02T11:00:00Z', 5)
  const ofDevice = { source: 'DEVICE', tokenId, tokenName: 'Kobo' }
  expect(await list()).toEqual({
    item: [
      { date: '2026-05-03', minutes: 1, ...ofDevice },
      { date: '2026-05-02', minutes: 25, ...TYPED },
      { date: '2026-05-01', minutes: 11, ...ofDevice },
    ],
    next: null,
    deviceMinutes: 11,
    eventMinutes: 25,
  })
})

it('lists each device of a day, and ignores the minutes of events then', async () => {
  const { count, type, list } = await begin()
  const [a, b] = TOKENS as [string, string]
  await type('2026-05-01T10:00:00Z', 500)
  await count([
    { tokenId: b, document: 'one', day: '2026-05-01', seconds: 600 },
    { tokenId: a, document: 'other', day: '2026-05-01', seconds: 1200 },
  ])
  const { item } = await list()
  const shown = item.map(({ minutes, tokenId, tokenName }: Record<string, unknown>) => [minutes, tokenId, tokenName])
  expect(shown).toEqual([
    [20, a, null],
    [10, b, null],
  ])
})

it('counts the events of a day in the time zone of the member', async () => {
  const { reader, type, list } = await begin()
  await type('2026-05-01T23:30:00Z', 30)
  await reader.patch('/members/me', { timeZone: 'Asia/Seoul' })
  expect((await list()).item).toEqual([{ date: '2026-05-02', minutes: 30, ...TYPED }])
})

it('follows the link of a document, to and from a book', async () => {
  const { reader, bookId, count, list } = await begin()
  await count([{ document: 'waiting', day: '2026-05-01', seconds: 600 }], null)
  expect((await list()).item).toEqual([])
  const link = (id: number) => reader.send('PUT', '/documents/waiting/book', { body: { bookId: id } })
  expect((await link(bookId)).status).toBe(200)
  expect((await list()).item).toMatchObject([{ date: '2026-05-01', minutes: 10 }])
  const { bookId: other } = await reader.createBook()
  await link(other)
  expect((await list()).item).toEqual([])
})

it('lists nothing of other members', async () => {
  const [one, other] = [await begin(), await begin()]
  await insertSittings(other.memberId, one.bookId, [{ day: '2026-05-01', seconds: 600 }])
  expect((await one.list()).item).toEqual([])
})

it.each([1, 2, 3, 100])('lists all days in pages of %i', async (size) => {
  const { reader, bookId, count, type } = await begin()
  const days = Array.from({ length: 5 }, (_, n) => `2026-05-0${n + 1}`)
  for (const [n, day] of days.entries()) {
    if (n % 2) await type(`${day}T10:00:00Z`, n)
    else {
      await count(TOKENS.map((tokenId, nth) => ({ tokenId, document: `${nth}`, day, seconds: 60 + n })))
    }
  }
  const { all } = await listAll(reader, bookId, size)
  const expected = days.toReversed().flatMap((day, n) => Array(n % 2 ? 1 : 3).fill(day))
  expect(all.map(({ date }) => date)).toEqual(expected)
})

const insertUploads = (memberId: number, days: number, uploads: number) =>
  select(
    `with recursive day(d) as (select 0 union all select d + 1 from day where d + 1 < ?2),
      upload(u) as (select 0 union all select u + 1 from upload where u + 1 < ?3)
    insert into sittings (memberId, tokenId, at, document, day, seconds)
    select ?1, ?4, u, document, date('2026-01-01', d || ' days'), 60 from documents, day, upload where memberId = ?1`,
    ...[memberId, days, uploads, TOKENS[0]],
  )

it('reads a limited number of rows, and leaves none out', async () => {
  const { reader, bookId, memberId, count } = await begin()
  await count(Array.from({ length: 10 }, (_, n) => ({ document: `${n}`, day: '2025-01-01', seconds: 60 })))
  await insertUploads(memberId, 12, 30)
  const { all, pages } = await listAll(reader, bookId, 100)
  expect(all).toHaveLength(13)
  expect(all.every(({ date, minutes }) => minutes === (date < '2026' ? 10 : 300))).toBe(true)
  expect(pages).toBeGreaterThan(2)
  const { read, calls } = await measure(() => reader.get(`/books/${bookId}/sittings?size=100`))
  expect(calls).toBe(1)
  expect(read).toBeLessThan(5000)
})

it('reads a limited number of documents', async () => {
  const { reader, bookId, memberId, count } = await begin()
  await count(Array.from({ length: 400 }, (_, n) => ({ document: `${n}`, day: '2025-01-01', seconds: 60 })))
  await insertUploads(memberId, 12, 1)
  const { read } = await measure(() => reader.get(`/books/${bookId}/sittings?size=20`))
  expect(read).toBeLessThan(10_000)
  const { all } = await listAll(reader, bookId, 20)
  expect(all).toHaveLength(13)
  expect(all.every(({ minutes }) => minutes === 100)).toBe(true)
})

it('lists the days before one with more uploads than a page reads', async () => {
  const { reader, bookId, memberId, count } = await begin()
  await count([{ day: '2025-01-01', seconds: 120 }])
  await insertUploads(memberId, 2, 250)
  const { all } = await listAll(reader, bookId, 20)
  expect(all).toMatchObject([
    { date: '2026-01-02', minutes: 200 },
    { date: '2026-01-01', minutes: 200 },
    { date: '2025-01-01', minutes: 2 },
  ])
})
