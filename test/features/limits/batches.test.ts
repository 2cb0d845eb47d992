// @module-tag slow
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { MAX_EVENTS } from '../../../src/values/prices'
import { DEFAULT_QUOTAS } from '../../../src/values/quotas'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, listChanges, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'

const MAX_BATCH_ROWS = 10_000

/** A full log, so that each entry also trims one. */
const fillLog = (memberId: number) =>
  select(
    `with recursive n(i) as (select 20000 union all select i + 1 from n where i < 40000)
    insert into changes (memberId, seq, kind, id, proof) select ?, i, 0, 0, 0 from n`,
    memberId,
  )
const createReader = async () => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  return { reader, memberId }
}
const fillMemos = (bookId: number, count: number) =>
  select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select (select coalesce(max(memoId), bookId) from memos) + i, bookId, memberId,
      (select coalesce(max(position), 0) from memos as m where m.memberId = books.memberId) + i,
      'SUMMARY', 'x', 1, 'PUBLIC', '2020-01-01T00:00:00', '2020-01-01T00:00:00'
    from n cross join books on bookId = ?1`,
    ...[bookId, count],
  )
const fillEvents = (bookId: number, count: number, offset = 0) =>
  select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
    insert into progress (memberId, bookId, at, page, kind, total)
    select memberId, bookId, i * 1000 + ?3, 0, 'PROGRESS', i from n cross join books on bookId = ?1`,
    ...[bookId, count, offset],
  )
