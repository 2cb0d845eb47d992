import { expect, it } from 'vitest'
import { FIGURES, MAX_ROWS, MEMO_FIGURES } from '../../../src/library/stats/schema'
import { type Reader, readerWith, signUp } from '../../support/api'
import { insertReadings, measure, select } from '../../support/database'
import { insertMinutes, insertSittings } from '../../support/devices/sittings'
import { memberIdOf } from '../../support/images/images'
import { importFile } from '../../support/transfer/imports'

const exported = (member: object, goals: unknown) =>
  JSON.stringify({ format: 'reading-library', version: 1, member, goals, books: [] })
const GOAL = { year: 2026, metric: 'BOOKS', target: 12 }

it('lists the years of a member who has paused a reading of unknown date', async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook({ bookStatus: 'ING' })
  const [reading] = (await reader.get(`/books/${bookId}/readings`)).body
  const paused = await reader.patch(`/readings/${reading.readingId}`, { paused: true, startedAt: null })
  expect(paused).toMatchObject({ status: 200, body: { paused: true, startedAt: null } })
  const { bookId: other } = await reader.createBook({ bookStatus: 'YET' })
  await reader.post(`/books/${other}/readings`, { finishedAt: '2024-08' })
  expect((await reader.get('/stats')).body).toEqual({ years: [2024] })
})

