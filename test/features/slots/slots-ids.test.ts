import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { SessionCaller } from '../../../src/db/caller'
import { connect } from '../../../src/db/client'
import { idRange, slotOfId } from '../../../src/db/next-id'
import { NewBook, type TitledBook } from '../../../src/library/books/schema'
import { createBook, deleteBook, updateBook } from '../../../src/library/books/store'
import { uploadImage } from '../../../src/library/images/store'
import { NewMemo } from '../../../src/library/memos/schema'
import { createMemo } from '../../../src/library/memos/store'
import { createReading, listReadings } from '../../../src/library/readings/store'
import { databasesOf } from '../../../src/slots/slots'
import { DEFAULT_QUOTAS } from '../../../src/values/quotas'
import { measure, select } from '../../support/database'
import { png } from '../../support/images/pictures'
import { insertMember, sessionIdOf } from '../../support/tokens'

const NOW = '2026-01-01T00:00:00'
const CONFIG = { ...DEFAULT_QUOTAS, TIME_ZONE: 'UTC' }
const slot1 = connect(env.DB, { slot: 1 })
const { idFloor } = idRange(1)

let caller: SessionCaller
beforeAll(async () => {
  const { memberId } = await insertMember(env.DB, env.JWT_SECRET ?? '', 'ids@library.test')
  caller = { kind: 'session', slot: 1, memberId, sessionId: sessionIdOf(memberId), required: [] }
})

const book = NewBook.parse({ title: 'Demian' }) as TitledBook
const addBook = (db = slot1) => createBook({ db, caller, config: CONFIG }, book)

it('assigns identifiers in the range of the slot', async () => {
  const { bookId } = await addBook()
  expect(bookId).toBe(idFloor + 1)
  expect((await addBook()).bookId).toBe(bookId + 1)
  const memo = NewMemo.parse({ memoBookPage: 1, memoContent: 'x' })
  expect((await createMemo({ db: slot1, caller, config: CONFIG }, bookId, memo))?.memoId).toBe(idFloor + 1)
  for (const bytes of [png(), png()]) {
    await uploadImage({ db: slot1, caller, config: CONFIG }, env, { bytes, sources: ['local'] })
  }
  const images = await select('select imageId from images where memberId = ? order by imageId', caller.memberId)
  expect(images).toEqual([{ imageId: idFloor + 1 }, { imageId: idFloor + 2 }])
})

it('assigns readings the upper half of the range, also in triggers', async () => {
  const { bookId } = await addBook()
  const middle = idFloor + 2 ** 39
  const created = await createReading(slot1, caller, bookId, { finishedAt: '2020' }, DEFAULT_QUOTAS)
  expect(created?.readingId).toBe(middle + 1)
  await updateBook({ db: slot1, caller, config: CONFIG }, bookId, { bookStatus: 'ING' })
  const readings = await listReadings(slot1, caller, bookId)
  expect(readings).toMatchObject([{ readingId: middle + 2 }, { readingId: middle + 1 }])
  const other = await createReading(slot1, caller, bookId, { finishedAt: '2021' }, DEFAULT_QUOTAS)
  expect(other?.readingId).toBe(middle + 3)
})

it('never reuses the identifier of a deleted book', async () => {
  const { bookId } = await addBook()
  await deleteBook({ db: slot1, caller, config: CONFIG }, bookId)
  expect((await addBook()).bookId).toBe(bookId + 1)
})

it('ignores rows of other ranges', async () => {
  const insertOutside = 'insert into books (bookId, memberId, title, createdAt) values (?, ?, ?, ?)'
  await select(insertOutside, idRange(2).idFloor + 5, caller.memberId, 'Moved', NOW)
  const [last] = await select('select max(bookId) as id from books where bookId < ?', idRange(2).idFloor)
  expect((await addBook()).bookId).toBe(Number(last?.id) + 1)
})

it('reads as many rows in every slot', async () => {
  const inSlot0 = await measure(() => addBook(connect(env.DB)))
  expect(await measure(() => addBook())).toEqual(inSlot0)
  expect(inSlot0.read).toBeLessThanOrEqual(14)
})

it('derives the slot from an identifier', () => {
  expect([1, idFloor - 1, idFloor + 1, Number.MAX_SAFE_INTEGER].map(slotOfId)).toEqual([0, 0, 1, 8191])
})

it('ignores bindings of slots that have no identifiers', () => {
  const bindings = { DB: env.DB, DB_8191: env.SPARE_1, DB_8192: env.SPARE_2 }
  expect([...databasesOf(bindings).keys()]).toEqual([0, 8191])
})

it('assigns parts of the trash the range of the slot', async () => {
  const { bookId } = await addBook()
  await createMemo({ db: slot1, caller, config: CONFIG }, bookId, NewMemo.parse({ memoBookPage: 1, memoContent: 'x' }))
  await createReading(slot1, caller, bookId, { finishedAt: '2020' }, DEFAULT_QUOTAS)
  await createReading(slot1, caller, bookId, { finishedAt: '2021' }, DEFAULT_QUOTAS)
  await deleteBook({ db: slot1, caller, config: CONFIG }, bookId)
  const parts = await select('select partId from trashParts where bookId = ? order by partId', bookId)
  expect(parts).toEqual([{ partId: idFloor + 1 }, { partId: idFloor + 2 }])
})
