import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import type { Bindings } from '../../../src/env'
import { BASE, handle, type Reader, signUp } from '../../support/api'
import { listChanges, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { UNLIMITED } from '../../support/rate-limits'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'
import { booksOf } from '../../support/transfer/imports'
import { wrapEnv } from '../../support/wrap-database'

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
afterEach(vi.restoreAllMocks)

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
  const { status, body } = await reader.send('POST', `/tokens/${token}/undo`, { body: { since }, changed: UNLIMITED })
  expect(status).toBe(200)
  expect(await findMismatches(memberDatabase())).toEqual([])
  return body
}
const trash = async () => (await reader.get('/trash')).body.item
const exported = async () => (await reader.get('/export')).body.books
const eventsOf = async (bookId: number) =>
  (await reader.get(`/books/${bookId}/progress`)).body.item.map(({ page }: { page: number }) => page)

describe('undoing a device', () => {
  it('takes back its progress, links, highlights and their edits', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'YET' }))
    await reader.createMemo(bookId, { memoContent: 'Mine.' })
    const before = await exported()
    const { body } = await reader.post('/tokens', { name: 'Tablet', scopes: DEVICE, startsBooks: true })
    const post = async (method: string, path: string, sent: object) => {
      const request = new Request(BASE + path, {
        method,
        headers: { Authorization: `Token ${body.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(sent),
      })
      expect((await handle(request)).status).toBe(200)
    }
    const highlight = (title: string, text: string) => ({
      ...{ text, title, author: 'Ana Ruiz', category: 'books', highlighted_at: '2026-03-14T10:15:30Z' },
      highlight_url: `https://reader.example/${title}`,
    })
    const metadata = { title: 'Low Tide', authors: 'Ana Ruiz', filename: 'a.epub' }
    await post('PUT', '/koreader/syncs/progress', { document: 'a', progress: 'x', percentage: 0.1, metadata })
    const send = (...highlights: object[]) => post('POST', '/readwise/api/v2/highlights/', { highlights })
    await send(highlight('Low Tide', 'One.'), highlight('Lamp', 'Two.'))
    await send(highlight('Low Tide', 'One, edited.'))
    expect(await exported()).toMatchObject([
      { title: 'Low Tide', bookStatus: 'ING', currentPage: 30, memos: [{}, { memoContent: 'One, edited.' }] },
      { title: 'Lamp', memos: [{ memoContent: 'Two.' }] },
    ])
    const kinds = (await changes('', body.tokenId)).item.map(({ kind }: { kind: string }) => kind)
    expect(kinds.sort()).toEqual(['document', 'import', 'import', 'progress'])

    const all = { imports: 2, books: 1, memos: 1, progress: 1, documents: 1 }
    expect(await undo(LONG_AGO, body.tokenId)).toEqual({ ...NOTHING, ...all })
    expect(await exported()).toEqual(before)
    expect(await trash()).toMatchObject([
      { kind: 'memo', excerpt: 'One.' },
      { kind: 'book', title: 'Lamp', memoCount: 1 },
    ])
    expect((await reader.get('/documents')).body.item).toEqual([])
  })

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

describe('undoing much', { tags: ['slow'] }, () => {
  it('takes several calls', async () => {
    for (let n = 0; n < 12; n++) await sendFile([book(`Book ${n}`)])
    expect(await undo()).toEqual({ ...NOTHING, imports: 10, books: 10, hasMore: true })
    expect(await undo()).toEqual({ ...NOTHING, imports: 2, books: 2 })
  })

  it('changes at most 10,000 rows in a batch, also with a full quota', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    await reader.get('/changes')
    await reader.createMemo(bookId, { memoContent: 'Old.'.repeat(1000) })
    await reader.delete(`/memos/${(await select('select max(memoId) as id from memos'))[0]?.id}`)
    const memos = (count: number) => Array.from({ length: count }, (_, n) => memo(`${n} ${'x'.repeat(500)}`))
    await sendFile([book('Low Tide', { memos: memos(1700) }), book('Lamp', { memos: memos(2900) })])
    await select('update members set maxTextBytes = textBytes where memberId = ?', memberId)
    const batches = await listChanges(async () =>
      expect(await undo()).toEqual({ ...NOTHING, imports: 1, books: 1, memos: 1700 }),
    )
    expect(Math.max(...batches)).toBeGreaterThan(5000)
    expect(Math.max(...batches)).toBeLessThanOrEqual(10_000)
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide', memoCount: 0 }])
    expect(await select('select count(*) as n from trash where memberId = ?', memberId)).toEqual([{ n: 1702 }])
  })

  it.each([
    ['before', false],
    ['after', true],
  ])('continues if any call fails %s it takes effect', async (_, tookEffect) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    const stateOf = async () => ({ books: await booksOf(reader), events: await eventsOf(bookId) })
    const before = await stateOf()
    let fails = 1
    for (let status = 500; status === 500; fails++) {
      await sendFile([book('Low Tide', { memos: [memo('One.')], publisher: 'Quay House' }), book('Lamp')])
      await push(bookId, { at: new Date().toISOString(), page: 7 + fails, pageBefore: 0 })
      let count = 0
      const broken = wrapEnv<Bindings>(() => async (call) => {
        const isFailing = ++count === fails
        const result = isFailing && !tookEffect ? undefined : await call()
        if (isFailing) throw new Error('x')
        return result as Awaited<ReturnType<typeof call>>
      })
      const body = { since: LONG_AGO }
      const answer = await reader.send('POST', `/tokens/${tokenId}/undo`, {
        body,
        changed: { ...broken(env), ...UNLIMITED },
      })
      status = answer.status
      await undo()
      expect(await stateOf()).toEqual(before)
      await reader.delete('/trash')
    }
    expect(fails).toBeGreaterThan(8)
  })
})

it('cancels an import of the device that waits', async () => {
  const importId = await sendFile([book('Low Tide')])
  const waiting = `update imports set status = 'RUNNING', leaseEndsAt = 0, total = 2, file = 'x' where importId = ? and memberId = ?`
  await select(waiting, importId, memberId)
  expect(await undo()).toEqual({ ...NOTHING, imports: 1, books: 1 })
  const [row] = await select('select status, file, isDeleted from imports where memberId = ?', memberId)
  expect(row).toEqual({ status: 'FAILED', file: null, isDeleted: 1 })
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
      `insert into positions (memberId, document, tokenId, at, percentage, progress, device, deviceId)
      values (?, ?, ?, ?, 0.5, 'x', 'Kobo', '1')`,
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