it('reads a limited number of years of documents', { tags: ['slow'] }, async () => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  const { bookId } = await reader.createBook()
  await select(
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < 29)
    insert into documents (memberId, document, createdAt, bookId, seconds) select ?, 'd' || i, 0, ?, 1 from n`,
    memberId,
    bookId,
  )
  await select(
    `with recursive years(year) as (select 1970 union all select year + 1 from years where year < 2969)
    insert into sittings (memberId, tokenId, at, document, day, seconds)
    select memberId, 'a', 0, document, year || '-01-01', 1 from documents cross join years where memberId = ?`,
    memberId,
  )
  let years: number[] = []
  const { read } = await measure(async () => {
    years = (await reader.get('/stats')).body.years
  })
  expect(years.slice(-600)).toEqual(Array.from({ length: 600 }, (_, n) => 2569 - n))
  expect(read).toBeLessThan(50_000)
})

it('says how many finished books have no date, and so count in no year', async () => {
  const reader = await signUp()
  const undated = async () => (await reader.get('/stats?year=2024')).body.undated
  const books = []
  for (const bookStatus of ['YET', 'ING', 'DONE', 'DONE', 'DONE']) books.push(await reader.createBook({ bookStatus }))
  const [, reading, one, two, three] = books.map(({ bookId }) => bookId)
  const update = async (bookId: number | undefined, change: object) => {
    const [current] = (await reader.get(`/books/${bookId}/readings`)).body
    expect((await reader.patch(`/readings/${current.readingId}`, change)).status).toBe(200)
  }
  expect(await undated()).toBe(3)
  await reader.patch(`/books/${one}`, { readEndDate: '2024-05-01T00:00:00' })
  expect(await undated()).toBe(2)
  await update(two, { finishedAt: '2024' })
  expect(await undated()).toBe(1)
  await update(three, { outcome: 'STOPPED' })
  expect(await undated()).toBe(0)
  await update(two, { finishedAt: null })
  await reader.patch(`/books/${reading}`, { bookStatus: 'DONE' })
  expect(await undated()).toBe(2)
  await reader.delete(`/books/${reading}`)
  expect(await undated()).toBe(1)
  expect((await measure(() => reader.get('/stats?year=2024'))).calls).toBe(1)
})

it('refuses a cursor of another year or figure', async () => {
  const reader = await signUp()
  for (const finishedAt of ['2024', '2024-08']) {
    const { bookId } = await reader.createBook({ bookStatus: 'YET' })
    await reader.post(`/books/${bookId}/readings`, { finishedAt })
  }
  const { next } = (await reader.get('/stats/rows?year=2024&figure=books&size=1')).body
  const statusOf = async (list: string) => (await reader.get(`/stats/rows?${list}&cursor=${next}`)).status
  expect(await statusOf('year=2024&figure=books')).toBe(200)
  expect(await statusOf('year=2025&figure=books')).toBe(400)
  expect(await statusOf('year=2024&figure=readings')).toBe(400)
})

it('lists memos only for access tokens that may read memos', async () => {
  const year = new Date().getFullYear()
  for (const scopes of [['library:read'], ['library:read', 'memos:read']]) {
    // A new reader for each, since a member may request 30 statistics a minute.
    const reader = await signUp()
    await reader.createMemo((await reader.createBook()).bookId)
    const { body } = await reader.post('/tokens', { name: 'Script', scopes })
    const script = readerWith(reader.email, body.token)
    for (const figure of FIGURES) {
      const rows = await script.get(`/stats/rows?year=${year}&figure=${figure}`)
      const hasMemos = rows.status === 200 && rows.body.item.some(({ memoId }: { memoId: number | null }) => memoId)
      expect([figure, rows.status, hasMemos]).toEqual(
        MEMO_FIGURES.includes(figure) ? [figure, scopes[1] ? 200 : 403, scopes[1] !== undefined] : [figure, 200, false],
      )
    }
  }
})

it.each([
  ['many readings', 'true'],
  ['books with many readings of other years', 'readingId % 1000 = 0'],
])(
  'limits all statistics of a member together, and more with a year of %s',
  { tags: ['slow'] },
  async (_, isOfYear) => {
    const [short, long] = [await signUp(), await signUp()]
    const { bookId } = await long.createBook()
    await insertReadings(bookId, 5002)
    await select(`update readings set finishedAt = iif(${isOfYear}, '2019', '2018') where bookId = ?`, bookId)
    const paths = ['/stats?year=2019', '/stats/year.svg?year=2019', '/stats/rows?year=2019&figure=books', '/goals/2019']
    const readAll = async ({ send }: Reader) => {
      const statuses = []
      for (let n = 0; n < 12; n++) statuses.push((await send('GET', paths[n % paths.length] ?? '')).status)
      return statuses
    }
    expect(await readAll(short)).not.toContain(429)
    // The first request finds out, and the one that exceeds the limit of 30 passes.
    expect((await readAll(long)).slice(-4)).toEqual(Array(4).fill(429))
  },
)

it('reads the readings of a book once, in whatever order they were added', async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook()
  await insertReadings(bookId, 200)
  // The reading that was added last is the first one.
  await select(
    `update readings set finishedAt = strftime('%Y-%m-%d', 1735603200 - 86400 * (
      readingId - (select min(readingId) from readings as each where each.bookId = readings.bookId)
    ), 'unixepoch') where bookId = ?`,
    bookId,
  )
  await select(`update books set readEndDate = '2024-01-01T00:00:00' where bookId = ?`, bookId)
  let rereads = 0
  const { read } = await measure(async () => {
    rereads = (await reader.get('/stats?year=2024')).body.rereads
  })
  expect(rereads).toBe(199)
  expect(read).toBeLessThan(10 * 200)
})

it('sets goals and a time zone of an export, the latter only with a session', async () => {
  const reader = await signUp()
  const file = exported({ timeZone: 'Asia/Seoul' }, [GOAL])
  const { body } = await reader.post('/tokens', {
    name: 'Script',
    scopes: ['library:read', 'library:write', 'memos:read', 'memos:write'],
  })
  await importFile(readerWith(reader.email, body.token), file)
  expect((await reader.get('/goals/2026')).body).toMatchObject(GOAL)
  expect((await reader.get('/members/me/settings')).body).toEqual({ timeZone: 'UTC' })
  await importFile(reader, file)
  expect((await reader.get('/members/me/settings')).body).toEqual({ timeZone: 'Asia/Seoul' })
})

it('names goals and time zones of an export that it cannot read', async () => {
  const reader = await signUp()
  const bad = exported({ timeZone: 'asia/seoul' }, [GOAL, { ...GOAL, metric: 'KM' }])
  expect((await importFile(reader, bad)).unknownColumns).toEqual(['member.timeZone', 'goals'])
  const good = exported({ timeZone: null }, [GOAL])
  expect((await importFile(reader, good)).unknownColumns).toEqual([])
})

it('loads at most 1 Mi characters of titles', async () => {
  const reader = await signUp()
  const statusWith = async (readings: number) => {
    const { bookId } = await reader.createBook({ title: 'x'.repeat(500) })
    await insertReadings(bookId, readings)
    await select(`update readings set finishedAt = '2019' where bookId = ?`, bookId)
    return (await reader.get('/stats?year=2019')).status
  }
  expect(await statusWith(2000)).toBe(200)
  expect(await statusWith(500)).toBe(409)
})

const yearOf = async (reader: Reader, year: number) => {
  const { status, body } = await reader.get(`/stats?year=${year}`)
  expect(status).toBe(200)
  const { minutesRead, longestDay, daysRead, days } = body
  const months = body.months.map(({ minutesRead }: { minutesRead: number }) => minutesRead)
  return { minutesRead, longestDay, daysRead, days, months }
}
const rowsOf = async (reader: Reader, figure: string, year = 2024) =>
  (await reader.get(`/stats/rows?year=${year}&figure=${figure}`)).body.item

it('adds up how long books were read: of devices, and where these have nothing, of events', async () => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  const [{ bookId: one }, { bookId: other }] = [await reader.createBook(), await reader.createBook()]
  await insertSittings(memberId, one, [
    { day: '2024-02-29', seconds: 90 },
    { day: '2024-02-29', seconds: 90, at: 1, document: 'another' },
    { day: '2024-03-01', seconds: 10 },
    { day: '2023-12-31', seconds: 3600 },
  ])
  await insertSittings(memberId, null, [{ document: 'waiting', day: '2024-05-05', seconds: 6000 }])
  await insertMinutes(memberId, one, Date.parse('2024-02-29T12:00:00Z'), 700)
  await insertMinutes(memberId, other, Date.parse('2024-02-29T12:00:00Z'), 2)
  const months = [0, 5, 1, ...Array(9).fill(0)]
  const longestDay = { date: '2024-02-29', minutes: 5 }
  const days = [
    { date: '2024-02-29', pages: 0, minutes: 5 },
    { date: '2024-03-01', pages: 0, minutes: 1 },
  ]
  expect(await yearOf(reader, 2024)).toEqual({ minutesRead: 5, longestDay, daysRead: 2, days, months })
  expect((await reader.get('/stats')).body).toEqual({ years: [2024, 2023] })
  const amounts = (await rowsOf(reader, 'minutesRead')).map((row: Record<string, unknown>) => [
    row.date,
    row.bookId,
    row.amount,
  ])
  expect(amounts).toEqual([
    ['2024-02-29', one, 3],
    ['2024-02-29', other, 2],
    ['2024-03-01', one, 1],
  ])
  expect((await rowsOf(reader, 'daysRead')).filter(({ at }: { at: string | null }) => at === null)).toHaveLength(2)
})

it('counts no reading time of books that are deleted, until they are restored', async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook()
  await insertSittings(await memberIdOf(reader), bookId, [{ day: '2024-05-05', seconds: 6000 }])
  const count = async () => [(await yearOf(reader, 2024)).minutesRead, (await reader.get('/stats')).body.years]
  expect(await count()).toEqual([100, [2024]])
  await reader.delete(`/books/${bookId}`)
  expect(await count()).toEqual([0, []])
  await reader.post(`/trash/book-${bookId}/restore`, undefined)
  expect(await count()).toEqual([100, [2024]])
})

it('shows hours in the picture of a year only if there are any', async () => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  const { bookId } = await reader.createBook()
  const draw = async () => (await reader.get('/stats/year.svg?year=2024')).body as string
  expect(await draw()).toContain('<title>2024: 0 books, 0 pages, 0 cm of books</title>')
  await insertMinutes(memberId, bookId, Date.parse('2024-02-28T12:00:00Z'), 59)
  expect(await draw()).toContain('<title>2024: 0 books, 0 pages, 59 minutes, 0 cm of books</title>')
  await insertSittings(memberId, bookId, [{ day: '2024-02-29', seconds: 7200 }])
  expect(await draw()).toContain('<title>2024: 0 books, 0 pages, 3 hours, 0 cm of books</title>')
})

it('refuses a year with more reading time than it reads', { tags: ['slow'] }, async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook()
  const memberId = await memberIdOf(reader)
  await insertSittings(memberId, bookId, [{ day: '2024-05-05', seconds: 60, at: -1 }])
  const insert = (rows: number) =>
    select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
      insert into sittings (memberId, tokenId, at, document, day, seconds)
      select ?1, 'token', i + (select count(*) from sittings), 'waiting', '2024-06-06', 60 from n`,
      ...[memberId, rows],
    )
  await insert(MAX_ROWS - 1)
  expect((await yearOf(reader, 2024)).minutesRead).toBe(1)
  await insert(1)
  expect((await reader.get('/stats?year=2024')).status).toBe(409)
  expect((await reader.get('/stats/year.svg?year=2024')).status).toBe(409)
})
