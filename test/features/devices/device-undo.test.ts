import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import { BASE, handle, type Reader, signUp } from '../../support/api'
import { listChanges, select } from '../../support/database'
import { book, createUndoer, LONG_AGO, memo, NOTHING, type Undoer } from '../../support/devices/undoer'
import { UNLIMITED } from '../../support/rate-limits'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'
import { booksOf } from '../../support/transfer/imports'
import { wrapEnv } from '../../support/wrap-database'

let undoer: Undoer
let reader: Reader
let memberId: number
let tokenId: string
beforeEach(async () => {
  undoer = await createUndoer()
  ;({ reader, memberId, tokenId } = undoer)
})
afterEach(vi.restoreAllMocks)

describe('undoing a device', () => {
  it('takes back its progress, links, highlights and their edits', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'YET' }))
    await reader.createMemo(bookId, { memoContent: 'Mine.' })
    const before = await undoer.exported()
    const tablet = await undoer.createToken(undefined, { startsBooks: true })
    const post = async (method: string, path: string, sent: object) => {
      const request = new Request(BASE + path, {
        method,
        headers: { Authorization: `Token ${tablet.token}`, 'Content-Type': 'application/json' },
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
    expect(await undoer.exported()).toMatchObject([
      { title: 'Low Tide', bookStatus: 'ING', currentPage: 30, memos: [{}, { memoContent: 'One, edited.' }] },
      { title: 'Lamp', memos: [{ memoContent: 'Two.' }] },
    ])
    const kinds = (await undoer.changes('', tablet.tokenId)).item.map(({ kind }: { kind: string }) => kind)
    expect(kinds.sort()).toEqual(['document', 'import', 'import', 'progress'])

    const all = { imports: 2, books: 1, memos: 1, progress: 1, documents: 1 }
    expect(await undoer.undo(LONG_AGO, tablet.tokenId)).toEqual({ ...NOTHING, ...all })
    expect(await undoer.exported()).toEqual(before)
    expect(await undoer.trash()).toMatchObject([
      { kind: 'memo', excerpt: 'One.' },
      { kind: 'book', title: 'Lamp', memoCount: 1 },
    ])
    expect((await reader.get('/documents')).body.item).toEqual([])
  })

  it('moves the books that it added to the trash, from which they come back whole', async () => {
    await undoer.sendFile([book('Low Tide', { memos: [memo('One.'), memo('Two.')], tags: ['sea'] }), book('Lamp')])
    const before = await undoer.exported()
    expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 1, books: 2 })
    expect(await booksOf(reader)).toEqual([])
    const items = await undoer.trash()
    expect(items).toMatchObject([{ kind: 'book' }, { kind: 'book' }])
    for (const { trashId } of items) expect((await reader.send('POST', `/trash/${trashId}/restore`)).status).toBe(200)
    expect(await undoer.exported()).toEqual(before)
    expect(await undoer.changes()).toEqual({ item: [], next: null })
    expect(await undoer.undo()).toEqual(NOTHING)
  })

  it('moves the memos that it added to books of the library to the trash, and restores what it filled', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    await reader.createMemo(bookId, { memoContent: 'Mine.' })
    const before = await undoer.exported()
    await undoer.sendFile([book('Low Tide', { memos: [memo('One.'), memo('Two.')], publisher: 'Quay House' })])
    expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 1, memos: 2 })
    expect(await undoer.exported()).toEqual(before)
    expect((await undoer.trash()).map(({ excerpt }: { excerpt: string }) => excerpt).sort()).toEqual(['One.', 'Two.'])
    const [{ trashId }] = await undoer.trash()
    expect((await reader.send('POST', `/trash/${trashId}/restore`)).status).toBe(200)
  })

  it('keeps what was changed since, and lists it', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    await undoer.sendFile([book('Low Tide', { memos: [memo('One.')], publisher: 'Quay House' }), book('Lamp')])
    const lamp = (await booksOf(reader)).find(({ title }: { title: string }) => title === 'Lamp')
    await reader.patch(`/books/${bookId}`, { publisher: 'Mine' })
    await reader.createMemo(lamp.bookId, { memoContent: 'Mine.' })
    expect(await undoer.undo()).toEqual({
      ...{ ...NOTHING, imports: 1, memos: 1 },
      kept: [
        { bookId, title: 'Low Tide', left: ['publisher'] },
        { bookId: lamp.bookId, title: 'Lamp', left: ['all'] },
      ],
    })
    expect(await booksOf(reader)).toHaveLength(2)
  })

  it('undoes a later import before the earlier one whose book it changed', async () => {
    await undoer.sendFile([book('Low Tide', { memos: [memo('One.')] })])
    await undoer.sendFile([book('Low Tide', { memos: [memo('One.'), memo('Two.')] })])
    expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 2, books: 1, memos: 1 })
    expect(await booksOf(reader)).toEqual([])
  })

  it('leaves what it did before, and what other devices and the member did', async () => {
    const { tokenId: other } = await undoer.createToken()
    const first = await undoer.sendFile([book('Low Tide')])
    const second = await undoer.sendFile([book('Lamp')])
    await undoer.sendFile([book('Salt')], { token: other })
    await transfer.importFile(reader, libraryFile(book('Mine')))
    // The first import is of an earlier second.
    await select('update imports set importId = importId - 5000 where memberId = ? and importId = ?', memberId, first)
    await select(
      'update importRows set importId = importId - 5000 where memberId = ? and importId = ?',
      memberId,
      first,
    )
    expect(await undoer.undo(new Date(second - 2000).toISOString())).toEqual({ ...NOTHING, imports: 1, books: 1 })
    const titles = (await booksOf(reader)).map(({ title }: { title: string }) => title)
    expect(titles.sort()).toEqual(['Low Tide', 'Mine', 'Salt'])
    expect((await undoer.changes()).item).toHaveLength(1)
  })
})

