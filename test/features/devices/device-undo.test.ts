import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'
import { booksOf } from '../../support/transfer/imports'

const DEVICE = ['intake:read', 'intake:write']
const LONG_AGO = '2020-01-01T00:00:00Z'
const NOTHING = { imports: 0, books: 0, memos: 0, progress: 0, documents: 0, kept: [], hasMore: false }

let reader: Reader
let memberId: number
let tokenId: string
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  tokenId = (await reader.post('/tokens', { name: 'Kobo', scopes: DEVICE })).body.tokenId
})
afterEach(vi.useRealTimers)

const book = (title: string, more: object = {}) => ({ title, author: 'Ana Ruiz', bookStatus: 'YET', ...more })
const memo = (memoContent: string) => ({ memoContent, createdAt: '2026-01-01T00:00:00' })
const createToken = async (scopes: string[]) => (await reader.post('/tokens', { name: 'Other', scopes })).body.tokenId

/** Imports a file as a device does. */
const sendFile = async (books: object[], { token = tokenId, query = '' } = {}) => {
  const { status, importId } = await transfer.importFile(reader, libraryFile(...books), query)
  expect(status).toBe('DONE')
  await select('update imports set tokenId = ? where memberId = ? and importId = ?', token, memberId, importId)
  return importId
}
type Push = { at: string; page: number; pageBefore?: number; begins?: boolean; token?: string }
/** What a push of progress writes. */
const push = async (bookId: number, { at, page, pageBefore, begins, token = tokenId }: Push) => {
  await select(
    `insert into progress (memberId, bookId, at, page, kind, total, tokenId, pageBefore, begins)
    select ?1, ?2, ?3, ?4, 'PROGRESS', 1 + (select count(*) from progress where bookId = ?2), ?5, ?6, ?7`,
    ...[memberId, bookId, Date.parse(at), page, token, pageBefore ?? null, begins ? 1 : null],
  )
  await select(
    `update books set currentPage = (select page from progress where bookId = ?1 order by at desc limit 1) where bookId = ?1`,
    bookId,
  )
  if (begins) await select(`update books set bookStatus = 'ING' where bookId = ?`, bookId)
}
const changes = async (query = '', token = tokenId) => (await reader.get(`/tokens/${token}/changes${query}`)).body
const undo = async (since = LONG_AGO, token = tokenId) => {
  const { status, body } = await reader.post(`/tokens/${token}/undo`, { since })
  expect(status).toBe(200)
  expect(await findMismatches(memberDatabase())).toEqual([])
  return body
}
const trash = async () => (await reader.get('/trash')).body.item
const exported = async () => (await reader.get('/export')).body.books
const eventsOf = async (bookId: number) =>
  (await reader.get(`/books/${bookId}/progress`)).body.item.map(({ page }: { page: number }) => page)

