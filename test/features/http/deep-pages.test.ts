import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { changeDatabase, measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { refusing, unlimited } from '../../support/rate-limits'
import { countConcurrent } from '../../support/runtime/concurrent'
import { wrapDatabase } from '../../support/wrap-database'

const { SEED } = env as typeof env & { SEED: number }

const changed = { MEMBER_LIMIT: unlimited }
const DEEP = 5000
const [UNREAD, OLD, DONE] = [12_000, 11_000, 11_001]
const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)'
const lastId = (table: string, id: string) => `(select coalesce(max(${id}), 0) from ${table})`

/** A member whose lists have 11,000 items and more, many of them with equal dates. */
const createLibrary = async () => {
  const reader = await signUp()
  await reader.createBook({ title: 'First' })
  const memberId = await memberIdOf(reader)
  const insertBooks = `${numbers}
    insert into books (bookId, memberId, title, createdAt, bookStatus, readEndDate)
    select ${lastId('books', 'bookId')} + i, ?1, 'Book ' || i,
      case when i > ${OLD} then '2999-01-01T00:00:00' else strftime('%Y-%m-%dT00:00:00', (i * 7919 % 1000) * 86400, 'unixepoch') end,
      ?3, case ?3 when 'DONE' then strftime('%Y-%m-%dT00:00:00', (i * 7919 % 1000) * 86400, 'unixepoch') end
    from n`
  const statements: [sql: string, ...values: unknown[]][] = [
    [insertBooks, memberId, UNREAD, 'YET'],
    [insertBooks, memberId, DONE, 'DONE'],
    [
      `insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select ${lastId('memos', 'memoId')} + row_number() over (order by bookId), bookId, memberId, row_number() over (order by bookId),
        'SUMMARY', 'x', 1, 'PRIVATE', '2020-01-01T00:00:00', '2020-01-01T00:00:00' from books where memberId = ?1 and bookStatus = 'YET'`,
      memberId,
    ],
    [`insert into tags (memberId, tagId, tag, tagKey) values (?1, 1, 'all', 'all')`, memberId],
    [`insert into bookTags (memberId, tagId, bookId) select ?1, 1, bookId from books where memberId = ?1`, memberId],
    [
      `${numbers} insert into images (imageId, memberId, name, type, bytes, createdAt)
      select ${lastId('images', 'imageId')} + i, ?1, printf('%022d.png', i), 'image/png', 1, '2020-01-01T00:00:00' from n`,
      memberId,
      DONE,
    ],
  ]
  const database = memberDatabase()
  await database.batch(statements.map(([sql, ...values]) => database.prepare(sql).bind(...values)))
  return { reader, memberId }
}

let reader: Reader
let memberId: number
beforeAll(async () => {
  ;({ reader, memberId } = await createLibrary())
})

// `extra`: rows read to count the list.
describe.each([
  ['/books/library?bookStatus=YET', 'bookId', `from books where bookStatus = 'YET' and`, 'bookId desc', 0],
  ['/books/calender?', 'bookId', `from books where bookStatus = 'DONE' and`, 'readEndDate desc, bookId desc', 0],
  [
    '/books/abandon?',
    'bookId',
    `from books where createdAt < '2026' and bookStatus = 'YET' and`,
    'createdAt, bookId',
    7000,
  ],
  ['/books/memo-books?', 'bookId', 'from books where memoCount > 0 and', 'bookId desc', 0],
  ['/books/tagged?tag=all', 'bookId', 'from books where', 'bookId desc', 0],
  ['/images?', 'name', 'from images where', 'imageId desc', 0],
])('deep pages of %s', (path, key, from, order, extra) => {
  let whole: unknown[]
  beforeAll(async () => {
    const text = `select ${key} as key ${from} memberId = ? order by ${order}`
    whole = (await select(text, memberId)).map((row) => row.key)
    expect(whole.length).toBeGreaterThan(2 * DEEP)
  })

  /** Compares a page with a slice of the whole list, and its cost with the distance to the nearer end. */
  const checkPage = async (page: number, size: number) => {
    const offset = (page - 1) * size
    let keys: unknown[] = []
    let totalElements = 0
    const cost = await measure(async () => {
      const { body } = await reader.send('GET', `${path}&page=${page}&size=${size}`, { changed })
      keys = body.item.map((item: Record<string, unknown>) => item[key])
      totalElements = body.pageInfo.totalElements
    })
    expect([totalElements, cost.calls]).toEqual([whole.length, 1])
    expect(keys).toEqual(whole.slice(offset, offset + size))
    // An item is read from an index and its table, and perhaps sorted.
    const nearest = Math.min(offset, Math.max(0, whole.length - offset))
    expect(cost.read).toBeLessThanOrEqual(nearest + 4 * size + extra + 60)
  }

  it(`are slices of the whole list (SEED=${SEED})`, async () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(1, 2, 999, 1000))
    const position = fc.integer({ min: DEEP, max: 13_000 })
    const check = ([size, position]: [number, number]) => checkPage(Math.ceil(position / size) + 1, size)
    await fc.assert(fc.asyncProperty(fc.tuple(size, position), check), { seed: SEED, numRuns: 25 })
  })

  it('begin and end where the list does', async () => {
    const half = Math.floor(whole.length / 2)
    for (const offset of [DEEP, DEEP + 1, half - 1, half, half + 1, whole.length - 1, whole.length, whole.length + 1]) {
      await checkPage(offset + 1, 1)
    }
    for (const size of [999, 1000]) await checkPage(Math.ceil(whole.length / size), size)
    await checkPage(2_147_483_647, 1000)
  })
})

it.each([
  ['pages beyond an offset of 5,000', '/books/library?bookStatus=YET&page=5002&size=1', 2],
  ['pages of many abandoned books', '/books/abandon?page=1&size=1', 2],
  ['other pages', '/books/library?bookStatus=YET&page=5001&size=1', 5],
])('reads %s: %s, %i at a time', async (_, path, expected) => {
  await reader.get(path)
  const { seen, intercept } = countConcurrent(expected)
  const database = wrapDatabase(memberDatabase(), intercept)
  const read = async () =>
    (await reader.send('GET', path, { changed: { ...changed, ...changeDatabase(database) } })).status
  expect(await Promise.all(Array.from({ length: 5 }, read))).toEqual(Array(5).fill(200))
  expect(seen.highest).toBe(expected)
})

it('limits deep pages per member, but not other pages', async () => {
  const path = '/books/library?bookStatus=YET&size=10'
  // The page that exceeds the limit is answered before it is counted.
  expect((await reader.send('GET', `${path}&page=502`, { changed: { MEMBER_LIMIT: refusing } })).status).toBe(200)
  expect((await reader.get(`${path}&page=502`)).status).toBe(429)
  expect((await reader.get(`${path}&page=501`)).status).toBe(200)
})
