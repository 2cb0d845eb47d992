// @module-tag slow
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { MAX_SITTINGS } from '../../../src/devices/statistics/schema'
import { READER_PROTOCOL, type ReaderBinding } from '../../../src/transfer/entries/reader-protocol'
import { MAX_DOCUMENTS, MAX_EVENTS } from '../../../src/values/prices'
import { DEFAULT_QUOTAS } from '../../../src/values/quotas'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, listChanges, memberDatabase, select } from '../../support/database'
import { addRawDevice } from '../../support/devices/raw-device'
import { md5Of } from '../../support/devices/statistics-file'
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

  it('changes 200 books in one, with as many tags as a request may have', async () => {
    const { reader, memberId } = await createReader()
    await fillShelf(memberId, 200)
    const ids = (await select('select bookId from books where memberId = ? order by bookId', memberId)).map(
      ({ bookId }) => Number(bookId),
    )
    const patch = (body: object) => reader.send('PATCH', '/books', { body: { ids, ...body } })
    const removed = TAGS.slice(0, 3)
    expect((await patch({ addTags: removed })).status).toBe(200)
    await select(
      `update books set bookStatus = 'ING', note = 'x', author = 'Author ' || bookId, titleFolded = null where memberId = ?`,
      memberId,
    )
    await fillLog(memberId)
    const dates = { readStartDate: '2026-01-01T00:00:00', readEndDate: '2026-01-02T00:00:00' }
    const texts = { author: 'Another', publisher: 'Another', series: 'Another', language: 'ko' }
    const sizes: number[] = []
    for (const bookStatus of ['YET', 'DONE', 'ING']) {
      const set = {
        ...dates,
        ...texts,
        author: bookStatus,
        star: sizes.length + 1,
        bookStatus,
        publishedYear: sizes.length,
      }
      const change = { set, addTags: [`${bookStatus} 1`, `${bookStatus} 2`], removeTags: removed }
      const answer = () => patch(change).then(({ status }) => expect(status).toBe(200))
      sizes.push(...(await expectSmall(answer)))
      await patch({ addTags: removed })
    }
    expect(sizes).toHaveLength(3)
    expect(Math.max(...sizes)).toBeGreaterThan(6000)
  })

  it('finishes books with as many events as it may merge in one', async () => {
    const { reader, memberId } = await createReader()
    await fillShelf(memberId, 3)
    const books = await select('select bookId from books where memberId = ? order by bookId', memberId)
    const ids = books.map(({ bookId }) => Number(bookId))
    for (const id of ids) await fillEvents(id, MAX_EVENTS)
    await fillLog(memberId)
    await select(`update books set bookStatus = 'ING' where memberId = ?`, memberId)
    const finish = () => reader.send('PATCH', '/books', { body: { ids, set: { bookStatus: 'DONE' } } })
    const [changes = 0] = await expectSmall(async () => expect((await finish()).status).toBe(200))
    expect(changes).toBeGreaterThan(8000)
  })

  it('deletes as many of the first books as fit one, of a member above the quota', async () => {
    const { reader, memberId } = await createReader()
    await fillShelf(memberId, 200)
    const ids = (await select('select bookId from books where memberId = ? order by bookId', memberId)).map(
      ({ bookId }) => Number(bookId),
    )
    for (let from = 0; from < 200; from += 33) {
      const some = ids.slice(from, from + 33)
      expect((await reader.send('PATCH', '/books', { body: { ids: some, addTags: TAGS } })).status).toBe(200)
    }
    for (const id of ids.slice(0, 5)) {
      await fillEvents(id, 200)
      await fillReadings(id, 50)
      await fillMemos(id, 300)
    }
    // Otherwise the last memos are those of the books.
    await fillMemos((await reader.createBook()).bookId, 1)
    await fillLog(memberId)
    const remove = async (left: number[]) =>
      (await reader.send('POST', '/books/delete', { body: { ids: left } })).body as Record<'deleted' | 'left', number[]>
    const sizes: number[] = []
    for (let left = ids; left.length > 0; ) {
      sizes.push(
        ...(await expectSmall(async () => {
          const answer = await remove(left)
          expect(answer.deleted).toEqual(left.slice(0, answer.deleted.length))
          left = answer.left
        })),
      )
      await select('update members set maxTextBytes = 1000 where memberId = ?', memberId)
    }
    expect(sizes.length).toBeLessThan(10)
    expect(Math.max(...sizes)).toBeGreaterThan(4500)
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

  it('counts as much reading time as a part of a file may have in one', async () => {
    const { reader, memberId } = await createReader()
    const { bookId } = await reader.createBook()
    const device = await addRawDevice(reader)
    const documents = Array.from({ length: MAX_DOCUMENTS }, (_, n) => ({
      ...{ document: md5Of(n), title: `Book ${n}`, authors: 'Ana Ruiz' },
    }))
    await select(
      `insert into documents (memberId, document, createdAt, bookId) select ?, value ->> 'document', 1, ? from json_each(?)`,
      ...[memberId, bookId, JSON.stringify(documents)],
    )
    await fillLog(memberId)
    const added = Array.from({ length: MAX_SITTINGS }, (_, n) => ({
      ...{ document: n % documents.length, day: n < documents.length ? '2026-01-01' : '2026-01-02', seconds: 60 },
    }))
    const answer = { protocol: READER_PROTOCOL, documents, added, isComplete: true, missing: null }
    const READER = { readStatistics: async () => answer } as unknown as ReaderBinding
    const changes = await expectSmall(async () => {
      const sent = await device.send('PUT', '/dav/statistics.sqlite3', { body: 'x' }, { READER })
      expect(sent).toMatchObject({ status: 204 })
    })
    expect(Math.max(...changes)).toBeGreaterThan(8000)
    expect(await select('select count(*) as n from sittings where memberId = ?', memberId)).toEqual([
      { n: MAX_SITTINGS },
    ])
  })
})