describe('undoing a device', () => {
  it('moves the books that it added to the trash, from which they come back whole', async () => {
    await sendFile([book('Low Tide', { memos: [memo('One.'), memo('Two.')], tags: ['sea'] }), book('Lamp')])
    const before = await exported()
    expect(await undo()).toEqual({ ...NOTHING, imports: 1, books: 2 })
    expect(await booksOf(reader)).toEqual([])
    const items = await trash()
    expect(items).toMatchObject([{ kind: 'book' }, { kind: 'book' }])
    for (const { trashId } of items) expect((await reader.send('POST', `/trash/${trashId}/restore`)).status).toBe(200)
    expect(await exported()).toEqual(before)
    expect(await changes()).toEqual({ item: [], next: null })
    expect(await undo()).toEqual(NOTHING)
  })

  it('moves the memos that it added to books of the library to the trash, and restores what it filled', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    await reader.createMemo(bookId, { memoContent: 'Mine.' })
    const before = await exported()
    await sendFile([book('Low Tide', { memos: [memo('One.'), memo('Two.')], publisher: 'Quay House' })])
    expect(await undo()).toEqual({ ...NOTHING, imports: 1, memos: 2 })
    expect(await exported()).toEqual(before)
    expect((await trash()).map(({ excerpt }: { excerpt: string }) => excerpt).sort()).toEqual(['One.', 'Two.'])
    const [{ trashId }] = await trash()
    expect((await reader.send('POST', `/trash/${trashId}/restore`)).status).toBe(200)
  })

  it('keeps what was changed since, and lists it', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    await sendFile([book('Low Tide', { memos: [memo('One.')], publisher: 'Quay House' }), book('Lamp')])
    const lamp = (await booksOf(reader)).find(({ title }: { title: string }) => title === 'Lamp')
    await reader.patch(`/books/${bookId}`, { publisher: 'Mine' })
    await reader.createMemo(lamp.bookId, { memoContent: 'Mine.' })
    expect(await undo()).toEqual({
      ...{ ...NOTHING, imports: 1, memos: 1 },
      kept: [
        { bookId, title: 'Low Tide', left: ['publisher'] },
        { bookId: lamp.bookId, title: 'Lamp', left: ['all'] },
      ],
    })
    expect(await booksOf(reader)).toHaveLength(2)
  })

  it('undoes a later import before the earlier one whose book it changed', async () => {
    await sendFile([book('Low Tide', { memos: [memo('One.')] })])
    await sendFile([book('Low Tide', { memos: [memo('One.'), memo('Two.')] })])
    expect(await undo()).toEqual({ ...NOTHING, imports: 2, books: 1, memos: 1 })
    expect(await booksOf(reader)).toEqual([])
  })

  it('leaves what it did before, and what other devices and the member did', async () => {
    const other = await createToken(DEVICE)
    const first = await sendFile([book('Low Tide')])
    const second = await sendFile([book('Lamp')])
    await sendFile([book('Salt')], { token: other })
    await transfer.importFile(reader, libraryFile(book('Mine')))
    // The first import is of an earlier second.
    await select('update imports set importId = importId - 5000 where memberId = ? and importId = ?', memberId, first)
    await select(
      'update importRows set importId = importId - 5000 where memberId = ? and importId = ?',
      memberId,
      first,
    )
    expect(await undo(new Date(second - 2000).toISOString())).toEqual({ ...NOTHING, imports: 1, books: 1 })
    const titles = (await booksOf(reader)).map(({ title }: { title: string }) => title)
    expect(titles.sort()).toEqual(['Low Tide', 'Mine', 'Salt'])
    expect((await changes()).item).toHaveLength(1)
  })
})

