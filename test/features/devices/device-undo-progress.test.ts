import { beforeEach, describe, expect, it } from 'vitest'
import type { Reader } from '../../support/api'
import { select } from '../../support/database'
import { book, createUndoer, NOTHING, type Undoer } from '../../support/devices/undoer'
import { booksOf } from '../../support/transfer/imports'

let undoer: Undoer
let reader: Reader
let memberId: number
let tokenId: string
beforeEach(async () => {
  undoer = await createUndoer()
  ;({ reader, memberId, tokenId } = undoer)
})

describe('undoing progress of a device', () => {
  const at = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z`

  it('goes back to the event before', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    await reader.post(`/books/${bookId}/progress`, { page: 10, at: at(1) })
    const before = await undoer.exported()
    for (const minute of [2, 3, 4]) await undoer.push(bookId, { at: at(minute), page: 10 * minute })
    expect(await undoer.undo(at(3))).toEqual({ ...NOTHING, progress: 2 })
    expect(await undoer.eventsOf(bookId)).toEqual([20, 10])
    expect(await undoer.undo()).toEqual({ ...NOTHING, progress: 1 })
    expect(await undoer.exported()).toEqual(before)
  })

  it('keeps later progress of others', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    const { tokenId: other } = await undoer.createToken()
    await undoer.push(bookId, { at: at(1), page: 10 })
    await undoer.push(bookId, { at: at(2), page: 20, token: other })
    await undoer.push(bookId, { at: at(3), page: 30 })
    await reader.post(`/books/${bookId}/progress`, { page: 40, at: at(4) })
    expect(await undoer.undo()).toEqual({ ...NOTHING, progress: 2 })
    expect(await undoer.eventsOf(bookId)).toEqual([40, 20])
    expect(await booksOf(reader)).toMatchObject([{ currentPage: 40 }])
  })

  it('gives a book without other progress its page of before, and ends the reading that it began', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, currentPage: 5 }))
    const before = await undoer.exported()
    await undoer.push(bookId, { at: at(1), page: 10, pageBefore: 5, begins: true })
    await undoer.push(bookId, { at: at(2), page: 20, pageBefore: 10 })
    expect(await booksOf(reader)).toMatchObject([{ bookStatus: 'ING', currentPage: 20 }])
    expect(await undoer.undo()).toEqual({ ...NOTHING, progress: 2 })
    expect(await undoer.exported()).toEqual(before)
    expect(await select('select * from progress where memberId = ?', memberId)).toEqual([])
  })

  it('keeps the reading that it began if it was continued since, and lists it', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300 }))
    await undoer.push(bookId, { at: at(1), page: 10, pageBefore: 0, begins: true })
    await reader.post(`/books/${bookId}/progress`, { page: 40, at: at(4) })
    const kept = [{ bookId, title: 'Low Tide', left: ['history'] }]
    expect(await undoer.undo()).toEqual({ ...NOTHING, progress: 1, kept })
    expect(await booksOf(reader)).toMatchObject([{ bookStatus: 'ING', currentPage: 40 }])
  })

  it('moves a book that the device added and then began to the trash', async () => {
    await undoer.sendFile([book('Low Tide', { itemPage: 300 })])
    const [{ bookId }] = await booksOf(reader)
    await undoer.push(bookId, { at: new Date().toISOString(), page: 10, pageBefore: 0, begins: true })
    expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 1, books: 1, progress: 1 })
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
      `insert into positions (memberId, document, tokenId, at, percentage, progress, device, deviceId)
      values (?, ?, ?, ?, 0.5, 'x', 'Kobo', '1')`,
      ...[memberId, document, token, at],
    )

  it('that its pushes linked lose their book, those of others and by hand keep it', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    const { tokenId: other } = await undoer.createToken()
    await insertDocument('earlier', 1000, { bookId, tokenId, linkedAt: 1000 })
    await insertDocument('linked', 1000, { bookId, tokenId, linkedAt: 3000 })
    await insertDocument('other', 3000, { bookId, tokenId: other, linkedAt: 3000 })
    await insertDocument('by hand', 3000, { bookId, isByHand: 1 })
    await insertDocument('waiting', 3000)
    await insertDocument('shared', 3000)
    for (const name of ['earlier', 'linked', 'by hand', 'waiting', 'shared']) await insertPosition(name, 3000)
    await insertPosition('shared', 3000, other)
    const link = { kind: 'document', import: null, book: { bookId, title: 'Low Tide' }, page: null, minutes: null }
    expect((await undoer.changes()).item).toEqual([
      { at: '1970-01-01T00:00:03Z', ...link, documentId: 'linked' },
      { at: '1970-01-01T00:00:01Z', ...link, documentId: 'earlier' },
    ])
    expect(await undoer.undo('1970-01-01T00:00:02Z')).toEqual({ ...NOTHING, documents: 1 })
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