const fillReadings = (bookId: number, count: number) =>
  select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
    insert into readings (readingId, memberId, bookId, createdAt, finishedAt, outcome)
    select (bookId >> 40 << 40) + (1 << 39) + 1000 * bookId + i, memberId, bookId, 0, '2001-01-01', 'FINISHED'
    from n cross join books on bookId = ?1`,
    ...[bookId, count],
  )
const putTags = async (reader: Reader, bookId: number, tags: string[]) =>
  expect((await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })).status).toBe(200)
const TAGS = Array.from({ length: 30 }, (_, n) => `Tag ${n}`)

const expectSmall = async (request: () => Promise<unknown>) => {
  const changes = await listChanges(request)
  expect(Math.max(...changes)).toBeLessThanOrEqual(MAX_BATCH_ROWS)
  expect(await findMismatches(memberDatabase())).toEqual([])
  return changes
}

describe('no batch changes more than 10,000 rows', () => {
  it('deletes the largest book in one, and restores it after one that makes room in the log', async () => {
    const { reader, memberId } = await createReader()
    const { bookId } = await reader.createBook()
    await fillMemos(bookId, DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK)
    await fillEvents(bookId, MAX_EVENTS)
    await fillReadings(bookId, 200)
    await putTags(reader, bookId, TAGS)
    await fillLog(memberId)
    // Otherwise the last memos are those of the book.
    await fillMemos((await reader.createBook()).bookId, DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK)
    const changes = await expectSmall(async () => expect((await reader.delete(`/books/${bookId}`)).status).toBe(204))
    expect(changes).toEqual([expect.any(Number)])
    expect(changes[0]).toBeGreaterThan(7000)
    const restored = await expectSmall(async () =>
      expect(await reader.post(`/trash/book-${bookId}/restore`, undefined)).toMatchObject({
        ...{ status: 200, body: { book: { memoCount: DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK } } },
      }),
    )
    expect(restored).toHaveLength(3)
    expect(restored[2]).toBeGreaterThan(7000)
  })

  it('merges the largest books in one, takes them apart again, and says so if the other one has too many memos', async () => {
    const { reader, memberId } = await createReader()
    const [{ bookId }, { bookId: from }] = [await reader.createBook(), await reader.createBook()]
    await fillMemos(from, 2501)
    await fillMemos(bookId, 499)
    await fillEvents(from, MAX_EVENTS, 500)
    await fillReadings(from, 199)
    await putTags(reader, from, TAGS)
    await fillLog(memberId)
    const merge = () => reader.post(`/books/${bookId}/merge`, { from })
    const refused = await merge()
    expect(refused).toMatchObject({ status: 400, body: { fieldErrors: [{ field: 'from' }] } })
    expect(refused.body.fieldErrors[0].reason).toMatch(/: merge the other way round$/)
    const [memo] = await select('select memoId from memos where bookId = ? limit 1', from)
    expect((await reader.delete(`/memos/${memo?.memoId}`)).status).toBe(204)
    const changes = await expectSmall(async () =>
      expect(await merge()).toMatchObject({ status: 200, body: { memoCount: 2999 } }),
    )
    expect(changes[0]).toBeGreaterThan(9000)
    await expectSmall(async () =>
      expect(await reader.post(`/trash/book-${from}/restore`, undefined)).toMatchObject({
        ...{ status: 200, body: { book: { memoCount: 2500 } } },
      }),
    )
  })

  it('deletes and merges tags of 20,000 books in several, which repeating the request continues', async () => {
    const { reader, memberId } = await createReader()
    await fillShelf(memberId, 10_000)
    const create = async (tagId: number, tag: string, condition: string) => {
      await select(
        `insert into tags (memberId, tagId, tag, tagKey) values (${memberId}, ${tagId}, '${tag}', lower('${tag}'))`,
      )
      await select(
        `insert into bookTags select memberId, ${tagId}, bookId from books where memberId = ${memberId} and ${condition}`,
      )
    }
    await create(1, 'All', 'true')
    await create(2, 'Even', 'bookId % 2 = 0')
    await create(3, 'Odd', 'bookId % 2 = 1')
    await fillLog(memberId)
    const tags = async () => (await reader.get('/tags')).body
    const merged = await expectSmall(async () =>
      expect((await reader.patch('/tags', { from: 'even', to: 'odd' })).body).toEqual({
        tag: 'Odd',
        bookCount: 10_000,
      }),
    )
    expect(merged.length).toBeGreaterThan(5)
    const deleted = await expectSmall(async () => expect((await reader.delete('/tags?tag=all')).status).toBe(204))
    expect(deleted).toHaveLength(4)
    expect(await tags()).toEqual([{ tag: 'Odd', bookCount: 10_000 }])
  })

  it('imports the largest books, and undoes that', async () => {
    const { reader, memberId } = await createReader()
    await fillLog(memberId)
    const memos = Array.from({ length: DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK }, (_, n) => ({ memoContent: `${n}` }))
    const progress = Array.from({ length: MAX_EVENTS }, (_, n) => ({
      ...{ at: new Date(n * 60_000).toISOString(), page: n, kind: 'PROGRESS' },
    }))
    const readings = Array.from({ length: 201 }, (_, n) => ({ finishedAt: String(1900 + (n % 120)) }))
    const book = { memos, progress, readings, tags: TAGS }
    const file = libraryFile({ title: 'First', ...book }, { title: 'Second', ...book }, { title: 'Small' })
    let importId = 0
    await expectSmall(async () => {
      importId = (await transfer.importFile(reader, file)).importId
    })
    const books = () => select('select title, memoCount from books where memberId = ? order by title', memberId)
    const [memoCount, none] = [memos.length, 0]
    expect(await books()).toEqual([
      { title: 'First', memoCount },
      { title: 'Second', memoCount },
      { title: 'Small', memoCount: none },
    ])
    await expectSmall(async () =>
      expect((await reader.delete(`/imports/${importId}`)).body).toMatchObject({ removed: 3, kept: [] }),
    )
    expect(await books()).toEqual([])
  })

  it('adds the memos of the largest books to others, and undoes that', async () => {
    const { reader, memberId } = await createReader()
    await fillLog(memberId)
    const { bookId } = await reader.createBook({ title: 'First', author: 'A' })
    const memos = Array.from({ length: DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK }, (_, n) => ({ memoContent: `${n}` }))
    const file = libraryFile({ title: 'First', author: 'A', memos })
    let importId = 0
    await expectSmall(async () => {
      importId = (await transfer.importFile(reader, file)).importId
    })
    const count = async () => (await select('select memoCount from books where bookId = ?', bookId))[0]?.memoCount
    expect(await count()).toBe(memos.length)
    await expectSmall(async () =>
      expect((await reader.delete(`/imports/${importId}`)).body).toMatchObject({ restored: 1 }),
    )
    expect(await count()).toBe(0)
  })
})