describe('undoing progress of a device', () => {
  const at = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z`

  it('goes back to the event before', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    await reader.post(`/books/${bookId}/progress`, { page: 10, at: at(1) })
    const before = await exported()
    for (const minute of [2, 3, 4]) await push(bookId, { at: at(minute), page: 10 * minute })
    expect(await undo(at(3))).toEqual({ ...NOTHING, progress: 2 })
    expect(await eventsOf(bookId)).toEqual([20, 10])
    expect(await undo()).toEqual({ ...NOTHING, progress: 1 })
    expect(await exported()).toEqual(before)
  })

  it('keeps later progress of others', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    const other = await createToken(DEVICE)
    await push(bookId, { at: at(1), page: 10 })
    await push(bookId, { at: at(2), page: 20, token: other })
    await push(bookId, { at: at(3), page: 30 })
    await reader.post(`/books/${bookId}/progress`, { page: 40, at: at(4) })
    expect(await undo()).toEqual({ ...NOTHING, progress: 2 })
    expect(await eventsOf(bookId)).toEqual([40, 20])
    expect(await booksOf(reader)).toMatchObject([{ currentPage: 40 }])
  })

  it('gives a book without other progress its page of before, and ends the reading that it began', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, currentPage: 5 }))
    const before = await exported()
    await push(bookId, { at: at(1), page: 10, pageBefore: 5, begins: true })
    await push(bookId, { at: at(2), page: 20, pageBefore: 10 })
    expect(await booksOf(reader)).toMatchObject([{ bookStatus: 'ING', currentPage: 20 }])
    expect(await undo()).toEqual({ ...NOTHING, progress: 2 })
    expect(await exported()).toEqual(before)
    expect(await select('select * from progress where memberId = ?', memberId)).toEqual([])
  })

  it('keeps the reading that it began if it was continued since, and lists it', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300 }))
    await push(bookId, { at: at(1), page: 10, pageBefore: 0, begins: true })
    await reader.post(`/books/${bookId}/progress`, { page: 40, at: at(4) })
    const kept = [{ bookId, title: 'Low Tide', left: ['history'] }]
    expect(await undo()).toEqual({ ...NOTHING, progress: 1, kept })
    expect(await booksOf(reader)).toMatchObject([{ bookStatus: 'ING', currentPage: 40 }])
  })

  it('moves a book that the device added and then began to the trash', async () => {
    await sendFile([book('Low Tide', { itemPage: 300 })])
    const [{ bookId }] = await booksOf(reader)
    await push(bookId, { at: new Date().toISOString(), page: 10, pageBefore: 0, begins: true })
    expect(await undo()).toEqual({ ...NOTHING, imports: 1, books: 1, progress: 1 })
    expect(await booksOf(reader)).toEqual([])
  })
})

describe('documents', () => {
  const insertDocument = (document: string, createdAt: number, values: object = {}) => {
    const row = { bookId: null, tokenId: null, linkedAt: null, isByHand: 0, ...values }
    return select(
      `insert into documents (memberId, document, createdAt, bookId, tokenId, linkedAt, isByHand) values (?, ?, ?, ?, ?, ?, ?)`,
      ...[memberId, document, createdAt, row.bookId, row.tokenId, row.linkedAt, row.isByHand],
    )
  }
  const insertPosition = (document: string, at: number, token = tokenId) =>
    select(
      `insert into positions (memberId, document, tokenId, at, percentage, progress) values (?, ?, ?, ?, 0.5, 'x')`,
      ...[memberId, document, token, at],
    )

  it('that its pushes linked lose their book, those of others and by hand keep it', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    const other = await createToken(DEVICE)
    await insertDocument('earlier', 1000, { bookId, tokenId, linkedAt: 1000 })
    await insertDocument('linked', 1000, { bookId, tokenId, linkedAt: 3000 })
    await insertDocument('other', 3000, { bookId, tokenId: other, linkedAt: 3000 })
    await insertDocument('by hand', 3000, { bookId, isByHand: 1 })
    await insertDocument('waiting', 3000)
    await insertDocument('shared', 3000)
    for (const name of ['earlier', 'linked', 'by hand', 'waiting', 'shared']) await insertPosition(name, 3000)
    await insertPosition('shared', 3000, other)
    const link = { kind: 'document', import: null, book: { bookId, title: 'Low Tide' }, page: null }
    expect((await changes()).item).toEqual([
      { at: '1970-01-01T00:00:03Z', ...link, document: 'linked' },
      { at: '1970-01-01T00:00:01Z', ...link, document: 'earlier' },
    ])
    expect(await undo('1970-01-01T00:00:02Z')).toEqual({ ...NOTHING, documents: 1 })
    const rows = await select('select document, bookId from documents where memberId = ? order by 1', memberId)
    expect(rows).toEqual([
      { document: 'by hand', bookId },
      { document: 'earlier', bookId },
      { document: 'linked', bookId: null },
      { document: 'other', bookId },
      { document: 'shared', bookId: null },
    ])
    expect(await select('select tokenId from positions where memberId = ?', memberId)).toEqual([{ tokenId: other }])
  })
})

describe('the list of what a device did', () => {
  it('has pages, newest first', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    const { bookId: other } = await reader.createBook(book('Lamp', { itemPage: 300, bookStatus: 'ING' }))
    const importId = await sendFile([book('Salt')])
    const at = new Date(importId).toISOString()
    for (const id of [bookId, other]) await push(id, { at, page: 7 })
    const all = (await changes()).item
    expect(all).toMatchObject([
      { kind: 'import', import: { importId, counts: { created: 1 } }, book: null, page: null },
      { kind: 'progress', import: null, book: { bookId: other, title: 'Lamp' }, page: 7 },
      { kind: 'progress', book: { bookId } },
    ])
    const pages = []
    for (let next: string | null = ''; next !== null; ) {
      const page: { item: object[]; next: string | null } = await changes(`?size=1${next && `&cursor=${next}`}`)
      pages.push(...page.item)
      next = page.next
    }
    expect(pages).toEqual(all)
  })

  it('and its undo work after the token was deleted', async () => {
    await sendFile([book('Low Tide')])
    expect((await reader.delete(`/tokens/${tokenId}`)).status).toBe(204)
    expect((await changes()).item).toHaveLength(1)
    expect(await undo()).toMatchObject({ imports: 1, books: 1 })
  })

  it('are refused for other tokens, and to other members', async () => {
    const ordinary = await createToken(['library:read'])
    await sendFile([book('Low Tide')])
    const stranger = await signUp()
    for (const [caller, token, message] of [
      [reader, ordinary, /^Not the token of a device/],
      [reader, crypto.randomUUID(), /^Access token not found/],
      [stranger, tokenId, /^Access token not found/],
    ] as const) {
      const answers = [
        await caller.get(`/tokens/${token}/changes`),
        await caller.post(`/tokens/${token}/undo`, { since: LONG_AGO }),
      ]
      const body = { message: expect.stringMatching(message) }
      expect(answers).toMatchObject([
        { status: 404, body },
        { status: 404, body },
      ])
    }
    expect(await booksOf(reader)).toHaveLength(1)
  })
})