describe('undoing much', { tags: ['slow'] }, () => {
  it('takes several calls', async () => {
    for (let n = 0; n < 12; n++) await undoer.sendFile([book(`Book ${n}`)])
    expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 10, books: 10, hasMore: true })
    expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 2, books: 2 })
  })

  it('changes at most 10,000 rows in a batch, also with a full quota', async () => {
    const { bookId } = await reader.createBook(book('Low Tide'))
    await reader.get('/changes')
    await reader.createMemo(bookId, { memoContent: 'Old.'.repeat(1000) })
    await reader.delete(`/memos/${(await select('select max(memoId) as id from memos'))[0]?.id}`)
    const memos = (count: number) => Array.from({ length: count }, (_, n) => memo(`${n} ${'x'.repeat(500)}`))
    await undoer.sendFile([book('Low Tide', { memos: memos(1700) }), book('Lamp', { memos: memos(2900) })])
    await select('update members set maxTextBytes = textBytes where memberId = ?', memberId)
    const batches = await listChanges(async () =>
      expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 1, books: 1, memos: 1700 }),
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
    const stateOf = async () => ({ books: await booksOf(reader), events: await undoer.eventsOf(bookId) })
    const before = await stateOf()
    let fails = 1
    for (let status = 500; status === 500; fails++) {
      await undoer.sendFile([book('Low Tide', { memos: [memo('One.')], publisher: 'Quay House' }), book('Lamp')])
      await undoer.push(bookId, { at: new Date().toISOString(), page: 7 + fails, pageBefore: 0 })
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
      await undoer.undo()
      expect(await stateOf()).toEqual(before)
      await reader.delete('/trash')
    }
    expect(fails).toBeGreaterThan(8)
  })
})

it('cancels an import of the device that waits', async () => {
  const importId = await undoer.sendFile([book('Low Tide')])
  const waiting = `update imports set status = 'RUNNING', leaseEndsAt = 0, total = 2, file = 'x' where importId = ? and memberId = ?`
  await select(waiting, importId, memberId)
  expect(await undoer.undo()).toEqual({ ...NOTHING, imports: 1, books: 1 })
  const [row] = await select('select status, file, isDeleted from imports where memberId = ?', memberId)
  expect(row).toEqual({ status: 'FAILED', file: null, isDeleted: 1 })
})

describe('the list of what a device did', () => {
  it('has pages, newest first', async () => {
    const { bookId } = await reader.createBook(book('Low Tide', { itemPage: 300, bookStatus: 'ING' }))
    const { bookId: other } = await reader.createBook(book('Lamp', { itemPage: 300, bookStatus: 'ING' }))
    const importId = await undoer.sendFile([book('Salt')])
    const at = new Date(importId).toISOString()
    for (const id of [bookId, other]) await undoer.push(id, { at, page: 7 })
    const all = (await undoer.changes()).item
    expect(all).toMatchObject([
      { kind: 'import', import: { importId, counts: { created: 1 } }, book: null, page: null },
      { kind: 'progress', import: null, book: { bookId: other, title: 'Lamp' }, page: 7 },
      { kind: 'progress', book: { bookId } },
    ])
    const pages = []
    for (let next: string | null = ''; next !== null; ) {
      const page: { item: object[]; next: string | null } = await undoer.changes(`?size=1${next && `&cursor=${next}`}`)
      pages.push(...page.item)
      next = page.next
    }
    expect(pages).toEqual(all)
  })

  it('and its undo work after the token was deleted', async () => {
    await undoer.sendFile([book('Low Tide')])
    expect((await reader.delete(`/tokens/${tokenId}`)).status).toBe(204)
    expect((await undoer.changes()).item).toHaveLength(1)
    expect(await undoer.undo()).toMatchObject({ imports: 1, books: 1 })
  })

  it('are refused for other tokens, and to other members', async () => {
    const { tokenId: ordinary } = await undoer.createToken(['library:read'])
    await undoer.sendFile([book('Low Tide')])
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
